//! The clients: gateways that may die or lose the connection at any byte, repeat unanswered
//! requests, and sometimes answered ones.

use std::collections::{BTreeMap, VecDeque};

use foretell_link::{
    Answer, AnswerDecoder, Busy, BusyReason, Heartbeat, HeartbeatId, Hello, PROTOCOL_VERSION,
    Replace, Request, Role, Submit,
};
use foretell_model::limits::MAX_GROUP_EVIDENCE_BYTES;
use foretell_model::{Command, OperatorNumber, RejectionReason, TimeNs, Verdict};

use super::checks::{self, Promise};
use super::context::SimContext;
use super::coverage::Situation;
use super::intents::{Act, IntentGenerator};
use super::ledger::Ledger;
use super::wire::ClientEnd;
use super::world::World;

/// Maximum number of open intents of a client.
const MOST_OPEN: usize = 24;
/// Maximum number of intents in one world.
const MOST_INTENTS: usize = 500;

/// The purpose of a request.
#[derive(Clone, Copy, Debug)]
enum RequestPurpose {
    Intent(usize),
    Other,
}

/// Intents that are sent together. When the answers get lost, each is repeated alone.
#[derive(Debug)]
struct Group {
    intents: Vec<usize>,
    if_all_canceled: bool,
}

/// One client. It outlives every engine.
#[derive(Debug)]
pub(super) struct Client {
    name: usize,
    role: Role,
    wire: Option<ClientEnd>,
    decoder: AnswerDecoder,
    is_greeted: bool,
    /// Abandoned connections that the engine still serves.
    abandoned: Vec<ClientEnd>,
    /// Intents to send, or to send again.
    open: VecDeque<usize>,
    /// Replaces to send.
    groups: VecDeque<Group>,
    /// Replaces without an answer yet: number of commands by first request.
    replaces: BTreeMap<u64, u64>,
    asked: BTreeMap<u64, RequestPurpose>,
    /// Answered intents of this client; some are repeated.
    done: Vec<usize>,
    prelude: Vec<usize>,
    requests: u64,
}

impl Client {
    pub(super) fn new(name: usize, role: Role) -> Self {
        Self {
            name,
            role,
            wire: None,
            decoder: AnswerDecoder::new(),
            is_greeted: false,
            abandoned: Vec::new(),
            open: VecDeque::new(),
            groups: VecDeque::new(),
            replaces: BTreeMap::new(),
            asked: BTreeMap::new(),
            done: Vec::new(),
            prelude: Vec::new(),
            requests: 0,
        }
    }

    /// No intent is open and no answer is awaited.
    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty() && self.groups.is_empty() && self.asked.is_empty()
    }

    /// Bytes ever sent by the engine on the current connections.
    pub(super) fn received(&self) -> u64 {
        let wires = self.abandoned.iter().chain(&self.wire);
        wires.map(ClientEnd::sent).sum()
    }

    /// Drops the connection; unanswered requests are repeated on the next one.
    pub(super) fn disconnect(&mut self) -> Option<ClientEnd> {
        let asked = std::mem::take(&mut self.asked).into_values();
        self.open.extend(asked.filter_map(|asked| match asked {
            RequestPurpose::Intent(intent) => Some(intent),
            RequestPurpose::Other => None,
        }));
        self.replaces.clear();
        self.decoder = AnswerDecoder::new();
        self.is_greeted = false;
        self.wire.take()
    }

    /// The client's machine dies.
    pub(super) fn die(&mut self) {
        self.disconnect();
        self.abandoned.clear();
    }

    /// Reopens acknowledged intents whose loss is allowed.
    pub(super) fn reopen(&mut self, lost: &[usize]) {
        let mine = |it: &usize| self.done.contains(it);
        let again: Vec<usize> = lost.iter().copied().filter(mine).collect();
        self.done.retain(|it| !again.contains(it));
        self.open.extend(again);
    }

    /// One random action of a client.
    pub(super) fn step(&mut self, world: &World) {
        let context = &world.context;
        if self.wire.as_ref().is_some_and(ClientEnd::is_over) {
            context.note(|| format!("client {}: the engine is gone", self.name));
            self.disconnect();
        }
        if self.wire.is_none() {
            return self.connect(world);
        }
        match context.below(100) {
            0..=39 => self.receive(world),
            40..=69 => {
                for _ in 0..=context.below(3) {
                    self.create_intent(world);
                }
            }
            70..=94 => self.send(world),
            _ if world.is_calm() => self.receive(world),
            95 => self.drop_connection(context),
            96 => self.abandon_connection(context),
            97 => self.repeat_answered(world),
            _ => self.send_other_request(world),
        }
    }

    fn connect(&mut self, world: &World) {
        self.wire = world.connect();
        if let Some(wire) = &self.wire {
            world
                .context
                .note(|| format!("client {}: connects", self.name));
            let hello = Request::Hello(Hello {
                version: PROTOCOL_VERSION,
                role: self.role,
                name: "simulated",
            });
            wire.send(&encoded(hello));
        }
    }

    fn drop_connection(&mut self, context: &SimContext) {
        context.note(|| format!("client {}: drops its connection", self.name));
        context.count(Situation::ConnectionDropped);
        self.disconnect();
    }

    /// Opens another connection while the engine still serves the old one.
    fn abandon_connection(&mut self, context: &SimContext) {
        if self.abandoned.is_empty() {
            context.note(|| format!("client {}: gives up its connection", self.name));
            context.count(Situation::ConnectionDoubled);
            let wire = self.disconnect();
            self.abandoned.extend(wire);
        } else {
            self.abandoned.clear();
        }
    }

    /// Creates an intent.
    fn create_intent(&mut self, world: &World) {
        let mut intents = world.intents.borrow_mut();
        let mut ledger = world.ledger.borrow_mut();
        let open = self.open.len() + self.asked.len();
        if open >= MOST_OPEN || ledger.intents.len() >= MOST_INTENTS {
            return;
        }
        let nobody = OperatorNumber::NONE;
        let act = match self.role {
            Role::Operator => match self.next_of_prelude(&mut intents, &ledger) {
                Some(act) => {
                    self.prelude.push(ledger.intents.len());
                    Some(act)
                }
                None if world.is_calm() || world.context.percent(40) => None,
                None => intents.of_operator(&ledger),
            },
            _ if world.is_calm() => None,
            _ if world.context.percent(8) => {
                self.create_replace(&mut intents, &mut ledger, world);
                None
            }
            _ => {
                let time = ledger.time;
                let command = intents.of_trader(&ledger, time);
                command.map(|command| (nobody, command))
            }
        };
        if let Some(act) = act {
            let evidence = intents.evidence(act.0, u64::MAX);
            self.open.push_back(ledger.intend(act, evidence));
        }
    }

    fn create_replace(
        &mut self,
        intents: &mut IntentGenerator,
        ledger: &mut Ledger,
        world: &World,
    ) {
        let time = ledger.time;
        let Some(commands) = intents.replace(ledger, time) else {
            return;
        };
        let nobody = OperatorNumber::NONE;
        let intend = |command: Command| {
            let most = match command {
                Command::PlaceOrder(_) => MAX_GROUP_EVIDENCE_BYTES as u64,
                _ => 1,
            };
            let evidence = intents.evidence(nobody, most);
            ledger.intend((nobody, command), evidence)
        };
        self.groups.push_back(Group {
            intents: commands.into_iter().map(intend).collect(),
            if_all_canceled: world.context.percent(50),
        });
    }

    fn next_of_prelude(&self, intents: &mut IntentGenerator, ledger: &Ledger) -> Option<Act> {
        let is_answered = |intent: &usize| ledger.is_answered(*intent);
        if !self.prelude.iter().all(is_answered) {
            return None;
        }
        intents.prelude(self.prelude.len(), ledger)
    }

    /// Sends open intents, one or a few per write.
    fn send(&mut self, world: &World) {
        if !self.is_greeted {
            return;
        }
        let mut ledger = world.ledger.borrow_mut();
        let mut bytes = Vec::new();
        if let Some(group) = self.groups.pop_front() {
            bytes.extend(self.submit_together(&mut ledger, &group, world));
        }
        for _ in 0..=world.context.below(6) {
            let Some(number) = self.open.pop_front() else {
                break;
            };
            let copies = if world.context.percent(3) { 2 } else { 1 };
            for _ in 0..copies {
                bytes.extend(self.submit(&mut ledger, number, world));
            }
        }
        if let Some(wire) = &self.wire {
            wire.send(&bytes);
        }
    }

    fn submit(&mut self, ledger: &mut Ledger, number: usize, world: &World) -> Vec<u8> {
        let request = self.next_request(RequestPurpose::Intent(number));
        let intent = &mut ledger.intents[number];
        if intent.sent > 0 {
            world.context.count(Situation::ResentAfterDrop);
        }
        intent.sent += 1;
        let (command, operator, name) = (intent.command, intent.operator, self.name);
        world
            .context
            .note(|| format!("client {name}: #{number} {command:?}"));
        encoded(Request::Submit(Submit {
            request,
            operator,
            command,
            evidence: &intent.evidence,
        }))
    }

    fn submit_together(&mut self, ledger: &mut Ledger, group: &Group, world: &World) -> Vec<u8> {
        world.context.count(Situation::ReplaceSent);
        let first = self.requests + 1;
        for number in &group.intents {
            self.next_request(RequestPurpose::Intent(*number));
            let intent = &mut ledger.intents[*number];
            intent.sent += 1;
            let (command, name) = (intent.command, self.name);
            world
                .context
                .note(|| format!("client {name}: #{number} of a replace {command:?}"));
        }
        self.replaces.insert(first, group.intents.len() as u64);
        let intents = group.intents.iter().map(|number| &ledger.intents[*number]);
        let commands: Vec<(Command, &[u8])> = intents
            .map(|intent| (intent.command, &intent.evidence[..]))
            .collect();
        let mut buffer = Vec::new();
        let replace = Replace::new(first, group.if_all_canceled, &commands, &mut buffer);
        encoded(Request::Replace(replace.expect("it is within bounds")))
    }

    fn next_request(&mut self, asked: RequestPurpose) -> u64 {
        self.requests += 1;
        self.asked.insert(self.requests, asked);
        self.requests
    }

    /// Repeats an answered intent.
    fn repeat_answered(&mut self, world: &World) {
        if !self.done.is_empty() && self.open.len() < MOST_OPEN {
            world.context.count(Situation::ResentAfterAnswer);
            let again = self.done[world.context.index(self.done.len())];
            self.open.push_back(again);
        }
    }

    /// Requests a status, a heartbeat or a snapshot.
    fn send_other_request(&mut self, world: &World) {
        if !self.is_greeted {
            return;
        }
        let request = self.next_request(RequestPurpose::Other);
        let ledger = world.ledger.borrow();
        let holders = &ledger.holders;
        let asked = match self.role {
            Role::Operator => Request::Snapshot { request },
            _ if world.context.percent(50) || holders.is_empty() => Request::Status { request },
            _ => Request::Heartbeat(Heartbeat {
                request,
                owner: holders[world.context.index(holders.len())].account,
                id: HeartbeatId::NONE,
            }),
        };
        if let Some(wire) = &self.wire {
            wire.send(&encoded(asked));
        }
    }

    /// Handles the received answers.
    fn receive(&mut self, world: &World) {
        loop {
            let answer = match self.decoder.next_answer() {
                Ok(Some(answer)) => answer,
                Ok(None) => {
                    let Some(wire) = &self.wire else { return };
                    match wire.receive(self.decoder.space()) {
                        0 => return,
                        count => self.decoder.filled(count),
                    }
                    continue;
                }
                Err(violation) => {
                    let what = || format!("the engine broke the protocol: {violation}");
                    return world.context.broken(Promise::Protocol, what);
                }
            };
            self.take(answer, world);
        }
    }

    fn take(&mut self, answer: Answer, world: &World) {
        match answer {
            Answer::Welcome(welcome) => {
                self.is_greeted = true;
                self.told_time(welcome.time, world);
            }
            Answer::Reply(reply) => {
                self.replaces.remove(&reply.request);
                if let Some(RequestPurpose::Intent(number)) = self.take_asked(reply.request, world)
                {
                    let verdict = reply.verdict;
                    world.context.note(|| {
                        let (name, at) = (self.name, reply.sequence);
                        format!("client {name}: #{number} answered at {at}: {verdict:?}")
                    });
                    if let Verdict::Rejected(rejection) = verdict
                        && rejection.reason == RejectionReason::NotAllCanceled
                    {
                        world.context.count(Situation::ReplaceHeldBack);
                    }
                    checks::acknowledged(world, number, &reply);
                    self.done.push(number);
                }
            }
            Answer::Busy(busy) => self.busy(busy, world),
            Answer::Heartbeat(beat) => drop(self.take_asked(beat.request, world)),
            Answer::Snapshot(snapshot) => drop(self.take_asked(snapshot.request, world)),
            Answer::Status(status) => {
                self.take_asked(status.request, world);
                self.told_time(status.time, world);
            }
            Answer::Goodbye(_) => {}
        }
    }

    /// A command, or a whole replace, was not taken: its intents are repeated.
    fn busy(&mut self, busy: Busy, world: &World) {
        world.context.count(Situation::BusyAnswered);
        if busy.reason == BusyReason::DiskLow {
            world.context.count(Situation::NewOrderRefusedDiskLow);
        }
        let commands = self.replaces.remove(&busy.request).unwrap_or(1);
        for request in (busy.request..).take(usize::try_from(commands).expect("a few")) {
            if let Some(RequestPurpose::Intent(number)) = self.take_asked(request, world) {
                self.open.push_back(number);
            }
        }
    }

    fn take_asked(&mut self, request: u64, world: &World) -> Option<RequestPurpose> {
        let asked = self.asked.remove(&request);
        if asked.is_none() {
            let what = || format!("request {request} was answered twice, or never asked");
            world.context.broken(Promise::Protocol, what);
        }
        asked
    }

    fn told_time(&self, time: TimeNs, world: &World) {
        let mut ledger = world.ledger.borrow_mut();
        ledger.time = ledger.time.max(time);
    }
}

fn encoded(request: Request<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    request.encode(&mut bytes).expect("it is within bounds");
    bytes
}
