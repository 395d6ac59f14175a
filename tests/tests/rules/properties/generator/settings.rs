//! Settings of the exchange, and changes of some.

use foretell_model::limits::ORDER_ID_SHARES;
use foretell_model::{Micros, Settings, SettingsUpdate};

use super::Generator;

impl Generator {
    /// Mostly of all settings.
    pub(super) fn settings_update(&mut self) -> SettingsUpdate {
        let all = SettingsUpdate::from(self.settings());
        if self.rng.percent(60) {
            return all;
        }
        let rng = &mut self.rng;
        SettingsUpdate {
            timestamp_past_ms: all.timestamp_past_ms.filter(|_| rng.percent(50)),
            timestamp_future_ms: all.timestamp_future_ms.filter(|_| rng.percent(50)),
            marketable_minimum: all.marketable_minimum.filter(|_| rng.percent(50)),
            gtd_safety_seconds: all.gtd_safety_seconds.filter(|_| rng.percent(50)),
            live_orders_per_account: all.live_orders_per_account.filter(|_| rng.percent(50)),
            remembered_order_ids: all.remembered_order_ids.filter(|_| rng.percent(50)),
            new_operator_hours: all.new_operator_hours.filter(|_| rng.percent(10)),
        }
    }

    pub(super) fn settings(&mut self) -> Settings {
        let rng = &mut self.rng;
        let mut settings = Settings {
            timestamp_past_ms: rng.pick(&[1_000, 1_500, 10_000, 600_000]),
            timestamp_future_ms: rng.pick(&[0, 1_000, 120_000]),
            marketable_minimum: Micros(rng.pick(&[0, 0, 0, 10_000, 1_000_000])),
            gtd_safety_seconds: rng.pick(&[0, 1, 60]),
            live_orders_per_account: rng.pick(&[2, 5, 50, 4_096]),
            remembered_order_ids: match rng.below(10) {
                0 => rng.pick(&[1, 4, 10]),
                1 => 100,
                2..=4 => ORDER_ID_SHARES * rng.pick(&[2, 5, 10, 20]) + rng.number(ORDER_ID_SHARES),
                _ => 4_000_000,
            },
            new_operator_hours: rng.pick(&[0, 0, 1, 24]),
        };
        if rng.percent(5) {
            match rng.below(6) {
                0 => settings.timestamp_past_ms = 999,
                1 => settings.timestamp_future_ms = u64::MAX,
                2 => settings.marketable_minimum = Micros(u64::MAX),
                3 => settings.gtd_safety_seconds = 86_401,
                4 => settings.new_operator_hours = Settings::MAX_NEW_OPERATOR_HOURS + 1,
                _ => settings.remembered_order_ids = 0,
            }
        }
        settings
    }
}
