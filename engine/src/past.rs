//! Writes a new journal that begins with a simulated past (docs/verify/rules.md §29): the matcher, the core
//! and the journal of an engine that serves, under a clock that the caller sets. An engine then starts on
//! it as on any journal.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::{fs, io};

use foretell_journal::{JournalError, JournalState, Preallocator, SyncStep, Syncer};
use foretell_model::command::Begin;
use foretell_model::{Command, Event, OperatorNumber, Rejection, Sequence, TimeNs, Verdict};

use crate::clock::Clocks;
use crate::config::EngineConfig;
use crate::directory::Directory;
use crate::error::EngineError;
use crate::matcher::Matcher;
use crate::start_up::{journal_configuration, make_way};
use crate::threads::random;
use crate::wiring::Parts;

/// Directory of a past that is not whole, in the data directory. A start that was interrupted leaves it.
const UNFINISHED: &str = "past.tmp";

/// A clock that stands until it is set.
#[derive(Clone, Debug)]
struct SetClock(Arc<AtomicU64>);

impl Clocks for SetClock {
    fn monotonic(&self) -> u64 {
        self.0.load(Relaxed)
    }

    fn wall(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// An exchange without gateways, on an empty directory. Its journal takes its place when it is whole.
#[derive(Debug)]
pub struct PastWriter {
    clock: SetClock,
    matcher: Matcher<SetClock>,
    disk: JournalEnd,
    place: Directory,
    unfinished: Directory,
}

/// What makes frames durable.
#[derive(Debug)]
struct JournalEnd {
    syncer: Syncer,
    helper: Preallocator,
}

impl JournalEnd {
    /// Works until the journal is durable up to a sequence, or has failed.
    fn catch_up(&mut self, journal: &JournalState, sequence: Sequence) {
        while journal.durable() < sequence && !journal.is_poisoned() {
            // Errors also show in the journal's state.
            let _ = self.syncer.step();
            let _ = self.helper.run_once();
        }
    }
}

impl PastWriter {
    /// Begins a sandbox at `from`. The first command says that those up to `until` are simulated; the
    /// configuration follows. `None` when the directory has a journal.
    ///
    /// # Errors
    /// Those of an engine's start.
    pub fn begin(
        config: &EngineConfig,
        from: TimeNs,
        until: TimeNs,
    ) -> Result<Option<Self>, EngineError> {
        let config = EngineConfig {
            beginning: Begin {
                sandbox: true,
                simulated_until: until,
                ..Begin::default()
            },
            ..config.clone()
        };
        let place = Directory::lock(&config.data_directory)?;
        let path = config.data_directory.join(UNFINISHED);
        remove(&path)?;
        if place.journal().exists() {
            return Ok(None);
        }
        let unfinished = Directory::lock(&path)?;
        let clock = SetClock(Arc::new(AtomicU64::new(from.0)));
        let parts = Parts::wire(&config, &unfinished, clock.clone(), &mut random)?;
        let mut writer = Self {
            clock,
            matcher: parts.serving.matcher,
            disk: JournalEnd {
                syncer: parts.serving.syncer,
                helper: parts.helper,
            },
            place,
            unfinished,
        };
        let disk = &mut writer.disk;
        let mut wait = |journal: &_, sequence| disk.catch_up(journal, sequence);
        journal_configuration(&mut writer.matcher, &config, None, &mut wait)?;
        Ok(Some(writer))
    }

    /// Sets the clock; it never goes back.
    pub fn set_time(&mut self, time: TimeNs) {
        self.clock.0.fetch_max(time.0, Relaxed);
    }

    /// Applies a command, and what must precede it.
    ///
    /// # Errors
    /// The journal failed.
    pub fn apply(
        &mut self,
        operator: OperatorNumber,
        command: &Command,
        evidence: &[u8],
    ) -> Result<Result<Verdict, Rejection>, EngineError> {
        let Self { matcher, disk, .. } = self;
        let mut wait = |journal: &_, sequence| disk.catch_up(journal, sequence);
        make_way(matcher, &mut wait)?;
        if let Some(failure) = matcher.journal.failure() {
            let failure = JournalError::Poisoned(failure.to_owned());
            return Err(EngineError::Failed(failure));
        }
        Ok(matcher.apply_at_start(operator, command, evidence))
    }

    /// Does the work in the background: a settlement.
    ///
    /// # Errors
    /// As [`Self::apply`].
    pub fn do_background_work(&mut self) -> Result<(), EngineError> {
        let Self { matcher, disk, .. } = self;
        let mut wait = |journal: &_, sequence| disk.catch_up(journal, sequence);
        while matcher.exchange.has_background_work() {
            make_way(matcher, &mut wait)?;
            // The check for room may have taken staged frames back.
            matcher.appender.publish();
            wait(&matcher.journal, matcher.exchange.sequence());
            if !matcher.step_background() {
                // Disk nearly full: the engine goes on with it.
                break;
            }
        }
        Ok(())
    }

    /// The events of the last command.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        self.matcher.events()
    }

    /// Makes everything durable, closes the journal and moves it to its place. Returns its last sequence.
    ///
    /// # Errors
    /// The journal failed, or cannot be moved.
    pub fn finish(self) -> Result<Sequence, EngineError> {
        let JournalEnd {
            mut syncer,
            mut helper,
        } = self.disk;
        let last = self.matcher.exchange.sequence();
        drop(self.matcher);
        while syncer.step().map_err(EngineError::Failed)? != SyncStep::Ended {
            let _ = helper.run_once();
        }
        drop(syncer);
        let (from, to) = (self.unfinished.journal(), self.place.journal());
        let moved = fs::rename(&from, &to)
            .and_then(|()| fs::File::open(self.place.path()))
            .and_then(|directory| directory.sync_all());
        moved.map_err(EngineError::process(format!("moving {}", from.display())))?;
        remove(self.unfinished.path())?;
        Ok(last)
    }
}

fn remove(path: &Path) -> Result<(), EngineError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(EngineError::process(format!("removing {}", path.display()))(error))
        }
        _ => Ok(()),
    }
}
