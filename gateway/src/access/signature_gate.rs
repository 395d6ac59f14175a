//! The bound on signature work (docs/internals/decisions/0011): each server thread runs one check
//! at a time and then everything else that is ready. So signatures delay a read by one check at
//! most, however many valid credentials send garbage. No work crosses threads.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use tokio::sync::Semaphore;

use crate::policy::limits::MAX_SIGNATURES_WAITING;

/// The gate of one thread.
pub(crate) struct SignatureGate {
    turn: Semaphore,
    waiting: AtomicUsize,
}

/// Too many orders are waiting for their check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooManyWaiting;

impl SignatureGate {
    pub(crate) fn new() -> Self {
        Self {
            turn: Semaphore::new(1),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Whether a check is running or waiting.
    pub(crate) fn is_busy(&self) -> bool {
        self.waiting.load(Relaxed) > 0
    }

    /// Runs `check` when its turn comes.
    pub(crate) async fn run<T>(&self, check: impl FnOnce() -> T) -> Result<T, TooManyWaiting> {
        if self.waiting.fetch_add(1, Relaxed) >= MAX_SIGNATURES_WAITING {
            self.waiting.fetch_sub(1, Relaxed);
            return Err(TooManyWaiting);
        }
        let _waiting = Counted(&self.waiting);
        let turn = self.turn.acquire().await.expect("the gate is never closed");
        let result = check();
        // All tasks that became ready meanwhile run before the next check.
        tokio::task::yield_now().await;
        drop(turn);
        Ok(result)
    }
}

struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    #[test]
    fn other_work_runs_between_two_checks() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let tasks = tokio::task::LocalSet::new();
        let log = Rc::new(std::cell::RefCell::new(Vec::new()));
        let gate = Rc::new(SignatureGate::new());
        tasks.block_on(&runtime, async {
            let mut all = Vec::new();
            for index in 0..3 {
                let (gate, log) = (Rc::clone(&gate), Rc::clone(&log));
                all.push(tokio::task::spawn_local(async move {
                    gate.run(|| log.borrow_mut().push(format!("check {index}")))
                        .await
                        .unwrap();
                }));
            }
            let read = Rc::clone(&log);
            all.push(tokio::task::spawn_local(async move {
                read.borrow_mut().push("read".to_owned());
            }));
            for task in all {
                task.await.unwrap();
            }
        });
        assert_eq!(*log.borrow(), ["check 0", "read", "check 1", "check 2"]);
        assert_eq!(gate.waiting.load(Relaxed), 0);
    }

    #[test]
    fn more_than_the_bound_is_refused() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let gate = SignatureGate::new();
        gate.waiting.store(MAX_SIGNATURES_WAITING, Relaxed);
        assert_eq!(runtime.block_on(gate.run(|| ())), Err(TooManyWaiting));
        gate.waiting.store(MAX_SIGNATURES_WAITING - 1, Relaxed);
        assert_eq!(runtime.block_on(gate.run(|| ())), Ok(()));
    }
}
