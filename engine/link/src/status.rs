//! Status of the engine.

#![allow(
    missing_docs,
    reason = "rkyv derives undocumented twins of documented variants"
)]

use std::time::Duration;

use foretell_model::{Durability, Sequence, SystemMode, TimeNs};
use rkyv::{Archive, Deserialize, Serialize};

/// Engine time and the wall clock of its host agree within this: a larger gap is a step of the clock.
pub const CLOCK_TOLERANCE: Duration = Duration::from_secs(2);

/// What engine time does about the wall clock of the leading host (docs/internals/decisions/0009).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Archive, Serialize, Deserialize)]
pub enum ClockState {
    /// It follows the wall clock.
    #[default]
    Right,
    /// The wall clock was stepped: engine time goes on without it until it stands.
    Stepped,
    /// The wall clock stands elsewhere, and no majority of the cluster's hosts agrees with it, or none is heard: engine time
    /// goes on without it.
    Unconfirmed,
    /// The wall clock is further ahead than engine time follows by itself: it goes on without it until a restart.
    FarBehind,
    /// Engine time is ahead of the wall clock, and stands still until that reaches it.
    Ahead,
}

impl ClockState {
    /// Every state, by code.
    pub const ALL: [Self; 5] = [
        Self::Right,
        Self::Stepped,
        Self::Unconfirmed,
        Self::FarBehind,
        Self::Ahead,
    ];

    /// The name in logs and answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Stepped => "stepped",
            Self::Unconfirmed => "unconfirmed",
            Self::FarBehind => "far behind",
            Self::Ahead => "ahead",
        }
    }

    /// What an operator does about it; `None` = nothing is wrong.
    #[must_use]
    pub const fn way_out(self) -> Option<&'static str> {
        match self {
            Self::Right => None,
            Self::Stepped => {
                Some("the wall clock was stepped: wait until it stands, or set it right")
            }
            Self::Unconfirmed => Some(
                "no majority of the hosts agrees with the clock of this one: set it right; if it is right, start the other \
                 hosts, or restart this one",
            ),
            Self::FarBehind => Some(
                "the wall clock is over 7 days ahead of engine time: set it right; if it is right, restart once with \
                 `up --accept-clock-jump`",
            ),
            Self::Ahead => Some(
                "engine time stands still until the wall clock reaches it: set the clock if it is late, else wait",
            ),
        }
    }
}

/// A stage of a command in the engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// From readable bytes to the push of the command into the ring.
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
    /// Number of stages.
    pub const COUNT: usize = 6;
    /// Every stage, in processing order.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Ingress,
        Self::RingWait,
        Self::Apply,
        Self::Encode,
        Self::SyncWait,
        Self::Reply,
    ];

    /// The name in metrics.
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

/// Time of one command in each stage, in nanoseconds. [`u32::MAX`] (4.3 s) stands for longer times
/// too. A command with continued work counts its first part.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Archive, Serialize, Deserialize)]
pub struct Timing {
    /// [`Stage::RingWait`].
    pub ring_wait: u32,
    /// [`Stage::Apply`].
    pub apply: u32,
    /// [`Stage::Encode`]; 0 when nothing was staged.
    pub encode: u32,
    /// [`Stage::SyncWait`].
    pub sync_wait: u32,
}

impl Timing {
    /// Clips a duration to the range of [`Timing`].
    #[must_use]
    pub fn clip(nanoseconds: u64) -> u32 {
        u32::try_from(nanoseconds).unwrap_or(u32::MAX)
    }
}

/// Durations of one stage, in nanoseconds (3 significant digits).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Archive, Serialize, Deserialize)]
pub struct StageSummary {
    /// Number of measurements.
    pub count: u64,
    /// Median.
    pub p50: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p999: u64,
    /// Maximum.
    pub max: u64,
}

/// Durations of one stage since the process started, by buckets.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Archive, Serialize, Deserialize)]
pub struct StageBuckets {
    /// Sum of all durations, in nanoseconds.
    pub sum: u64,
    /// Measurements above the bound before and up to each of [`Self::BOUNDS`]; the last ones are longer.
    pub counts: [u64; StageBuckets::BOUNDS.len() + 1],
}

impl StageBuckets {
    /// Upper bounds in nanoseconds: from a microsecond to eight seconds, doubling.
    pub const BOUNDS: [u64; 24] = {
        let mut bounds = [1_000; 24];
        let mut number = 1;
        while number < bounds.len() {
            bounds[number] = 2 * bounds[number - 1];
            number += 1;
        }
        bounds
    };

    /// Adds measurements of one duration in nanoseconds.
    pub fn add(&mut self, nanoseconds: u64, count: u64) {
        let bucket = Self::BOUNDS.partition_point(|bound| *bound < nanoseconds);
        self.counts[bucket] += count;
        self.sum = self.sum.saturating_add(nanoseconds.saturating_mul(count));
    }

    /// Number of measurements.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// Progress of the publisher.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub struct SnapshotStatus {
    /// Whether this engine publishes snapshots; if not, all other fields are 0.
    pub enabled: bool,
    /// The last command that the publisher re-executed and folded; `durable` minus this is its lag.
    pub folded: Sequence,
    /// Last command of the newest snapshot; 0 = no snapshot.
    pub newest: Sequence,
    /// Engine time of that command.
    pub newest_time: TimeNs,
    /// The last attempt to write a snapshot failed; the engine retries.
    pub unwritten: bool,
    /// The command at which the publisher's view failed. No snapshots follow until an engine starts
    /// whose view can fold it. 0 = no failure.
    pub view_stopped: Sequence,
}

/// Status of the engine process at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub struct Status {
    /// The request this answers.
    pub request: u64,
    /// Last applied command.
    pub sequence: Sequence,
    /// Last durable command, at this level of durability.
    pub durable: Sequence,
    /// The guarantee of an acknowledgement.
    pub durability: Durability,
    /// Number of this run's recovery.
    pub epoch: u64,
    /// Engine time.
    pub time: TimeNs,
    /// The system mode.
    pub mode: SystemMode,
    /// The disk is nearly full: new orders are rejected.
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
    /// Capacity of the command ring.
    pub ring_capacity: u32,
    /// Submits answered with Busy because the ring was full, since the engine started.
    pub busy: u64,
    /// Times that engine time deviated more than 2 s from wall time
    /// (docs/internals/decisions/0009).
    pub clock_alarms: u64,
    /// What engine time does about the wall clock.
    pub clock: ClockState,
    /// The publisher.
    pub snapshots: SnapshotStatus,
    /// Durations since the engine started, in the order of [`Stage::ALL`].
    pub stages: [StageSummary; Stage::COUNT],
    /// Durations of the last whole second, in the same order.
    pub seconds: [StageSummary; Stage::COUNT],
    /// Durations since the engine started by buckets, in the same order.
    pub buckets: [StageBuckets; Stage::COUNT],
}

impl Status {
    /// Durable commands that the publisher has not re-executed yet; 0 without a publisher.
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
