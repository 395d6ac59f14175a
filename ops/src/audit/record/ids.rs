//! An order id executes at most once (promise 18): the ids of the timestamp window are remembered,
//! and no order is older than that.

use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::fast::RandomState;
use foretell_model::{OrderId, Settings, TimeMs, TimeNs};

use super::broken::{Checked, must};
use super::finder::Finder;

/// Signed timestamps that may stand in a frame, and the ids seen within them.
#[derive(Debug, Default)]
pub(crate) struct OrderIds {
    /// Where new ids go, and those before them, which are forgotten together once the latest of them
    /// could not be signed any more: so one that is signed as far ahead as the settings allow keeps the
    /// others that long.
    young: Generation,
    old: Generation,
    hashing: RandomState,
    settings: Settings,
    /// No earlier timestamp is taken, whatever the window: what was forgotten stays out.
    floor: u64,
}

#[derive(Debug, Default)]
struct Generation {
    ids: Vec<OrderId>,
    places: Finder,
    /// The latest timestamp of them, in milliseconds.
    latest: u64,
}

impl Generation {
    #[inline]
    fn contains(&self, id: OrderId, hash: u64) -> bool {
        let found = self.places.find(hash, |place| self.ids[place] == id);
        found.is_some()
    }

    fn add(&mut self, id: OrderId, hash: u64) {
        self.places.insert(hash, self.ids.len());
        self.ids.push(id);
    }
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

    /// Brings near where an id is looked for.
    pub(crate) fn foresee(&self, id: OrderId) {
        let hash = self.hash(id);
        self.young.places.foresee(hash);
        self.old.places.foresee(hash);
    }

    fn hash(&self, id: OrderId) -> u64 {
        let (halves, _) = id.0.as_chunks();
        let mut hasher = self.hashing.build_hasher();
        for half in halves {
            hasher.write_u128(u128::from_le_bytes(*half));
        }
        hasher.finish()
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
        if self.old.latest < from {
            self.old = std::mem::take(&mut self.young);
        }
        let hash = self.hash(id);
        let is_known = self.young.contains(id, hash) || self.old.contains(id, hash);
        must(!is_known, || format!("order {id} was placed before"))?;
        self.young.add(id, hash);
        self.young.latest = self.young.latest.max(signed.0);
        Ok(())
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
        for second in [601, 1_202, 1_803] {
            let id = OrderId([u8::try_from(second % 256).unwrap(); 32]);
            ids.use_once(id, TimeMs((10_000 + second) * 1_000), at(second))
                .unwrap();
        }
        assert_eq!(
            ids.young.ids.len() + ids.old.ids.len(),
            2,
            "the first are forgotten"
        );
        let longer = Settings {
            timestamp_past_ms: 24 * 3_600_000,
            ..Settings::default()
        };
        ids.change_settings(longer, at(1_803));
        assert!(
            ids.use_once(id, signed, at(1_804)).is_err(),
            "a longer window lets nothing back in"
        );
    }
}
