//! Ends connections on which nothing moves: one thread of the process looks at all of them a few
//! times within the shortest limit, so that a connection arms no timer and reads no clock of its
//! own.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;

use crate::client_shares::Client;
use crate::connection::{Activity, Group, Order};
use crate::limits::{ConnectionLimits, MIN_ANSWER_PACE};

/// Sweeps within the shortest limit. A limit is met after itself and before two sweeps more.
const SWEEPS: u32 = 4;
/// The shortest time between two sweeps.
const MIN_STEP: Duration = Duration::from_millis(1);

/// Number of a sweep, from 1.
pub(crate) type Tick = u32;

/// Counts sweeps; at a sweep a second it runs for a century.
#[derive(Debug)]
pub(crate) struct Clock(AtomicU32);

impl Default for Clock {
    fn default() -> Self {
        Self(AtomicU32::new(1))
    }
}

impl Clock {
    /// The present tick.
    pub(crate) fn now(&self) -> Tick {
        self.0.load(Relaxed)
    }

    /// Lets `ticks` pass. Only one thread does.
    pub(crate) fn advance(&self, ticks: Tick) -> Tick {
        let now = self.now().saturating_add(ticks);
        self.0.store(now, Relaxed);
        now
    }
}

/// The limits of a connection in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub(crate) head: Tick,
    pub(crate) idle: Tick,
    pub(crate) write_stall: Tick,
    /// Bytes of an answer a client must take in a tick, at least one.
    pub(crate) pace: usize,
}

impl Patience {
    fn new(limits: &ConnectionLimits, step: Duration) -> Self {
        let ticks = |limit: Duration| {
            let ticks = limit.as_nanos().div_ceil(step.as_nanos());
            Tick::try_from(ticks).unwrap_or(Tick::MAX)
        };
        Self {
            head: ticks(limits.head),
            idle: ticks(limits.idle),
            write_stall: ticks(limits.write_stall),
            pace: usize::try_from(step.as_millis() * MIN_ANSWER_PACE as u128 / 1_000)
                .unwrap_or(usize::MAX)
                .max(1),
        }
    }
}

/// The connections of the process, as the sweep sees them.
pub(crate) struct Sweep {
    clock: Arc<Clock>,
    connections: Mutex<HashMap<Client, Vec<Weak<Activity>>>>,
    /// Sends nothing: the thread ends when everybody who serves has dropped the sweep.
    _serving: Sender<()>,
}

impl Sweep {
    /// Starts the thread.
    pub(crate) fn start(limits: &ConnectionLimits) -> io::Result<(Arc<Self>, JoinHandle<()>)> {
        let shortest = limits.head.min(limits.write_stall).min(limits.idle);
        let step = (shortest / SWEEPS).max(MIN_STEP);
        let patience = Patience::new(limits, step);
        let (serving, ended) = channel();
        let sweep = Arc::new(Self {
            clock: Arc::default(),
            connections: Mutex::default(),
            _serving: serving,
        });
        let swept = Arc::downgrade(&sweep);
        let thread = std::thread::Builder::new()
            .name("sweep".to_owned())
            .spawn(move || run(&swept, step, patience, &ended))?;
        Ok((sweep, thread))
    }

    /// The activity of a new connection.
    pub(crate) fn connection(&self, client: Client, group: Group) -> Arc<Activity> {
        let activity = Activity::new(Arc::clone(&self.clock), group);
        let mut connections = self.connections.lock();
        let of_client = connections.entry(client).or_default();
        of_client.push(Arc::downgrade(&activity));
        activity
    }

    /// The connections of a client.
    pub(crate) fn of_client(&self, client: Client) -> Vec<Arc<Activity>> {
        match self.connections.lock().get_mut(&client) {
            Some(of_client) => present(of_client),
            None => Vec::new(),
        }
    }

    /// Shows the connections of each client.
    pub(crate) fn for_each_client(&self, mut look: impl FnMut(&[Arc<Activity>])) {
        for of_client in self.connections.lock().values_mut() {
            look(&present(of_client));
        }
    }

    /// Asks every connection to end after the requests that are under way.
    pub(crate) fn drain(&self) {
        self.for_each_client(|connections| {
            for connection in connections {
                connection.ask(Order::Drain);
            }
        });
    }

    /// Lets time pass.
    #[cfg(test)]
    pub(crate) fn advance(&self, ticks: Tick) {
        self.clock.advance(ticks);
    }

    fn pass(&self, patience: Patience) {
        let now = self.clock.advance(1);
        self.connections.lock().retain(|_, of_client| {
            let open = present(of_client);
            for connection in &open {
                if connection.expired(now, patience) {
                    tracing::debug!("a connection outlived a limit");
                    connection.ask(Order::Cut);
                }
            }
            !open.is_empty()
        });
    }
}

/// Those that are still there; the others are forgotten.
fn present(connections: &mut Vec<Weak<Activity>>) -> Vec<Arc<Activity>> {
    let mut present = Vec::with_capacity(connections.len());
    connections.retain(|connection| match connection.upgrade() {
        Some(connection) => {
            present.push(connection);
            true
        }
        None => false,
    });
    present
}

fn run(sweep: &Weak<Sweep>, step: Duration, patience: Patience, ended: &Receiver<()>) {
    while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(step) {
        if let Some(sweep) = sweep.upgrade() {
            sweep.pass(patience);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_whole_ticks_and_never_less() {
        let limits = ConnectionLimits {
            head: Duration::from_millis(1_001),
            idle: Duration::MAX,
            write_stall: Duration::ZERO,
            ..ConnectionLimits::default()
        };
        let patience = Patience::new(&limits, Duration::from_millis(500));
        assert_eq!(patience.head, 3);
        assert_eq!(patience.idle, Tick::MAX);
        assert_eq!(patience.write_stall, 0);
    }

    #[test]
    fn a_silent_connection_is_asked_to_end_and_a_gone_one_is_forgotten() {
        let (sweep, thread) = Sweep::start(&ConnectionLimits::default()).expect("a thread");
        let patience = Patience {
            head: 1,
            idle: 1,
            write_stall: 1,
            pace: 1,
        };
        let client = Client::of([192, 0, 2, 1].into());
        let connection = || sweep.connection(client, Group::Public);
        let (silent, gone) = (connection(), connection());
        drop(gone);
        sweep.pass(patience);
        sweep.pass(patience);
        assert_eq!(sweep.of_client(client).len(), 1);
        let cx = std::task::Context::from_waker(std::task::Waker::noop());
        assert_eq!(silent.order(&cx), Order::Cut);
        drop(sweep);
        thread.join().expect("it ends when nobody serves");
    }
}
