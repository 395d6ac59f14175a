//! Everything there is, and the one scheduler: each step it picks who goes on. Inside a step the
//! disk asks again, so that others run while one of them waits for a write or a sync.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use foretell_journal::snapshot::Shelf;
use foretell_journal::{Durability, Options};
use foretell_link::Role;
use foretell_matching::Capacity;
use foretell_model::{Micros, Sequence, Settings};
use foretell_view::Chunking;
use tempfile::TempDir;

use super::audit::Span;
use super::clients::Client;
use super::coverage::Situation;
use super::disk::SimDisk;
use super::engine::Engine;
use super::fate::Fate;
use super::faults::Operation;
use super::ledger::Ledger;
use super::readers::Reader;
use super::time::{Machine, SECOND};
use super::wire::{self, ClientEnd};
use super::wishes::Wishes;
use crate::config::{EngineConfig, Publishing, Threads};
use crate::directory::{JOURNAL_DIRECTORY, SNAPSHOT_DIRECTORY};

/// Waits inside waits at most.
const DEEPEST: u32 = 3;

thread_local! {
    static CURRENT: RefCell<Option<Rc<World>>> = const { RefCell::new(None) };
}

/// The disk waits: others go on.
pub(super) fn interlude(operation: Operation, path: &Path) {
    let world = CURRENT.with(|current| current.borrow().clone());
    if let Some(world) = world {
        world.notice(operation, path);
        world.interlude(operation);
    }
}

/// One simulated world. Whoever is taking a step is out of its place meanwhile.
#[derive(Debug)]
pub(super) struct World {
    pub(super) fate: Fate,
    pub(super) machine: Machine,
    pub(super) disk: SimDisk,
    pub(super) config: RefCell<EngineConfig>,
    pub(super) engine: Engine,
    pub(super) ledger: RefCell<Ledger>,
    pub(super) wishes: RefCell<Wishes>,
    pub(super) clients: RefCell<Vec<Client>>,
    pub(super) readers: RefCell<Vec<Option<Reader>>>,
    /// Engine time as it may go, life by life.
    pub(super) spans: RefCell<Vec<Span>>,
    /// The last command the engine applied before it ended, durable or not.
    pub(super) applied: Cell<Sequence>,
    /// What was acknowledged may have been lost, and no start has succeeded since.
    pub(super) may_have_lost: Cell<bool>,
    /// The sync thread is inside a step.
    pub(super) is_syncing: Cell<bool>,
    /// Clients want nothing new and nobody is disturbed.
    is_calm: Cell<bool>,
    /// Slow syncs in a hundred.
    slow: u64,
    /// Bytes that pass a socket at a time.
    piece: usize,
    depth: Cell<u32>,
    root: TempDir,
}

impl World {
    /// An empty machine. It is the one whose disk waits, until it ends.
    pub(super) fn begin(fate: &Fate) -> Rc<Self> {
        let root = scratch();
        let attic = root.path().join("attic");
        std::fs::create_dir(&attic).expect("memory holds files");
        let machine = Machine::new(fate.clone());
        let disk = SimDisk::new(attic, fate.clone());
        let config = config(root.path().join("data"), &machine, &disk, fate);
        let roles = [Role::Operator, Role::Trading, Role::Trading];
        let clients = roles.into_iter().enumerate();
        let world = Rc::new(Self {
            wishes: RefCell::new(Wishes::new(fate.clone())),
            clients: RefCell::new(
                clients
                    .map(|(name, role)| Client::new(name, role))
                    .collect(),
            ),
            readers: RefCell::new((0..2).map(|name| Some(Reader::new(name))).collect()),
            slow: fate.pick(&[0, 10, 50]),
            piece: fate.pick(&[97, 1_000, 1 << 16, 1 << 16]),
            config: RefCell::new(config),
            fate: fate.clone(),
            machine,
            disk,
            engine: Engine::default(),
            ledger: RefCell::default(),
            spans: RefCell::default(),
            applied: Cell::new(Sequence(0)),
            may_have_lost: Cell::new(false),
            is_syncing: Cell::new(false),
            is_calm: Cell::new(false),
            depth: Cell::new(0),
            root,
        });
        if world.piece < 1 << 16 {
            fate.count(Situation::ReadInPieces);
        }
        CURRENT.with(|current| *current.borrow_mut() = Some(Rc::clone(&world)));
        world
    }

    /// The world is over.
    pub(super) fn end() {
        let world = CURRENT.with(|current| current.borrow_mut().take());
        drop(world);
    }

    pub(super) fn is_calm(&self) -> bool {
        self.is_calm.get()
    }

    /// While it is calm clients want nothing new but the exchange they trade in, and drop nothing.
    pub(super) fn set_calm(&self, is_calm: bool) {
        self.is_calm.set(is_calm);
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

    /// A text without the name of the directory, which is not the seed's.
    pub(super) fn without_root(&self, text: &str) -> String {
        text.replace(&*self.root.path().to_string_lossy(), "")
    }

    pub(super) fn genesis(&self) -> [u8; 32] {
        self.engine.genesis.get()
    }

    pub(super) fn shelf(&self) -> Option<Shelf> {
        self.engine.shelf.borrow().clone()
    }

    /// A connection to the engine, if one listens.
    pub(super) fn connect(&self) -> Option<ClientEnd> {
        let mut gateways = self.engine.gateways.borrow_mut();
        let gateways = gateways.as_mut()?;
        let slot = gateways.free_slot()?;
        let (engine, client) = wire::pair(self.piece);
        let at = gateways.now();
        gateways.seat(slot, engine, at);
        Some(client)
    }

    /// Somebody goes on.
    pub(super) fn step(&self) {
        self.machine.pass(1 + self.fate.below(200_000));
        match self.fate.below(100) {
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

    /// Counts what is worth being counted about an operation that begins.
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
        self.fate.count(situation);
    }

    fn interlude(&self, operation: Operation) {
        let depth = self.depth.get();
        let is_slow = operation == Operation::Sync && self.fate.percent(self.slow);
        let steps = match operation {
            _ if depth >= DEEPEST => 0,
            Operation::Sync if is_slow => {
                self.fate.count(Situation::SyncSlow);
                self.fate.below(60)
            }
            Operation::Sync => self.fate.below(8),
            _ if self.fate.percent(30) => self.fate.below(4),
            _ => 0,
        };
        self.depth.set(depth + 1);
        for _ in 0..steps {
            if self.disk.is_dead() || self.fate.is_broken() {
                break;
            }
            self.step();
        }
        self.depth.set(depth);
    }

    fn step_client(&self) {
        // Nothing of a client's step waits for a disk, so nobody else comes between.
        let mut clients = self.clients.borrow_mut();
        let index = self.fate.index(clients.len());
        clients[index].step(self);
    }

    fn step_reader(&self) {
        let index = self.fate.index(self.readers.borrow().len());
        let reader = self.readers.borrow_mut()[index].take();
        if let Some(mut reader) = reader {
            reader.step(self);
            self.readers.borrow_mut()[index] = Some(reader);
        }
    }

    /// Time leaps, and now and then somebody sets the wall clock.
    fn pass_time(&self) {
        let leap = match self.fate.below(20) {
            0 => self.fate.below(6 * SECOND),
            1..=8 => self.fate.below(60_000_000),
            _ => self.fate.below(5_000_000),
        };
        self.machine.pass(leap);
        if self.engine.is_serving() && self.fate.percent(4) {
            let jump = self.fate.below(7_200 * SECOND);
            if self.fate.percent(50) {
                self.fate.count(Situation::WallClockJumpedAhead);
                self.machine.set_wall_ahead(jump);
            } else {
                self.fate.count(Situation::WallClockJumpedBack);
                self.machine.set_wall_back(jump);
            }
        }
    }
}

/// A directory in memory where there is one.
fn scratch() -> TempDir {
    let memory = std::path::Path::new("/dev/shm");
    let made = if memory.is_dir() {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    };
    made.expect("a directory for the simulated disk")
}

/// Small buffers and little room, so that every border is met soon.
fn config(data: PathBuf, machine: &Machine, disk: &SimDisk, fate: &Fate) -> EngineConfig {
    let milliseconds = fate.pick(&[0, 5, 50, 50]);
    EngineConfig {
        journal: Options {
            segment_bytes: Options::SMALLEST_SEGMENT,
            staging_bytes: 512 << 10,
            durability: fate.pick(&[
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
            interval: Duration::from_millis(fate.pick(&[5, 100, 10_000])),
            frames: fate.pick(&[10, 40, 200]),
            chunking: Chunking::Bits(fate.pick(&[2, 3, 5])),
        },
        ignore_images: fate.percent(15),
        capacity: CRAMPED,
        ring_capacity: fate.pick(&[16, 64]),
        max_connections: 8,
        threads: fate.pick(&[Threads::Shared, Threads::Apart]),
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

/// Next to no room, so that everything in the core has to grow.
const CRAMPED: Capacity = Capacity {
    accounts: 1,
    keys: 1,
    markets: 1,
    events: 1,
    orders: 2,
    expiring_orders: 1,
    positions: 2,
    order_ids: 2,
    timestamp_seconds: 1,
    references: 1,
    requests: 1,
};
