//! A short queue between the ring and the core, used to prefetch the memory of queued commands.
//!
//! With one command at a time the queue stays empty and nothing is prefetched. Under load each
//! command is prefetched in several steps while earlier ones are applied, so most of its memory is
//! in the cache when it is applied.

use std::collections::VecDeque;

use foretell_matching::{Exchange, PrefetchState};
use foretell_model::limits::MAX_GROUP;

use crate::command_ring::{CommandRing, PREFETCH_LENGTH, QueuedCommand};

#[derive(Debug)]
pub(crate) struct PrefetchQueue {
    commands: VecDeque<(QueuedCommand, PrefetchState)>,
}

impl Default for PrefetchQueue {
    fn default() -> Self {
        Self {
            commands: VecDeque::with_capacity(PREFETCH_LENGTH + MAX_GROUP),
        }
    }
}

impl PrefetchQueue {
    /// Removes the next command; `None` also when commands of its replace are still to come. Refills the queue from the ring and prefetches for the commands at
    /// fixed distances from its head.
    pub(crate) fn next(
        &mut self,
        ring: &CommandRing,
        exchange: &Exchange,
    ) -> Option<QueuedCommand> {
        while self.commands.len() <= PREFETCH_LENGTH
            && let Some(queued) = ring.pop()
        {
            self.commands.push_back((queued, PrefetchState::NONE));
        }
        let left = usize::from(self.commands.front()?.0.group.left);
        while self.commands.len() <= left
            && let Some(queued) = ring.pop()
        {
            self.commands.push_back((queued, PrefetchState::NONE));
        }
        if self.commands.len() <= left {
            ring.set_prefetching(true);
            return None;
        }
        let (next, _) = self.commands.pop_front()?;
        ring.set_prefetching(!self.commands.is_empty());
        for look in 1..=PrefetchState::STEPS {
            if let Some((queued, foresight)) =
                self.commands.get_mut(look * PrefetchState::DISTANCE - 1)
            {
                exchange.prefetch(&queued.command, foresight);
            }
        }
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use foretell_model::command::CancelOrder;

    use super::*;
    use crate::command_ring::{GroupPlace, Origin};
    use foretell_matching::Capacity;
    use foretell_model::{AccountNumber, Command, OrderId};

    #[test]
    fn a_replace_waits_until_all_of_it_is_here() {
        let (ring, exchange) = (CommandRing::new(64), Exchange::new(Capacity::default(), 1));
        let mut queue = PrefetchQueue::default();
        for left in (0..30_u8).rev() {
            assert!(queue.next(&ring, &exchange).is_none());
            assert_eq!(ring.has_waiting(), left < 29);
            let pushed = ring.push(QueuedCommand {
                origin: Origin::Own,
                command: Command::AdvanceTime,
                group: GroupPlace {
                    left,
                    ..GroupPlace::default()
                },
                evidence: Vec::new(),
                pushed: 0,
            });
            assert!(pushed);
        }
        let taken = std::iter::from_fn(|| queue.next(&ring, &exchange));
        assert!(taken.map(|queued| queued.group.left).eq((0..30).rev()));
    }

    #[test]
    fn commands_keep_their_order_and_none_stays_behind() {
        let (ring, exchange) = (CommandRing::new(64), Exchange::new(Capacity::default(), 1));
        let mut queue = PrefetchQueue::default();
        assert!(queue.next(&ring, &exchange).is_none());
        for number in 0..50 {
            let pushed = ring.push(QueuedCommand {
                origin: Origin::Own,
                command: Command::CancelOrder(CancelOrder {
                    owner: AccountNumber(number),
                    order: OrderId::ZERO,
                }),
                group: GroupPlace::default(),
                evidence: Vec::new(),
                pushed: number.into(),
            });
            assert!(pushed);
        }
        let first = queue.next(&ring, &exchange);
        assert_eq!(first.map(|queued| queued.pushed), Some(0));
        assert!(ring.has_waiting() && ring.waiting() < 49);
        let taken: Vec<_> = std::iter::from_fn(|| queue.next(&ring, &exchange))
            .map(|queued| queued.pushed)
            .collect();
        assert!(taken.into_iter().eq(1..50));
        assert!(!ring.has_waiting());
    }
}
