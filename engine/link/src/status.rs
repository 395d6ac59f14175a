//! What the engine tells about itself.

#![allow(
    missing_docs,
    reason = "rkyv derives undocumented twins of documented variants"
)]

use foretell_model::{Sequence, SystemMode, TimeNs};
use rkyv::{Archive, Deserialize, Serialize};

/// What an acknowledgement is worth (design 5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub enum Durability {
    /// After `fdatasync`: survives a power cut.
    Disk,
    /// After the write: survives the death of the process.
    Process,
    /// At once: benchmarks only.
    None,
}

impl Durability {
    /// The word of configuration and health pages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Disk => "disk",
            Self::Process => "process",
            Self::None => "none",
        }
    }
}

/// A stage of a command's way through the engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// From the bytes being readable to the push into the ring, a command.
    Ingress,
    /// In the ring.
    RingWait,
    /// In the core.
    Apply,
    /// Into the journal's staging buffer.
    Encode,
    /// From staged to durable.
    SyncWait,
    /// From durable to written to the socket.
    Reply,
}

impl Stage {
    /// How many there are.
    pub const COUNT: usize = 6;
    /// Every stage, in the order a command passes them.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Ingress,
        Self::RingWait,
        Self::Apply,
        Self::Encode,
        Self::SyncWait,
        Self::Reply,
    ];

    /// Its name in metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ingress => "ingress",
            Self::RingWait => "ring_wait",
            Self::Apply => "apply",
            Self::Encode => "encode",
            Self::SyncWait => "sync_wait",
            Self::Reply => "reply",
        }
    }
}

/// How long one command took in the engine, in nanoseconds; [`u32::MAX`] (4.3 s) is also longer. A
/// command that works in parts counts its first part.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Archive, Serialize, Deserialize)]
pub struct Timing {
    /// As [`Stage::RingWait`].
    pub ring_wait: u32,
    /// As [`Stage::Apply`].
    pub apply: u32,
    /// As [`Stage::Encode`]; 0 when nothing was staged.
    pub encode: u32,
    /// As [`Stage::SyncWait`].
    pub sync_wait: u32,
}

impl Timing {
    /// A duration as it stands here.
    #[must_use]
    pub fn clip(nanoseconds: u64) -> u32 {
        u32::try_from(nanoseconds).unwrap_or(u32::MAX)
    }
}

/// Durations of one stage, in nanoseconds (3 significant digits).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Archive, Serialize, Deserialize)]
pub struct StageSummary {
    /// How many were measured.
    pub count: u64,
    /// Half took at most this.
    pub p50: u64,
    /// 99% took at most this.
    pub p99: u64,
    /// 99.9% took at most this.
    pub p999: u64,
    /// The longest.
    pub max: u64,
}

/// How far the publisher has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub struct SnapshotStatus {
    /// Whether this engine publishes; if not, all else is 0.
    pub enabled: bool,
    /// The last command it has executed once more and folded; it lags behind `durable` by so many.
    pub folded: Sequence,
    /// The newest image is right after this command; 0 = there is none.
    pub image: Sequence,
    /// Engine time of that command.
    pub image_time: TimeNs,
    /// The last try to write a snapshot failed; it is tried again.
    pub unwritten: bool,
    /// The command that the publisher's view could not follow: from there on there are no snapshots,
    /// until an engine starts whose view can. 0 = it follows.
    pub view_stopped: Sequence,
}

/// Facts of the engine process at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub struct Status {
    /// The request this answers.
    pub request: u64,
    /// Last applied command.
    pub sequence: Sequence,
    /// Last command that cannot be lost at this level of durability.
    pub durable: Sequence,
    /// What an acknowledgement is worth.
    pub durability: Durability,
    /// Number of this run's recovery.
    pub epoch: u64,
    /// Engine time.
    pub time: TimeNs,
    /// What the system accepts.
    pub mode: SystemMode,
    /// The disk is nearly full: new orders are refused.
    pub disk_low: bool,
    /// Orders in all books.
    pub live_orders: u64,
    /// Registered markets.
    pub markets: u32,
    /// Opened accounts.
    pub accounts: u32,
    /// Open gateway connections.
    pub connections: u32,
    /// Commands waiting for the matcher.
    pub ring_used: u32,
    /// Commands that fit.
    pub ring_capacity: u32,
    /// Submits answered with Busy since the engine started.
    pub busy: u64,
    /// Times engine time was seen more than 2 s from wall time (design 4).
    pub clock_alarms: u64,
    /// The publisher.
    pub snapshots: SnapshotStatus,
    /// Durations since the engine started, in the order of [`Stage::ALL`].
    pub stages: [StageSummary; Stage::COUNT],
    /// Those of the last whole second.
    pub seconds: [StageSummary; Stage::COUNT],
}

impl Status {
    /// Durable commands that the publisher has not executed once more; 0 without a publisher.
    #[must_use]
    pub const fn publisher_lag(&self) -> u64 {
        if !self.snapshots.enabled {
            return 0;
        }
        self.durable.0.saturating_sub(self.snapshots.folded.0)
    }

    /// The durations of one stage.
    #[must_use]
    pub const fn stage(&self, stage: Stage) -> &StageSummary {
        &self.stages[stage as usize]
    }
}
