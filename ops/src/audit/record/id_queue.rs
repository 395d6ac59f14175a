//! How many order ids the exchange remembers, of all owners and of each: an order that comes while
//! there is no room is refused, so it has no frame.
//!
//! Ids wait in the order of the second they were signed in, then of their frames. A placement takes
//! the first few off whose window is over.

use std::collections::VecDeque;

use foretell_model::limits::{FORGOTTEN_PER_COMMAND, ORDER_ID_SHARES, RESERVED_ORDER_IDS};
use foretell_model::{AccountNumber, Settings, TimeMs, TimeNs};

use super::broken::{Checked, must};

/// Owners of the remembered ids.
#[derive(Debug, Default)]
pub(super) struct IdQueue {
    /// By second. None is empty.
    seconds: VecDeque<Second>,
    len: usize,
    /// Of each owner.
    held: Vec<u32>,
}

#[derive(Debug)]
struct Second {
    second: u64,
    owners: VecDeque<AccountNumber>,
}

impl IdQueue {
    /// Passes an id for which there is room, and remembers it.
    pub(super) fn admit(
        &mut self,
        (owner, signed): (AccountNumber, TimeMs),
        now: TimeNs,
        settings: &Settings,
        rules: u32,
    ) -> Checked {
        if !self.is_front_due(now, settings) {
            self.check_room(owner, settings, rules)?;
        }
        for _ in 0..FORGOTTEN_PER_COMMAND {
            if !self.is_front_due(now, settings) {
                break;
            }
            self.forget_front();
        }
        self.push(owner, signed.0 / 1_000);
        Ok(())
    }

    fn check_room(&self, owner: AccountNumber, settings: &Settings, rules: u32) -> Checked {
        let room = settings.remembered_order_ids;
        let share = (room / ORDER_ID_SHARES).max(1);
        let held = self.held.get(owner.0 as usize).copied().unwrap_or(0);
        let has_reserve = rules >= 2 && held < share.min(RESERVED_ORDER_IDS);
        must(has_reserve || self.len < room as usize, || {
            format!("an order was taken while {} ids were remembered", self.len)
        })?;
        must(rules == 1 || held < share, || {
            format!(
                "an order was taken while {held} ids of account {owner} were remembered, {share} may be"
            )
        })
    }

    fn is_front_due(&self, now: TimeNs, settings: &Settings) -> bool {
        self.seconds.front().is_some_and(|front| {
            let end = front.second.saturating_add(1).saturating_mul(1_000);
            end.saturating_add(settings.timestamp_past_ms) < now.millis().0
        })
    }

    fn forget_front(&mut self) {
        let Some(front) = self.seconds.front_mut() else {
            return;
        };
        if let Some(owner) = front.owners.pop_front() {
            self.held[owner.0 as usize] -= 1;
            self.len -= 1;
        }
        if front.owners.is_empty() {
            self.seconds.pop_front();
        }
    }

    fn push(&mut self, owner: AccountNumber, second: u64) {
        let place = self.place_of(second);
        self.seconds[place].owners.push_back(owner);
        self.len += 1;
        let owner = owner.0 as usize;
        if self.held.len() <= owner {
            self.held.resize(owner + 1, 0);
        }
        self.held[owner] += 1;
    }

    /// Where the ids of a second are. Most orders were signed in the newest one.
    fn place_of(&mut self, second: u64) -> usize {
        let newest = self.seconds.len().saturating_sub(1);
        if self
            .seconds
            .back()
            .is_some_and(|back| back.second == second)
        {
            return newest;
        }
        let found = self.seconds.binary_search_by_key(&second, |it| it.second);
        found.unwrap_or_else(|place| {
            let owners = VecDeque::new();
            self.seconds.insert(place, Second { second, owners });
            place
        })
    }
}

#[cfg(test)]
mod tests {
    use foretell_model::{Micros, TimeSeconds};

    use super::*;

    const SETTINGS: Settings = Settings {
        timestamp_past_ms: 10_000,
        timestamp_future_ms: 10_000,
        marketable_minimum: Micros(0),
        gtd_safety_seconds: 0,
        live_orders_per_account: 10,
        remembered_order_ids: 3,
    };

    /// Whether an order of an owner, signed at a second, is taken at another.
    fn takes(queue: &mut IdQueue, owner: u32, signed: u64, now: u64, rules: u32) -> bool {
        let id = (AccountNumber(owner), TimeMs(signed * 1_000));
        let now = TimeSeconds(now).start();
        queue.admit(id, now, &SETTINGS, rules).is_ok()
    }

    #[test]
    fn one_owner_may_have_all_under_rules_1_and_a_share_under_rules_2() {
        let mut queue = IdQueue::default();
        assert!((0..3).all(|_| takes(&mut queue, 0, 100, 100, 1)));
        assert!(!takes(&mut queue, 1, 100, 100, 1));
        let mut queue = IdQueue::default();
        assert!(takes(&mut queue, 0, 100, 100, 2));
        assert!(!takes(&mut queue, 0, 100, 100, 2));
        assert!(takes(&mut queue, 1, 100, 100, 2));
        assert!(takes(&mut queue, 2, 100, 100, 2));
        // It is full, and one who holds none finds room.
        assert!(takes(&mut queue, 3, 100, 100, 2));
        assert!(!takes(&mut queue, 3, 100, 100, 2));
    }

    #[test]
    fn ids_give_way_by_the_second_they_were_signed_in() {
        let mut queue = IdQueue::default();
        for (owner, signed) in [(0, 105), (1, 100), (2, 102)] {
            assert!(takes(&mut queue, owner, signed, 105, 2));
        }
        // The whole second of the first must be over, and then the window.
        assert!(!takes(&mut queue, 1, 110, 111, 2));
        assert!(takes(&mut queue, 1, 112, 112, 2));
        let front = queue.seconds.front().map(|front| front.second);
        assert_eq!((front, queue.len), (Some(102), 3));
    }

    #[test]
    fn a_placement_forgets_a_few_at_most() {
        let settings = Settings {
            remembered_order_ids: 640,
            ..SETTINGS
        };
        let mut queue = IdQueue::default();
        let mut admit = |at: u64| {
            let id = (AccountNumber(0), TimeMs(at));
            let now = TimeSeconds(at / 1_000).start();
            queue.admit(id, now, &settings, 2).unwrap();
            queue.len
        };
        assert_eq!((1..=10).map(|_| admit(1_000)).last(), Some(10));
        let lengths: Vec<_> = (0..4).map(|_| admit(100_000)).collect();
        assert_eq!(lengths, [7, 4, 3, 4]);
    }
}
