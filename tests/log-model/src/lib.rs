//! An in-memory log with the faults of a network, for simulations and tests.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use foretell_replication::{
    BeatAge, Bounds, LogError, Outcome, Publish, RecordAge, ReplicatedLog, Wake,
};
use parking_lot::{Mutex, MutexGuard};

/// What happens to a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// It arrives, and so does its answer.
    None,
    /// It is lost; the sender gets [`Outcome::Unknown`].
    RequestLost,
    /// It arrives, its answer is lost.
    AnswerLost,
    /// It arrives twice; both answers arrive.
    Repeated,
    /// It and all later ones of this host wait.
    Delayed,
    /// Its sender gets [`Outcome::Unknown`] now, and it arrives later.
    Late,
}

/// Requests, and heartbeats, that a stranger and the hosts remember.
const OVERHEARD: usize = 32;

#[derive(Debug, Default)]
struct State {
    /// Id and payload.
    messages: Vec<(String, Vec<u8>)>,
    ids: HashMap<String, u64>,
    /// Numbers of messages that nobody can read any more.
    lost: BTreeSet<u64>,
    /// The last heartbeats.
    beats: VecDeque<Vec<u8>>,
    hosts: BTreeMap<String, Vec<u8>>,
    /// Requests whose sender has given up and that still arrive.
    late: VecDeque<Publish>,
    /// The last requests, whether the log appended them or not: a subscriber of the subject has them all.
    overheard: VecDeque<Publish>,
}

/// The log; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Model(Arc<Mutex<State>>);

impl Model {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }

    /// A host's connection, which works while `is_reachable`.
    #[must_use]
    pub fn connect(&self, is_reachable: Arc<AtomicBool>) -> ModelLog {
        ModelLog {
            model: self.clone(),
            requests: VecDeque::new(),
            outcomes: VecDeque::new(),
            is_reachable,
            faults: None,
            wake: None,
            beat_age: Arc::new(|_| None),
            heard: BTreeMap::new(),
        }
    }

    /// The number of the last message.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.state().messages.len() as u64
    }

    /// All payloads.
    #[must_use]
    pub fn messages(&self) -> Vec<Vec<u8>> {
        let state = self.state();
        state
            .messages
            .iter()
            .map(|(_, payload)| payload.clone())
            .collect()
    }

    /// The last requests of hosts, oldest first, as a stranger overhears them.
    #[must_use]
    pub fn overheard(&self) -> Vec<Publish> {
        self.state().overheard.iter().cloned().collect()
    }

    /// A stranger writes a message: whatever is the last one, and with any id that no message has.
    pub fn intrude(&self, id: String, payload: Vec<u8>) {
        let mut state = self.state();
        let number = state.messages.len() as u64 + 1;
        if !state.ids.contains_key(&id) {
            state.ids.insert(id.clone(), number);
            state.messages.push((id, payload));
        }
    }

    /// Its servers lose this message and keep those after it.
    pub fn lose(&self, number: u64) {
        self.state().lost.insert(number);
    }

    /// Its servers lose what came after this message.
    pub fn lose_after(&self, number: u64) {
        let mut state = self.state();
        state.ids.retain(|_, of| *of <= number);
        let kept = usize::try_from(number).expect("it is in memory");
        state.messages.truncate(kept);
    }

    /// A stranger, or a host, replaces the heartbeat.
    pub fn put_beat(&self, payload: Vec<u8>) {
        remember(&mut self.state().beats, payload);
    }

    /// A stranger, or a host, replaces the record of a host.
    pub fn put_record(&self, host: &str, payload: Vec<u8>) {
        self.state().hosts.insert(host.to_owned(), payload);
    }

    /// The last heartbeats, oldest first.
    #[must_use]
    pub fn beats(&self) -> Vec<Vec<u8>> {
        self.state().beats.iter().cloned().collect()
    }

    /// Requests whose sender has given up and that still arrive.
    #[must_use]
    pub fn late(&self) -> Vec<Publish> {
        self.state().late.iter().cloned().collect()
    }

    /// Lets the oldest late request arrive.
    pub fn deliver_late(&self) {
        let late = self.state().late.pop_front();
        if let Some(publish) = late {
            // Nobody waits for the answer.
            let _ = self.append(&publish);
        }
    }

    fn append(&self, publish: &Publish) -> Outcome {
        let mut state = self.state();
        remember(&mut state.overheard, publish.clone());
        let last = state.messages.last().map(|(id, _)| id);
        let follows = publish.after.is_none() || last == publish.after.as_ref();
        let is_known = state.ids.contains_key(&publish.id);
        if state.messages.len() as u64 != publish.expected || !follows || is_known {
            return Outcome::NotAppended;
        }
        let number = publish.expected + 1;
        state
            .messages
            .push((publish.id.clone(), publish.payload.clone()));
        state.ids.insert(publish.id.clone(), number);
        Outcome::Accepted(number)
    }
}

fn remember<T>(last: &mut VecDeque<T>, newest: T) {
    if last.len() == OVERHEARD {
        last.pop_front();
    }
    last.push_back(newest);
}

/// Draws the fault of each request.
type Faults = Box<dyn FnMut() -> Fault + Send>;

/// A host's connection to a [`Model`].
pub struct ModelLog {
    model: Model,
    requests: VecDeque<Publish>,
    outcomes: VecDeque<(String, Outcome)>,
    is_reachable: Arc<AtomicBool>,
    faults: Option<Faults>,
    wake: Option<Wake>,
    beat_age: BeatAge,
    /// The records of hosts when this host last looked.
    heard: BTreeMap<String, Vec<u8>>,
}

impl fmt::Debug for ModelLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelLog").finish_non_exhaustive()
    }
}

impl Drop for ModelLog {
    /// What a host has sent may still arrive after its end.
    fn drop(&mut self) {
        self.model.state().late.append(&mut self.requests);
    }
}

impl ModelLog {
    /// Sets the source of faults.
    pub fn set_faults(&mut self, faults: impl FnMut() -> Fault + Send + 'static) {
        self.faults = Some(Box::new(faults));
    }

    fn reach(&self) -> Result<&Model, LogError> {
        if self.is_reachable.load(Ordering::Relaxed) {
            Ok(&self.model)
        } else {
            Err(LogError::Unreachable("cut off".to_owned()))
        }
    }

    fn draw(&mut self) -> Fault {
        let faults = self.faults.as_mut();
        faults.map_or(Fault::None, |faults| faults())
    }

    /// Carries requests and answers.
    fn carry(&mut self) {
        while let Some(publish) = self.requests.pop_front() {
            let fault = match self.is_reachable.load(Ordering::Relaxed) {
                true => self.draw(),
                false => Fault::RequestLost,
            };
            let id = publish.id.clone();
            match fault {
                Fault::Delayed => {
                    self.requests.push_front(publish);
                    return;
                }
                Fault::RequestLost => self.outcomes.push_back((id, Outcome::Unknown)),
                Fault::Late => {
                    self.model.state().late.push_back(publish);
                    self.outcomes.push_back((id, Outcome::Unknown));
                }
                Fault::AnswerLost => {
                    let _ = self.model.append(&publish);
                    self.outcomes.push_back((id, Outcome::Unknown));
                }
                Fault::Repeated => {
                    for _ in 0..2 {
                        let outcome = self.model.append(&publish);
                        self.outcomes.push_back((id.clone(), outcome));
                    }
                }
                Fault::None => {
                    let outcome = self.model.append(&publish);
                    self.outcomes.push_back((id, outcome));
                }
            }
        }
    }
}

impl ReplicatedLog for ModelLog {
    fn set_waker(&mut self, wake: Wake) {
        self.wake = Some(wake);
    }

    fn bounds(&mut self) -> Result<Bounds, LogError> {
        let last = self.reach()?.state().messages.len() as u64;
        Ok(Bounds { first: 1, last })
    }

    fn read(&mut self, number: u64) -> Result<Option<Vec<u8>>, LogError> {
        let state = self.reach()?.state();
        if state.lost.contains(&number) {
            return Ok(None);
        }
        let index = usize::try_from(number).unwrap_or(usize::MAX).checked_sub(1);
        let message = index.and_then(|index| state.messages.get(index));
        Ok(message.map(|(_, payload)| payload.clone()))
    }

    fn next(&mut self, after: u64) -> Result<Option<Vec<u8>>, LogError> {
        self.read(after + 1)
    }

    fn publish(&mut self, publish: Publish) {
        // Some arrive at once, and their answers wait until the host looks; others arrive when it looks.
        let arrives = publish.expected.is_multiple_of(2);
        self.requests.push_back(publish);
        if arrives {
            self.carry();
        }
        if let Some(wake) = &self.wake {
            wake();
        }
    }

    fn outcome(&mut self) -> Option<(String, Outcome)> {
        self.carry();
        self.outcomes.pop_front()
    }

    fn beat(&mut self, payload: Vec<u8>, _: bool) {
        if let Ok(model) = self.reach() {
            model.put_beat(payload);
        }
    }

    fn set_beat_age(&mut self, age: BeatAge) {
        self.beat_age = age;
    }

    fn beats(&mut self) -> Result<Vec<Vec<u8>>, LogError> {
        let beats = self.reach()?.beats();
        let newest = beats.iter().max_by_key(|payload| (self.beat_age)(payload));
        Ok(newest.into_iter().chain(beats.last()).cloned().collect())
    }

    fn announce(&mut self, host: &str, payload: Vec<u8>) {
        // Others write between two calls of this host, such as its look at the log and its takeover.
        if self.draw() != Fault::None {
            self.model.deliver_late();
        }
        if let Ok(model) = self.reach() {
            model.put_record(host, payload);
        }
    }

    fn set_record_age(&mut self, _: RecordAge) {}

    fn announced(&mut self) -> Vec<Vec<u8>> {
        let Ok(model) = self.reach() else {
            return Vec::new();
        };
        let hosts = model.state().hosts.clone();
        let is_new =
            |(host, payload): &(&String, &Vec<u8>)| self.heard.get(*host) != Some(*payload);
        let arrived = hosts.iter().filter(is_new);
        let arrived = arrived.map(|(_, payload)| payload.clone()).collect();
        self.heard = hosts;
        arrived
    }

    fn hosts(&mut self) -> Result<Vec<Vec<u8>>, LogError> {
        Ok(self.reach()?.state().hosts.values().cloned().collect())
    }
}
