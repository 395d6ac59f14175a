//! The leader's publishing thread: what the sync thread seals goes into the log, what the log
//! confirms becomes durable. It also sends the heartbeat, and finds out when another host leads.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use foretell_replication::{Heartbeat, Superseded};

use super::standby::LeaderParts;
use super::status::StatusFile;
use crate::clock::{Clocks, SystemClocks, in_ms, now};
use crate::error::EngineError;
use crate::status::Gauges;
use crate::threads::spawn;
use crate::wait::{PollWaker, ThreadWaker};
use crate::wiring::ServingParts;

/// Heartbeats within the time of a takeover.
const BEATS: u32 = 4;
/// Time that a stop waits for the log.
const STOP_PATIENCE: Duration = Duration::from_secs(5);
/// Without a confirmation for this long while something waits, the state says so.
const STALLED_AFTER: Duration = Duration::from_secs(2);

/// The publishing thread.
pub(crate) struct Leader {
    stopping: Arc<AtomicBool>,
    thread: JoinHandle<Result<(), Superseded>>,
}

impl Leader {
    /// Starts the thread.
    pub(crate) fn start(
        parts: LeaderParts,
        status: StatusFile,
        serving: &ServingParts<SystemClocks>,
    ) -> Result<Self, EngineError> {
        let stopping = Arc::new(AtomicBool::new(false));
        let mut publishing = Publishing {
            parts,
            status,
            clocks: serving.matcher.clocks,
            gauges: Arc::clone(&serving.handler.gauges),
            ingress: Arc::clone(&serving.waker),
            matcher: serving.matcher.parker.waker(),
            stopping: Arc::clone(&stopping),
            beats: 0,
        };
        let thread = spawn("replicate", move || publishing.run())
            .map_err(EngineError::process("starting the publishing thread"))?;
        Ok(Self { stopping, thread })
    }

    /// Publishes the rest, resigns, and ends.
    ///
    /// # Errors
    /// Another host leads.
    pub(crate) fn finish(self) -> Result<(), Superseded> {
        self.stopping.store(true, Ordering::Release);
        self.thread.thread().unpark();
        self.thread
            .join()
            .expect("a panic in it aborts the process")
    }
}

struct Publishing {
    parts: LeaderParts,
    status: StatusFile,
    clocks: SystemClocks,
    gauges: Arc<Gauges>,
    ingress: Arc<PollWaker>,
    matcher: ThreadWaker,
    stopping: Arc<AtomicBool>,
    beats: u64,
}

impl fmt::Debug for Publishing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publishing").finish_non_exhaustive()
    }
}

impl Publishing {
    fn run(&mut self) -> Result<(), Superseded> {
        let thread = std::thread::current();
        let own = thread.clone();
        self.parts.queue.set_waker(move || own.unpark());
        self.parts.log.set_waker(Arc::new(move || thread.unpark()));
        let ended = self.publish();
        if let Err(superseded) = &ended {
            tracing::error!(%superseded, "this host no longer leads");
            self.parts.queue.supersede(&superseded.to_string());
            self.wake_all();
        }
        (self.status.now.leading, self.status.now.leads_until_ms) = (false, 0);
        self.status.set_state("stopped");
        self.status.write(self.clocks.wall());
        ended
    }

    fn wake_all(&self) {
        self.ingress.wake();
        self.matcher.wake();
    }

    fn publish(&mut self) -> Result<(), Superseded> {
        let pause = self.parts.cluster.takeover_after / BEATS;
        let mut next_beat = Duration::ZERO;
        let mut stop_by = None;
        loop {
            let now = now(&self.clocks);
            let parts = &mut self.parts;
            if parts.window.step(&mut parts.log, now)?.is_some() {
                self.wake_all();
            }
            if now >= next_beat {
                next_beat = now + pause;
                self.beat(false)?;
            }
            if self.stopping.load(Ordering::Acquire) {
                let stop_by = *stop_by.get_or_insert(now + STOP_PATIENCE);
                if self.parts.window.is_idle() {
                    return self.beat(true);
                }
                if now >= stop_by {
                    tracing::warn!("stopping before the log confirmed the last batches");
                    return Ok(());
                }
            }
            let limit = match self.parts.window.has_fault() {
                true => Duration::from_millis(20),
                false => next_beat.saturating_sub(now),
            };
            std::thread::park_timeout(limit);
        }
    }

    /// Sends the heartbeat; an idle leader first checks whether the log has gone on without it.
    fn beat(&mut self, resigned: bool) -> Result<(), Superseded> {
        let parts = &mut self.parts;
        if parts.window.is_idle() {
            parts.window.check_idle(&mut parts.log, now(&self.clocks))?;
        }
        self.beats += 1;
        let (wall, wall_at) = (self.clocks.wall(), now(&self.clocks));
        let time = self.gauges.time(self.clocks.monotonic());
        let durable = parts.journal.durable();
        let clock = parts.hear(&self.clocks);
        parts.log.beat(&Heartbeat {
            host: parts.cluster.host.clone(),
            address: parts.cluster.address.clone(),
            term: parts.term,
            count: self.beats,
            sequence: durable.0,
            wall_ms: wall / 1_000_000,
            time_ms: time.millis().0,
            heard: parts.witnesses.heard(wall_at),
            resigned,
        });
        parts.announce(durable, wall / 1_000_000);
        let (durable, cluster) = (durable.0, &parts.cluster);
        // The wall clock was read first: time between the two reads shortens the lead.
        let silent = now(&self.clocks).saturating_sub(parts.window.led_at());
        let is_stalled = silent >= STALLED_AFTER;
        let state = if is_stalled {
            "leading; the log does not answer"
        } else {
            "leading"
        };
        let report = &mut self.status.now;
        report.leading = true;
        report.clock = clock.unwrap_or_default();
        report.engine_ahead_ms = (time.millis().0)
            .wrapping_sub(wall / 1_000_000)
            .cast_signed();
        report.leads_until_ms =
            (wall / 1_000_000 + in_ms(cluster.takeover_after)).saturating_sub(in_ms(silent));
        report.term = parts.term;
        report.leader.clone_from(&cluster.host);
        report.leader_address.clone_from(&cluster.address);
        report.own_sequence = durable;
        report.stream_sequence = durable;
        report.message = parts.window.last();
        report.foreign_messages = parts.log.foreign();
        report.lag_ms = match is_stalled {
            true => in_ms(silent),
            false => 0,
        };
        self.status.set_state(state);
        self.status.write(wall);
        Ok(())
    }
}
