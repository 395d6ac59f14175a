//! The trait of a replicated log.

use std::fmt::Debug;
use std::sync::Arc;

use thiserror::Error;

/// Numbers of the first and the last message. Of an empty log `first` is `last + 1`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// The first message that the log still has.
    pub first: u64,
    /// The last message.
    pub last: u64,
}

/// A message to publish.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Publish {
    /// The log accepts the message only if its last message has this number.
    pub expected: u64,
    /// If set, the log accepts the message only if its last message also has this id. Needed unless
    /// the publisher knows that the message `expected` is its own or one it has applied: when several
    /// messages are in flight and one of another host takes a number, a later one would fit again.
    pub after: Option<String>,
    /// A repeat with this id is recognised and not appended again.
    pub id: String,
    /// The content with its signature.
    pub payload: Vec<u8>,
}

/// The answer to a [`Publish`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// This request appended it, as the message with this number.
    Accepted(u64),
    /// This request did not append it: the log's last message is another one, or a message has its id. An earlier
    /// request may have.
    NotAppended,
    /// No answer: it may have been accepted, or may still be.
    Unknown,
}

/// Why the log gave no answer.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum LogError {
    /// No server answered in time.
    #[error("the replicated log is unreachable: {0}")]
    Unreachable(String),
    /// It is not the log of a cluster, or its settings can lose messages.
    #[error("{0}")]
    Unsafe(String),
}

/// Called by a log when a message or an outcome has arrived.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// Term and count of a heartbeat; `None` of bytes that no host of the cluster signed as one.
pub type BeatAge = Arc<dyn Fn(&[u8]) -> Option<(u64, u64)> + Send + Sync>;

/// Host, life and count of a host's record; `None` of bytes that no host of the cluster signed as one.
pub type RecordAge = Arc<dyn Fn(&[u8]) -> Option<(String, u64, u64)> + Send + Sync>;

/// A log of messages that several hosts share, and that strangers can write to: it carries payloads, and
/// [`crate::SignedLog`] says which of them count.
///
/// Methods that return a result wait for a server, at most about a second. The others return at
/// once.
pub trait ReplicatedLog: Debug + Send {
    /// Sets the function that is called from another thread when [`Self::next`] or
    /// [`Self::outcome`] may return more.
    fn set_waker(&mut self, wake: Wake);

    /// The numbers of its messages.
    ///
    /// # Errors
    /// [`LogError`].
    fn bounds(&mut self) -> Result<Bounds, LogError>;

    /// The message with this number; `None` when the log does not have it (yet, or any more).
    ///
    /// # Errors
    /// [`LogError`].
    fn read(&mut self, number: u64) -> Result<Option<Vec<u8>>, LogError>;

    /// The message after `after` if it has arrived. A first call, or one for a number before the last, begins to
    /// receive there.
    ///
    /// # Errors
    /// [`LogError`]; receiving goes on by itself.
    fn next(&mut self, after: u64) -> Result<Option<Vec<u8>>, LogError>;

    /// Sends a message. Messages are sent in the order of the calls.
    fn publish(&mut self, publish: Publish);

    /// An outcome that has arrived, with the id of its message. Every message gets at least one.
    fn outcome(&mut self) -> Option<(String, Outcome)>;

    /// Replaces the heartbeat of the cluster. It may be lost, unless it is the `last` one of this connection.
    fn beat(&mut self, payload: Vec<u8>, last: bool);

    /// Sets how [`Self::beats`] finds the newest heartbeat.
    fn set_beat_age(&mut self, age: BeatAge);

    /// The stored heartbeat, whatever it is, and the newest that has arrived since the last call. A stranger hides none: it
    /// is kept although it is replaced at once, and whatever else arrives.
    ///
    /// # Errors
    /// [`LogError`].
    fn beats(&mut self) -> Result<Vec<Vec<u8>>, LogError>;

    /// Replaces the record of a host. It may be lost.
    fn announce(&mut self, host: &str, payload: Vec<u8>);

    /// Sets how [`Self::announced`] tells the records apart.
    fn set_record_age(&mut self, age: RecordAge);

    /// The newest record of each process that has arrived since the last call. A stranger hides none: what else arrives
    /// replaces none.
    fn announced(&mut self) -> Vec<Vec<u8>>;

    /// The records of all hosts.
    ///
    /// # Errors
    /// [`LogError`].
    fn hosts(&mut self) -> Result<Vec<Vec<u8>>, LogError>;
}

/// Connects to the replicated log.
pub trait ConnectLog: Debug + Send + Sync {
    /// A connection that is made when a server is there.
    ///
    /// # Errors
    /// The settings cannot be used.
    fn connect(&self) -> Result<Box<dyn ReplicatedLog>, LogError>;
}
