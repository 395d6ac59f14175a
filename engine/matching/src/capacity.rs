//! How much memory the exchange reserves when it is created.

/// Memory reserved at creation. Within this capacity `apply` does not allocate, except in
/// rare commands: the ladder of a market, created at registration and again when the tick is
/// refined, the question list of an event group, policies, proposals, and a new group of quotes, its first quote included. Beyond the capacity everything grows.
///
/// Capacity is not a limit and not part of the state: it changes no answer, digest or image. The
/// contents of a restored exchange count towards its capacity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capacity {
    /// Accounts.
    pub accounts: usize,
    /// API keys, revoked ones included.
    pub keys: usize,
    /// Markets.
    pub markets: usize,
    /// Neg-risk event groups.
    pub events: usize,
    /// Live orders.
    pub orders: usize,
    /// Live GTD orders.
    pub expiring_orders: usize,
    /// Orders that wait out a market's delay.
    pub delayed_orders: usize,
    /// Pairs of account and market that hold shares or have a live order.
    pub positions: usize,
    /// Remembered order ids, live orders included.
    pub order_ids: usize,
    /// Distinct seconds of the signed timestamps of remembered ids.
    pub timestamp_seconds: usize,
    /// References of account actions; the same number again for operators.
    pub references: usize,
}

impl Capacity {
    /// No reservation: everything grows on demand. For followers of a journal of unknown length.
    pub const NONE: Self = Self {
        accounts: 0,
        keys: 0,
        markets: 0,
        events: 0,
        orders: 0,
        expiring_orders: 0,
        delayed_orders: 0,
        positions: 0,
        order_ids: 0,
        timestamp_seconds: 0,
        references: 0,
    };
}

impl Default for Capacity {
    /// A small exchange: about 40 MB, most of it untouched until used.
    fn default() -> Self {
        Self {
            accounts: 1 << 14,
            keys: 1 << 14,
            markets: 1 << 10,
            events: 1 << 8,
            orders: 1 << 16,
            expiring_orders: 1 << 14,
            delayed_orders: 1 << 12,
            positions: 1 << 16,
            order_ids: 1 << 18,
            timestamp_seconds: 1 << 12,
            references: 1 << 12,
        }
    }
}
