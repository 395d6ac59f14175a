//! Writes a journal at full speed: core and journal on one thread, in the same steps as matcher and
//! sync thread.

use std::path::Path;

use foretell_journal::{Appender, Options, SyncStep, Syncer};
use foretell_matching::{Capacity, Exchange};
use foretell_model::limits::MAX_EVENTS;
use foretell_model::{Command, Durability, Event, FramePosition, Sequence, TimeNs, Verdict};

use super::venue::{START_NS, opening_time};
use super::workload::INDEX_KEY;
use crate::error::MeasureError;

/// Commands per batch: as many as the matcher publishes at once under load.
pub(crate) const BURST: u32 = 64;

/// Writes a journal from its first frame on.
pub(crate) struct JournalWriter {
    exchange: Exchange,
    events: Vec<Event>,
    appender: Appender,
    syncer: Syncer,
    /// Interval between commands.
    step_ns: u64,
    /// Commands that open the venue; they come before `START_NS`.
    pub(crate) opening: u64,
    /// Frames in the open batch.
    staged: u32,
    /// Place of the last frame.
    end: FramePosition,
}

/// The written journal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    /// The last sequence.
    pub last: Sequence,
    /// Place of the last frame.
    pub end: FramePosition,
}

impl JournalWriter {
    /// Begins a journal in a directory without one.
    pub(crate) fn create(
        journal: &Path,
        capacity: Capacity,
        step_ns: u64,
    ) -> Result<Self, MeasureError> {
        // Synced when a segment is full and at the end: engines then find everything proven
        // durable.
        let options = Options {
            durability: Durability::Process,
            ..Options::default()
        };
        let recovered = foretell_journal::recover(journal, options, Sequence(0), &mut |_| Ok(()))?;
        let (appender, syncer, _state) = recovered.start()?;
        Ok(Self {
            exchange: Exchange::new(capacity, INDEX_KEY),
            events: Vec::with_capacity(MAX_EVENTS),
            appender,
            syncer,
            step_ns,
            opening: 0,
            staged: 0,
            end: FramePosition::default(),
        })
    }

    /// Time of the next command.
    pub(crate) fn time(&self) -> TimeNs {
        let sequence = self.exchange.sequence().0;
        match self.opening.checked_sub(sequence) {
            Some(left @ 1..) => opening_time(left),
            _ => TimeNs(START_NS + sequence * self.step_ns),
        }
    }

    /// Applies a command, which must succeed, and journals it; writes every full burst. Returns the
    /// number of its trades.
    pub(crate) fn apply(
        &mut self,
        command: &Command,
        evidence: &[u8],
    ) -> Result<u64, MeasureError> {
        match self.try_apply(command, evidence)? {
            Verdict::Applied(_) => {}
            verdict => return Err(MeasureError::Wrong(format!("{command:?}: {verdict:?}"))),
        }
        let trades = self
            .events
            .iter()
            .filter(|event| matches!(event, Event::Fill(_)));
        Ok(trades.count() as u64)
    }

    /// Applies a command and journals it unless it is rejected.
    pub(crate) fn try_apply(
        &mut self,
        command: &Command,
        evidence: &[u8],
    ) -> Result<Verdict, MeasureError> {
        if !self.appender.has_room_for_largest() {
            self.write()?;
        }
        let time = self.time();
        self.events.clear();
        let verdict = self.exchange.apply(command, time, &mut self.events);
        if !matches!(verdict, Verdict::Applied(_)) {
            return Ok(verdict);
        }
        let sequence = self.exchange.sequence();
        self.end = self
            .appender
            .append(sequence, time, command, &self.events, evidence);
        self.staged += 1;
        if self.staged == BURST {
            self.write()?;
        }
        Ok(verdict)
    }

    /// Writes the open batch; waits for a segment that is still being prepared.
    fn write(&mut self) -> Result<(), MeasureError> {
        self.appender.publish();
        self.staged = 0;
        while self.syncer.step()? == SyncStep::Waiting {
            std::thread::yield_now();
        }
        Ok(())
    }

    /// Ends the journal and syncs it.
    pub(crate) fn finish(mut self) -> Result<Written, MeasureError> {
        let last = self.exchange.sequence();
        self.write()?;
        drop(self.appender);
        while self.syncer.step()? != SyncStep::Ended {
            std::thread::yield_now();
        }
        Ok(Written {
            last,
            end: self.end,
        })
    }
}
