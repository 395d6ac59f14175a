//! A frame: one stamped command, the events it caused, and its evidence.
//!
//! ```text
//!  0 length u32 | 4 kind u16 | 6 version u16 | 8 sequence u64 | 16 time u64 (ns)
//! 24 command record, 128 bytes
//! 152 number of events u32 | 156 operator u16 | 158 touched u16 | 160 event records, 48 bytes each
//!  e length of tail and evidence u32 | e+4 tail, evidence | zero bytes up to a multiple of 8
//! ```
//! The length counts the whole frame, header and trailing zeros included.

use foretell_model::limits::{
    EVENT_RECORD_BYTES, MAX_EVENTS, MAX_EVIDENCE_BYTES, MAX_FRAME_BYTES, MAX_GROUP_EVIDENCE_BYTES,
    MAX_REPLACE, MAX_VISITED_ORDERS,
};
use foretell_model::record::{self, Record, RecordError, Vocabulary};
use foretell_model::{
    Command, CommandStamp, Event, FramePosition, FrameRef, OperatorNumber, Sequence, TimeNs,
};

use crate::bytes::{all_zero, put_u16, put_u32, put_u64, to_u32, to_usize, u16_at, u32_at, u64_at};

/// The kind of a frame that holds a command; the only one.
pub const KIND_COMMAND: u16 = 1;
/// The frame version.
pub const VERSION: u16 = 1;
/// Bytes of a frame's header.
pub const HEADER_BYTES: usize = 24;
/// Bytes of a command in a frame: its record, then zeros.
pub const COMMAND_BYTES: usize = 128;
/// Bytes of an event in a frame: its record.
pub const EVENT_BYTES: usize = EVENT_RECORD_BYTES;
const _: () = assert!(Command::BYTES <= COMMAND_BYTES && Event::BYTES == EVENT_BYTES);
/// Offset of the first event record of a frame.
const EVENTS_AT: usize = HEADER_BYTES + COMMAND_BYTES + 8;
/// Offset of the operator's number.
const OPERATOR_AT: usize = EVENTS_AT - 4;
/// Offset of the number of orders that earlier frames of the group touched.
const TOUCHED_AT: usize = EVENTS_AT - 2;
/// Alignment of frames.
const ALIGN: usize = 8;
/// The shortest frame: no events, no evidence.
pub(crate) const MIN_BYTES: usize = length(0, 0);
/// The longest frame a command can cause.
pub const MAX_BYTES: usize = length(MAX_EVENTS, MAX_EVIDENCE_BYTES);
const _: () = assert!(MAX_BYTES <= MAX_FRAME_BYTES);
// A replace fits where the largest frame fits, so its frames share a batch: it touches as many orders
// as one command, each may freeze a group of quotes, and each of its orders has at most three other events
// and one `Continue`.
const _: () = assert!(
    length(2 * MAX_VISITED_ORDERS, 0)
        + MAX_REPLACE * (length(3, 0) + length(3, MAX_GROUP_EVIDENCE_BYTES) + length(1, 0))
        <= MAX_BYTES
);

/// Bytes of a frame with this many events and this much evidence.
#[must_use]
pub const fn length(events: usize, evidence: usize) -> usize {
    (EVENTS_AT + events * EVENT_BYTES + 4 + evidence).next_multiple_of(ALIGN)
}

/// Writes a frame to the start of `out` and returns its length.
///
/// # Panics
/// When there are more events or more evidence than `model::limits` allows, or `out` is shorter
/// than [`length`]: the engine checks both before it takes a command.
#[inline]
pub fn encode(
    out: &mut [u8],
    sequence: Sequence,
    stamp: impl Into<CommandStamp>,
    command: &Command,
    events: &[Event],
    evidence: &[u8],
) -> usize {
    assert!(
        events.len() <= MAX_EVENTS && evidence.len() <= MAX_EVIDENCE_BYTES,
        "a frame within the limits"
    );
    let stamp = stamp.into();
    let total = length(events.len(), evidence.len());
    let out = &mut out[..total];
    put_u32(out, 0, to_u32(total));
    put_u16(out, 4, KIND_COMMAND);
    put_u16(out, 6, VERSION);
    put_u64(out, 8, sequence.0);
    put_u64(out, 16, stamp.time.0);
    let (head, rest) = out.split_at_mut(EVENTS_AT);
    put_command(
        command,
        &mut head[HEADER_BYTES..HEADER_BYTES + COMMAND_BYTES],
    );
    put_u32(head, EVENTS_AT - 8, to_u32(events.len()));
    put_u16(head, OPERATOR_AT, stamp.operator.0);
    put_u16(head, TOUCHED_AT, stamp.touched);
    let (records, rest) = rest.split_at_mut(events.len() * EVENT_BYTES);
    for (event, record) in events.iter().zip(records.chunks_exact_mut(EVENT_BYTES)) {
        record::encode(event, record);
    }
    put_u32(rest, 0, to_u32(evidence.len()));
    rest[4..4 + evidence.len()].copy_from_slice(evidence);
    rest[4 + evidence.len()..].fill(0);
    total
}

/// Writes a command as in a frame.
pub(crate) fn put_command(command: &Command, place: &mut [u8]) {
    record::encode(command, place);
    place[Command::BYTES..].fill(0);
}

/// Why bytes are not a frame. With a valid checksum this is no torn write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FrameError {
    /// The lengths do not add up, or exceed the bytes.
    #[error("the lengths in a frame are inconsistent")]
    Length,
    /// A kind or version of a newer format.
    #[error("frame kind {kind}, version {version} is not supported by this build")]
    Unknown {
        /// The kind.
        kind: u16,
        /// The version.
        version: u16,
    },
    /// Padding that is not zero.
    #[error("non-zero padding in a frame")]
    Padding,
    /// A record cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// The bytes of one frame with valid lengths; its records are not decoded yet.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    bytes: &'a [u8],
    place: FramePosition,
}

/// Buffers for a decoded frame; reused, so that decoding allocates nothing once they have grown.
#[derive(Debug)]
pub struct Scratch {
    command: Command,
    events: Vec<Event>,
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            command: Command::AdvanceTime,
            events: Vec::with_capacity(MAX_EVENTS),
        }
    }
}

impl<'a> Frame<'a> {
    /// Parses the frame at the start of `bytes`, which is at `offset` of segment `segment`.
    ///
    /// # Errors
    /// As listed in [`FrameError`], except for records, which only [`Frame::decode`] reads.
    pub fn parse(bytes: &'a [u8], segment: u32, offset: u32) -> Result<Self, FrameError> {
        if bytes.len() < MIN_BYTES {
            return Err(FrameError::Length);
        }
        let (kind, version) = (u16_at(bytes, 4), u16_at(bytes, 6));
        if (kind, version) != (KIND_COMMAND, VERSION) {
            return Err(FrameError::Unknown { kind, version });
        }
        let total = u32_at(bytes, 0);
        let bytes = bytes.get(..to_usize(total)).ok_or(FrameError::Length)?;
        if bytes.len() < MIN_BYTES {
            return Err(FrameError::Length);
        }
        let events = to_usize(u32_at(bytes, EVENTS_AT - 8));
        if events > MAX_EVENTS || bytes.len() < length(events, 0) {
            return Err(FrameError::Length);
        }
        let evidence_at = EVENTS_AT + events * EVENT_BYTES;
        let evidence = to_usize(u32_at(bytes, evidence_at));
        if evidence > MAX_EVIDENCE_BYTES || bytes.len() != length(events, evidence) {
            return Err(FrameError::Length);
        }
        if !all_zero(&bytes[evidence_at + 4 + evidence..]) {
            return Err(FrameError::Padding);
        }
        Ok(Self {
            bytes,
            place: FramePosition {
                segment,
                offset,
                length: total,
            },
        })
    }

    /// Position in the journal.
    #[must_use]
    pub fn sequence(&self) -> Sequence {
        Sequence(u64_at(self.bytes, 8))
    }

    /// The time it was applied.
    #[must_use]
    pub fn time(&self) -> TimeNs {
        TimeNs(u64_at(self.bytes, 16))
    }

    /// The operator whose command it is.
    #[must_use]
    pub fn operator(&self) -> OperatorNumber {
        OperatorNumber(u16_at(self.bytes, OPERATOR_AT))
    }

    /// Time, operator, and orders that earlier frames of its group touched.
    #[must_use]
    pub fn stamp(&self) -> CommandStamp {
        CommandStamp {
            time: self.time(),
            operator: self.operator(),
            touched: u16_at(self.bytes, TOUCHED_AT),
        }
    }

    /// Its place in the journal.
    #[must_use]
    pub const fn place(&self) -> FramePosition {
        self.place
    }

    /// All its bytes, header included.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Its receipt.
    #[must_use]
    pub fn receipt(&self) -> [u8; 32] {
        crate::chain::receipt(self.bytes)
    }

    /// Its evidence.
    #[must_use]
    pub fn evidence(&self) -> &'a [u8] {
        let at = EVENTS_AT + self.event_records().len() * EVENT_BYTES;
        &self.bytes[at + 4..at + 4 + to_usize(u32_at(self.bytes, at))]
    }

    fn event_records(&self) -> &'a [[u8; EVENT_BYTES]] {
        let events = to_usize(u32_at(self.bytes, EVENTS_AT - 8));
        let (records, _) = self.bytes[EVENTS_AT..EVENTS_AT + events * EVENT_BYTES].as_chunks();
        records
    }

    /// Decodes command and events into `scratch` and returns the whole frame.
    pub fn decode<'s>(&self, scratch: &'s mut Scratch) -> Result<FrameRef<'s>, FrameError>
    where
        'a: 's,
    {
        scratch.events.clear();
        scratch.command = Command::read_in(self.command_record())?;
        self.append_events(&mut scratch.events)?;
        Ok(FrameRef {
            sequence: self.sequence(),
            time: self.time(),
            operator: self.operator(),
            touched: self.stamp().touched,
            command: &scratch.command,
            events: &scratch.events,
            evidence: self.evidence(),
            place: self.place,
        })
    }

    /// Decodes the command and its events, and appends them to `commands` and `events`.
    ///
    /// # Errors
    /// A record that cannot be read. Items decoded before it stay in the vectors.
    #[inline]
    pub fn decode_append(
        &self,
        commands: &mut Vec<Command>,
        events: &mut Vec<Event>,
    ) -> Result<(), FrameError> {
        commands.push(Command::read_in(self.command_record())?);
        self.append_events(events)
    }

    /// Whether its command and events, as read, are written with exactly its bytes: absent values are zero.
    #[must_use]
    pub fn is_canonical(&self, command: &Command, events: &[Event]) -> bool {
        let mut events = events.iter().zip(self.event_records());
        record::is_canonical(command, self.command_record())
            && events.all(|(event, written)| record::is_canonical(event, written))
    }

    fn append_events(&self, events: &mut Vec<Event>) -> Result<(), FrameError> {
        for record in self.event_records() {
            events.push(Event::read_in(record)?);
        }
        Ok(())
    }

    pub(crate) fn command_record(&self) -> &'a [u8; COMMAND_BYTES] {
        self.bytes[HEADER_BYTES..]
            .first_chunk()
            .expect("parse saw a command record")
    }
}
