//! One sliding window: the number of requests admitted during the window's length.
//!
//! Time is divided into slots of a twentieth of the window. A request counts until its slot has
//! been over for a whole window, so for 1 to 1.05 windows. Hence no span of the window's length
//! admits more than the limit, and after a rejection the window may reopen up to 5% late. (The
//! usual two counters weighted by time are smaller but admit nearly twice the limit around a
//! boundary; exact timestamps need thousands of entries a client.)

/// Stored slots: those of a window, and the current one, which is only partly over.
const STORED_SLOTS: usize = 21;
/// Slots a window spans.
pub(crate) const SPAN: u64 = STORED_SLOTS as u64 - 1;

/// Milliseconds since the process started to count.
pub(crate) type Millis = u64;

/// Counts of admitted requests by slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// The newest slot with an admitted request.
    newest: u64,
    /// By slot number modulo [`STORED_SLOTS`]: `newest` and the [`SPAN`] slots before it.
    slots: [u32; STORED_SLOTS],
}

impl Window {
    pub(crate) const EMPTY: Self = Self {
        newest: 0,
        slots: [0; STORED_SLOTS],
    };

    /// The count at `now`. `slot` is the length of a slot.
    pub(crate) fn used(&self, now: Millis, slot: Millis) -> u32 {
        self.counting(now / slot)
            .map(|(_, count)| count)
            .fold(0, u32::saturating_add)
    }

    /// Adds `cost` at `now`.
    pub(crate) fn add(&mut self, now: Millis, slot: Millis, cost: u32) {
        let present = (now / slot).max(self.newest);
        let passed = (present - self.newest).min(STORED_SLOTS as u64);
        for over in 0..passed {
            self.slots[index(present - over)] = 0;
        }
        self.newest = present;
        let count = &mut self.slots[index(present)];
        *count = count.saturating_add(cost);
    }

    /// Takes back `cost` of what was added at `at`.
    pub(crate) fn take_back(&mut self, at: Millis, slot: Millis, cost: u32) {
        let number = at / slot;
        if number <= self.newest && self.newest - number < STORED_SLOTS as u64 {
            let count = &mut self.slots[index(number)];
            *count = count.saturating_sub(cost);
        }
    }

    /// Milliseconds from `now` until at least `amount` of the current count has expired; 0 when the
    /// count is less than that.
    pub(crate) fn until_free(&self, now: Millis, slot: Millis, amount: u32) -> Millis {
        let mut left = amount;
        for (number, count) in self.counting(now / slot) {
            match left.checked_sub(count) {
                None | Some(0) => {
                    return ((number + STORED_SLOTS as u64) * slot).saturating_sub(now);
                }
                Some(rest) => left = rest,
            }
        }
        0
    }

    /// The slots with a count above 0 when `present` is the current slot, oldest first.
    fn counting(&self, present: u64) -> impl Iterator<Item = (u64, u32)> {
        let present = present.max(self.newest);
        (present.saturating_sub(SPAN)..=self.newest)
            .map(|number| (number, self.slots[index(number)]))
            .filter(|(_, count)| *count > 0)
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number % STORED_SLOTS as u64).expect("less than STORED_SLOTS")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A window of 10 s.
    const SLOT: Millis = 500;
    const WINDOW: Millis = SPAN * SLOT;

    #[test]
    fn what_was_let_in_counts_for_a_window_and_little_more() {
        let mut window = Window::EMPTY;
        window.add(499, SLOT, 3);
        window.add(500, SLOT, 2);
        for (now, used) in [
            (500, 5),
            (499 + WINDOW, 5),
            (10_500, 2),
            (10_999, 2),
            (11_000, 0),
            (1_000_000, 0),
        ] {
            assert_eq!(window.used(now, SLOT), used, "at {now}");
        }
        assert_eq!(window.until_free(600, SLOT, 3), 10_500 - 600);
        assert_eq!(window.until_free(600, SLOT, 4), 11_000 - 600);
        assert_eq!(window.until_free(600, SLOT, 6), 0);
        window.add(1_000_000, SLOT, 1);
        assert_eq!(window.used(1_000_000, SLOT), 1, "old slots are forgotten");
    }

    #[test]
    fn a_clock_that_stands_still_or_goes_back_lets_nothing_out() {
        let mut window = Window::EMPTY;
        window.add(5_000, SLOT, 1);
        window.add(4_000, SLOT, 1);
        assert_eq!(window.used(3_000, SLOT), 2);
    }

    proptest! {
        /// Compared with an exact list of times: never more than the limit in any span of the
        /// window's length, and a rejection only when the limit was used within 21 slots.
        #[test]
        fn the_cap_holds_in_every_span(
            gaps in prop::collection::vec(prop_oneof![0..40_u64, 0..3_000_u64, 8_000..25_000_u64], 1..400),
            cap in 1..12_u32,
        ) {
            let (mut window, mut now) = (Window::EMPTY, 0);
            let mut admitted: Vec<Millis> = Vec::new();
            for gap in gaps {
                now += gap;
                let within = |span: Millis| {
                    admitted.iter().filter(|&&then| now - then < span).count()
                };
                if window.used(now, SLOT) < cap {
                    prop_assert!(within(WINDOW) < cap as usize, "over the cap at {now}");
                    window.add(now, SLOT, 1);
                    admitted.push(now);
                } else {
                    prop_assert!(within(WINDOW + SLOT) >= cap as usize, "refused too early at {now}");
                    let wait = window.until_free(now, SLOT, 1);
                    prop_assert!(wait > 0 && wait <= WINDOW + SLOT);
                    prop_assert!(window.used(now + wait, SLOT) < cap, "free after the wait");
                    prop_assert!(window.used(now + wait - 1, SLOT) >= cap, "and not before");
                }
            }
        }
    }
}
