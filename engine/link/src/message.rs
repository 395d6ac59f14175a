//! The messages and their encoding.

#![allow(
    missing_docs,
    reason = "rkyv derives undocumented twins of documented variants"
)]

use foretell_model::codec::Stored;
use foretell_model::limits::MAX_EVIDENCE_BYTES;
use foretell_model::record::{self, Record};
use foretell_model::{
    AccountNumber, Command, Durability, FramePosition, OperatorNumber, Sequence, TimeNs, Verdict,
};
use rkyv::{Archive, Deserialize, Serialize};

use crate::layout::{self, MAX_ANSWER_BYTES, MAX_NAME_BYTES, put_record};
use crate::replace::Replace;
use crate::role::Role;
use crate::status::{Status, Timing};
use crate::too_long::{TooLong, bounded};
use crate::violation::Violation;

/// Identifies a gateway; its first message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hello<'a> {
    /// [`crate::PROTOCOL_VERSION`] of the sender.
    pub version: u32,
    /// The gateway's role.
    pub role: Role,
    /// Name for logs; at most [`MAX_NAME_BYTES`] bytes.
    pub name: &'a str,
}

/// A command to apply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Submit<'a> {
    /// Request id, echoed in the answer; unique among the connection's open requests.
    pub request: u64,
    /// The operator whose command it is; only a gateway of operators names one.
    pub operator: OperatorNumber,
    /// The command.
    pub command: Command,
    /// Evidence of the command; at most [`MAX_EVIDENCE_BYTES`], opaque here.
    pub evidence: &'a [u8],
}

/// Id of an owner's heartbeat chain; all zero = none.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Archive, Serialize, Deserialize)]
pub struct HeartbeatId(pub [u8; 16]);

impl HeartbeatId {
    /// No chain: starts one when sent.
    pub const NONE: Self = Self([0; 16]);
}

/// A heartbeat of an owner (docs/verify/rules.md §15).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub struct Heartbeat {
    /// Request id, echoed in the answer.
    pub request: u64,
    /// The owner.
    pub owner: AccountNumber,
    /// The chain to continue; [`HeartbeatId::NONE`] starts one.
    pub id: HeartbeatId,
}

/// Messages from a gateway.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Request<'a> {
    /// The greeting: exactly once, as the first message.
    Hello(Hello<'a>),
    /// Answered with `Reply` or `Busy`.
    Submit(Submit<'a>),
    /// Answered with a `Reply` for each command, or one `Busy`.
    Replace(Replace<'a>),
    /// Answered with `Heartbeat`, `Busy`, or `Reply` when the exchange rejects it.
    Heartbeat(Heartbeat),
    /// Answered with `Status`.
    Status {
        /// Request id, echoed in the answer.
        request: u64,
    },
    /// An operator requests a snapshot of everything durable at this moment. Answered with
    /// `Snapshot` once published, or with `Busy`.
    Snapshot {
        /// Request id, echoed in the answer.
        request: u64,
    },
}

/// The engine's greeting.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub struct Welcome {
    /// Number of this run's recovery; every answer of this connection carries it.
    pub epoch: u64,
    /// Hash that identifies the journal; trade ids derive from it.
    pub genesis: [u8; 32],
    /// Last durable command.
    pub durable: Sequence,
    /// The guarantee of an acknowledgement.
    pub durability: Durability,
    /// Engine time.
    pub time: TimeNs,
}

/// The answer to a command, sent once everything that it depends on is durable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub struct Reply {
    /// Id of the answered request.
    pub request: u64,
    /// The verdict.
    pub verdict: Verdict,
    /// Applied: the command's sequence. Otherwise: the sequence of the state that decided.
    pub sequence: Sequence,
    /// Applied: the last `Continue` of its work. Otherwise: `sequence`.
    pub last_sequence: Sequence,
    /// Number of this run's recovery.
    pub epoch: u64,
    /// Position of the command's frame in the journal; all zero when it has none.
    pub place: FramePosition,
    /// Time spent in each stage.
    pub timing: Timing,
}

/// Why a request was not processed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub enum BusyReason {
    /// The command ring is full.
    RingFull,
    /// The disk is nearly full; only cancels are accepted.
    DiskLow,
    /// The engine is stopping.
    Stopping,
}

/// The request was not processed and changed nothing; it may be resent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub struct Busy {
    /// Id of the answered request.
    pub request: u64,
    /// The reason.
    pub reason: BusyReason,
}

/// The result of a heartbeat.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub struct HeartbeatAnswer {
    /// Id of the answered request.
    pub request: u64,
    /// Whether the deadline was extended; if not, the id was wrong.
    pub accepted: bool,
    /// The current id; [`HeartbeatId::NONE`] when no chain runs.
    pub id: HeartbeatId,
}

/// The result of a snapshot request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub enum SnapshotResult {
    /// A snapshot of the state after `sequence` is published.
    Published {
        /// At least the last durable command at the time of the request.
        sequence: Sequence,
    },
    /// The write failed. The engine's log has the reason; the engine retries.
    Failed,
    /// This engine publishes no snapshots.
    Off,
}

/// The answer to a snapshot request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub struct SnapshotAnswer {
    /// Id of the answered request.
    pub request: u64,
    /// The result.
    pub result: SnapshotResult,
}

/// Why the engine ends a connection that is still writable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub enum Goodbye {
    /// The gateway has a different [`crate::PROTOCOL_VERSION`].
    Version,
    /// The limit on connections is reached.
    TooManyConnections,
    /// The engine is stopping; every accepted request has been answered.
    Stopping,
}

const _: () = assert!(
    Welcome::BYTES <= MAX_ANSWER_BYTES
        && Reply::BYTES <= MAX_ANSWER_BYTES
        && Busy::BYTES <= MAX_ANSWER_BYTES
        && HeartbeatAnswer::BYTES <= MAX_ANSWER_BYTES
        && SnapshotAnswer::BYTES <= MAX_ANSWER_BYTES
        && Goodbye::BYTES <= MAX_ANSWER_BYTES
);

/// Messages from the engine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The greeting: exactly once, as the first message.
    Welcome(Welcome),
    /// Answers `Submit`.
    Reply(Reply),
    /// Answers `Submit`, `Heartbeat` or `Snapshot`.
    Busy(Busy),
    /// Answers `Heartbeat`.
    Heartbeat(HeartbeatAnswer),
    /// Answers `Status`.
    Status(Box<Status>),
    /// Answers `Snapshot`.
    Snapshot(SnapshotAnswer),
    /// The last message of a connection; may come before the greeting.
    Goodbye(Goodbye),
}

impl<'a> Request<'a> {
    /// Appends the message to `out`.
    ///
    /// # Errors
    /// [`TooLong`] when name or evidence exceed their bound; `out` is unchanged then.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), TooLong> {
        match self {
            Self::Hello(hello) => {
                bounded("name", hello.name.len(), MAX_NAME_BYTES)?;
                layout::write(layout::HELLO, out, |out| {
                    hello.version.put(out);
                    hello.role.put(out);
                    out.extend_from_slice(hello.name.as_bytes());
                });
            }
            Self::Submit(submit) => {
                bounded("evidence", submit.evidence.len(), MAX_EVIDENCE_BYTES)?;
                layout::write(layout::SUBMIT, out, |out| {
                    submit.request.put(out);
                    submit.operator.put(out);
                    put_record(&submit.command, out);
                    out.extend_from_slice(submit.evidence);
                });
            }
            Self::Replace(replace) => {
                layout::write(layout::REPLACE, out, |out| replace.put(out));
            }
            Self::Heartbeat(beat) => {
                layout::write(layout::HEARTBEAT, out, |out| put_record(beat, out));
            }
            Self::Status { request } => {
                layout::write(layout::STATUS, out, |out| request.put(out));
            }
            Self::Snapshot { request } => {
                layout::write(layout::SNAPSHOT, out, |out| request.put(out));
            }
        }
        Ok(())
    }

    pub(crate) fn decode(kind: u8, payload: &'a [u8]) -> Result<Self, Violation> {
        let request = match kind {
            layout::HELLO => hello(payload).map(Self::Hello),
            layout::SUBMIT => submit(payload).map(Self::Submit),
            layout::REPLACE => Replace::decode(payload).map(Self::Replace),
            layout::HEARTBEAT => record::decode(payload).map(Self::Heartbeat),
            layout::STATUS => number(payload).map(|request| Self::Status { request }),
            layout::SNAPSHOT => number(payload).map(|request| Self::Snapshot { request }),
            _ => return Err(Violation::UnknownKind(kind)),
        };
        request.ok_or(Violation::Malformed(kind))
    }
}

impl Answer {
    /// Appends the message to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Welcome(it) => layout::write(layout::WELCOME, out, |out| put_record(it, out)),
            Self::Reply(it) => layout::write(layout::REPLY, out, |out| put_record(it, out)),
            Self::Busy(it) => layout::write(layout::BUSY, out, |out| put_record(it, out)),
            Self::Heartbeat(it) => {
                layout::write(layout::HEARTBEAT_ANSWER, out, |out| put_record(it, out));
            }
            Self::Status(it) => {
                layout::write(layout::STATUS_ANSWER, out, |out| put_record(&**it, out));
            }
            Self::Snapshot(it) => {
                layout::write(layout::SNAPSHOT_ANSWER, out, |out| put_record(it, out));
            }
            Self::Goodbye(it) => layout::write(layout::GOODBYE, out, |out| put_record(it, out)),
        }
    }

    pub(crate) fn decode(kind: u8, payload: &[u8]) -> Result<Self, Violation> {
        let answer = match kind {
            layout::WELCOME => record::decode(payload).map(Self::Welcome),
            layout::REPLY => record::decode(payload).map(Self::Reply),
            layout::BUSY => record::decode(payload).map(Self::Busy),
            layout::HEARTBEAT_ANSWER => record::decode(payload).map(Self::Heartbeat),
            layout::STATUS_ANSWER => {
                record::decode(payload).map(|status| Self::Status(Box::new(status)))
            }
            layout::SNAPSHOT_ANSWER => record::decode(payload).map(Self::Snapshot),
            layout::GOODBYE => record::decode(payload).map(Self::Goodbye),
            _ => return Err(Violation::UnknownKind(kind)),
        };
        answer.ok_or(Violation::Malformed(kind))
    }
}

fn number(mut payload: &[u8]) -> Option<u64> {
    let request = u64::take(&mut payload).ok();
    request.filter(|_| payload.is_empty())
}

fn hello(mut payload: &[u8]) -> Option<Hello<'_>> {
    let (version, role) = Stored::take(&mut payload).ok()?;
    (payload.len() <= MAX_NAME_BYTES).then_some(())?;
    Some(Hello {
        version,
        role,
        name: core::str::from_utf8(payload).ok()?,
    })
}

fn submit(mut payload: &[u8]) -> Option<Submit<'_>> {
    let (request, operator) = Stored::take(&mut payload).ok()?;
    let (command, evidence) = payload.split_at_checked(Command::BYTES)?;
    Some(Submit {
        request,
        operator,
        command: record::decode(command)?,
        evidence,
    })
}
