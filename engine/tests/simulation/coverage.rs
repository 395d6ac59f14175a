//! Counts faults and situations: a run in which one never occurs proves less than it claims.

use std::collections::BTreeMap;
use std::fmt;

/// Defines the situations and the list that the coverage test iterates.
macro_rules! situations {
    ($($situation:ident,)*) => {
        /// A counted situation.
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
    // Effects of a crash.
    UnsyncedPageLost,
    UnsyncedPageTorn,
    NameLost,
    TailSetAside,
    BatchesWrittenAnew,
    UndurableCommandLost,
    AcknowledgedLostAtProcessDurability,
    // Faults of the disk while the engine serves.
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
    // A market's life.
    CrowdFounded,
    MarketSettled,
    SettlementInterrupted,
    RebatePaymentInterrupted,
    WithdrawalWaitsAtStart,
    DueAtStart,
    OrderReleased,
    MarketOpened,
    MarketCleared,
    MarketClosedByTime,
    FinalisedByTime,
    RebatesPaidByTime,
    ProposalDisputed,
    ReplaceSent,
    ReplaceHeldBack,
    ReplaceJournalled,
    // Other events.
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

    pub(super) fn contains(&self, situation: Situation) -> bool {
        self.0.contains_key(&situation)
    }

    /// The situations that never occurred.
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
