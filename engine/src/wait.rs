//! Waiting is a choice passed in; waking costs nothing when nobody sleeps.
//!
//! Whether somebody sleeps is only ever exchanged, never just stored or loaded. So what both sides
//! write stands in one order: either the waker finds the sleeper, or the sleeper, about to sleep, finds
//! the waker's exchange and with it the work (`engine/tests/loom`).

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::primitives::{AtomicBool, Parker, Unparker};

/// What an idle matcher does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waiting {
    /// Looks again at once: the shortest reaction, a whole core.
    Spin,
    /// Looks again after everybody else has had the core.
    Yield,
    /// Sleeps until woken: 25 to 30 µs to wake, no core.
    Park,
}

impl Waiting {
    /// What suits a machine with so many cores; below four nothing spins.
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
pub(crate) struct Sleeper {
    waiting: Waiting,
    parker: Parker,
    asleep: Arc<AtomicBool>,
}

/// The waking side; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Wake {
    unparker: Unparker,
    asleep: Arc<AtomicBool>,
}

impl Sleeper {
    pub(crate) fn new(waiting: Waiting) -> Self {
        Self {
            waiting,
            parker: Parker::new(),
            asleep: Arc::default(),
        }
    }

    pub(crate) fn wake(&self) -> Wake {
        Wake {
            unparker: self.parker.unparker().clone(),
            asleep: Arc::clone(&self.asleep),
        }
    }

    /// Says that it is about to sleep. Its owner must then look once more for work, and
    /// [`Self::disarm`] afterwards, slept or not.
    ///
    /// Whoever makes work calls [`Wake::wake`] after it: either the owner sees the work, or the
    /// waker sees the sleeper.
    pub(crate) fn arm(&self) {
        if self.waiting == Waiting::Park {
            self.asleep.swap(true, Ordering::AcqRel);
        }
    }

    /// Waits a while, at most `limit`, or until woken since it was armed.
    pub(crate) fn sleep(&self, limit: Duration) {
        match self.waiting {
            Waiting::Spin => core::hint::spin_loop(),
            Waiting::Yield => std::thread::yield_now(),
            Waiting::Park => self.parker.park_timeout(limit),
        }
    }

    /// Says that it is awake.
    pub(crate) fn disarm(&self) {
        self.asleep.swap(false, Ordering::AcqRel);
    }
}

impl Wake {
    /// Wakes the sleeper if it sleeps.
    pub(crate) fn wake(&self) {
        if self.asleep.swap(false, Ordering::AcqRel) {
            self.unparker.unpark();
        }
    }
}

/// What ends a poll.
pub(crate) trait Rouse {
    /// The poll that goes on now, or the next one, ends at once.
    fn rouse(&self) -> io::Result<()>;
}

impl Rouse for mio::Waker {
    fn rouse(&self) -> io::Result<()> {
        self.wake()
    }
}

/// The same bargain for a thread that sleeps in `poll`: the bell is rung only when it does.
#[derive(Debug)]
pub(crate) struct Bell<W = mio::Waker> {
    waker: W,
    asleep: AtomicBool,
}

impl<W: Rouse> Bell<W> {
    pub(crate) fn new(waker: W) -> Self {
        Self {
            waker,
            asleep: AtomicBool::new(false),
        }
    }

    /// The poller is about to sleep; it must look once more for work before it does.
    pub(crate) fn arm(&self) {
        self.asleep.swap(true, Ordering::AcqRel);
    }

    /// The poller is awake.
    pub(crate) fn disarm(&self) {
        self.asleep.swap(false, Ordering::AcqRel);
    }

    /// Wakes the poller if it sleeps.
    pub(crate) fn ring(&self) {
        if self.asleep.swap(false, Ordering::AcqRel)
            && let Err(error) = self.waker.rouse()
        {
            // An eventfd write fails only when its counter is full, and then the poller wakes.
            tracing::debug!(%error, "waking ingress");
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Two threads hand a number to and fro; a lost wake-up would cost the whole limit.
    #[test]
    fn no_wake_up_is_lost() {
        use std::sync::atomic::AtomicU64;
        const ROUNDS: u64 = 2_000;
        for waiting in [Waiting::Park, Waiting::Yield] {
            let turn = AtomicU64::new(0);
            let sleepers = [Sleeper::new(waiting), Sleeper::new(waiting)];
            let wakes = [sleepers[1].wake(), sleepers[0].wake()];
            std::thread::scope(|scope| {
                for ((me, sleeper), other) in (0..).zip(sleepers).zip(wakes) {
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
