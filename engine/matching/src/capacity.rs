//! How much memory the exchange reserves at its start.

/// Room reserved at the start. Within it `apply` allocates nothing, with two exceptions that
/// belong to rare commands: a market's ladder, made at its registration and again when its tick
/// becomes finer, and the question list of an event. Beyond it everything grows by itself.
///
/// Capacity is no limit and no part of the state: it changes no answer, no digest and no image. An
/// exchange restored from an image counts what the image holds towards the capacity it is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capacity {
    /// Accounts.
    pub accounts: usize,
    /// API keys, revoked ones included.
    pub keys: usize,
    /// Markets.
    pub markets: usize,
    /// Neg-risk events.
    pub events: usize,
    /// Live orders.
    pub orders: usize,
    /// Live GTD orders.
    pub expiring_orders: usize,
    /// Pairs of account and market that hold shares or have a live order.
    pub positions: usize,
    /// Order ids remembered (live orders included).
    pub order_ids: usize,
    /// Distinct seconds of the signed timestamps of remembered ids.
    pub timestamp_seconds: usize,
    /// References of account actions, and as many of operators.
    pub references: usize,
    /// Remembered cancel requests.
    pub requests: usize,
}

impl Capacity {
    /// None: everything grows from the start. For whoever follows a journal of unknown length.
    pub const NONE: Self = Self {
        accounts: 0,
        keys: 0,
        markets: 0,
        events: 0,
        orders: 0,
        expiring_orders: 0,
        positions: 0,
        order_ids: 0,
        timestamp_seconds: 0,
        references: 0,
        requests: 0,
    };
}

impl Default for Capacity {
    /// Room for a small exchange: about 40 MB, most of it touched only when used.
    fn default() -> Self {
        Self {
            accounts: 1 << 14,
            keys: 1 << 14,
            markets: 1 << 10,
            events: 1 << 8,
            orders: 1 << 16,
            expiring_orders: 1 << 14,
            positions: 1 << 16,
            order_ids: 1 << 18,
            timestamp_seconds: 1 << 12,
            references: 1 << 12,
            requests: 1 << 12,
        }
    }
}
