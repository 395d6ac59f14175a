//! A journal written as fast as it goes: the core and the journal on one thread, as the matcher and
//! the sync thread use them.

use std::path::Path;

use foretell_journal::{Appender, Durability, Options, Step, Syncer};
use foretell_matching::{Capacity, Exchange};
use foretell_model::limits::MAX_EVENTS;
use foretell_model::{Command, Event, FramePlace, Sequence, TimeNs, Verdict};

use crate::dress::scramble;
use crate::error::MeasureError;

/// Commands of a batch: what the matcher publishes at once under load.
pub(crate) const BURST: u32 = 64;
/// When a journal begins.
const START_NS: u64 = 1_700_000_000_000_000_000;

/// Writes a journal from its first frame on.
pub(crate) struct JournalWriter {
    exchange: Exchange,
    events: Vec<Event>,
    appender: Appender,
    syncer: Syncer,
    /// What passes between two commands.
    step_ns: u64,
    /// Frames of the batch being filled.
    staged: u32,
    /// Of the last frame.
    end: FramePlace,
}

/// What was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    /// The last sequence.
    pub last: Sequence,
    /// Where its frame stands.
    pub end: FramePlace,
}

impl JournalWriter {
    /// Begins a journal in a directory without one.
    pub(crate) fn create(
        journal: &Path,
        capacity: Capacity,
        step_ns: u64,
    ) -> Result<Self, MeasureError> {
        // Synced when a segment is full and at the end: engines find everything proven durable.
        let options = Options {
            durability: Durability::Process,
            ..Options::default()
        };
        let recovered = foretell_journal::recover(journal, options, Sequence(0), &mut |_| Ok(()))?;
        let (appender, syncer, _state) = recovered.start()?;
        Ok(Self {
            exchange: Exchange::new(capacity, scramble(0)),
            events: Vec::with_capacity(MAX_EVENTS),
            appender,
            syncer,
            step_ns,
            staged: 0,
            end: FramePlace::default(),
        })
    }

    /// The time of the next command.
    pub(crate) fn time(&self) -> TimeNs {
        TimeNs(START_NS + self.exchange.sequence().0 * self.step_ns)
    }

    /// Applies a command, which must be done, and journals it; whole bursts are written. Tells what
    /// happened.
    pub(crate) fn apply(
        &mut self,
        command: &Command,
        evidence: &[u8],
    ) -> Result<&[Event], MeasureError> {
        match self.try_apply(command, evidence)? {
            Verdict::Applied(_) => Ok(&self.events),
            verdict => Err(MeasureError::Wrong(format!("{command:?}: {verdict:?}"))),
        }
    }

    /// Applies a command, which may be refused, and journals it unless it is.
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

    /// Writes what is staged. A segment that is still being prepared is waited for.
    fn write(&mut self) -> Result<(), MeasureError> {
        self.appender.publish();
        self.staged = 0;
        while self.syncer.step()? == Step::Waiting {
            std::thread::yield_now();
        }
        Ok(())
    }

    /// Ends the journal, everything of it on the disk.
    pub(crate) fn finish(mut self) -> Result<Written, MeasureError> {
        let last = self.exchange.sequence();
        self.write()?;
        drop(self.appender);
        while self.syncer.step()? != Step::Ended {
            std::thread::yield_now();
        }
        Ok(Written {
            last,
            end: self.end,
        })
    }
}

/// Fills `bytes` from a seed; each eight bytes take the next seed, so seeds stand apart.
pub(crate) fn random_bytes(seed: u64, bytes: &mut [u8]) {
    for (seed, chunk) in (seed..).zip(bytes.chunks_mut(8)) {
        chunk.copy_from_slice(&scramble(seed).to_le_bytes()[..chunk.len()]);
    }
}

/// A 32-byte name of a numbered thing of some kind.
pub(crate) fn name(number: u32, kind: u8) -> [u8; 32] {
    let mut name = [kind; 32];
    name[..4].copy_from_slice(&number.to_le_bytes());
    name
}
