//! The words for values that are one of a few.

use foretell_model::{MarketState, OperatorRole, OrderType, Side, SystemMode};

/// The text of a side.
#[must_use]
pub const fn side_text(side: Side) -> &'static str {
    match side {
        Side::Buy => "BUY",
        Side::Sell => "SELL",
    }
}

/// The text of an order type.
#[must_use]
pub const fn order_type_text(order_type: OrderType) -> &'static str {
    match order_type {
        OrderType::Gtc => "GTC",
        OrderType::Gtd => "GTD",
        OrderType::Fok => "FOK",
        OrderType::Fak => "FAK",
    }
}

/// The word for a market's state (docs/verify/rules.md §12).
#[must_use]
pub const fn state_word(state: MarketState) -> &'static str {
    match state {
        MarketState::Registered => "registered",
        MarketState::Active => "active",
        MarketState::Paused => "paused",
        MarketState::Closed => "closed",
        MarketState::Resolved => "resolved",
    }
}

/// The word for an operator's role (docs/verify/rules.md §27).
#[must_use]
pub const fn role_word(role: OperatorRole) -> &'static str {
    match role {
        OperatorRole::Admin => "admin",
        OperatorRole::Markets => "markets",
        OperatorRole::Resolver => "resolver",
        OperatorRole::Cashier => "cashier",
        OperatorRole::Support => "support",
        OperatorRole::ReadOnly => "read-only",
        OperatorRole::Sync => "sync",
    }
}

/// The word for a mode of the system.
#[must_use]
pub const fn mode_word(mode: SystemMode) -> &'static str {
    match mode {
        SystemMode::Running => "running",
        SystemMode::PostOnly => "post_only",
        SystemMode::CancelOnly => "cancel_only",
        SystemMode::Paused => "paused",
    }
}
