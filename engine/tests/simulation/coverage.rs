//! How often each fault and each interesting situation came up: a run in which one never does
//! proves less than it says.

use std::collections::BTreeMap;
use std::fmt;

/// The situations, and the list of all of them that the coverage test goes through.
macro_rules! situations {
    ($($situation:ident,)*) => {
        /// What is counted.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub(super) enum Situation {
            $($situation,)*
        }

        const ALL: &[Situation] = &[$(Situation::$situation,)*];
    };
}

situations! {
    // Ends of a life of the engine.
    KilledBetweenSteps,
    KilledInsideAStep,
    PowerCutBetweenSteps,
    PowerCutInsideAStep,
    CrashBetweenWriteAndSync,
    CrashInRecovery,
    StoppedInOrder,
    EndedByIoError,
    // What a crash left.
    UnsyncedPageLost,
    UnsyncedPageTorn,
    NameLost,
    TailSetAside,
    BatchesWrittenAnew,
    UndurableCommandLost,
    AcknowledgedLostAtProcessDurability,
    // Faults of the disk while it serves.
    WriteFailed,
    WriteShort,
    WriteInterrupted,
    SyncFailed,
    SyncSlow,
    DiskFull,
    NewOrderRefusedDiskLow,
    StartRefusedAfterIoError,
    StartedAfterIoError,
    // Rot.
    RotBelowWatermarkRefused,
    RotInOldSegmentFoundByScan,
    RotInWatermarkSlot,
    RotInSnapshot,
    RotBehindTheEnd,
    // Gateways.
    ConnectionDropped,
    ConnectionDoubled,
    ReadInPieces,
    ResentAfterDrop,
    ResentAfterAnswer,
    RepeatedAnswered,
    BusyAnswered,
    // Clock.
    WallClockJumpedAhead,
    WallClockJumpedBack,
    HeartbeatMissed,
    // The rest of the machine.
    SegmentFollowed,
    WatermarkWritten,
    SnapshotPublished,
    SnapshotFailed,
    RecoveredFromImage,
    ImageBeyondJournalRemoved,
    FollowerMetNewEpoch,
    FollowerBeganAtImage,
    FollowerReadDuringSync,
    MatcherAheadOfDisk,
}

/// The counts.
#[derive(Clone, Default, Debug)]
pub(super) struct Coverage(BTreeMap<Situation, u64>);

impl Coverage {
    pub(super) fn count(&mut self, situation: Situation) {
        *self.0.entry(situation).or_default() += 1;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (situation, count) in &other.0 {
            *self.0.entry(*situation).or_default() += count;
        }
    }

    /// What never came up.
    pub(super) fn missing(&self) -> Vec<Situation> {
        let seen = |situation: &Situation| self.0.contains_key(situation);
        ALL.iter().copied().filter(|it| !seen(it)).collect()
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for situation in ALL {
            let count = self.0.get(situation).copied().unwrap_or(0);
            writeln!(f, "{count:>10}  {situation:?}")?;
        }
        Ok(())
    }
}
