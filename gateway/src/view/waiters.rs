//! Requests that wait for the view to reach a sequence.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use foretell_model::Sequence;
use parking_lot::Mutex;
use tokio::sync::oneshot;

/// The view's sequence, and the requests that wait for a later one.
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
    /// The sequence that every read now covers.
    pub(crate) fn reached(&self) -> Sequence {
        Sequence(self.reached.load(Ordering::Acquire))
    }

    /// Records the view's sequence (lower than before after a rebuild) and wakes the waiters at or
    /// below it.
    pub(crate) fn set(&self, sequence: Sequence) {
        self.reached.store(sequence.0, Ordering::Release);
        let mut waiting = self.waiting.lock();
        while let Some(first) = waiting.by_sequence.first_entry() {
            if first.key().0 > sequence {
                break;
            }
            // `send` fails only if the waiter has just timed out.
            let _ = first.remove().send(());
        }
    }

    /// Waits until the view has reached `sequence`; false when `wait` passes first.
    pub(crate) async fn wait(&self, sequence: Sequence, wait: Duration) -> bool {
        if self.reached() >= sequence {
            return true;
        }
        let (sender, receiver) = oneshot::channel();
        let key = {
            let mut waiting = self.waiting.lock();
            // Check again under the lock, which `set` takes after its store: so either this check
            // sees the new sequence or `set` sees the waiter.
            if self.reached() >= sequence {
                return true;
            }
            let key = (sequence, waiting.next);
            waiting.next += 1;
            waiting.by_sequence.insert(key, sender);
            key
        };
        let guard = WaiterGuard { waiters: self, key };
        let reached = matches!(tokio::time::timeout(wait, receiver).await, Ok(Ok(())));
        drop(guard);
        reached
    }
}

/// Removes a waiter from the list, however its wait ends.
struct WaiterGuard<'a> {
    waiters: &'a Waiters,
    key: (Sequence, u64),
}

impl Drop for WaiterGuard<'_> {
    fn drop(&mut self) {
        self.waiters.waiting.lock().by_sequence.remove(&self.key);
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
