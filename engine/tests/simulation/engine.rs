//! The engine under the scheduler: each real part takes a turn when it is picked.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use foretell_journal::snapshot::SnapshotStore;
use foretell_journal::{JournalState, Preallocator, SyncStep, Syncer};
use foretell_model::Sequence;

use super::audit::TimeSpan;
use super::checks::Promise;
use super::coverage::Situation;
use super::time::Machine;
use super::wire::EngineEnd;
use super::world::World;
use crate::clock::Clocks;
use crate::config::Threads;
use crate::directory::Directory;
use crate::error::EngineError;
use crate::gateways::{Gateways, MatcherPlacement, RoundResult, ServeEnd};
use crate::matcher::{LoopStep, Matcher};
use crate::publisher::{Publisher, PublisherArgs};
use crate::publisher_mailbox::PublisherMailbox;
use crate::start_up;
use crate::status::Gauges;
use crate::wait::ThreadWaker;
use crate::wiring::Parts;

/// The publisher, before and after its start.
#[derive(Debug)]
enum Publishing {
    Begins(Box<PublisherArgs<Machine>>),
    Works(Box<Publisher<Machine>>),
}

/// The parts of the engine, if it runs. A part that takes a turn is moved out of its field
/// meanwhile.
#[derive(Debug, Default)]
pub(super) struct Engine {
    pub(super) gateways: RefCell<Option<Gateways<Machine, EngineEnd>>>,
    /// Only if it has its own thread and is not part of the gateways' rounds.
    matcher: RefCell<Option<Matcher<Machine>>>,
    syncer: RefCell<Option<Syncer>>,
    helper: RefCell<Option<Preallocator>>,
    publisher: RefCell<Option<Publishing>>,
    pub(super) store: RefCell<Option<SnapshotStore>>,
    pub(super) genesis: Cell<[u8; 32]>,
    shown: RefCell<Option<SharedParts>>,
    ended: Cell<Option<ServeEnd>>,
}

/// Parts readable while others work, and handles kept alive.
#[derive(Debug)]
struct SharedParts {
    journal: JournalState,
    gauges: Arc<Gauges>,
    mailbox: Arc<PublisherMailbox>,
    _poll: mio::Poll,
    _lock: Directory,
}

/// The recovered exchange.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recovered {
    pub(super) digest: [u8; 32],
    /// Its sequence with this digest.
    pub(super) sequence: Sequence,
}

impl Engine {
    /// Recovers and starts to serve.
    pub(super) fn start(&self, world: &World) -> Result<Recovered, EngineError> {
        let config = world.config.borrow().clone();
        let lock = Directory::lock(&config.data_directory)?;
        let clocks = world.machine.clone();
        let began = clocks.monotonic();
        let mut draw = || Ok(world.context.draw());
        let mut parts = Parts::wire(&config, &lock, clocks.clone(), &mut draw)?;
        let matcher = &mut parts.serving.matcher;
        let recovered = Recovered {
            digest: matcher.exchange.digest(),
            sequence: matcher.exchange.sequence(),
        };
        world.reopen_lost(recovered.sequence);
        if let Err(what) = matcher.exchange.check_invariants() {
            world.context.broken(Promise::MoneyIsExact, || what);
        }
        let wall = foretell_model::TimeNs(clocks.wall());
        if matcher.exchange.next_due().is_some_and(|due| due <= wall) {
            world.context.count(Situation::DueAtStart);
        }
        world.spans.borrow_mut().push(TimeSpan {
            first: recovered.sequence.next(),
            wall: clocks.wall(),
            lasts: u64::MAX >> 8,
            began,
            stood: 0,
        });
        let (syncer, helper) = (&mut parts.serving.syncer, &mut parts.helper);
        start_up::journal_configuration(
            matcher,
            &config,
            parts.serving.newly_accepted,
            &mut |journal, sequence| {
                while journal.durable() < sequence && !journal.is_poisoned() {
                    // Errors also show in the journal's state.
                    let _ = syncer.step();
                    let _ = helper.run_once();
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
        let serving = parts.serving;
        let journal = serving.matcher.journal.clone();
        self.genesis.set(journal.genesis());
        *self.shown.borrow_mut() = Some(SharedParts {
            journal,
            gauges: Arc::clone(&serving.matcher.gauges),
            mailbox: Arc::clone(&serving.handler.mailbox),
            _poll: serving.poll,
            _lock: lock,
        });
        *self.store.borrow_mut() = Some(parts.publisher.store.clone());
        *self.syncer.borrow_mut() = Some(serving.syncer);
        *self.helper.borrow_mut() = Some(parts.helper);
        *self.publisher.borrow_mut() = Some(Publishing::Begins(Box::new(parts.publisher)));
        let matching = match threads {
            Threads::Shared => MatcherPlacement::Shared(Box::new(serving.matcher)),
            Threads::Apart => {
                let wake: ThreadWaker = serving.matcher.parker.waker();
                *self.matcher.borrow_mut() = Some(serving.matcher);
                MatcherPlacement::Apart(wake)
            }
        };
        let gateways = Gateways::new(
            serving.handler,
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

    /// The result of serving, once it has ended.
    pub(super) fn ended(&self) -> Option<ServeEnd> {
        self.ended.get()
    }

    /// The last applied command, durable or not, and the last durable one.
    pub(super) fn reached(&self) -> Option<(Sequence, Sequence)> {
        let shown = self.shown.borrow();
        let shown = shown.as_ref()?;
        Some((shown.gauges.sequence(), shown.journal.durable()))
    }

    /// The last frame that the publisher has executed.
    pub(super) fn published(&self) -> Option<Sequence> {
        let shown = self.shown.borrow();
        Some(shown.as_ref()?.mailbox.status().folded)
    }

    /// Drops the process with all its memory.
    pub(super) fn drop_process(&self, world: &World) {
        *self.gateways.borrow_mut() = None;
        *self.matcher.borrow_mut() = None;
        *self.publisher.borrow_mut() = None;
        *self.syncer.borrow_mut() = None;
        *self.helper.borrow_mut() = None;
        *self.store.borrow_mut() = None;
        *self.shown.borrow_mut() = None;
        self.ended.set(None);
        if let Some(span) = world.spans.borrow_mut().last_mut() {
            span.lasts = span.lasts.min(world.machine.monotonic() - span.began);
        }
    }

    /// A round of ingress, including the matcher where they share a thread.
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
        let refused = world.disk.first_error();
        let before = received();
        for slot in 0..world.config.borrow().max_connections {
            gateways.mark_ready(slot, true, true);
        }
        let round = gateways.round(gateways.now());
        if let Some(refused) = refused
            && received() > before
        {
            let what = || format!("the engine still sent something after {refused}");
            world.context.broken(Promise::NothingAfterIoError, what);
        }
        *self.gateways.borrow_mut() = Some(gateways);
        if let RoundResult::Ended(ended) = round {
            world.context.note(|| format!("serving ended: {ended:?}"));
            self.ended.set(Some(ended));
        }
    }

    pub(super) fn step_matcher(&self, world: &World) {
        let Some(mut matcher) = self.matcher.borrow_mut().take() else {
            return;
        };
        if matcher.step() == LoopStep::Worked && world.is_syncing.get() {
            world.context.count(Situation::MatcherAheadOfDisk);
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
            Ok(SyncStep::Ended) => {}
            Ok(step) => {
                if let SyncStep::Durable(sequence) = step {
                    world.context.note(|| format!("durable up to {sequence}"));
                }
                if let Some(refused) = world.disk.first_error() {
                    let what = || format!("the sync thread goes on after {refused}");
                    world.context.broken(Promise::NothingAfterIoError, what);
                }
                *self.syncer.borrow_mut() = Some(syncer);
            }
            Err(error) => {
                let error = world.without_root(&error.to_string());
                world.context.note(|| format!("the journal fails: {error}"));
                if !world.disk.has_failed() && !world.disk.is_dead() {
                    world.context.broken(Promise::Serves, || error);
                }
            }
        }
    }

    pub(super) fn step_helper(&self) {
        let Some(mut helper) = self.helper.borrow_mut().take() else {
            return;
        };
        if helper.run_once() {
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
                .context
                .broken(Promise::ReplayIsEqual, || format!("the publisher: {error}")),
        }
        if let Some(at) = self.view_stopped() {
            let what = || format!("the publisher's view cannot follow at {at:?}");
            world.context.broken(Promise::ReplayIsEqual, what);
        }
        if self.image() > image {
            world
                .context
                .note(|| format!("an image at {:?}", self.image()));
            world.context.count(Situation::SnapshotPublished);
        }
    }

    /// Sequence at which the publisher's view stopped.
    fn view_stopped(&self) -> Option<Sequence> {
        let shown = self.shown.borrow();
        let at = shown.as_ref()?.mailbox.status().view_stopped;
        (at > Sequence(0)).then_some(at)
    }

    fn image(&self) -> Option<Sequence> {
        let shown = self.shown.borrow();
        Some(shown.as_ref()?.mailbox.status().newest)
    }

    /// Requests a clean stop.
    pub(super) fn begin_stop(&self) {
        if let Some(gateways) = self.gateways.borrow_mut().as_mut() {
            let at = gateways.now();
            gateways.begin_stop(at);
        }
    }

    /// After the last answer: writes the staged frames and ends the process.
    pub(super) fn finish(&self, world: &World) {
        *self.gateways.borrow_mut() = None;
        *self.matcher.borrow_mut() = None;
        while self.syncer.borrow().is_some() && !world.disk.is_dead() && !world.context.is_broken()
        {
            self.step_helper();
            self.step_sync(world);
        }
        self.drop_process(world);
    }
}

/// A turn of the publisher; `None` when it has ended.
fn turn(publishing: Publishing) -> Result<Option<Publishing>, EngineError> {
    Ok(match publishing {
        Publishing::Begins(args) => {
            Publisher::begin(*args)?.map(|publisher| Publishing::Works(Box::new(publisher)))
        }
        Publishing::Works(mut publisher) => {
            publisher.step()?;
            Some(Publishing::Works(publisher))
        }
    })
}
