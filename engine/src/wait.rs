//! How idle threads wait. Waking a thread that is awake costs one atomic exchange.
//!
//! The sleep flag is touched only by atomic exchange, so the exchanges of both sides are totally
//! ordered. Either the waker finds the sleeper, or the sleeper's exchange sees the waker's and with
//! it the work (`engine/tests/loom`).

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::primitives::{AtomicBool, Parker, Unparker};

/// How an idle matcher waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waiting {
    /// Polls without pause: the shortest reaction, uses a whole core.
    Spin,
    /// Polls, and yields the core between two polls.
    Yield,
    /// Sleeps until woken: 25 to 30 µs to wake, uses no core.
    Park,
}

impl Waiting {
    /// The default for a machine with this many cores; below four cores nothing spins.
    #[must_use]
    pub const fn for_cores(cores: usize) -> Self {
        match cores {
            0..=3 => Self::Park,
            4..=7 => Self::Yield,
            _ => Self::Spin,
        }
    }
}

/// The sleeping side.
#[derive(Debug)]
pub(crate) struct ThreadParker {
    waiting: Waiting,
    parker: Parker,
    asleep: Arc<AtomicBool>,
}

/// The waking side; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct ThreadWaker {
    unparker: Unparker,
    asleep: Arc<AtomicBool>,
}

impl ThreadParker {
    pub(crate) fn new(waiting: Waiting) -> Self {
        Self {
            waiting,
            parker: Parker::new(),
            asleep: Arc::default(),
        }
    }

    pub(crate) fn waker(&self) -> ThreadWaker {
        ThreadWaker {
            unparker: self.parker.unparker().clone(),
            asleep: Arc::clone(&self.asleep),
        }
    }

    /// Marks the thread as about to sleep. The thread must then check once more for work, and call
    /// [`Self::disarm`] afterwards, slept or not.
    ///
    /// A producer calls [`ThreadWaker::wake`] after it has queued work. So either this thread sees
    /// the work, or the producer sees the flag.
    pub(crate) fn arm(&self) {
        if self.waiting == Waiting::Park {
            self.asleep.swap(true, Ordering::AcqRel);
        }
    }

    /// Waits for at most `limit`, or until woken since it was armed.
    pub(crate) fn sleep(&self, limit: Duration) {
        match self.waiting {
            Waiting::Spin => core::hint::spin_loop(),
            Waiting::Yield => std::thread::yield_now(),
            Waiting::Park => self.parker.park_timeout(limit),
        }
    }

    /// Marks the thread as awake.
    pub(crate) fn disarm(&self) {
        self.asleep.swap(false, Ordering::AcqRel);
    }
}

impl ThreadWaker {
    /// Wakes the sleeper if it sleeps.
    pub(crate) fn wake(&self) {
        if self.asleep.swap(false, Ordering::AcqRel) {
            self.unparker.unpark();
        }
    }
}

/// A handle that ends a poll.
pub(crate) trait EndPoll {
    /// Ends the current poll at once, or else the next one.
    fn end_poll(&self) -> io::Result<()>;
}

impl EndPoll for mio::Waker {
    fn end_poll(&self) -> io::Result<()> {
        self.wake()
    }
}

/// The same protocol for a thread that sleeps in `poll`: it is woken only when it sleeps.
#[derive(Debug)]
pub(crate) struct PollWaker<W = mio::Waker> {
    waker: W,
    asleep: AtomicBool,
}

impl<W: EndPoll> PollWaker<W> {
    pub(crate) fn new(waker: W) -> Self {
        Self {
            waker,
            asleep: AtomicBool::new(false),
        }
    }

    /// Marks the thread as about to sleep; it must check once more for work before it does.
    pub(crate) fn arm(&self) {
        self.asleep.swap(true, Ordering::AcqRel);
    }

    /// Marks the thread as awake.
    pub(crate) fn disarm(&self) {
        self.asleep.swap(false, Ordering::AcqRel);
    }

    /// Wakes the thread if it sleeps.
    pub(crate) fn wake(&self) {
        if self.asleep.swap(false, Ordering::AcqRel)
            && let Err(error) = self.waker.end_poll()
        {
            // An eventfd write fails only when its counter is full, and then the poll ends anyway.
            tracing::debug!(%error, "cannot wake ingress");
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Two threads pass a number back and forth; a lost wake-up would cost the whole limit.
    #[test]
    fn no_wake_up_is_lost() {
        use std::sync::atomic::AtomicU64;
        const ROUNDS: u64 = 2_000;
        for waiting in [Waiting::Park, Waiting::Yield] {
            let turn = AtomicU64::new(0);
            let sleepers = [ThreadParker::new(waiting), ThreadParker::new(waiting)];
            let wakers = [sleepers[1].waker(), sleepers[0].waker()];
            std::thread::scope(|scope| {
                for ((me, sleeper), other) in (0..).zip(sleepers).zip(wakers) {
                    let turn = &turn;
                    scope.spawn(move || {
                        for round in 0..ROUNDS {
                            let mine = round * 2 + me;
                            while turn.load(Ordering::SeqCst) != mine {
                                sleeper.arm();
                                if turn.load(Ordering::SeqCst) != mine {
                                    sleeper.sleep(Duration::from_secs(600));
                                }
                                sleeper.disarm();
                            }
                            turn.store(mine + 1, Ordering::SeqCst);
                            other.wake();
                        }
                    });
                }
            });
            assert_eq!(turn.load(Ordering::SeqCst), ROUNDS * 2);
        }
    }
}
