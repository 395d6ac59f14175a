//! Ends inactive connections: one thread of the process checks all of them several times within the
//! shortest limit, so that connections need no timer and read no clock.

use std::collections::HashMap;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;

use crate::http::connections::client_quotas::Client;
use crate::http::connections::connection::{Activity, ConnectionGroup, ConnectionState};
use crate::http::connections::idle_clock::{Clock, IdlePolicy};
use crate::policy::limits::ConnectionLimits;

/// Ticks within the shortest limit. An expiry is detected at most two ticks after the limit.
const TICKS_PER_LIMIT: u32 = 4;
/// The shortest tick.
const MIN_TICK: Duration = Duration::from_millis(1);

/// The connections of the process.
pub(crate) struct IdleReaper {
    clock: Arc<Clock>,
    connections: Mutex<HashMap<Client, Vec<Weak<Activity>>>>,
    /// Sends nothing: dropping the last reference to this struct ends the thread.
    _serving: Sender<()>,
}

impl IdleReaper {
    pub(crate) fn start(limits: &ConnectionLimits) -> io::Result<(Arc<Self>, JoinHandle<()>)> {
        let shortest = limits.head.min(limits.write_stall).min(limits.idle);
        let step = (shortest / TICKS_PER_LIMIT).max(MIN_TICK);
        let policy = IdlePolicy::new(limits, step);
        let (serving, ended) = channel();
        let reaper = Arc::new(Self {
            clock: Arc::default(),
            connections: Mutex::default(),
            _serving: serving,
        });
        let watched = Arc::downgrade(&reaper);
        let thread = std::thread::Builder::new()
            .name("idle-reaper".to_owned())
            .spawn(move || run(&watched, step, policy, &ended))?;
        Ok((reaper, thread))
    }

    /// Registers a new connection and returns its activity.
    pub(crate) fn connection(&self, client: Client, group: ConnectionGroup) -> Arc<Activity> {
        let activity = Activity::new(Arc::clone(&self.clock), group);
        let mut connections = self.connections.lock();
        let of_client = connections.entry(client).or_default();
        of_client.push(Arc::downgrade(&activity));
        activity
    }

    /// The connections of a client.
    pub(crate) fn of_client(&self, client: Client) -> Vec<Arc<Activity>> {
        match self.connections.lock().get_mut(&client) {
            Some(of_client) => open_connections(of_client),
            None => Vec::new(),
        }
    }

    /// Calls `visit` with the connections of each client.
    pub(crate) fn for_each_client(&self, mut visit: impl FnMut(&[Arc<Activity>])) {
        for of_client in self.connections.lock().values_mut() {
            visit(&open_connections(of_client));
        }
    }

    /// Asks every connection to end after its requests in progress.
    pub(crate) fn drain(&self) {
        self.for_each_client(|connections| {
            for connection in connections {
                connection.request(ConnectionState::Draining);
            }
        });
    }

    #[cfg(test)]
    pub(crate) fn advance(&self, ticks: crate::http::connections::idle_clock::Tick) {
        self.clock.advance(ticks);
    }

    fn reap(&self, policy: IdlePolicy) {
        let now = self.clock.advance(1);
        self.connections.lock().retain(|_, of_client| {
            let open = open_connections(of_client);
            for connection in &open {
                if connection.expired(now, policy) {
                    tracing::debug!("connection exceeded a time limit");
                    connection.request(ConnectionState::Closing);
                }
            }
            !open.is_empty()
        });
    }
}

/// The open connections; closed ones are removed.
fn open_connections(connections: &mut Vec<Weak<Activity>>) -> Vec<Arc<Activity>> {
    let mut open = Vec::with_capacity(connections.len());
    connections.retain(|connection| match connection.upgrade() {
        Some(connection) => {
            open.push(connection);
            true
        }
        None => false,
    });
    open
}

fn run(reaper: &Weak<IdleReaper>, step: Duration, policy: IdlePolicy, ended: &Receiver<()>) {
    while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(step) {
        if let Some(reaper) = reaper.upgrade() {
            reaper.reap(policy);
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
        let policy = IdlePolicy::new(&limits, Duration::from_millis(500));
        assert_eq!(policy.head, 3);
        assert_eq!(policy.idle, u32::MAX);
        assert_eq!(policy.write_stall, 0);
    }

    #[test]
    fn a_silent_connection_is_asked_to_end_and_a_gone_one_is_forgotten() {
        let (reaper, thread) = IdleReaper::start(&ConnectionLimits::default()).expect("a thread");
        let policy = IdlePolicy {
            head: 1,
            idle: 1,
            write_stall: 1,
            pace: 1,
        };
        let client = Client::of([192, 0, 2, 1].into());
        let connection = || reaper.connection(client, ConnectionGroup::Public);
        let (silent, gone) = (connection(), connection());
        drop(gone);
        reaper.reap(policy);
        reaper.reap(policy);
        assert_eq!(reaper.of_client(client).len(), 1);
        let cx = std::task::Context::from_waker(std::task::Waker::noop());
        assert_eq!(silent.requested(&cx), ConnectionState::Closing);
        drop(reaper);
        thread.join().expect("it ends when nobody serves");
    }
}
