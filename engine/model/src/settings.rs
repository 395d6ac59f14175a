//! The numbers an operator may change while the exchange runs, by a journalled command.

use rkyv::{Archive, Deserialize, Serialize};

use crate::quantity::Micros;

/// All of the core's settings; `Command::ChangeSettings` replaces them whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub struct Settings {
    /// How far an order's signed timestamp may lie before the frame's time.
    pub timestamp_past_ms: u64,
    /// How far it may lie after it.
    pub timestamp_future_ms: u64,
    /// Smallest makerAmount of a marketable BUY; 0 turns the rule off.
    pub marketable_minimum: Micros,
    /// A GTD order ends this many seconds before its expiration.
    pub gtd_safety_seconds: u64,
    /// Live orders an account may have.
    pub live_orders_per_account: u32,
    /// Order ids remembered at most; a placement beyond it is `Busy`.
    pub remembered_order_ids: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            timestamp_past_ms: 600_000,
            timestamp_future_ms: 120_000,
            marketable_minimum: Micros(1_000_000),
            gtd_safety_seconds: 60,
            live_orders_per_account: 4_096,
            remembered_order_ids: 4_000_000,
        }
    }
}

impl Settings {
    /// Largest marketable minimum: $1,000.
    pub const MAX_MARKETABLE_MINIMUM: Micros = Micros(1_000_000_000);

    /// Bounds an operator's settings must keep: windows of 1 s to 24 h, a safety of at most a day,
    /// at least one live order and one remembered id.
    #[must_use]
    pub const fn are_valid(&self) -> bool {
        const DAY_MS: u64 = 24 * 3_600 * 1_000;
        self.timestamp_past_ms >= 1_000
            && self.timestamp_past_ms <= DAY_MS
            && self.timestamp_future_ms <= DAY_MS
            && self.marketable_minimum.0 <= Self::MAX_MARKETABLE_MINIMUM.0
            && self.gtd_safety_seconds <= 86_400
            && self.live_orders_per_account >= 1
            && self.remembered_order_ids >= 1
    }
}
