//! The trait of a replicated log.

use std::fmt::Debug;
use std::sync::Arc;

use thiserror::Error;

use crate::records::{Heartbeat, HostRecord};

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
    /// The content.
    pub bytes: Vec<u8>,
}

/// A message of the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// The id it was published with. It names the host, so it tells whose message it is: two hosts
    /// that take over at once publish equal bytes.
    pub id: String,
    /// The content.
    pub bytes: Vec<u8>,
}

/// The answer to a [`Publish`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It is the message with this number, by this request or an earlier one with its id.
    Accepted(u64),
    /// The log's last message is another one.
    WrongLast,
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

/// A log of messages that several hosts share.
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
    fn read(&mut self, number: u64) -> Result<Option<Message>, LogError>;

    /// The message after `after` if it has arrived. A first call, or one that does not continue the
    /// last, begins to receive there.
    ///
    /// # Errors
    /// [`LogError`]; receiving goes on by itself.
    fn next(&mut self, after: u64) -> Result<Option<Vec<u8>>, LogError>;

    /// Sends a message. Messages are sent in the order of the calls.
    fn publish(&mut self, publish: Publish);

    /// An outcome that has arrived, with the expected number of its message. Every message gets at
    /// least one.
    fn outcome(&mut self) -> Option<(u64, Outcome)>;

    /// Replaces the heartbeat of the cluster. It may be lost.
    fn beat(&mut self, beat: &Heartbeat);

    /// The newest heartbeat.
    ///
    /// # Errors
    /// [`LogError`].
    fn last_beat(&mut self) -> Result<Option<Heartbeat>, LogError>;

    /// Replaces the record of a host. It may be lost.
    fn announce(&mut self, record: &HostRecord);

    /// The records of all hosts.
    ///
    /// # Errors
    /// [`LogError`].
    fn hosts(&mut self) -> Result<Vec<HostRecord>, LogError>;
}

/// The id of a message of a host, which its attempts begin with.
#[must_use]
pub fn message_id(term: u64, number: u64, host: &str) -> String {
    format!("{term}-{number}-{host}")
}

/// The id of an attempt after one that the log certainly refused. A server may remember the id of a
/// refused message and would take the repeat for a duplicate.
#[must_use]
pub(crate) fn attempt_id(id: &str, attempt: u32) -> String {
    match attempt {
        0 => id.to_owned(),
        attempt => format!("{id}~{attempt}"),
    }
}

/// Whether a message was published by an attempt with this id.
#[must_use]
pub(crate) fn is_attempt(found: &str, id: &str) -> bool {
    // No host name has a tilde.
    found
        .strip_prefix(id)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('~'))
}
