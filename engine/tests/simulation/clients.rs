//! The clients: gateways that may die or be cut off at any byte, ask again for what was not
//! answered, and sometimes for what was.

use std::collections::{BTreeMap, VecDeque};

use foretell_link::{
    Answer, AnswerDecoder, BusyReason, Heartbeat, HeartbeatId, Hello, PROTOCOL_VERSION, Request,
    Role, Submit,
};
use foretell_model::TimeNs;

use super::checks::{self, Promise};
use super::coverage::Situation;
use super::fate::Fate;
use super::ledger::Ledger;
use super::wire::ClientEnd;
use super::wishes::Wishes;
use super::world::World;

/// Intents a client has open at most.
const MOST_OPEN: usize = 24;
/// Intents of all clients in one world.
const MOST_INTENTS: usize = 500;

/// What a request was for.
#[derive(Clone, Copy, Debug)]
enum Asked {
    Intent(usize),
    Other,
}

/// One client. It outlives every engine.
#[derive(Debug)]
pub(super) struct Client {
    name: usize,
    role: Role,
    wire: Option<ClientEnd>,
    decoder: AnswerDecoder,
    is_greeted: bool,
    /// Connections it has given up, which the engine does not know yet.
    given_up: Vec<ClientEnd>,
    /// Intents to be sent, or sent again.
    open: VecDeque<usize>,
    asked: BTreeMap<u64, Asked>,
    /// Intents of this client that were answered: some are asked for again.
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
            given_up: Vec::new(),
            open: VecDeque::new(),
            asked: BTreeMap::new(),
            done: Vec::new(),
            prelude: Vec::new(),
            requests: 0,
        }
    }

    /// Nothing is wanted and nothing awaited.
    pub(super) fn is_content(&self) -> bool {
        self.open.is_empty() && self.asked.is_empty()
    }

    /// Bytes the engine ever sent on the present connections.
    pub(super) fn received(&self) -> u64 {
        let wires = self.given_up.iter().chain(&self.wire);
        wires.map(ClientEnd::sent).sum()
    }

    /// The connection is gone; what was not answered is asked for again on the next.
    pub(super) fn disconnect(&mut self) -> Option<ClientEnd> {
        let asked = std::mem::take(&mut self.asked).into_values();
        self.open.extend(asked.filter_map(|asked| match asked {
            Asked::Intent(intent) => Some(intent),
            Asked::Other => None,
        }));
        self.decoder = AnswerDecoder::new();
        self.is_greeted = false;
        self.wire.take()
    }

    /// The client's machine died.
    pub(super) fn die(&mut self) {
        self.disconnect();
        self.given_up.clear();
    }

    /// What was acknowledged is lost, as it may be: it is wanted again.
    pub(super) fn want_again(&mut self, lost: &[usize]) {
        let mine = |it: &usize| self.done.contains(it);
        let again: Vec<usize> = lost.iter().copied().filter(mine).collect();
        self.done.retain(|it| !again.contains(it));
        self.open.extend(again);
    }

    /// One thing a client does.
    pub(super) fn step(&mut self, world: &World) {
        let fate = &world.fate;
        if self.wire.as_ref().is_some_and(ClientEnd::is_over) {
            fate.note(|| format!("client {}: the engine is gone", self.name));
            self.disconnect();
        }
        if self.wire.is_none() {
            return self.connect(world);
        }
        match fate.below(100) {
            0..=39 => self.receive(world),
            40..=69 => {
                for _ in 0..=fate.below(3) {
                    self.want(world);
                }
            }
            70..=94 => self.send(world),
            _ if world.is_calm() => self.receive(world),
            95 => self.drop_connection(fate),
            96 => self.give_up_connection(fate),
            97 => self.ask_again(world),
            _ => self.ask_else(world),
        }
    }

    fn connect(&mut self, world: &World) {
        self.wire = world.connect();
        if let Some(wire) = &self.wire {
            world
                .fate
                .note(|| format!("client {}: connects", self.name));
            let hello = Request::Hello(Hello {
                version: PROTOCOL_VERSION,
                role: self.role,
                name: "simulated",
            });
            wire.send(&encoded(hello));
        }
    }

    fn drop_connection(&mut self, fate: &Fate) {
        fate.note(|| format!("client {}: drops its connection", self.name));
        fate.count(Situation::ConnectionDropped);
        self.disconnect();
    }

    /// Connects anew while the engine still serves the old connection.
    fn give_up_connection(&mut self, fate: &Fate) {
        if self.given_up.is_empty() {
            fate.note(|| format!("client {}: gives up its connection", self.name));
            fate.count(Situation::ConnectionDoubled);
            let wire = self.disconnect();
            self.given_up.extend(wire);
        } else {
            self.given_up.clear();
        }
    }

    /// Comes to want something more.
    fn want(&mut self, world: &World) {
        let mut wishes = world.wishes.borrow_mut();
        let mut ledger = world.ledger.borrow_mut();
        let open = self.open.len() + self.asked.len();
        if open >= MOST_OPEN || ledger.intents.len() >= MOST_INTENTS {
            return;
        }
        let command = match self.role {
            Role::Operator => match self.next_of_prelude(&mut wishes, &ledger) {
                Some(command) => {
                    self.prelude.push(ledger.intents.len());
                    Some(command)
                }
                None if world.is_calm() || world.fate.percent(70) => None,
                None => wishes.of_operator(&ledger),
            },
            _ if world.is_calm() => None,
            _ => {
                let time = ledger.time;
                wishes.of_trader(&ledger, time)
            }
        };
        if let Some(command) = command {
            let evidence = wishes.evidence();
            self.open.push_back(ledger.intend(command, evidence));
        }
    }

    fn next_of_prelude(
        &self,
        wishes: &mut Wishes,
        ledger: &Ledger,
    ) -> Option<foretell_model::Command> {
        let is_answered = |intent: &usize| ledger.is_answered(*intent);
        if !self.prelude.iter().all(is_answered) {
            return None;
        }
        wishes.prelude(self.prelude.len(), ledger)
    }

    /// Sends what is open, one or a few in a piece.
    fn send(&mut self, world: &World) {
        if !self.is_greeted {
            return;
        }
        let mut ledger = world.ledger.borrow_mut();
        let mut bytes = Vec::new();
        for _ in 0..=world.fate.below(6) {
            let Some(number) = self.open.pop_front() else {
                break;
            };
            let copies = if world.fate.percent(3) { 2 } else { 1 };
            for _ in 0..copies {
                bytes.extend(self.submit(&mut ledger, number, world));
            }
        }
        if let Some(wire) = &self.wire {
            wire.send(&bytes);
        }
    }

    fn submit(&mut self, ledger: &mut Ledger, number: usize, world: &World) -> Vec<u8> {
        let request = self.next_request(Asked::Intent(number));
        let intent = &mut ledger.intents[number];
        if intent.sent > 0 {
            world.fate.count(Situation::ResentAfterDrop);
        }
        intent.sent += 1;
        let (command, name) = (intent.command, self.name);
        world
            .fate
            .note(|| format!("client {name}: #{number} {command:?}"));
        encoded(Request::Submit(Submit {
            request,
            command,
            evidence: &intent.evidence,
        }))
    }

    fn next_request(&mut self, asked: Asked) -> u64 {
        self.requests += 1;
        self.asked.insert(self.requests, asked);
        self.requests
    }

    /// Asks once more for something that was answered.
    fn ask_again(&mut self, world: &World) {
        if !self.done.is_empty() && self.open.len() < MOST_OPEN {
            world.fate.count(Situation::ResentAfterAnswer);
            let again = self.done[world.fate.index(self.done.len())];
            self.open.push_back(again);
        }
    }

    /// A status, a heartbeat, a snapshot.
    fn ask_else(&mut self, world: &World) {
        if !self.is_greeted {
            return;
        }
        let request = self.next_request(Asked::Other);
        let ledger = world.ledger.borrow();
        let holders = &ledger.holders;
        let asked = match self.role {
            Role::Operator => Request::Snapshot { request },
            _ if world.fate.percent(50) || holders.is_empty() => Request::Status { request },
            _ => Request::Heartbeat(Heartbeat {
                request,
                owner: holders[world.fate.index(holders.len())].account,
                id: HeartbeatId::NONE,
            }),
        };
        if let Some(wire) = &self.wire {
            wire.send(&encoded(asked));
        }
    }

    /// Takes in what has arrived.
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
                    return world.fate.broken(Promise::Protocol, what);
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
                if let Some(Asked::Intent(number)) = self.take_asked(reply.request, world) {
                    let verdict = reply.verdict;
                    world.fate.note(|| {
                        let (name, at) = (self.name, reply.sequence);
                        format!("client {name}: #{number} answered at {at}: {verdict:?}")
                    });
                    checks::acknowledged(world, number, &reply);
                    self.done.push(number);
                }
            }
            Answer::Busy(busy) => {
                world.fate.count(Situation::BusyAnswered);
                if busy.reason == BusyReason::DiskLow {
                    world.fate.count(Situation::NewOrderRefusedDiskLow);
                }
                if let Some(Asked::Intent(number)) = self.take_asked(busy.request, world) {
                    self.open.push_back(number);
                }
            }
            Answer::Heartbeat(beat) => drop(self.take_asked(beat.request, world)),
            Answer::Snapshot(snapshot) => drop(self.take_asked(snapshot.request, world)),
            Answer::Status(status) => {
                self.take_asked(status.request, world);
                self.told_time(status.time, world);
            }
            Answer::Goodbye(_) => {}
        }
    }

    fn take_asked(&mut self, request: u64, world: &World) -> Option<Asked> {
        let asked = self.asked.remove(&request);
        if asked.is_none() {
            let what = || format!("request {request} was answered twice, or never asked");
            world.fate.broken(Promise::Protocol, what);
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
