//! Commands taken from the ring a little before their turn, so that the core looks ahead at them.
//!
//! With one command at a time there is nothing to look ahead at and nothing is done. Under load
//! each command is looked at a few times while others are applied; its turn then finds most of the
//! memory it touches near.

use std::collections::VecDeque;

use foretell_matching::{Exchange, Foresight};

use crate::hand_off::{HandOff, Work};

/// Commands held before their turn.
pub(crate) const AHEAD: usize = Foresight::LOOKS * Foresight::GAP;

/// The next commands, oldest first.
#[derive(Debug)]
pub(crate) struct Ahead {
    works: VecDeque<(Work, Foresight)>,
}

impl Default for Ahead {
    fn default() -> Self {
        Self {
            works: VecDeque::with_capacity(AHEAD + 1),
        }
    }
}

impl Ahead {
    /// The next command. Others are taken from the ring as long as there is room here, and looked
    /// at as they come near their turn.
    pub(crate) fn next(&mut self, ring: &HandOff, exchange: &Exchange) -> Option<Work> {
        while self.works.len() <= AHEAD
            && let Some(work) = ring.pop()
        {
            self.works.push_back((work, Foresight::NONE));
        }
        let (next, _) = self.works.pop_front()?;
        ring.set_ahead(!self.works.is_empty());
        for look in 1..=Foresight::LOOKS {
            if let Some((work, foresight)) = self.works.get_mut(look * Foresight::GAP - 1) {
                exchange.foresee(&work.command, foresight);
            }
        }
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hand_off::Origin;
    use foretell_matching::Capacity;
    use foretell_model::{AccountNumber, Command, OrderId};

    #[test]
    fn commands_keep_their_order_and_none_stays_behind() {
        let (ring, exchange) = (HandOff::new(64), Exchange::new(Capacity::default(), 1));
        let mut ahead = Ahead::default();
        assert!(ahead.next(&ring, &exchange).is_none());
        for number in 0..50 {
            let pushed = ring.push(Work {
                origin: Origin::Own,
                command: Command::CancelOrder {
                    owner: AccountNumber(number),
                    order: OrderId::ZERO,
                },
                evidence: Vec::new(),
                pushed: number.into(),
            });
            assert!(pushed);
        }
        let first = ahead.next(&ring, &exchange);
        assert_eq!(first.map(|work| work.pushed), Some(0));
        assert!(ring.has_waiting() && ring.waiting() < 49);
        let taken: Vec<_> = std::iter::from_fn(|| ahead.next(&ring, &exchange))
            .map(|work| work.pushed)
            .collect();
        assert!(taken.into_iter().eq(1..50));
        assert!(!ring.has_waiting());
    }
}
