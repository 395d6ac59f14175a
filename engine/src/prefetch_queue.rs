//! A short queue between the ring and the core, used to prefetch the memory of queued commands.
//!
//! With one command at a time the queue stays empty and nothing is prefetched. Under load each
//! command is prefetched in several steps while earlier ones are applied, so most of its memory is
//! in the cache when it is applied.

use std::collections::VecDeque;

use foretell_matching::{Exchange, PrefetchState};

use crate::command_ring::{CommandRing, PREFETCH_LENGTH, QueuedCommand};

#[derive(Debug)]
pub(crate) struct PrefetchQueue {
    commands: VecDeque<(QueuedCommand, PrefetchState)>,
}

impl Default for PrefetchQueue {
    fn default() -> Self {
        Self {
            commands: VecDeque::with_capacity(PREFETCH_LENGTH + 1),
        }
    }
}

impl PrefetchQueue {
    /// Removes the next command. Refills the queue from the ring and prefetches for the commands at
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
    use super::*;
    use crate::command_ring::Origin;
    use foretell_matching::Capacity;
    use foretell_model::{AccountNumber, Command, OrderId};

    #[test]
    fn commands_keep_their_order_and_none_stays_behind() {
        let (ring, exchange) = (CommandRing::new(64), Exchange::new(Capacity::default(), 1));
        let mut queue = PrefetchQueue::default();
        assert!(queue.next(&ring, &exchange).is_none());
        for number in 0..50 {
            let pushed = ring.push(QueuedCommand {
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
