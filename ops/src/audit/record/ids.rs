//! An order id executes at most once (promise 18): the ids of the timestamp window are remembered,
//! and no order is older than that.

use std::collections::{BTreeMap, HashSet};

use foldhash::fast::RandomState;
use foretell_model::{OrderId, Settings, TimeMs, TimeNs};

use super::broken::{Checked, must};

/// Signed timestamps that may stand in a frame, and the ids seen within them.
#[derive(Debug, Default)]
pub(crate) struct OrderIds {
    seen: HashSet<OrderId, RandomState>,
    /// Of each second, the ids signed in it.
    by_second: BTreeMap<u64, Vec<OrderId>>,
    settings: Settings,
    /// No earlier timestamp is taken, whatever the window: what was forgotten stays out.
    floor: u64,
}

impl OrderIds {
    /// The settings change: a longer window begins where the old one did.
    pub(crate) fn change_settings(&mut self, settings: Settings, now: TimeNs) {
        self.floor = self.earliest(now);
        self.settings = settings;
    }

    pub(crate) const fn settings(&self) -> &Settings {
        &self.settings
    }

    fn earliest(&self, now: TimeNs) -> u64 {
        let window = now
            .millis()
            .0
            .saturating_sub(self.settings.timestamp_past_ms);
        window.max(self.floor)
    }

    /// Passes an id that is new and within the window, and remembers it.
    pub(crate) fn use_once(&mut self, id: OrderId, signed: TimeMs, now: TimeNs) -> Checked {
        let from = self.earliest(now);
        let to = now
            .millis()
            .0
            .saturating_add(self.settings.timestamp_future_ms);
        must((from..=to).contains(&signed.0), || {
            format!(
                "the order's timestamp {} lies outside of {from} to {to}",
                signed.0
            )
        })?;
        self.forget_before(from / 1_000);
        must(self.seen.insert(id), || {
            format!("order {id} was placed before")
        })?;
        self.by_second.entry(signed.0 / 1_000).or_default().push(id);
        Ok(())
    }

    fn forget_before(&mut self, second: u64) {
        while let Some(oldest) = self.by_second.first_entry() {
            if *oldest.key() >= second {
                return;
            }
            for id in oldest.remove() {
                self.seen.remove(&id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn an_id_is_used_once_and_forgotten_only_when_it_can_not_come_back() {
        let mut ids = OrderIds::default();
        let (id, signed) = (OrderId([1; 32]), TimeMs(10_000_000));
        let at = |seconds: u64| TimeNs((10_000 + seconds) * SECOND);
        ids.use_once(id, signed, at(0)).unwrap();
        assert!(ids.use_once(id, signed, at(599)).is_err(), "a repeat");
        assert!(
            ids.use_once(OrderId([2; 32]), signed, at(601)).is_err(),
            "too old"
        );
        ids.use_once(OrderId([3; 32]), TimeMs(10_601_000), at(601))
            .unwrap();
        assert_eq!(ids.seen.len(), 1, "the first is forgotten");
        let longer = Settings {
            timestamp_past_ms: 24 * 3_600_000,
            ..Settings::default()
        };
        ids.change_settings(longer, at(601));
        assert!(
            ids.use_once(id, signed, at(602)).is_err(),
            "a longer window lets nothing back in"
        );
    }
}
