//! What becomes of a request, and of the answer to it.

use std::collections::VecDeque;
use std::sync::Arc;

use foretell_journal::{Durability, JournalState};
use foretell_link::{
    Answer, Busy, BusyReason, Heartbeat, HeartbeatAnswer, HeartbeatId, Hello, PROTOCOL_VERSION,
    Reply, Request, Role, SnapshotAnswer, SnapshotResult, Stage, Status, Submit, Timing, Welcome,
};
use foretell_model::{AccountNumber, Command, Digest16, Verdict};
use foretell_stages::{Durations, Recorder};

use crate::clock::Clocks;
use crate::connection::{CutOff, Peer};
use crate::hand_off::{Done, HandOff, Origin, Work};
use crate::heartbeat::{Beat, Heartbeats};
use crate::published::{Asker, Published};
use crate::status::Gauges;
use crate::summaries::Summaries;

/// Ingress, apart from its sockets.
#[derive(Debug)]
pub(crate) struct Desk<C> {
    pub(crate) hand_off: Arc<HandOff>,
    pub(crate) journal: JournalState,
    pub(crate) gauges: Arc<Gauges>,
    pub(crate) published: Arc<Published>,
    pub(crate) durations: Arc<Durations<Stage>>,
    pub(crate) summaries: Summaries,
    pub(crate) recorder: Recorder<Stage>,
    pub(crate) heartbeats: Heartbeats,
    pub(crate) clocks: C,
    /// Commands of the engine's own that found the ring full, oldest first.
    pub(crate) own: VecDeque<Command>,
    /// Commands pushed and not answered yet.
    pub(crate) in_flight: usize,
    /// Open connections.
    pub(crate) connections: usize,
    /// Requests answered with Busy.
    pub(crate) busy: u64,
    /// Nothing more is taken.
    pub(crate) stopping: bool,
}

impl<C: Clocks> Desk<C> {
    /// Handles a request that became readable at the monotonic reading `at`.
    pub(crate) fn handle(
        &mut self,
        peer: &mut Peer,
        request: Request<'_>,
        at: u64,
    ) -> Result<(), CutOff> {
        match request {
            Request::Hello(hello) => self.greet(peer, hello),
            Request::Submit(submit) => self.submit(peer, submit, at),
            Request::Heartbeat(beat) => self.heartbeat(peer, beat, at),
            Request::Status { request } => {
                let status = self.status(request);
                peer.answer(&Answer::Status(Box::new(status)));
                Ok(())
            }
            Request::Snapshot { request } => self.snapshot(peer, request),
        }
    }

    fn greet(&self, peer: &mut Peer, hello: Hello<'_>) -> Result<(), CutOff> {
        if hello.version != PROTOCOL_VERSION {
            return Err(CutOff::Version(hello.version));
        }
        tracing::info!(slot = peer.id.slot, name = ?hello.name, role = ?hello.role, "gateway connected");
        peer.role = Some(hello.role);
        peer.answer(&Answer::Welcome(Welcome {
            epoch: self.journal.epoch(),
            genesis: self.journal.genesis(),
            durable: self.journal.durable(),
            durability: link_durability(self.journal.durability()),
            time: self.gauges.time(self.clocks.monotonic()),
        }));
        Ok(())
    }

    fn submit(&mut self, peer: &mut Peer, submit: Submit<'_>, at: u64) -> Result<(), CutOff> {
        let Submit {
            request,
            command,
            evidence,
        } = submit;
        if !peer.role.is_some_and(|role| role.may_submit(&command)) {
            return Err(CutOff::NotAllowed);
        }
        let origin = Origin::Gateway {
            connection: peer.id,
            request,
        };
        match self.admit(peer, &command, evidence.len()) {
            Ok(()) => self.push(Some(peer), origin, command, evidence, at),
            Err(reason) => self.refuse(peer, request, reason),
        }
        Ok(())
    }

    fn heartbeat(&mut self, peer: &mut Peer, beat: Heartbeat, at: u64) -> Result<(), CutOff> {
        let Heartbeat { request, owner, id } = beat;
        if peer.role < Some(Role::Trading) {
            return Err(CutOff::NotAllowed);
        }
        let start = Command::SetHeartbeat { owner, on: true };
        // The end of an earlier chain that still waits must come before the start of the next.
        let room = if self.own.is_empty() {
            self.admit(peer, &start, 0)
        } else {
            Err(BusyReason::RingFull)
        };
        if id == HeartbeatId::NONE
            && let Err(reason) = room
        {
            self.refuse(peer, request, reason);
            return Ok(());
        }
        let (accepted, id) = match self.heartbeats.beat(owner, id, at) {
            Beat::Started(id) | Beat::Running(id) => {
                let origin = Origin::Heartbeat {
                    connection: peer.id,
                    request,
                    owner,
                    id,
                };
                self.push(Some(peer), origin, start, &[], at);
                return Ok(());
            }
            Beat::Kept => (true, id),
            Beat::Wrong(right) => (false, right),
        };
        peer.answer(&Answer::Heartbeat(HeartbeatAnswer {
            request,
            accepted,
            id,
        }));
        Ok(())
    }

    fn snapshot(&mut self, peer: &mut Peer, request: u64) -> Result<(), CutOff> {
        if peer.role != Some(Role::Operator) {
            return Err(CutOff::NotAllowed);
        }
        let asker = Asker {
            connection: peer.id,
            request,
        };
        if !self.published.is_enabled() {
            let result = SnapshotResult::Off;
            peer.answer(&Answer::Snapshot(SnapshotAnswer { request, result }));
        } else if self.stopping {
            self.refuse(peer, request, BusyReason::Stopping);
        } else if !self.published.ask(asker, &self.journal) {
            self.refuse(peer, request, BusyReason::RingFull);
        }
        Ok(())
    }

    fn admit(&self, peer: &Peer, command: &Command, evidence: usize) -> Result<(), BusyReason> {
        let is_cancel = command.is_cancel();
        if self.stopping {
            Err(BusyReason::Stopping)
        } else if self.journal.disk_low() && !only_ends_things(command) {
            Err(BusyReason::DiskLow)
        } else if !self.hand_off.admits(is_cancel, peer.in_flight, evidence) {
            Err(BusyReason::RingFull)
        } else {
            Ok(())
        }
    }

    fn refuse(&mut self, peer: &mut Peer, request: u64, reason: BusyReason) {
        self.busy += 1;
        peer.answer(&Answer::Busy(Busy { request, reason }));
    }

    /// Pushes a command that was admitted, or that is the engine's own.
    fn push(
        &mut self,
        peer: Option<&mut Peer>,
        origin: Origin,
        command: Command,
        evidence: &[u8],
        at: u64,
    ) {
        let pushed = self.clocks.monotonic();
        let fitted = self.hand_off.push(Work {
            origin,
            command,
            evidence: self.hand_off.buffer(evidence),
            pushed,
        });
        assert!(fitted, "only ingress pushes, and it saw room");
        self.in_flight += 1;
        if let Some(peer) = peer {
            peer.in_flight += 1;
            self.recorder
                .note(Stage::Ingress, pushed.saturating_sub(at), 1);
        }
    }

    /// Submits the engine's own commands, as far as the ring has room: the end of chains whose deadline
    /// has passed, and the attestation of an image.
    pub(crate) fn submit_own(&mut self, now: u64) {
        self.own.extend(self.published.next_attestation());
        while let Some(owner) = self.heartbeats.expire(now) {
            tracing::info!(owner = owner.0, "heartbeat stopped: cancelling");
            self.own.push_back(Command::CancelAll {
                owner,
                heartbeat: true,
                request: Digest16::ZERO,
            });
            self.own
                .push_back(Command::SetHeartbeat { owner, on: false });
        }
        while !self.own.is_empty() && self.hand_off.waiting() < self.hand_off.capacity() {
            let command = self.own.pop_front().expect("it is not empty");
            self.push(None, Origin::Own, command, &[], now);
        }
    }

    /// Passes on an answer that may leave. `peer` is its addressee, if still there.
    pub(crate) fn deliver(&mut self, done: &Done, peer: Option<&mut Peer>, now: u64) {
        self.in_flight -= 1;
        let sync_wait = now.saturating_sub(done.staged);
        self.recorder.note(Stage::SyncWait, sync_wait, 1);
        let done = &Done {
            timing: Timing {
                sync_wait: Timing::clip(sync_wait),
                ..done.timing
            },
            ..*done
        };
        let answer = match done.origin {
            Origin::Own => return,
            Origin::Gateway { request, .. } => self.reply(request, done),
            Origin::Heartbeat {
                request, owner, id, ..
            } => self.heartbeat_started(request, owner, id, done),
        };
        if let Some(peer) = peer {
            peer.in_flight -= 1;
            peer.answer(&answer);
        }
    }

    fn reply(&self, request: u64, done: &Done) -> Answer {
        Answer::Reply(Reply {
            request,
            verdict: done.verdict,
            sequence: done.sequence,
            last_sequence: done.last_sequence,
            epoch: self.journal.epoch(),
            place: done.place,
            timing: done.timing,
        })
    }

    fn heartbeat_started(
        &mut self,
        request: u64,
        owner: AccountNumber,
        id: HeartbeatId,
        done: &Done,
    ) -> Answer {
        if let Verdict::Refused(_) = done.verdict {
            self.heartbeats.forget(owner, id);
            return self.reply(request, done);
        }
        Answer::Heartbeat(HeartbeatAnswer {
            request,
            accepted: true,
            id,
        })
    }

    fn status(&mut self, request: u64) -> Status {
        let now = self.clocks.monotonic();
        let durable = self.journal.durable();
        let (stages, seconds) = self.summaries.at(now, &self.durations);
        let small = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Status {
            request,
            // A full staging buffer is handed over within a burst, before its gauges are shown.
            sequence: self.gauges.sequence().max(durable),
            durable,
            durability: link_durability(self.journal.durability()),
            epoch: self.journal.epoch(),
            time: self.gauges.time(now),
            mode: self.gauges.mode(),
            disk_low: self.journal.disk_low(),
            live_orders: self.gauges.live_orders(),
            markets: self.gauges.markets(),
            accounts: self.gauges.accounts(),
            connections: small(self.connections),
            ring_used: small(self.hand_off.waiting()),
            ring_capacity: small(self.hand_off.capacity()),
            busy: self.busy,
            clock_alarms: self.gauges.clock_alarms(),
            snapshots: self.published.status(),
            stages,
            seconds,
        }
    }
}

/// What is still taken when the disk is nearly full: commands that only end or stop things.
const fn only_ends_things(command: &Command) -> bool {
    command.is_cancel()
        || matches!(
            command,
            Command::RevokeKey { .. }
                | Command::SetClosedOnly {
                    closed_only: true,
                    ..
                }
                | Command::PauseMarket { .. }
                | Command::CloseMarket { .. }
                | Command::SetMode { .. }
        )
}

const fn link_durability(durability: Durability) -> foretell_link::Durability {
    match durability {
        Durability::Disk => foretell_link::Durability::Disk,
        Durability::Process => foretell_link::Durability::Process,
        Durability::None => foretell_link::Durability::None,
    }
}
