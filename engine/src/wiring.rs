//! Constructs the parts of the engine and connects them. Nothing runs yet: threads (`threads.rs`)
//! or the simulation give each part its turns.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use foretell_journal::snapshot::SnapshotStore;
use foretell_journal::{Appender, JournalState, Preallocator, Syncer};
use foretell_link::Stage;
use foretell_matching::Exchange;
use foretell_model::{AccountNumber, Sequence, SystemMode, TimeNs};
use foretell_stages::{Durations, Recorder};
use mio::Poll;

use crate::clock::{Clock, Clocks, Trust};
use crate::command_ring::CommandRing;
use crate::config::{EngineConfig, MAX_CLOCK_ADVANCE};
use crate::directory::Directory;
use crate::error::EngineError;
use crate::heartbeat::Heartbeats;
use crate::ingress::WAKER;
use crate::matcher::{LoopState, Matcher};
use crate::publisher;
use crate::publisher_mailbox::PublisherMailbox;
use crate::recovery;
use crate::requests::RequestHandler;
use crate::stage_summary_cache::StageSummaryCache;
use crate::status::Gauges;
use crate::wait::{PollWaker, ThreadParker};

pub(crate) type DrawRandom<'d> = dyn FnMut() -> Result<u64, EngineError> + 'd;

/// The parts of an engine that serves.
#[derive(Debug)]
pub(crate) struct ServingParts<C> {
    /// The poll woken by `waker`.
    pub(crate) poll: Poll,
    pub(crate) waker: Arc<PollWaker>,
    /// Ingress without its sockets.
    pub(crate) handler: RequestHandler<C>,
    pub(crate) matcher: Matcher<C>,
    pub(crate) syncer: Syncer,
    /// As in [`recovery::Restored`].
    pub(crate) newly_accepted: Option<Sequence>,
}

/// The parts of an engine after recovery.
#[derive(Debug)]
pub(crate) struct Parts<C> {
    pub(crate) serving: ServingParts<C>,
    pub(crate) helper: Preallocator,
    /// Arguments of the publisher.
    pub(crate) publisher: publisher::PublisherArgs<C>,
}

/// The poll of ingress, and the mailbox of the publisher: they exist before anything is served.
#[derive(Debug)]
pub(crate) struct Wakers {
    pub(crate) poll: Poll,
    pub(crate) waker: Arc<PollWaker>,
    pub(crate) mailbox: Arc<PublisherMailbox>,
}

impl Wakers {
    pub(crate) fn new(config: &EngineConfig) -> Result<Self, EngineError> {
        let poll = Poll::new().map_err(EngineError::process("making a poll"))?;
        let waker = mio::Waker::new(poll.registry(), WAKER)
            .map(|waker| Arc::new(PollWaker::new(waker)))
            .map_err(EngineError::process("making a waker"))?;
        let mailbox = Arc::new(PublisherMailbox::new(config.publishing.enabled));
        Ok(Self {
            poll,
            waker,
            mailbox,
        })
    }

    /// The arguments of the publisher of this engine.
    pub(crate) fn publisher<C>(
        &self,
        config: &EngineConfig,
        directory: &Directory,
        journal: JournalState,
        store: SnapshotStore,
        newly_accepted: Option<Sequence>,
        (index_key, clocks): (u64, C),
    ) -> publisher::PublisherArgs<C> {
        publisher::PublisherArgs {
            config: config.clone(),
            journal_directory: directory.journal(),
            journal,
            store,
            mailbox: Arc::clone(&self.mailbox),
            waker: Arc::clone(&self.waker),
            newly_accepted,
            index_key,
            clocks,
        }
    }
}

/// The exchange at the end of the journal, and the journal's writing ends.
#[derive(Debug)]
pub(crate) struct WritableExchange {
    pub(crate) exchange: Exchange,
    pub(crate) mode: SystemMode,
    /// Owners with an active heartbeat.
    pub(crate) heartbeats: Vec<AccountNumber>,
    pub(crate) last_time: TimeNs,
    pub(crate) trust: Trust,
    pub(crate) newly_accepted: Option<Sequence>,
    pub(crate) appender: Appender,
    pub(crate) syncer: Syncer,
    pub(crate) journal: JournalState,
}

impl<C: Clocks> Parts<C> {
    /// Recovers the directory and constructs the parts.
    ///
    /// # Errors
    /// Those of [`recovery::restore`]; an I/O error of the journal's start.
    pub(crate) fn wire(
        config: &EngineConfig,
        directory: &Directory,
        clocks: C,
        draw: &mut DrawRandom<'_>,
    ) -> Result<Self, EngineError> {
        let restored =
            recovery::restore(config, directory, draw()?, foretell_journal::recover_into)?;
        let last_time = restored.journal.report.last_time;
        if restored.exchange.sandbox_clock().is_none() {
            check_clock(config, last_time, clocks.wall())?;
        }
        let opened = restored.journal.open().map_err(EngineError::Journal)?;
        let (appender, syncer, journal, helper) = opened;
        let wakers = Wakers::new(config)?;
        let publisher = wakers.publisher(
            config,
            directory,
            journal.clone(),
            restored.store,
            restored.newly_accepted,
            (draw()?, clocks.clone()),
        );
        let writable = WritableExchange {
            exchange: restored.exchange,
            mode: restored.mode,
            heartbeats: restored.heartbeats,
            last_time,
            trust: Trust::Alone,
            newly_accepted: restored.newly_accepted,
            appender,
            syncer,
            journal,
        };
        Ok(Self {
            serving: ServingParts::wire(config, writable, wakers, clocks, draw()?),
            helper,
            publisher,
        })
    }
}

impl<C: Clocks> ServingParts<C> {
    /// Connects ingress, matcher and sync thread. `key` is random.
    pub(crate) fn wire(
        config: &EngineConfig,
        writable: WritableExchange,
        wakers: Wakers,
        clocks: C,
        key: u64,
    ) -> Self {
        let (journal, sandbox_clock) = (writable.journal, writable.exchange.sandbox_clock());
        let ring = Arc::new(CommandRing::new(config.ring_capacity));
        let gauges = Arc::<Gauges>::default();
        let durations = Arc::<Durations<Stage>>::default();
        let handler = RequestHandler {
            ring: Arc::clone(&ring),
            journal: journal.clone(),
            gauges: Arc::clone(&gauges),
            mailbox: wakers.mailbox,
            recorder: Recorder::new(Arc::clone(&durations)),
            durations: Arc::clone(&durations),
            summaries: StageSummaryCache::default(),
            heartbeats: Heartbeats::resume(
                config.heartbeat_window,
                &writable.heartbeats,
                key,
                clocks.monotonic(),
            ),
            clocks: clocks.clone(),
            own: VecDeque::new(),
            in_flight: 0,
            connections: 0,
            busy: 0,
            stopping: false,
        };
        let matcher = Matcher {
            exchange: writable.exchange,
            appender: writable.appender,
            journal,
            ring,
            gauges,
            recorder: Recorder::new(durations),
            clock: Clock::start(
                clocks.clone(),
                writable.last_time,
                writable.trust,
                sandbox_clock,
            ),
            clocks,
            mode: writable.mode,
            post_only_until: None,
            parker: ThreadParker::new(config.waiting),
            waker: Arc::clone(&wakers.waker),
            state: LoopState::default(),
        };
        // A cluster's leader says its engine time before the first burst.
        matcher.update_gauges();
        Self {
            poll: wakers.poll,
            waker: wakers.waker,
            handler,
            matcher,
            syncer: writable.syncer,
            newly_accepted: writable.newly_accepted,
        }
    }
}

/// Rejects a wall clock more than `MAX_CLOCK_ADVANCE` ahead of the last command, before any frame
/// is journalled with its time.
///
/// # Errors
/// [`EngineError::ClockJumped`].
pub(crate) fn check_clock(
    config: &EngineConfig,
    last: TimeNs,
    wall: u64,
) -> Result<(), EngineError> {
    if config.accept_clock_jump {
        return Ok(());
    }
    check_clock_advance(last, wall)
}

/// As [`check_clock`], of an operator who accepts no jump.
pub(crate) fn check_clock_advance(last: TimeNs, wall: u64) -> Result<(), EngineError> {
    const SECOND: u64 = 1_000_000_000;
    let ahead = Duration::from_nanos(wall.saturating_sub(last.0));
    if last == TimeNs(0) || ahead <= MAX_CLOCK_ADVANCE {
        return Ok(());
    }
    Err(EngineError::ClockJumped {
        days: ahead.as_secs() / 86_400,
        wall: wall / SECOND,
        last: last.0 / SECOND,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_may_be_a_week_ahead_of_the_last_command() {
        let week = u64::try_from(MAX_CLOCK_ADVANCE.as_nanos()).unwrap();
        let config = EngineConfig::new("data".into());
        for (last, wall) in [(0, u64::MAX), (5, 0), (5, 5), (5, 5 + week)] {
            assert!(
                check_clock(&config, TimeNs(last), wall).is_ok(),
                "{last} {wall}"
            );
        }
        let refused = check_clock(&config, TimeNs(5), 6 + week).unwrap_err();
        assert_eq!(refused.exit_code(), crate::EXIT_REFUSED);
        let text = refused.to_string();
        assert!(text.contains("7 days ahead"), "{text}");
        assert!(text.contains("--accept-clock-jump"), "{text}");
    }
}
