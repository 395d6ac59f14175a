//! The surfaces of a gateway.

/// A family of paths on a listener of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Surface {
    /// Orders, cancels, books, a caller's own orders and trades.
    Trading,
    /// Trade fills, positions, holders; for addresses on the allowlist.
    Data,
    /// Markets, events, series, tags, search.
    Catalog,
    /// Deposits, markets, modes, health, metrics. Loopback only.
    Operator,
    /// Liveness and readiness, for load balancers.
    Health,
}

impl Surface {
    /// The surface's name in configuration and logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Trading => "trading",
            Self::Data => "data",
            Self::Catalog => "catalog",
            Self::Operator => "operator",
            Self::Health => "health",
        }
    }
}
