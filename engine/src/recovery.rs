//! The state of the exchange from the newest image and the journal behind it: every command there
//! is executed again, and what happens is compared with what was recorded.
//!
//! An image is only where re-execution begins. One that the journal does not attest, or that is
//! damaged, of another layout, ahead of the journal, or not of this journal's history is passed over for
//! the next older one, at last for none, so whatever lies in the directory of snapshots, the state is the
//! journal's.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use foretell_journal::snapshot::{Image, Shelf, newest_attested_image, unattested_images};
use foretell_journal::{FrameReader, JournalError, Reader, Recovered, receipt, watermark};
use foretell_matching::{Difference, Divergence, Exchange, Replay};
use foretell_model::digest::StateRecord;
use foretell_model::{AccountNumber, FrameRef, Sequence, SystemMode};

use crate::accepted::accepted_in;
use crate::config::EngineConfig;
use crate::directory::Directory;
use crate::error::EngineError;
use crate::images;

/// The exchange as the journal left it.
#[derive(Debug)]
pub(crate) struct Restored {
    pub(crate) exchange: Exchange,
    pub(crate) journal: Recovered,
    /// The snapshots, without those that the journal does not bear out.
    pub(crate) shelf: Shelf,
    /// The system's mode.
    pub(crate) mode: SystemMode,
    /// Owners whose heartbeat was on.
    pub(crate) heartbeats: Vec<AccountNumber>,
    /// An accepted divergence that the journal does not know of yet.
    pub(crate) newly_accepted: Option<Sequence>,
}

/// Recovers the journal in `directory` and executes it. `index_key` is random: it keys the layout
/// of the core, so that nobody outside can make entries collide.
///
/// # Errors
/// [`EngineError::Journal`] for damage, [`EngineError::Diverged`] and
/// [`EngineError::ReplayRefused`] when this build does not reproduce the record. No frame on disk
/// was changed then.
pub(crate) fn restore(
    config: &EngineConfig,
    directory: &Directory,
    index_key: u64,
) -> Result<Restored, EngineError> {
    let recovery = Recovery {
        config,
        journal: directory.journal(),
        snapshots: directory.snapshots(),
        index_key,
    };
    let mut foreign = recovery.unattested();
    let mut limit = Sequence(u64::MAX);
    let done = loop {
        let base = recovery.base(limit);
        let after = base.as_ref().map_or(Sequence(0), Base::sequence);
        match recovery.execute(base) {
            Ok(done) => break done,
            Err(Stop::Failed(failure)) => return Err(failure),
            Err(Stop::WrongImage(reason)) => {
                tracing::warn!(image = after.0, %reason, "an image is passed over");
                foreign.push(after);
                limit = Sequence(after.0 - 1);
            }
        }
    };
    let shelf = recovery.open_shelf(&done.journal, &foreign)?;
    let (mode, heartbeats) = mode_and_heartbeats(&done.exchange);
    Ok(Restored {
        exchange: done.exchange,
        journal: done.journal,
        shelf,
        mode,
        heartbeats,
        newly_accepted: done.newly_accepted,
    })
}

struct Recovery<'a> {
    config: &'a EngineConfig,
    journal: PathBuf,
    snapshots: PathBuf,
    index_key: u64,
}

/// Where re-execution begins.
struct Base {
    image: Image,
    exchange: Exchange,
}

impl Base {
    const fn sequence(&self) -> Sequence {
        self.image.sequence()
    }
}

/// Where it ended.
struct Done {
    exchange: Exchange,
    journal: Recovered,
    newly_accepted: Option<Sequence>,
}

/// Why it did not come to its end.
enum Stop {
    Failed(EngineError),
    /// The image it began with is not of this journal's history.
    WrongImage(String),
}

impl Recovery<'_> {
    /// The newest image at or below `limit` whose exchange can be restored; `None` = begin with the
    /// first frame.
    fn base(&self, mut limit: Sequence) -> Option<Base> {
        if self.config.ignore_images {
            return None;
        }
        // A journal without a readable watermark is new, or recovery says what is wrong with it.
        let genesis = watermark::read(&self.journal).ok().flatten()?.genesis;
        loop {
            let (snapshots, journal) = (&self.snapshots, &self.journal);
            let image = newest_attested_image(snapshots, journal, &genesis, limit)?;
            limit = Sequence(image.sequence().0 - 1);
            match images::exchange_of(&image, self.config.capacity, self.index_key) {
                Ok(exchange) => {
                    let image_sequence = image.sequence().0;
                    tracing::info!(
                        image = image_sequence,
                        "recovery begins with a snapshot that the journal attests"
                    );
                    return Some(Base { image, exchange });
                }
                Err(reason) => {
                    tracing::warn!(image = image.sequence().0, %reason, "an image is passed over");
                }
            }
        }
    }

    /// Images left by an engine that ended before their attestation was durable, or by an older build.
    /// They would take the places of attested ones.
    fn unattested(&self) -> Vec<Sequence> {
        let mark = watermark::read(&self.journal).ok().flatten();
        mark.map(|mark| unattested_images(&self.snapshots, &self.journal, &mark.genesis))
            .unwrap_or_default()
    }

    /// Executes everything behind the base; a second time, when a later command accepts the
    /// divergence that was met.
    fn execute(&self, base: Option<Base>) -> Result<Done, Stop> {
        let after = base.as_ref().map_or(Sequence(0), Base::sequence);
        let (sequence, what) = match self.replay(base, BTreeSet::new()) {
            Err(Stop::Failed(EngineError::Diverged { sequence, what })) => (sequence, what),
            other => return other,
        };
        // Rare enough to read everything once more.
        let by_record = accepted_in(&self.journal, after)
            .map_err(|error| Stop::Failed(EngineError::Journal(error)))?;
        if !by_record.contains(&sequence) {
            return Err(Stop::Failed(EngineError::Diverged { sequence, what }));
        }
        self.replay(self.base(after), by_record)
    }

    fn replay(&self, base: Option<Base>, by_record: BTreeSet<Sequence>) -> Result<Done, Stop> {
        let (exchange, base) = match base {
            None => (Exchange::new(self.config.capacity, self.index_key), None),
            Some(Base { image, exchange }) => {
                (exchange, Some((image.sequence(), image.proof().receipt)))
            }
        };
        let mut replayed = Replayed {
            journal: &self.journal,
            replay: Replay::new(exchange),
            by_option: self.config.accept_divergence,
            by_record,
            unchecked: base,
            newly_accepted: None,
            stop: None,
        };
        // From the image's own frame on, to see that it is the one the image knew.
        let after = base.map_or(Sequence(0), |(sequence, _)| Sequence(sequence.0 - 1));
        let options = self.config.journal.clone();
        let recovered =
            foretell_journal::recover_into(&self.journal, options, after, &mut replayed);
        if let Some(stop) = replayed.stop {
            return Err(stop);
        }
        match recovered {
            Ok(_) if replayed.unchecked.is_some() => {
                Err(Stop::WrongImage("the journal ends before it".to_owned()))
            }
            Ok(journal) => Ok(Done {
                exchange: replayed.replay.exchange,
                journal,
                newly_accepted: replayed.newly_accepted,
            }),
            Err(ahead @ JournalError::Ahead { .. }) if base.is_some() => {
                Err(Stop::WrongImage(ahead.to_string()))
            }
            Err(error) => Err(Stop::Failed(EngineError::Journal(error))),
        }
    }

    /// The directory of snapshots, cleared of what the journal does not bear out: before anybody
    /// can follow the journal and take an image for its beginning.
    fn open_shelf(&self, journal: &Recovered, foreign: &[Sequence]) -> Result<Shelf, EngineError> {
        let report = &journal.report;
        let disk = self.config.journal.disk.clone();
        let cleared = || {
            let shelf = Shelf::open(&self.snapshots, disk, report.genesis)?;
            shelf.remove_images_beyond(report.last_sequence)?;
            for image in foreign {
                shelf.remove_image(*image)?;
            }
            Ok(shelf)
        };
        cleared().map_err(EngineError::Journal)
    }
}

/// An exchange on its way from the base to the end of the journal.
struct Replayed<'a> {
    journal: &'a Path,
    replay: Replay,
    /// Accepted by the operator at this start.
    by_option: Option<Sequence>,
    /// Accepted by journalled commands.
    by_record: BTreeSet<Sequence>,
    /// The frame the image is right after, and its receipt, until the journal has shown it.
    unchecked: Option<(Sequence, [u8; 32])>,
    newly_accepted: Option<Sequence>,
    stop: Option<Stop>,
}

impl Reader for Replayed<'_> {
    fn frame(&mut self, frame: &FrameRef<'_>) -> Result<(), String> {
        let shown = match self.unchecked.take() {
            Some((_, receipt)) => self.check_receipt(frame, &receipt),
            None => {
                let executed = self.replay.take(frame);
                self.judge(executed).map_err(Stop::Failed)
            }
        };
        self.or_stop(shown)
    }

    /// What still waits for its turn is executed before the journal is changed.
    fn end(&mut self) -> Result<(), String> {
        while let Some(executed) = self.replay.execute_next() {
            let judged = self.judge(executed).map_err(Stop::Failed);
            self.or_stop(judged)?;
        }
        Ok(())
    }
}

impl Replayed<'_> {
    fn or_stop(&mut self, shown: Result<(), Stop>) -> Result<(), String> {
        shown.map_err(|stop| {
            self.stop = Some(stop);
            "stopped".to_owned()
        })
    }

    /// The frame the image is right after is the first that is shown, and is not executed.
    fn check_receipt(&self, frame: &FrameRef<'_>, expected: &[u8; 32]) -> Result<(), Stop> {
        let bytes = FrameReader::new(self.journal).frame(frame.place, frame.sequence);
        if bytes.is_ok_and(|bytes| receipt(&bytes) == *expected) {
            return Ok(());
        }
        let reason = "the journal has another frame at its sequence".to_owned();
        Err(Stop::WrongImage(reason))
    }

    /// What a divergence means: nothing when it was accepted.
    fn judge(&mut self, executed: Result<(), Divergence>) -> Result<(), EngineError> {
        let Err(Divergence {
            sequence,
            difference,
        }) = executed
        else {
            return Ok(());
        };
        let what = match difference {
            Difference::Refused(verdict) => {
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

fn mode_and_heartbeats(exchange: &Exchange) -> (SystemMode, Vec<AccountNumber>) {
    let mut system_mode = SystemMode::Running;
    let mut owners = Vec::new();
    exchange.visit_state(&mut |record| match record {
        StateRecord::System { mode, .. } => system_mode = *mode,
        StateRecord::Account {
            account,
            heartbeat: true,
            ..
        } => owners.push(*account),
        _ => {}
    });
    (system_mode, owners)
}
