//! Counters of the streams of a process.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use foretell_wire::streams::request::Channel;

use crate::streams::connection::close::CODES;

/// The counters; threads add, a scrape reads.
#[derive(Debug)]
pub(crate) struct StreamStats {
    /// Open connections: market channel, user channel, without a channel yet.
    connections: [AtomicU64; 3],
    subscriptions: AtomicU64,
    messages: AtomicU64,
    bytes: AtomicU64,
    bad_requests: AtomicU64,
    closes: [AtomicU64; CODES.len()],
    /// Age of the oldest waiting message of each thread, in milliseconds.
    lag_ms: Box<[AtomicU64]>,
}

/// The values at one moment.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct StreamReadings {
    pub(crate) connections: [u64; 3],
    pub(crate) subscriptions: u64,
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    pub(crate) bad_requests: u64,
    pub(crate) closes: [u64; CODES.len()],
    pub(crate) lag_ms: u64,
}

/// Names of the connections counted in [`StreamReadings::connections`].
pub(crate) const CHANNELS: [&str; 3] = ["market", "user", "none"];

const fn slot(channel: Option<Channel>) -> usize {
    match channel {
        Some(Channel::Market) => 0,
        Some(Channel::User) => 1,
        None => 2,
    }
}

impl StreamStats {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            connections: Default::default(),
            subscriptions: AtomicU64::new(0),
            messages: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            bad_requests: AtomicU64::new(0),
            closes: Default::default(),
            lag_ms: (0..threads).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    pub(crate) fn joined(&self, channel: Option<Channel>) {
        self.connections[slot(channel)].fetch_add(1, Relaxed);
    }

    pub(crate) fn left(&self, channel: Option<Channel>) {
        self.connections[slot(channel)].fetch_sub(1, Relaxed);
    }

    /// Tokens, or keys, that are subscribed in addition.
    pub(crate) fn subscribed(&self, count: usize) {
        self.subscriptions.fetch_add(count as u64, Relaxed);
    }

    pub(crate) fn unsubscribed(&self, count: usize) {
        self.subscriptions.fetch_sub(count as u64, Relaxed);
    }

    /// Counts frames that were written to their end, and all bytes written.
    pub(crate) fn written(&self, messages: u64, bytes: u64) {
        self.messages.fetch_add(messages, Relaxed);
        self.bytes.fetch_add(bytes, Relaxed);
    }

    pub(crate) fn bad_request(&self) {
        self.bad_requests.fetch_add(1, Relaxed);
    }

    /// A connection ended with this code; `None` without a close frame.
    pub(crate) fn closed(&self, code: Option<u16>) {
        let name = code.map_or_else(|| "none".to_owned(), |code| code.to_string());
        let slot = CODES.iter().position(|it| *it == name);
        self.closes[slot.unwrap_or(CODES.len() - 1)].fetch_add(1, Relaxed);
    }

    pub(crate) fn lag(&self, thread: usize, millis: u64) {
        if let Some(lag) = self.lag_ms.get(thread) {
            lag.store(millis, Relaxed);
        }
    }

    pub(crate) fn read(&self) -> StreamReadings {
        let load = |counter: &AtomicU64| counter.load(Relaxed);
        StreamReadings {
            connections: self.connections.each_ref().map(load),
            subscriptions: load(&self.subscriptions),
            messages: load(&self.messages),
            bytes: load(&self.bytes),
            bad_requests: load(&self.bad_requests),
            closes: self.closes.each_ref().map(load),
            lag_ms: self.lag_ms.iter().map(load).max().unwrap_or_default(),
        }
    }
}
