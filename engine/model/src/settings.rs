//! The settings that an operator can change at runtime by a journalled command.

use crate::quantity::Micros;
use crate::record::records;
use crate::time::TimeNs;

records! {
    /// All settings of the core; `Command::ChangeSettings` changes them.
    pub struct Settings {
        /// Maximum age of an order's signed timestamp relative to the frame's time.
        pub timestamp_past_ms: u64,
        /// Maximum lead of an order's signed timestamp over the frame's time.
        pub timestamp_future_ms: u64,
        /// Minimum makerAmount of a marketable BUY; 0 disables the rule.
        pub marketable_minimum: Micros,
        /// A GTD order expires this many seconds before its signed expiration.
        pub gtd_safety_seconds: u64,
        /// Maximum of live orders of an account.
        pub live_orders_per_account: u32,
        /// Maximum of remembered order ids; beyond it a placement is `Busy`.
        pub remembered_order_ids: u32,
        /// An operator counts as one of two persons this many hours after it was added. The
        /// configuration of the engine alone sets it (docs/verify/rules.md §27).
        pub new_operator_hours: u32,
    }
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
            new_operator_hours: 0,
        }
    }
}

impl Settings {
    /// Largest marketable minimum: $1,000.
    pub const MAX_MARKETABLE_MINIMUM: Micros = Micros(1_000_000_000);

    /// Most hours until an operator counts as one of two persons: 30 days.
    pub const MAX_NEW_OPERATOR_HOURS: u32 = 30 * 24;

    /// When an operator who was added at this time counts as one of two persons
    /// (docs/verify/rules.md §27).
    #[must_use]
    pub const fn operator_counts_from(&self, added: TimeNs) -> TimeNs {
        const HOUR_NS: u64 = 3_600 * 1_000_000_000;
        TimeNs(
            added
                .0
                .saturating_add(self.new_operator_hours as u64 * HOUR_NS),
        )
    }

    /// Whether the settings are in bounds: windows of 1 s to 24 h, a safety of at most a day, at
    /// least one live order and one remembered id, at most 30 days until an operator counts.
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
            && self.new_operator_hours <= Self::MAX_NEW_OPERATOR_HOURS
    }
}

records! {
    /// Settings of payments; `Command::SetPayments` changes them.
    #[derive(Default)]
    pub struct PaymentSettings {
        /// A larger withdrawal of a wallet waits for a second person (docs/verify/rules.md §27); 0 = none
        /// waits. At most [`crate::limits::MAX_BALANCE`], otherwise `InvalidSettings`.
        pub withdrawal_limit: Micros,
        /// Whether accrued rebates are paid at 00:00 UTC (docs/verify/rules.md §23).
        pub rebates_daily: bool,
    }
}
