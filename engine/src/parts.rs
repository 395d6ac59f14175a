//! The parts of the machine, wired in the order the data moves. Nothing runs yet: whoever has them
//! gives each its turns, on threads (`machine.rs`) or in an order of its own choice (the
//! simulation).

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use foretell_journal::{Helper, Syncer};
use foretell_link::Stage;
use foretell_model::{Sequence, TimeNs};
use foretell_stages::{Durations, Recorder};
use mio::Poll;

use crate::clock::{Clock, Clocks};
use crate::config::{EngineConfig, MAX_REST};
use crate::directory::Directory;
use crate::error::EngineError;
use crate::hand_off::HandOff;
use crate::heartbeat::Heartbeats;
use crate::ingress::BELL;
use crate::matcher::{Matcher, Working};
use crate::published::Published;
use crate::publisher;
use crate::recovery;
use crate::requests::Desk;
use crate::status::Gauges;
use crate::summaries::Summaries;
use crate::wait::{Bell, Sleeper};

/// Draws a random number.
pub(crate) type Draw<'d> = dyn FnMut() -> Result<u64, EngineError> + 'd;

/// An engine behind its recovery, in parts.
#[derive(Debug)]
pub(crate) struct Parts<C> {
    /// Rings the bell.
    pub(crate) poll: Poll,
    pub(crate) bell: Arc<Bell>,
    /// Ingress, apart from its sockets.
    pub(crate) desk: Desk<C>,
    pub(crate) matcher: Matcher<C>,
    pub(crate) syncer: Syncer,
    /// Prepares segments.
    pub(crate) helper: Helper,
    /// What the publisher begins with.
    pub(crate) publisher: publisher::Setting<C>,
    /// As in [`recovery::Restored`].
    pub(crate) newly_accepted: Option<Sequence>,
}

impl<C: Clocks> Parts<C> {
    /// Recovers what is in the directory and wires the parts around it.
    ///
    /// # Errors
    /// Those of [`recovery::restore`]; an I/O error of the journal's start.
    pub(crate) fn wire(
        config: &EngineConfig,
        directory: &Directory,
        clocks: C,
        draw: &mut Draw<'_>,
    ) -> Result<Self, EngineError> {
        let restored = recovery::restore(config, directory, draw()?)?;
        let last = restored.journal.report.last_time;
        if !config.accept_clock_jump {
            check_clock(last, clocks.wall())?;
        }
        let opened = restored.journal.open().map_err(EngineError::Journal)?;
        let (appender, syncer, journal, helper) = opened;

        let poll = Poll::new().map_err(EngineError::process("making a poll"))?;
        let bell = mio::Waker::new(poll.registry(), BELL)
            .map(|waker| Arc::new(Bell::new(waker)))
            .map_err(EngineError::process("making a waker"))?;
        let hand_off = Arc::new(HandOff::new(config.ring_capacity));
        let gauges = Arc::<Gauges>::default();
        let durations = Arc::<Durations<Stage>>::default();
        let published = Arc::new(Published::new(config.publishing.enabled));
        let desk = Desk {
            hand_off: Arc::clone(&hand_off),
            journal: journal.clone(),
            gauges: Arc::clone(&gauges),
            published: Arc::clone(&published),
            recorder: Recorder::new(Arc::clone(&durations)),
            durations: Arc::clone(&durations),
            summaries: Summaries::default(),
            heartbeats: Heartbeats::resume(
                config.heartbeat_window,
                &restored.heartbeats,
                draw()?,
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
            exchange: restored.exchange,
            appender,
            journal: journal.clone(),
            hand_off,
            gauges,
            recorder: Recorder::new(durations),
            clock: Clock::start(clocks.clone(), last),
            clocks: clocks.clone(),
            mode: restored.mode,
            post_only_until: None,
            sleeper: Sleeper::new(config.waiting),
            bell: Arc::clone(&bell),
            working: Working::default(),
        };
        let publisher = publisher::Setting {
            config: config.clone(),
            journal_directory: directory.journal(),
            journal,
            shelf: restored.shelf,
            board: published,
            bell: Arc::clone(&bell),
            newly_accepted: restored.newly_accepted,
            index_key: draw()?,
            clocks,
        };
        Ok(Self {
            poll,
            bell,
            desk,
            matcher,
            syncer,
            helper,
            publisher,
            newly_accepted: restored.newly_accepted,
        })
    }
}

/// Refuses a wall clock that is more than [`MAX_REST`] ahead of the last command, before anything is
/// journalled with its time.
fn check_clock(last: TimeNs, wall: u64) -> Result<(), EngineError> {
    const SECOND: u64 = 1_000_000_000;
    let ahead = Duration::from_nanos(wall.saturating_sub(last.0));
    if last == TimeNs(0) || ahead <= MAX_REST {
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
        let week = u64::try_from(MAX_REST.as_nanos()).unwrap();
        for (last, wall) in [(0, u64::MAX), (5, 0), (5, 5), (5, 5 + week)] {
            assert!(check_clock(TimeNs(last), wall).is_ok(), "{last} {wall}");
        }
        let refused = check_clock(TimeNs(5), 6 + week).unwrap_err();
        assert_eq!(refused.exit_code(), crate::EXIT_REFUSED);
        let text = refused.to_string();
        assert!(text.contains("7 days ahead"), "{text}");
        assert!(text.contains("--accept-clock-jump"), "{text}");
    }
}
