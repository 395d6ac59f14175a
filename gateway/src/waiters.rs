//! Who waits for the view to reach a sequence.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use foretell_model::Sequence;
use parking_lot::Mutex;
use tokio::sync::oneshot;

/// How far the view is, and who waits for it to get further.
#[derive(Default)]
pub(crate) struct Waiters {
    reached: AtomicU64,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    next: u64,
    by_sequence: BTreeMap<(Sequence, u64), oneshot::Sender<()>>,
}

impl Waiters {
    /// The sequence whose effects every read now sees.
    pub(crate) fn reached(&self) -> Sequence {
        Sequence(self.reached.load(Ordering::Acquire))
    }

    /// The view is at `sequence` (also when it starts anew and goes back): wakes whoever waited
    /// for that or less.
    pub(crate) fn set(&self, sequence: Sequence) {
        self.reached.store(sequence.0, Ordering::Release);
        let mut waiting = self.waiting.lock();
        while let Some(first) = waiting.by_sequence.first_entry() {
            if first.key().0 > sequence {
                break;
            }
            // A waiter that gave up is no longer there; one that gives up right now does not care.
            let _ = first.remove().send(());
        }
    }

    /// Waits until the view has reached `sequence`; false when `wait` passes first.
    pub(crate) async fn wait(&self, sequence: Sequence, wait: Duration) -> bool {
        if self.reached() >= sequence {
            return true;
        }
        let (sender, receiver) = oneshot::channel();
        let place = {
            let mut waiting = self.waiting.lock();
            // Again, under the lock `set` takes after it stored: one of the two sees the other.
            if self.reached() >= sequence {
                return true;
            }
            let place = (sequence, waiting.next);
            waiting.next += 1;
            waiting.by_sequence.insert(place, sender);
            place
        };
        let leave = Leave {
            waiters: self,
            place,
        };
        let reached = matches!(tokio::time::timeout(wait, receiver).await, Ok(Ok(())));
        drop(leave);
        reached
    }
}

/// Takes a waiter out of the list, however its wait ends.
struct Leave<'a> {
    waiters: &'a Waiters,
    place: (Sequence, u64),
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.waiters.waiting.lock().by_sequence.remove(&self.place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    const LONG: Duration = Duration::from_secs(60);

    fn run(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap()
            .block_on(test);
    }

    #[test]
    fn a_waiter_wakes_at_its_sequence_and_not_before() {
        run(async {
            let waiters = Arc::new(Waiters::default());
            let five = tokio::spawn({
                let waiters = Arc::clone(&waiters);
                async move { waiters.wait(Sequence(5), LONG).await }
            });
            let nine = tokio::spawn({
                let waiters = Arc::clone(&waiters);
                async move { waiters.wait(Sequence(9), LONG).await }
            });
            while waiters.waiting.lock().by_sequence.len() < 2 {
                tokio::task::yield_now().await;
            }
            waiters.set(Sequence(4));
            assert_eq!(waiters.waiting.lock().by_sequence.len(), 2);
            waiters.set(Sequence(8));
            assert!(five.await.unwrap());
            assert_eq!(waiters.waiting.lock().by_sequence.len(), 1);
            assert!(!nine.is_finished());
            waiters.set(Sequence(9));
            assert!(nine.await.unwrap());
            assert!(
                waiters.wait(Sequence(9), Duration::ZERO).await,
                "already there"
            );
        });
    }

    #[test]
    fn one_that_gives_up_leaves_nothing_behind() {
        run(async {
            let waiters = Waiters::default();
            assert!(!waiters.wait(Sequence(1), Duration::ZERO).await);
            assert!(waiters.waiting.lock().by_sequence.is_empty());
        });
    }
}
