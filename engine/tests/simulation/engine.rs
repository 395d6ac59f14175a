//! The engine under the scheduler: the real parts, each taking a turn when it is picked.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use foretell_journal::snapshot::Shelf;
use foretell_journal::{Helper, JournalState, Step, Syncer};
use foretell_model::Sequence;

use super::audit::Span;
use super::checks::Promise;
use super::coverage::Situation;
use super::time::Machine;
use super::wire::EngineEnd;
use super::world::World;
use crate::clock::Clocks;
use crate::config::Threads;
use crate::directory::Directory;
use crate::error::EngineError;
use crate::gateways::{Ended, Gateways, Matching, Round};
use crate::matcher::{Matcher, Turn};
use crate::parts::Parts;
use crate::published::Published;
use crate::publisher::{Publisher, Setting};
use crate::start_up;
use crate::status::Gauges;
use crate::wait::Wake;

/// The publisher, before and after it has found where to begin.
#[derive(Debug)]
enum Publishing {
    Begins(Box<Setting<Machine>>),
    Works(Box<Publisher<Machine>>),
}

/// The engine, or its absence. A part that takes a turn is out of its place meanwhile.
#[derive(Debug, Default)]
pub(super) struct Engine {
    pub(super) gateways: RefCell<Option<Gateways<Machine, EngineEnd>>>,
    /// On a thread of its own, if it is not part of the gateways' rounds.
    matcher: RefCell<Option<Matcher<Machine>>>,
    syncer: RefCell<Option<Syncer>>,
    helper: RefCell<Option<Helper>>,
    publisher: RefCell<Option<Publishing>>,
    pub(super) shelf: RefCell<Option<Shelf>>,
    pub(super) genesis: Cell<[u8; 32]>,
    shown: RefCell<Option<Shown>>,
    ended: Cell<Option<Ended>>,
}

/// What stays readable while the parts are at work, and what only has to be held.
#[derive(Debug)]
struct Shown {
    journal: JournalState,
    gauges: Arc<Gauges>,
    board: Arc<Published>,
    _poll: mio::Poll,
    _lock: Directory,
}

/// The recovered exchange.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recovered {
    pub(super) digest: [u8; 32],
    /// Where it was when it had this digest.
    pub(super) sequence: Sequence,
}

impl Engine {
    /// Recovers and begins to serve.
    pub(super) fn start(&self, world: &World) -> Result<Recovered, EngineError> {
        let config = world.config.borrow().clone();
        let lock = Directory::lock(&config.data_directory)?;
        let clocks = world.machine.clone();
        let began = clocks.monotonic();
        let mut draw = || Ok(world.fate.draw());
        let mut parts = Parts::wire(&config, &lock, clocks.clone(), &mut draw)?;
        let matcher = &mut parts.matcher;
        let recovered = Recovered {
            digest: matcher.exchange.digest(),
            sequence: matcher.exchange.sequence(),
        };
        if let Err(what) = matcher.exchange.check_invariants() {
            world.fate.broken(Promise::MoneyIsExact, || what);
        }
        world.spans.borrow_mut().push(Span {
            first: recovered.sequence.next(),
            wall: clocks.wall(),
            lasts: u64::MAX >> 8,
            began,
        });
        let (syncer, helper) = (&mut parts.syncer, &mut parts.helper);
        start_up::journal_configuration(
            matcher,
            &config,
            parts.newly_accepted,
            &mut |journal, sequence| {
                while journal.durable() < sequence && !journal.is_poisoned() {
                    // What an error says shows in the journal's state.
                    let _ = syncer.step();
                    let _ = helper.turn();
                }
            },
        )?;
        self.install(parts, lock, config.threads, &config);
        Ok(recovered)
    }

    fn install(
        &self,
        parts: Parts<Machine>,
        lock: Directory,
        threads: Threads,
        config: &crate::EngineConfig,
    ) {
        let journal = parts.matcher.journal.clone();
        self.genesis.set(journal.genesis());
        *self.shown.borrow_mut() = Some(Shown {
            journal,
            gauges: Arc::clone(&parts.matcher.gauges),
            board: Arc::clone(&parts.desk.published),
            _poll: parts.poll,
            _lock: lock,
        });
        *self.shelf.borrow_mut() = Some(parts.publisher.shelf.clone());
        *self.syncer.borrow_mut() = Some(parts.syncer);
        *self.helper.borrow_mut() = Some(parts.helper);
        *self.publisher.borrow_mut() = Some(Publishing::Begins(Box::new(parts.publisher)));
        let matching = match threads {
            Threads::Shared => Matching::Shared(Box::new(parts.matcher)),
            Threads::Apart => {
                let wake: Wake = parts.matcher.sleeper.wake();
                *self.matcher.borrow_mut() = Some(parts.matcher);
                Matching::Apart(wake)
            }
        };
        let gateways = Gateways::new(
            parts.desk,
            matching,
            config.max_connections,
            config.patience,
        );
        *self.gateways.borrow_mut() = Some(gateways);
        self.ended.set(None);
    }

    pub(super) fn is_serving(&self) -> bool {
        self.shown.borrow().is_some()
    }

    /// How serving ended, if it did.
    pub(super) fn ended(&self) -> Option<Ended> {
        self.ended.get()
    }

    /// The last command applied, durable or not, and the last durable one.
    pub(super) fn reached(&self) -> Option<(Sequence, Sequence)> {
        let shown = self.shown.borrow();
        let shown = shown.as_ref()?;
        Some((shown.gauges.sequence(), shown.journal.durable()))
    }

    /// The last frame the publisher has executed again.
    pub(super) fn published(&self) -> Option<Sequence> {
        let shown = self.shown.borrow();
        Some(shown.as_ref()?.board.status().folded)
    }

    /// The process is gone, with everything it had in memory.
    pub(super) fn vanish(&self, world: &World) {
        *self.gateways.borrow_mut() = None;
        *self.matcher.borrow_mut() = None;
        *self.publisher.borrow_mut() = None;
        *self.syncer.borrow_mut() = None;
        *self.helper.borrow_mut() = None;
        *self.shelf.borrow_mut() = None;
        *self.shown.borrow_mut() = None;
        self.ended.set(None);
        if let Some(span) = world.spans.borrow_mut().last_mut() {
            span.lasts = span.lasts.min(world.machine.monotonic() - span.began);
        }
    }

    /// A round of ingress, with the matcher in it where they share a thread.
    pub(super) fn step_ingress(&self, world: &World) {
        if self.ended.get().is_some() {
            return;
        }
        let Some(mut gateways) = self.gateways.borrow_mut().take() else {
            return;
        };
        let received = || -> u64 {
            let clients = world.clients.borrow();
            clients.iter().map(|client| client.received()).sum()
        };
        let refused = world.disk.refused();
        let before = received();
        for slot in 0..world.config.borrow().max_connections {
            gateways.note(slot, true, true);
        }
        let round = gateways.round(gateways.now());
        if let Some(refused) = refused
            && received() > before
        {
            let what = || format!("the engine still sent something after {refused}");
            world.fate.broken(Promise::NothingAfterIoError, what);
        }
        *self.gateways.borrow_mut() = Some(gateways);
        if let Round::Ended(ended) = round {
            world.fate.note(|| format!("serving ended: {ended:?}"));
            self.ended.set(Some(ended));
        }
    }

    pub(super) fn step_matcher(&self, world: &World) {
        let Some(mut matcher) = self.matcher.borrow_mut().take() else {
            return;
        };
        if matcher.turn() == Turn::Worked && world.is_syncing.get() {
            world.fate.count(Situation::MatcherAheadOfDisk);
        }
        *self.matcher.borrow_mut() = Some(matcher);
    }

    pub(super) fn step_sync(&self, world: &World) {
        let Some(mut syncer) = self.syncer.borrow_mut().take() else {
            return;
        };
        world.is_syncing.set(true);
        let step = syncer.step();
        world.is_syncing.set(false);
        match step {
            Ok(Step::Ended) => {}
            Ok(step) => {
                if let Step::Durable(sequence) = step {
                    world.fate.note(|| format!("durable up to {sequence}"));
                }
                if let Some(refused) = world.disk.refused() {
                    let what = || format!("the sync thread goes on after {refused}");
                    world.fate.broken(Promise::NothingAfterIoError, what);
                }
                *self.syncer.borrow_mut() = Some(syncer);
            }
            Err(error) => {
                let error = world.without_root(&error.to_string());
                world.fate.note(|| format!("the journal fails: {error}"));
                if !world.disk.has_struck() && !world.disk.is_dead() {
                    world.fate.broken(Promise::Serves, || error);
                }
            }
        }
    }

    pub(super) fn step_helper(&self) {
        let Some(mut helper) = self.helper.borrow_mut().take() else {
            return;
        };
        if helper.turn() {
            *self.helper.borrow_mut() = Some(helper);
        }
    }

    pub(super) fn step_publisher(&self, world: &World) {
        let Some(publishing) = self.publisher.borrow_mut().take() else {
            return;
        };
        let image = self.image();
        match turn(publishing) {
            Ok(publishing) => *self.publisher.borrow_mut() = publishing,
            Err(error) => world
                .fate
                .broken(Promise::ReplayIsEqual, || format!("the publisher: {error}")),
        }
        if let Some(at) = self.view_stopped() {
            let what = || format!("the publisher's view cannot follow at {at:?}");
            world.fate.broken(Promise::ReplayIsEqual, what);
        }
        if self.image() > image {
            world
                .fate
                .note(|| format!("an image at {:?}", self.image()));
            world.fate.count(Situation::SnapshotPublished);
        }
    }

    /// What the publisher's view could not follow.
    fn view_stopped(&self) -> Option<Sequence> {
        let shown = self.shown.borrow();
        let at = shown.as_ref()?.board.status().view_stopped;
        (at > Sequence(0)).then_some(at)
    }

    fn image(&self) -> Option<Sequence> {
        let shown = self.shown.borrow();
        Some(shown.as_ref()?.board.status().image)
    }

    /// Asks for a stop in order.
    pub(super) fn begin_stop(&self) {
        if let Some(gateways) = self.gateways.borrow_mut().as_mut() {
            let at = gateways.now();
            gateways.begin_stop(at);
        }
    }

    /// Everything is answered: what is staged is written, and the process ends.
    pub(super) fn finish(&self, world: &World) {
        *self.gateways.borrow_mut() = None;
        *self.matcher.borrow_mut() = None;
        while self.syncer.borrow().is_some() && !world.disk.is_dead() && !world.fate.is_broken() {
            self.step_helper();
            self.step_sync(world);
        }
        self.vanish(world);
    }
}

/// A turn of the publisher; `None` when it has ended.
fn turn(publishing: Publishing) -> Result<Option<Publishing>, EngineError> {
    Ok(match publishing {
        Publishing::Begins(setting) => {
            Publisher::begin(*setting)?.map(|publisher| Publishing::Works(Box::new(publisher)))
        }
        Publishing::Works(mut publisher) => {
            publisher.turn()?;
            Some(Publishing::Works(publisher))
        }
    })
}
