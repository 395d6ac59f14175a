//! Restores the exchange from the newest snapshot and the journal after it. Recovery executes every
//! later command again and compares the events with the recorded ones.
//!
//! A snapshot is only a starting point. Recovery skips one that the journal does not attest, that
//! is damaged, has an unknown layout, is ahead of the journal or belongs to another history. It
//! then tries the next older one, and finally the first frame. So the state is always the
//! journal's, whatever files the snapshot directory contains.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use foretell_journal::snapshot::{Image, SnapshotStore, newest_attested_image, unattested_images};
use foretell_journal::{
    FrameReader, FrameVisitor, JournalError, Recovered, ScanReport, receipt, watermark,
};
use foretell_matching::{Difference, Divergence, Exchange, Replay};
use foretell_model::state::{self, StateRecord};
use foretell_model::{AccountNumber, FrameRef, Sequence, SystemMode};

use crate::config::EngineConfig;
use crate::directory::{Directory, JOURNAL_DIRECTORY, SNAPSHOT_DIRECTORY};
use crate::divergence_overrides::accepted_divergences;
use crate::error::EngineError;
use crate::snapshot_contents;

/// The exchange at the end of the journal.
#[derive(Debug)]
pub(crate) struct Restored {
    pub(crate) exchange: Exchange,
    pub(crate) journal: Recovered,
    /// The snapshot directory, without the snapshots that contradict the journal.
    pub(crate) store: SnapshotStore,
    /// The system's mode.
    pub(crate) mode: SystemMode,
    /// Owners with an active heartbeat.
    pub(crate) heartbeats: Vec<AccountNumber>,
    /// An accepted divergence that is not journalled yet.
    pub(crate) newly_accepted: Option<Sequence>,
}

/// Recovers and executes the journal in `directory`. `index_key` is random and keys the hash tables
/// of the core, so that clients cannot cause collisions.
///
/// # Errors
/// [`EngineError::Journal`] for damage, [`EngineError::Diverged`] and
/// [`EngineError::ReplayRefused`] when this build does not reproduce the journal. In these cases no
/// frame on disk was changed.
pub(crate) fn restore(
    config: &EngineConfig,
    directory: &Directory,
    index_key: u64,
    open: OpenJournal,
) -> Result<Restored, EngineError> {
    let recovery = Recovery {
        config,
        journal: directory.journal(),
        snapshots: directory.snapshots(),
        index_key,
        open: &open,
    };
    let (done, foreign) = recovery.run()?;
    let store = open_snapshot_store(config, &recovery.snapshots, &done.journal, &foreign)?;
    let (mode, heartbeats) = mode_and_heartbeats(&done.exchange);
    Ok(Restored {
        exchange: done.exchange,
        journal: done.journal,
        store,
        mode,
        heartbeats,
        newly_accepted: done.newly_accepted,
    })
}

/// The exchange at the end of the journal, and what was read of the journal, as [`restore`] finds them. Changes nothing;
/// the journal may be a copy of a replicated log with `is_cluster`.
///
/// # Errors
/// Those of [`restore`].
pub(crate) fn rehearse(
    config: &EngineConfig,
    index_key: u64,
    is_cluster: bool,
) -> Result<(Exchange, Option<ScanReport>), EngineError> {
    let recovery = Recovery {
        config,
        journal: config.data_directory.join(JOURNAL_DIRECTORY),
        snapshots: config.data_directory.join(SNAPSHOT_DIRECTORY),
        index_key,
        open: &|journal, options, after, reader| {
            foretell_journal::check_stopped(journal, &options, after, is_cluster, reader)
        },
    };
    SnapshotStore::check(&recovery.snapshots).map_err(EngineError::Journal)?;
    let (done, _) = recovery.run()?;
    Ok((done.exchange, done.journal))
}

/// Opens the journal and passes its frames: [`foretell_journal::recover_into`], or that of a copy of the
/// replicated log.
pub(crate) type OpenJournal = fn(
    &Path,
    foretell_journal::Options,
    Sequence,
    &mut dyn FrameVisitor,
) -> Result<Recovered, JournalError>;

/// Recovery of a journal; `J` is what opening it gives.
struct Recovery<'a, J> {
    config: &'a EngineConfig,
    journal: PathBuf,
    snapshots: PathBuf,
    index_key: u64,
    open: &'a Open<'a, J>,
}

/// [`OpenJournal`], or a check that gives something else.
type Open<'a, J> = dyn Fn(&Path, foretell_journal::Options, Sequence, &mut dyn FrameVisitor) -> Result<J, JournalError>
    + 'a;

/// The start of re-execution.
struct ReplayStart {
    image: Image,
    exchange: Exchange,
}

impl ReplayStart {
    const fn sequence(&self) -> Sequence {
        self.image.sequence()
    }
}

/// The result of re-execution.
struct Completed<J> {
    exchange: Exchange,
    journal: J,
    newly_accepted: Option<Sequence>,
}

/// Why re-execution stopped early.
enum ReplayError {
    Failed(EngineError),
    /// The snapshot does not belong to this journal's history.
    WrongSnapshot(String),
}

impl<J> Recovery<'_, J> {
    /// Executes the journal from the newest snapshot that belongs to it. Returns the snapshots that do not, too.
    fn run(&self) -> Result<(Completed<J>, Vec<Sequence>), EngineError> {
        let mut foreign = self.unattested();
        let mut limit = Sequence(u64::MAX);
        loop {
            let base = self.base(limit);
            let after = base.as_ref().map_or(Sequence(0), ReplayStart::sequence);
            match self.execute(base) {
                Ok(done) => return Ok((done, foreign)),
                Err(ReplayError::Failed(failure)) => return Err(failure),
                Err(ReplayError::WrongSnapshot(reason)) => {
                    tracing::warn!(image = after.0, %reason, "snapshot skipped");
                    foreign.push(after);
                    limit = Sequence(after.0 - 1);
                }
            }
        }
    }

    /// The newest restorable snapshot at or below `limit`; `None` = start at the first frame.
    fn base(&self, mut limit: Sequence) -> Option<ReplayStart> {
        if self.config.ignore_snapshots {
            return None;
        }
        // A journal without a readable watermark is new, or recovery reports the fault.
        let genesis = watermark::read(&self.journal).ok().flatten()?.genesis;
        loop {
            let (snapshots, journal) = (&self.snapshots, &self.journal);
            let image = newest_attested_image(snapshots, journal, &genesis, limit)?;
            limit = Sequence(image.sequence().0 - 1);
            match snapshot_contents::exchange_of(&image, self.config.capacity, self.index_key) {
                Ok(exchange) => {
                    let image_sequence = image.sequence().0;
                    tracing::info!(
                        image = image_sequence,
                        "recovery begins with a snapshot that the journal attests"
                    );
                    return Some(ReplayStart { image, exchange });
                }
                Err(reason) => {
                    tracing::warn!(image = image.sequence().0, %reason, "snapshot skipped");
                }
            }
        }
    }

    /// Snapshots left by an engine that ended before their attestation was durable, or by an older
    /// build. They would otherwise count as kept snapshots in place of attested ones.
    fn unattested(&self) -> Vec<Sequence> {
        let mark = watermark::read(&self.journal).ok().flatten();
        mark.map(|mark| unattested_images(&self.snapshots, &self.journal, &mark.genesis))
            .unwrap_or_default()
    }

    /// Executes everything after the base. Executes it a second time if a later command accepts the
    /// divergence found.
    fn execute(&self, base: Option<ReplayStart>) -> Result<Completed<J>, ReplayError> {
        let after = base.as_ref().map_or(Sequence(0), ReplayStart::sequence);
        let (sequence, what) = match self.replay(base, BTreeSet::new()) {
            Err(ReplayError::Failed(EngineError::Diverged { sequence, what })) => (sequence, what),
            other => return other,
        };
        // Rare enough to read the whole range again.
        let by_record = accepted_divergences(&self.journal, after)
            .map_err(|error| ReplayError::Failed(EngineError::Journal(error)))?;
        if !by_record.contains(&sequence) {
            return Err(ReplayError::Failed(EngineError::Diverged {
                sequence,
                what,
            }));
        }
        self.replay(self.base(after), by_record)
    }

    fn replay(
        &self,
        base: Option<ReplayStart>,
        by_record: BTreeSet<Sequence>,
    ) -> Result<Completed<J>, ReplayError> {
        let (exchange, base) = match base {
            None => (Exchange::new(self.config.capacity, self.index_key), None),
            Some(ReplayStart { image, exchange }) => {
                (exchange, Some((image.sequence(), image.proof().receipt)))
            }
        };
        let mut progress = ReplayProgress {
            journal: &self.journal,
            replay: Replay::new(exchange),
            by_option: self.config.accept_divergence,
            by_record,
            unchecked: base,
            newly_accepted: None,
            stop: None,
        };
        // Starts at the snapshot's own frame, to compare its receipt.
        let after = base.map_or(Sequence(0), |(sequence, _)| Sequence(sequence.0 - 1));
        let options = self.config.journal.clone();
        let recovered = (self.open)(&self.journal, options, after, &mut progress);
        if let Some(stop) = progress.stop {
            return Err(stop);
        }
        match recovered {
            Ok(_) if progress.unchecked.is_some() => Err(ReplayError::WrongSnapshot(
                "the journal ends before it".to_owned(),
            )),
            Ok(journal) => Ok(Completed {
                exchange: progress.replay.exchange,
                journal,
                newly_accepted: progress.newly_accepted,
            }),
            Err(ahead @ JournalError::Ahead { .. }) if base.is_some() => {
                Err(ReplayError::WrongSnapshot(ahead.to_string()))
            }
            Err(error) => Err(ReplayError::Failed(EngineError::Journal(error))),
        }
    }
}

/// Opens the snapshot directory and removes the snapshots that contradict the journal, before a
/// follower can start at one.
fn open_snapshot_store(
    config: &EngineConfig,
    snapshots: &Path,
    journal: &Recovered,
    foreign: &[Sequence],
) -> Result<SnapshotStore, EngineError> {
    let report = &journal.report;
    let disk = config.journal.disk.clone();
    let cleared = || {
        let store = SnapshotStore::open(snapshots, disk, report.genesis)?;
        store.remove_images_beyond(report.last_sequence)?;
        for image in foreign {
            store.remove_image(*image)?;
        }
        Ok(store)
    };
    cleared().map_err(EngineError::Journal)
}

/// An exchange between the base and the end of the journal.
struct ReplayProgress<'a> {
    journal: &'a Path,
    replay: Replay,
    /// Accepted by the operator at this start.
    by_option: Option<Sequence>,
    /// Accepted by journalled commands.
    by_record: BTreeSet<Sequence>,
    /// Sequence and receipt of the snapshot's frame, until the journal's frame was compared.
    unchecked: Option<(Sequence, [u8; 32])>,
    newly_accepted: Option<Sequence>,
    stop: Option<ReplayError>,
}

impl FrameVisitor for ReplayProgress<'_> {
    fn frame(&mut self, frame: &FrameRef<'_>) -> Result<(), String> {
        let result = match self.unchecked.take() {
            Some((_, receipt)) => self.check_receipt(frame, &receipt),
            None => {
                let executed = self.replay.enqueue(frame);
                self.check_divergence(executed).map_err(ReplayError::Failed)
            }
        };
        self.or_abort(result)
    }

    /// Executes the queued frames before the journal is changed.
    fn end(&mut self) -> Result<(), String> {
        while let Some(executed) = self.replay.execute_next() {
            let checked = self.check_divergence(executed).map_err(ReplayError::Failed);
            self.or_abort(checked)?;
        }
        Ok(())
    }
}

impl ReplayProgress<'_> {
    fn or_abort(&mut self, result: Result<(), ReplayError>) -> Result<(), String> {
        result.map_err(|stop| {
            self.stop = Some(stop);
            "stopped".to_owned()
        })
    }

    /// Compares the snapshot's own frame, the first one read; it is not executed.
    fn check_receipt(&self, frame: &FrameRef<'_>, expected: &[u8; 32]) -> Result<(), ReplayError> {
        let bytes = FrameReader::new(self.journal).frame(frame.place, frame.sequence);
        if bytes.is_ok_and(|bytes| receipt(&bytes) == *expected) {
            return Ok(());
        }
        let reason = "the journal has another frame at its sequence".to_owned();
        Err(ReplayError::WrongSnapshot(reason))
    }

    /// Returns an error for a divergence that was not accepted.
    fn check_divergence(&mut self, executed: Result<(), Divergence>) -> Result<(), EngineError> {
        let Err(Divergence {
            sequence,
            difference,
        }) = executed
        else {
            return Ok(());
        };
        let what = match difference {
            Difference::Rejected(verdict) => {
                let what = format!("{verdict:?}");
                return Err(EngineError::ReplayRefused { sequence, what });
            }
            Difference::Events(_) if self.by_record.contains(&sequence) => return Ok(()),
            Difference::Events(what) => what,
        };
        if self.by_option != Some(sequence) {
            return Err(EngineError::Diverged { sequence, what });
        }
        tracing::warn!(sequence = sequence.0, %what, "divergence accepted by the operator");
        self.newly_accepted = Some(sequence);
        Ok(())
    }
}

pub(crate) fn mode_and_heartbeats(exchange: &Exchange) -> (SystemMode, Vec<AccountNumber>) {
    let mut system_mode = SystemMode::Running;
    let mut owners = Vec::new();
    exchange.visit_state(&mut |record| match record {
        StateRecord::System(state::System { mode, .. }) => system_mode = *mode,
        StateRecord::Account(state::Account {
            account,
            heartbeat: true,
            ..
        }) => owners.push(*account),
        _ => {}
    });
    (system_mode, owners)
}
