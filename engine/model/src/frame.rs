//! A journal frame as its readers see it: one stamped command, the events it caused, its evidence.

use rkyv::{Archive, Deserialize, Serialize};

use crate::{Command, Event, Sequence, TimeNs};

/// Where a frame stands in the journal: enough to show its bytes, and so its receipt.
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
pub struct FramePlace {
    /// Number of the segment.
    pub segment: u32,
    /// First byte of the frame's header in the segment file.
    pub offset: u32,
    /// Bytes of header and payload.
    pub length: u32,
}

/// One frame, borrowed from wherever it was decoded.
#[derive(Clone, Copy, Debug)]
pub struct FrameRef<'a> {
    /// Position in the journal.
    pub sequence: Sequence,
    /// When it was applied.
    pub time: TimeNs,
    /// What was asked.
    pub command: &'a Command,
    /// What happened.
    pub events: &'a [Event],
    /// What proves it; empty for most commands.
    pub evidence: &'a [u8],
    /// Where it stands.
    pub place: FramePlace,
}
