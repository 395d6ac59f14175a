//! Handles requests and delivers their answers.

use std::collections::VecDeque;
use std::sync::Arc;

use foretell_journal::JournalState;
use foretell_link::{
    Answer, Busy, BusyReason, Heartbeat, HeartbeatAnswer, HeartbeatId, Hello, PROTOCOL_VERSION,
    Replace, Reply, Request, Role, SnapshotAnswer, SnapshotResult, Stage, Status, Submit, Timing,
    Welcome,
};
use foretell_model::command::{CancelAll, SetClosedOnly, SetHeartbeat};
use foretell_model::{AccountNumber, Command, OperatorNumber, Verdict};
use foretell_stages::{Durations, Recorder};

use crate::clock::Clocks;
use crate::command_ring::{CommandRing, GroupPlace, Origin, PendingReply, QueuedCommand};
use crate::connection::{DisconnectReason, Peer};
use crate::heartbeat::{BeatResult, Heartbeats};
use crate::publisher_mailbox::{PublisherMailbox, SnapshotRequest};
use crate::stage_summary_cache::StageSummaryCache;
use crate::status::Gauges;

/// Ingress without its sockets.
#[derive(Debug)]
pub(crate) struct RequestHandler<C> {
    pub(crate) ring: Arc<CommandRing>,
    pub(crate) journal: JournalState,
    pub(crate) gauges: Arc<Gauges>,
    pub(crate) mailbox: Arc<PublisherMailbox>,
    pub(crate) durations: Arc<Durations<Stage>>,
    pub(crate) summaries: StageSummaryCache,
    pub(crate) recorder: Recorder<Stage>,
    pub(crate) heartbeats: Heartbeats,
    pub(crate) clocks: C,
    /// The engine's own commands that found the ring full, oldest first.
    pub(crate) own: VecDeque<Command>,
    /// Commands pushed and not answered yet.
    pub(crate) in_flight: usize,
    pub(crate) connections: usize,
    pub(crate) busy: u64,
    /// No more requests are accepted.
    pub(crate) stopping: bool,
}

impl<C: Clocks> RequestHandler<C> {
    /// Handles a request that became readable at the monotonic reading `at`.
    pub(crate) fn handle(
        &mut self,
        peer: &mut Peer,
        request: Request<'_>,
        at: u64,
    ) -> Result<(), DisconnectReason> {
        match request {
            Request::Hello(hello) => self.greet(peer, hello),
            Request::Submit(submit) => self.submit(peer, submit, at),
            Request::Replace(replace) => self.replace(peer, &replace, at),
            Request::Heartbeat(beat) => self.heartbeat(peer, beat, at),
            Request::Status { request } => {
                let status = self.status(request);
                peer.answer(&Answer::Status(Box::new(status)));
                Ok(())
            }
            Request::Snapshot { request } => self.snapshot(peer, request),
        }
    }

    fn greet(&self, peer: &mut Peer, hello: Hello<'_>) -> Result<(), DisconnectReason> {
        if hello.version != PROTOCOL_VERSION {
            return Err(DisconnectReason::Version(hello.version));
        }
        tracing::info!(slot = peer.id.slot, name = ?hello.name, role = ?hello.role, "gateway connected");
        if peer.role.is_some() {
            return Err(DisconnectReason::SecondGreeting);
        }
        peer.role = Some(hello.role);
        peer.answer(&Answer::Welcome(Welcome {
            epoch: self.journal.epoch(),
            genesis: self.journal.genesis(),
            durable: self.journal.durable(),
            durability: self.journal.durability(),
            time: self.gauges.time(self.clocks.monotonic()),
        }));
        Ok(())
    }

    fn submit(
        &mut self,
        peer: &mut Peer,
        submit: Submit<'_>,
        at: u64,
    ) -> Result<(), DisconnectReason> {
        let Submit {
            request,
            operator,
            command,
            evidence,
        } = submit;
        let may_name = operator == OperatorNumber::NONE || peer.role == Some(Role::Operator);
        if !may_name || !peer.role.is_some_and(|role| role.may_submit(&command)) {
            return Err(DisconnectReason::NotAllowed);
        }
        let origin = Origin::Gateway {
            connection: peer.id,
            request,
        };
        let group = GroupPlace {
            operator,
            ..GroupPlace::default()
        };
        match self.admit(peer, &command, evidence.len()) {
            Ok(()) => self.push(Some(peer), origin, (command, group), evidence, at),
            Err(reason) => self.refuse(peer, request, reason),
        }
        Ok(())
    }

    /// Pushes all commands of a replace, or none.
    fn replace(
        &mut self,
        peer: &mut Peer,
        replace: &Replace<'_>,
        at: u64,
    ) -> Result<(), DisconnectReason> {
        if peer.role < Some(Role::Trading) {
            return Err(DisconnectReason::NotAllowed);
        }
        let (cancels, orders) = replace.counts();
        let evidence = replace.commands().map(|(_, evidence)| evidence.len()).sum();
        let only_cancels = orders == 0;
        let count = cancels + orders;
        let room = self.admit_all((only_cancels, only_cancels), count, peer, evidence);
        if let Err(reason) = room {
            self.refuse(peer, replace.request, reason);
            return Ok(());
        }
        let lefts = (0..u8::try_from(count).unwrap_or(u8::MAX)).rev();
        for (index, ((command, evidence), left)) in (0..).zip(replace.commands().zip(lefts)) {
            let origin = Origin::Gateway {
                connection: peer.id,
                request: replace.request.wrapping_add(index),
            };
            let group = GroupPlace {
                left,
                if_all_canceled: replace.if_all_canceled,
                ..GroupPlace::default()
            };
            self.push(Some(peer), origin, (command, group), evidence, at);
        }
        Ok(())
    }

    fn heartbeat(
        &mut self,
        peer: &mut Peer,
        beat: Heartbeat,
        at: u64,
    ) -> Result<(), DisconnectReason> {
        let Heartbeat { request, owner, id } = beat;
        if peer.role < Some(Role::Trading) {
            return Err(DisconnectReason::NotAllowed);
        }
        let start = Command::SetHeartbeat(SetHeartbeat { owner, on: true });
        // The queued end of an earlier chain must precede the start of the next.
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
        let (accepted, id) = match self.heartbeats.beat(owner, id, self.gauges.moved(at)) {
            BeatResult::Started(id) | BeatResult::Running(id) => {
                let origin = Origin::Heartbeat {
                    connection: peer.id,
                    request,
                    owner,
                    id,
                };
                self.push(Some(peer), origin, alone(start), &[], at);
                return Ok(());
            }
            BeatResult::Extended => (true, id),
            BeatResult::WrongId(right) => (false, right),
        };
        peer.answer(&Answer::Heartbeat(HeartbeatAnswer {
            request,
            accepted,
            id,
        }));
        Ok(())
    }

    fn snapshot(&mut self, peer: &mut Peer, request: u64) -> Result<(), DisconnectReason> {
        if peer.role != Some(Role::Operator) {
            return Err(DisconnectReason::NotAllowed);
        }
        let waiting = SnapshotRequest {
            connection: peer.id,
            request,
        };
        if !self.mailbox.is_enabled() {
            let result = SnapshotResult::Off;
            peer.answer(&Answer::Snapshot(SnapshotAnswer { request, result }));
        } else if self.stopping {
            self.refuse(peer, request, BusyReason::Stopping);
        } else if !self.mailbox.request(waiting, &self.journal) {
            self.refuse(peer, request, BusyReason::RingFull);
        }
        Ok(())
    }

    fn admit(&self, peer: &Peer, command: &Command, evidence: usize) -> Result<(), BusyReason> {
        let kind = (command.is_cancel(), only_ends_things(command));
        self.admit_all(kind, 1, peer, evidence)
    }

    fn admit_all(
        &self,
        (is_cancel, only_ends): (bool, bool),
        count: usize,
        peer: &Peer,
        evidence: usize,
    ) -> Result<(), BusyReason> {
        if self.stopping {
            Err(BusyReason::Stopping)
        } else if self.journal.disk_low() && !only_ends {
            Err(BusyReason::DiskLow)
        } else if !self.ring.admits(is_cancel, count, peer.in_flight, evidence) {
            Err(BusyReason::RingFull)
        } else {
            Ok(())
        }
    }

    fn refuse(&mut self, peer: &mut Peer, request: u64, reason: BusyReason) {
        self.busy += u64::from(reason == BusyReason::RingFull);
        peer.answer(&Answer::Busy(Busy { request, reason }));
    }

    /// Pushes an admitted command, or one of the engine's own.
    fn push(
        &mut self,
        peer: Option<&mut Peer>,
        origin: Origin,
        (command, group): (Command, GroupPlace),
        evidence: &[u8],
        at: u64,
    ) {
        let pushed = self.clocks.monotonic();
        let fitted = self.ring.push(QueuedCommand {
            origin,
            command,
            group,
            evidence: self.ring.buffer(evidence),
            pushed,
        });
        assert!(fitted, "only ingress pushes, and it saw room");
        self.in_flight += 1;
        if let Some(peer) = peer {
            peer.in_flight += 1;
            self.recorder
                .record(Stage::Ingress, pushed.saturating_sub(at), 1);
        }
    }

    /// Submits the engine's own commands while the ring has room: the end of chains whose deadline
    /// has passed, and the attestation of a snapshot.
    pub(crate) fn submit_own(&mut self, now: u64) {
        self.own.extend(self.mailbox.take_attestation());
        let moved = self.gauges.moved(now);
        while let Some(owner) = self.heartbeats.expire(moved) {
            tracing::info!(owner = owner.0, "heartbeat missed, cancelling orders");
            self.own.push_back(Command::CancelAll(CancelAll {
                owner,
                heartbeat: true,
            }));
            self.own
                .push_back(Command::SetHeartbeat(SetHeartbeat { owner, on: false }));
        }
        while !self.own.is_empty() && self.ring.waiting() < self.ring.capacity() {
            let command = self.own.pop_front().expect("it is not empty");
            self.push(None, Origin::Own, alone(command), &[], now);
        }
    }

    /// Delivers a durable answer. `peer` is its connection, if still open.
    pub(crate) fn deliver(&mut self, reply: &PendingReply, peer: Option<&mut Peer>, now: u64) {
        self.in_flight -= 1;
        let sync_wait = now.saturating_sub(reply.staged);
        self.recorder.record(Stage::SyncWait, sync_wait, 1);
        let reply = &PendingReply {
            timing: Timing {
                sync_wait: Timing::clip(sync_wait),
                ..reply.timing
            },
            ..*reply
        };
        let answer = match reply.origin {
            Origin::Own => return,
            Origin::Gateway { request, .. } => self.reply(request, reply),
            Origin::Heartbeat {
                request, owner, id, ..
            } => self.heartbeat_started(request, owner, id, reply),
        };
        if let Some(peer) = peer {
            peer.in_flight -= 1;
            peer.answer(&answer);
        }
    }

    fn reply(&self, request: u64, reply: &PendingReply) -> Answer {
        Answer::Reply(Reply {
            request,
            verdict: reply.verdict,
            sequence: reply.sequence,
            last_sequence: reply.last_sequence,
            epoch: self.journal.epoch(),
            place: reply.place,
            timing: reply.timing,
        })
    }

    fn heartbeat_started(
        &mut self,
        request: u64,
        owner: AccountNumber,
        id: HeartbeatId,
        reply: &PendingReply,
    ) -> Answer {
        if let Verdict::Rejected(_) = reply.verdict {
            self.heartbeats.cancel_start(owner, id);
            return self.reply(request, reply);
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
        let figures = self.summaries.at(now, &self.durations);
        let small = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Status {
            request,
            // A full staging buffer is handed over within a burst, before the gauges are updated.
            sequence: self.gauges.sequence().max(durable),
            durable,
            durability: self.journal.durability(),
            epoch: self.journal.epoch(),
            time: self.gauges.time(now),
            mode: self.gauges.mode(),
            disk_low: self.journal.disk_low(),
            live_orders: self.gauges.live_orders(),
            markets: self.gauges.markets(),
            accounts: self.gauges.accounts(),
            connections: small(self.connections),
            ring_used: small(self.ring.waiting()),
            ring_capacity: small(self.ring.capacity()),
            busy: self.busy,
            clock_alarms: self.gauges.clock_alarms(),
            clock: self.gauges.clock(),
            snapshots: self.mailbox.status(),
            stages: figures.since_start,
            seconds: figures.second,
            buckets: figures.buckets,
        }
    }
}

/// A command of a client or of the engine, outside of a replace.
fn alone(command: Command) -> (Command, GroupPlace) {
    (command, GroupPlace::default())
}

/// Commands that are accepted on a nearly full disk: they only end or stop things.
const fn only_ends_things(command: &Command) -> bool {
    command.is_cancel()
        || matches!(
            command,
            Command::RevokeKey(_)
                | Command::RevokeOperator { .. }
                | Command::SetClosedOnly(SetClosedOnly {
                    closed_only: true,
                    ..
                })
                | Command::PauseMarket(_)
                | Command::CloseMarket { .. }
                | Command::SetMode { .. }
        )
}
