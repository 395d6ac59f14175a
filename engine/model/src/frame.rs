//! A journal frame as readers see it: one stamped command, its events, its evidence.

use rkyv::{Archive, Deserialize, Serialize};

use crate::evidence::ActEvidence;
use crate::{Command, Event, OperatorNumber, Sequence, TimeNs};

/// Position of a frame in the journal files, from which its bytes and receipt can be read.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Debug,
    Archive,
    Serialize,
    Deserialize,
)]
pub struct FramePosition {
    /// Number of the segment.
    pub segment: u32,
    /// First byte of the frame's header in the segment file.
    pub offset: u32,
    /// Bytes of header and payload.
    pub length: u32,
}

/// What comes with a command beside its content. A frame carries all of it, so a replay has the
/// same stamp.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct CommandStamp {
    /// The time; one before the time of the state counts as the time of the state.
    pub time: TimeNs,
    /// The operator whose command it is (docs/verify/rules.md §27).
    pub operator: OperatorNumber,
    /// Orders that earlier frames of its group ended, traded with or visited, 0 to
    /// [`crate::limits::MAX_VISITED_ORDERS`]; a placed order visits as many orders less
    /// (docs/verify/rules.md §28). 0 outside of a group.
    pub touched: u16,
}

impl CommandStamp {
    /// A command at this time, of no operator and no group.
    #[must_use]
    pub const fn at(time: TimeNs) -> Self {
        Self {
            time,
            operator: OperatorNumber::NONE,
            touched: 0,
        }
    }
}

impl From<TimeNs> for CommandStamp {
    fn from(time: TimeNs) -> Self {
        Self::at(time)
    }
}

/// One decoded frame, borrowed from the decoder's buffer.
#[derive(Clone, Copy, Debug)]
pub struct FrameRef<'a> {
    /// Position in the journal.
    pub sequence: Sequence,
    /// Time at which it was applied.
    pub time: TimeNs,
    /// The operator whose command it is.
    pub operator: OperatorNumber,
    /// Orders touched in earlier frames of its group, as in [`CommandStamp::touched`].
    pub touched: u16,
    /// The command.
    pub command: &'a Command,
    /// The events of the command.
    pub events: &'a [Event],
    /// The bytes beside the command: its tail, the reason of its operator, its evidence. Empty for most commands.
    pub evidence: &'a [u8],
    /// Position in the journal files.
    pub place: FramePosition,
}

impl<'a> FrameRef<'a> {
    /// The reason of the operator, empty without one, and the evidence of the command alone.
    #[must_use]
    pub fn act(&self) -> ActEvidence<'a> {
        let own = self.command.evidence(self.evidence);
        match self.operator {
            OperatorNumber::NONE => ActEvidence { reason: "", own },
            _ => ActEvidence::decode(own).unwrap_or_default(),
        }
    }

    /// The stamp of its command.
    #[must_use]
    pub const fn stamp(&self) -> CommandStamp {
        CommandStamp {
            time: self.time,
            operator: self.operator,
            touched: self.touched,
        }
    }
}
