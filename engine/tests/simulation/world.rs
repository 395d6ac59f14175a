//! The simulated world and its scheduler, which picks one part per step. The disk calls the
//! scheduler inside of a step, so that other parts run while one waits for a write or a sync.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use foretell_journal::Options;
use foretell_journal::snapshot::SnapshotStore;
use foretell_link::Role;
use foretell_matching::Capacity;
use foretell_model::{Durability, Micros, Sequence, Settings};
use foretell_view::Chunking;
use tempfile::TempDir;

use super::audit::{TimeSpan, at_most};
use super::clients::Client;
use super::context::SimContext;
use super::coverage::Situation;
use super::disk::SimDisk;
use super::engine::Engine;
use super::faults::Operation;
use super::intents::IntentGenerator;
use super::ledger::Ledger;
use super::readers::Reader;
use super::time::{Machine, SECOND};
use super::wire::{self, ClientEnd};
use crate::clock::Clocks as _;
use crate::config::{EngineConfig, Publishing, Threads};
use crate::directory::{JOURNAL_DIRECTORY, SNAPSHOT_DIRECTORY};

/// Maximum depth of nested waits.
const DEEPEST: u32 = 3;

thread_local! {
    static CURRENT: RefCell<Option<Rc<World>>> = const { RefCell::new(None) };
}

/// Runs other parts while the disk waits.
pub(super) fn run_others(operation: Operation, path: &Path) {
    let world = CURRENT.with(|current| current.borrow().clone());
    if let Some(world) = world {
        world.notice(operation, path);
        world.run_others(operation);
    }
}

/// One simulated world. A part that takes a step is moved out of its field meanwhile.
#[derive(Debug)]
pub(super) struct World {
    pub(super) context: SimContext,
    pub(super) machine: Machine,
    pub(super) disk: SimDisk,
    pub(super) config: RefCell<EngineConfig>,
    pub(super) engine: Engine,
    pub(super) ledger: RefCell<Ledger>,
    pub(super) intents: RefCell<IntentGenerator>,
    pub(super) clients: RefCell<Vec<Client>>,
    pub(super) readers: RefCell<Vec<Option<Reader>>>,
    /// The allowed engine time of each life.
    pub(super) spans: RefCell<Vec<TimeSpan>>,
    /// The last command applied by the engine before it ended, durable or not.
    pub(super) applied: Cell<Sequence>,
    /// Acknowledged commands may have been lost, and no start has succeeded since.
    pub(super) may_have_lost: Cell<bool>,
    /// A follower saw the beginning of a settlement or of a payment of rebates, and not its end.
    pub(super) is_paying: Cell<bool>,
    /// The sync thread is inside a step.
    pub(super) is_syncing: Cell<bool>,
    /// No new intents and no faults.
    is_calm: Cell<bool>,
    /// Percentage of slow syncs.
    slow: u64,
    /// Bytes that pass a socket per call.
    piece: usize,
    depth: Cell<u32>,
    root: TempDir,
}

impl World {
    /// Creates an empty machine and makes it the current one until it ends.
    pub(super) fn begin(context: &SimContext) -> Rc<Self> {
        let root = scratch();
        let attic = root.path().join("attic");
        std::fs::create_dir(&attic).expect("memory holds files");
        let machine = Machine::new(context.clone());
        let disk = SimDisk::new(attic, context.clone());
        let config = config(root.path().join("data"), &machine, &disk, context);
        let roles = [Role::Operator, Role::Trading, Role::Trading];
        let clients = roles.into_iter().enumerate();
        let world = Rc::new(Self {
            intents: RefCell::new(IntentGenerator::new(context.clone())),
            clients: RefCell::new(
                clients
                    .map(|(name, role)| Client::new(name, role))
                    .collect(),
            ),
            readers: RefCell::new((0..2).map(|name| Some(Reader::new(name))).collect()),
            slow: context.pick(&[0, 10, 50]),
            piece: context.pick(&[97, 1_000, 1 << 16, 1 << 16]),
            config: RefCell::new(config),
            context: context.clone(),
            machine,
            disk,
            engine: Engine::default(),
            ledger: RefCell::default(),
            spans: RefCell::default(),
            applied: Cell::new(Sequence(0)),
            may_have_lost: Cell::new(false),
            is_paying: Cell::new(false),
            is_syncing: Cell::new(false),
            is_calm: Cell::new(false),
            depth: Cell::new(0),
            root,
        });
        if world.piece < 1 << 16 {
            context.count(Situation::ReadInPieces);
        }
        CURRENT.with(|current| *current.borrow_mut() = Some(Rc::clone(&world)));
        world
    }

    /// Ends the current world.
    pub(super) fn end() {
        let world = CURRENT.with(|current| current.borrow_mut().take());
        drop(world);
    }

    pub(super) fn is_calm(&self) -> bool {
        self.is_calm.get()
    }

    /// While calm, clients create no intents except the set-up, and drop no connections.
    pub(super) fn set_calm(&self, is_calm: bool) {
        self.is_calm.set(is_calm);
    }

    /// Reopens what a recovered journal that ends at `end` has lost. Called before the start journals
    /// commands of its own: these take the sequences of the lost ones, and stay when the start fails.
    pub(super) fn reopen_lost(&self, end: Sequence) {
        if !self.may_have_lost.replace(false) {
            return;
        }
        let lost = self.ledger.borrow_mut().lose_above(end);
        if !lost.is_empty() {
            let lost = Situation::AcknowledgedLostAtProcessDurability;
            self.context.count(lost);
        }
        for client in self.clients.borrow_mut().iter_mut() {
            client.reopen(&lost);
        }
    }

    pub(super) fn durability(&self) -> Durability {
        self.config.borrow().journal.durability
    }

    pub(super) fn journal_directory(&self) -> PathBuf {
        self.root.path().join("data").join(JOURNAL_DIRECTORY)
    }

    pub(super) fn snapshot_directory(&self) -> PathBuf {
        self.root.path().join("data").join(SNAPSHOT_DIRECTORY)
    }

    /// Removes the name of the directory, which the seed does not determine, from a text.
    pub(super) fn without_root(&self, text: &str) -> String {
        text.replace(&*self.root.path().to_string_lossy(), "")
    }

    pub(super) fn genesis(&self) -> [u8; 32] {
        self.engine.genesis.get()
    }

    pub(super) fn store(&self) -> Option<SnapshotStore> {
        self.engine.store.borrow().clone()
    }

    /// A connection to the engine, if one listens.
    pub(super) fn connect(&self) -> Option<ClientEnd> {
        let mut gateways = self.engine.gateways.borrow_mut();
        let gateways = gateways.as_mut()?;
        let slot = gateways.free_slot()?;
        let (engine, client) = wire::pair(self.piece);
        let at = gateways.now();
        gateways.add_connection(slot, engine, at);
        Some(client)
    }

    /// Runs a step of one part.
    pub(super) fn step(&self) {
        self.machine.pass(1 + self.context.below(200_000));
        match self.context.below(100) {
            0..=31 => self.step_client(),
            32..=51 => self.engine.step_ingress(self),
            52..=61 => self.engine.step_matcher(self),
            62..=76 => self.engine.step_sync(self),
            77..=79 => self.engine.step_helper(),
            80..=87 => self.engine.step_publisher(self),
            88..=96 => self.step_reader(),
            _ => self.pass_time(),
        }
    }

    /// Counts situations at the start of an operation.
    fn notice(&self, operation: Operation, path: &Path) {
        let is_called = |end: &str| path.to_string_lossy().ends_with(end);
        let situation = match operation {
            Operation::Sync if is_called("watermark") => Situation::WatermarkWritten,
            Operation::Rename if self.engine.is_serving() && is_called(".segment") => {
                Situation::SegmentFollowed
            }
            Operation::Remove if !self.engine.is_serving() && is_called(".image") => {
                Situation::ImageBeyondJournalRemoved
            }
            Operation::Create if is_called(".bin") => Situation::TailSetAside,
            Operation::Write if is_called("recovering.tmp") => Situation::BatchesWrittenAnew,
            _ => return,
        };
        self.context.count(situation);
    }

    fn run_others(&self, operation: Operation) {
        let depth = self.depth.get();
        let is_slow = operation == Operation::Sync && self.context.percent(self.slow);
        let steps = match operation {
            _ if depth >= DEEPEST => 0,
            Operation::Sync if is_slow => {
                self.context.count(Situation::SyncSlow);
                self.context.below(60)
            }
            Operation::Sync => self.context.below(8),
            _ if self.context.percent(30) => self.context.below(4),
            _ => 0,
        };
        self.depth.set(depth + 1);
        for _ in 0..steps {
            if self.disk.is_dead() || self.context.is_broken() {
                break;
            }
            self.step();
        }
        self.depth.set(depth);
    }

    fn step_client(&self) {
        // A client's step never waits for a disk, so no other part runs inside of it.
        let mut clients = self.clients.borrow_mut();
        let index = self.context.index(clients.len());
        clients[index].step(self);
    }

    fn step_reader(&self) {
        let index = self.context.index(self.readers.borrow().len());
        let reader = self.readers.borrow_mut()[index].take();
        if let Some(mut reader) = reader {
            reader.step(self);
            self.readers.borrow_mut()[index] = Some(reader);
        }
    }

    /// Lets time leap, and sometimes sets the wall clock.
    fn pass_time(&self) {
        let leap = match self.context.below(20) {
            0 => self.context.below(6 * SECOND),
            1..=8 => self.context.below(60_000_000),
            _ => self.context.below(5_000_000),
        };
        self.machine.pass(leap);
        if let Some(span) = self.spans.borrow_mut().last_mut()
            && self.machine.wall_stands()
        {
            let ahead = self.machine.wall() - at_most(self.machine.monotonic());
            span.stood = span.stood.max(ahead);
        }
        if self.engine.is_serving() && self.context.percent(4) {
            let jump = self.context.below(7_200 * SECOND);
            if self.context.percent(50) {
                self.context.count(Situation::WallClockJumpedAhead);
                self.machine.set_wall_ahead(jump);
            } else {
                self.context.count(Situation::WallClockJumpedBack);
                self.machine.set_wall_back(jump);
            }
        }
    }
}

/// A directory in memory, if available.
fn scratch() -> TempDir {
    let memory = std::path::Path::new("/dev/shm");
    let made = if memory.is_dir() {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    };
    made.expect("a directory for the simulated disk")
}

/// Small buffers and limits, so that every limit is reached soon.
fn config(data: PathBuf, machine: &Machine, disk: &SimDisk, context: &SimContext) -> EngineConfig {
    let milliseconds = context.pick(&[0, 5, 50, 50]);
    EngineConfig {
        journal: Options {
            segment_bytes: Options::MIN_SEGMENT_BYTES,
            staging_bytes: 512 << 10,
            durability: context.pick(&[
                Durability::Disk,
                Durability::Disk,
                Durability::Disk,
                Durability::Process,
            ]),
            watermark_after: Duration::from_millis(milliseconds),
            disk_reserve_bytes: 1,
            after_io_error: false,
            disk: Arc::new(disk.clone()),
            host: Arc::new(machine.clone()),
        },
        publishing: Publishing {
            enabled: true,
            interval: Duration::from_millis(context.pick(&[5, 100, 10_000])),
            frames: context.pick(&[10, 40, 200]),
            chunking: Chunking::Bits(context.pick(&[2, 3, 5])),
        },
        ignore_snapshots: context.percent(15),
        capacity: CRAMPED,
        ring_capacity: context.pick(&[16, 64]),
        max_connections: 8,
        threads: context.pick(&[Threads::Shared, Threads::Apart]),
        pin_matcher: false,
        settings: Settings {
            marketable_minimum: Micros(0),
            ..Settings::default()
        },
        heartbeat_window: Duration::from_secs(3),
        patience: Duration::from_secs(60),
        handle_signals: false,
        ..EngineConfig::new(data)
    }
}

/// Minimal capacities, so that everything in the core has to grow.
const CRAMPED: Capacity = Capacity {
    accounts: 1,
    keys: 1,
    markets: 1,
    events: 1,
    orders: 2,
    expiring_orders: 1,
    delayed_orders: 1,
    positions: 2,
    order_ids: 2,
    timestamp_seconds: 1,
    references: 1,
};
