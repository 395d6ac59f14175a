//! One sliding window: how many requests were let in during the last so many seconds.
//!
//! Time is cut into slots of a twentieth of the window. A request counts from when it was let in
//! until its slot has been over for a whole window, so for one window at least and for a twentieth
//! more at most. Hence, for every span of the window's length, wherever it begins, no more than the
//! cap is let in, and a client that is refused has used its cap within 1.05 windows. (The usual two
//! counters weighed by time are smaller and let in nearly twice the cap around an edge; exact time
//! stamps take thousands of entries a client.)

/// Slots that are kept: those a window spans, and the present one, which is only partly over.
const KEPT: usize = 21;
/// Slots a window spans.
pub(crate) const SPAN: u64 = KEPT as u64 - 1;

/// Milliseconds since the process began to count.
pub(crate) type Millis = u64;

/// What was let in, by slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// The newest slot that anything was let in.
    newest: u64,
    /// By slot number modulo [`KEPT`]; holds `newest` and the [`SPAN`] slots before it.
    slots: [u32; KEPT],
}

impl Window {
    /// Nothing was let in yet.
    pub(crate) const EMPTY: Self = Self {
        newest: 0,
        slots: [0; KEPT],
    };

    /// What still counts at `now`. `slot` is the length of a slot.
    pub(crate) fn used(&self, now: Millis, slot: Millis) -> u32 {
        self.counting(now / slot)
            .map(|(_, count)| count)
            .fold(0, u32::saturating_add)
    }

    /// Lets `cost` in at `now`.
    pub(crate) fn add(&mut self, now: Millis, slot: Millis, cost: u32) {
        let present = (now / slot).max(self.newest);
        let passed = (present - self.newest).min(KEPT as u64);
        for over in 0..passed {
            self.slots[place(present - over)] = 0;
        }
        self.newest = present;
        let count = &mut self.slots[place(present)];
        *count = count.saturating_add(cost);
    }

    /// Milliseconds from `now` until at least `amount` of what counts has left the window; 0 when
    /// less than that is in it.
    pub(crate) fn until_free(&self, now: Millis, slot: Millis, amount: u32) -> Millis {
        let mut left = amount;
        for (number, count) in self.counting(now / slot) {
            match left.checked_sub(count) {
                None | Some(0) => return ((number + KEPT as u64) * slot).saturating_sub(now),
                Some(rest) => left = rest,
            }
        }
        0
    }

    /// The slots that count while `present` is the current one and hold anything, oldest first.
    fn counting(&self, present: u64) -> impl Iterator<Item = (u64, u32)> {
        let present = present.max(self.newest);
        (present.saturating_sub(SPAN)..=self.newest)
            .map(|number| (number, self.slots[place(number)]))
            .filter(|(_, count)| *count > 0)
    }
}

fn place(number: u64) -> usize {
    usize::try_from(number % KEPT as u64).expect("less than KEPT")
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
        /// Beside an exact list of times: never more than the cap in any span of the window's
        /// length, and a refusal only when the cap was used within 21 slots.
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
