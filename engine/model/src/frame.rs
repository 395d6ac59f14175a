//! A journal frame as readers see it: one stamped command, its events, its evidence.

use rkyv::{Archive, Deserialize, Serialize};

use crate::{Command, Event, Sequence, TimeNs};

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

/// One decoded frame, borrowed from the decoder's buffer.
#[derive(Clone, Copy, Debug)]
pub struct FrameRef<'a> {
    /// Position in the journal.
    pub sequence: Sequence,
    /// Time at which it was applied.
    pub time: TimeNs,
    /// The command.
    pub command: &'a Command,
    /// The events of the command.
    pub events: &'a [Event],
    /// Evidence of the command; empty for most commands.
    pub evidence: &'a [u8],
    /// Position in the journal files.
    pub place: FramePosition,
}
