//! An in-memory log with the faults of a network, for simulations and tests.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, MutexGuard};

use crate::log::{Bounds, LogError, Message, Outcome, Publish, ReplicatedLog, Wake};
use crate::records::{Heartbeat, HostRecord};

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

#[derive(Debug, Default)]
struct State {
    messages: Vec<Message>,
    ids: HashMap<String, u64>,
    beat: Option<Heartbeat>,
    hosts: BTreeMap<String, HostRecord>,
    /// Requests whose sender has given up and that still arrive.
    late: VecDeque<Publish>,
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
        }
    }

    /// All messages.
    #[must_use]
    pub fn messages(&self) -> Vec<Message> {
        self.state().messages.clone()
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
        if let Some(number) = state.ids.get(&publish.id) {
            return Outcome::Accepted(*number);
        }
        if state.messages.len() as u64 != publish.expected {
            return Outcome::WrongLast;
        }
        let last = state.messages.last().map(|message| &message.id);
        if publish.after.is_some() && last != publish.after.as_ref() {
            return Outcome::WrongLast;
        }
        state.messages.push(Message {
            id: publish.id.clone(),
            bytes: publish.bytes.clone(),
        });
        let number = publish.expected + 1;
        state.ids.insert(publish.id.clone(), number);
        Outcome::Accepted(number)
    }
}

/// Draws the fault of each request.
type Faults = Box<dyn FnMut() -> Fault + Send>;

/// A host's connection to a [`Model`].
pub struct ModelLog {
    model: Model,
    requests: VecDeque<Publish>,
    outcomes: VecDeque<(u64, Outcome)>,
    is_reachable: Arc<AtomicBool>,
    faults: Option<Faults>,
    wake: Option<Wake>,
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
            let expected = publish.expected;
            match fault {
                Fault::Delayed => {
                    self.requests.push_front(publish);
                    return;
                }
                Fault::RequestLost => self.outcomes.push_back((expected, Outcome::Unknown)),
                Fault::Late => {
                    self.model.state().late.push_back(publish);
                    self.outcomes.push_back((expected, Outcome::Unknown));
                }
                Fault::AnswerLost => {
                    let _ = self.model.append(&publish);
                    self.outcomes.push_back((expected, Outcome::Unknown));
                }
                Fault::Repeated => {
                    for _ in 0..2 {
                        let outcome = self.model.append(&publish);
                        self.outcomes.push_back((expected, outcome));
                    }
                }
                Fault::None => {
                    let outcome = self.model.append(&publish);
                    self.outcomes.push_back((expected, outcome));
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

    fn read(&mut self, number: u64) -> Result<Option<Message>, LogError> {
        let state = self.reach()?.state();
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        Ok(index
            .checked_sub(1)
            .and_then(|index| state.messages.get(index).cloned()))
    }

    fn next(&mut self, after: u64) -> Result<Option<Vec<u8>>, LogError> {
        Ok(self.read(after + 1)?.map(|message| message.bytes))
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

    fn outcome(&mut self) -> Option<(u64, Outcome)> {
        self.carry();
        self.outcomes.pop_front()
    }

    fn beat(&mut self, beat: &Heartbeat) {
        if let Ok(model) = self.reach() {
            model.state().beat = Some(beat.clone());
        }
    }

    fn last_beat(&mut self) -> Result<Option<Heartbeat>, LogError> {
        Ok(self.reach()?.state().beat.clone())
    }

    fn announce(&mut self, record: &HostRecord) {
        // Others write between two calls of this host, such as its look at the log and its takeover.
        if self.draw() != Fault::None {
            self.model.deliver_late();
        }
        if let Ok(model) = self.reach() {
            let host = record.host.clone();
            model.state().hosts.insert(host, record.clone());
        }
    }

    fn hosts(&mut self) -> Result<Vec<HostRecord>, LogError> {
        Ok(self.reach()?.state().hosts.values().cloned().collect())
    }
}
