//! What can be set about the engine process.

use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

use foretell_matching::Capacity;
use foretell_model::{DomainNumber, Sequence, Settings};
use foretell_view::Chunking;

use crate::wait::Waiting;

/// How far the wall clock may be ahead of the last command at a start. Engine time never goes back, so
/// a start with a clock that is wrong by more would end trading for longer than this.
pub(crate) const MAX_REST: Duration = Duration::from_secs(7 * 86_400);
/// Cores from which the matcher has a thread, and a core, of its own.
const CORES_FOR_APART: usize = 4;

/// An EIP-712 domain that orders may be signed for (protocol 8).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SigningDomain {
    /// Its number; evidence of orders names it.
    pub number: DomainNumber,
    /// Its separator.
    pub separator: [u8; 32],
    /// Name, version, chain, contract as text: the evidence of its registration.
    pub text: String,
}

/// Whether ingress and matcher share a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Threads {
    /// One thread reads, applies and answers: one wake-up fewer where cores are few.
    Shared,
    /// A thread each; the matcher is pinned when there are four cores or more.
    Apart,
}

impl Threads {
    /// What suits a machine with so many cores: fewer than four share.
    #[must_use]
    pub const fn for_cores(cores: usize) -> Self {
        if cores < CORES_FOR_APART {
            Self::Shared
        } else {
            Self::Apart
        }
    }
}

/// When images are published.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Publishing {
    /// Whether the engine executes its journal a second time and publishes at all.
    pub enabled: bool,
    /// An image at most this long after the one before, if anything happened.
    pub interval: Duration,
    /// An image at most this many frames after the one before; at least 1.
    pub frames: u64,
    /// Rows of a history chunk. Anything but the standard is for tests: no gateway has it.
    pub chunking: Chunking,
}

impl Default for Publishing {
    fn default() -> Self {
        Self {
            enabled: true,
            interval: Duration::from_secs(60),
            frames: 1_000_000,
            chunking: Chunking::Standard,
        }
    }
}

/// Everything [`crate::run`] needs. [`EngineConfig::new`] gives the defaults.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Holds lock, socket, journal and snapshots; made 0700.
    pub data_directory: PathBuf,
    /// What an acknowledgement is worth, sizes, the disk reserve below which new orders are refused,
    /// and whether to start after an I/O error.
    pub journal: foretell_journal::Options,
    /// When images are published.
    pub publishing: Publishing,
    /// Execute the whole journal, whatever images there are: a proof of all of it.
    pub ignore_images: bool,
    /// Memory reserved in the core, and in the publisher's copy of it.
    pub capacity: Capacity,
    /// Commands that may wait for the matcher; an eighth is kept for cancels. 16 to 2^20.
    pub ring_capacity: usize,
    /// Gateway connections at most.
    pub max_connections: usize,
    /// Whether ingress and matcher share a thread.
    pub threads: Threads,
    /// What an idle matcher does on a thread of its own.
    pub waiting: Waiting,
    /// Pin the matcher to the last core (only on a thread of its own).
    pub pin_matcher: bool,
    /// Journalled at the first start; later changes are commands.
    pub settings: Settings,
    /// Journalled when the journal does not know them yet.
    pub domains: Vec<SigningDomain>,
    /// After a restart (not at the first start) post-only for this long; zero = not at all.
    pub post_only_after_restart: Duration,
    /// An operator accepts that re-execution differs from the record here.
    pub accept_divergence: Option<Sequence>,
    /// Start although the wall clock is more than seven days ahead of the last command.
    pub accept_clock_jump: bool,
    /// An owner's orders are cancelled when its heartbeat is silent for this long (protocol 9).
    pub heartbeat_window: Duration,
    /// A peer that does not greet, or does not read, for this long is cut off.
    pub patience: Duration,
    /// Checkpoints to sign; `None` = none.
    pub checkpoints: Option<Checkpoints>,
    /// A directory for a log of what every stage took, second by second; see [`StageLog`].
    ///
    /// [`StageLog`]: foretell_stages::StageLog
    pub stage_log: Option<PathBuf>,
    /// Stop at SIGTERM and SIGINT. Without it only [`crate::StopHandle`] stops the engine.
    pub handle_signals: bool,
}

/// Where checkpoints are kept, and who signs them.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    /// The key of the deployment.
    pub signer: foretell_checkpoint::Signer,
    /// The file that keeps them; see [`foretell_checkpoint::Log`].
    pub file: PathBuf,
    /// One is signed when the last is this old and something happened, and at the end of each
    /// segment.
    pub interval: Duration,
}

impl EngineConfig {
    /// Defaults for a data directory on this machine.
    #[must_use]
    pub fn new(data_directory: PathBuf) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self {
            data_directory,
            journal: foretell_journal::Options::default(),
            publishing: Publishing::default(),
            ignore_images: false,
            capacity: Capacity::default(),
            ring_capacity: 8_192,
            // One for each serving thread of each gateway.
            max_connections: 128,
            threads: Threads::for_cores(cores),
            waiting: Waiting::for_cores(cores),
            pin_matcher: cores >= CORES_FOR_APART,
            settings: Settings::default(),
            domains: Vec::new(),
            post_only_after_restart: Duration::ZERO,
            accept_divergence: None,
            accept_clock_jump: false,
            heartbeat_window: Duration::from_secs(15),
            patience: Duration::from_secs(5),
            checkpoints: None,
            stage_log: None,
            handle_signals: true,
        }
    }
}
