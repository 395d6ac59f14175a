//! Configuration of the engine process.

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use foretell_matching::Capacity;
use foretell_model::command::Begin;
use foretell_model::{DomainNumber, Sequence, Settings};
use foretell_replication::{ConnectLog, Keys};
use foretell_view::Chunking;

use crate::wait::Waiting;

/// How far the wall clock may be ahead of the last command at a start. Engine time never goes back,
/// so a clock that is wrong by more would end trading for longer than this.
pub(crate) const MAX_CLOCK_ADVANCE: Duration = Duration::from_secs(7 * 86_400);
/// Number of cores from which the matcher has its own thread and core.
const CORES_FOR_APART: usize = 4;

/// An EIP-712 domain that orders may be signed for (docs/api/authentication.md §7).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SigningDomain {
    /// Its number; the evidence of orders refers to it.
    pub number: DomainNumber,
    /// The domain separator.
    pub separator: [u8; 32],
    /// Name, version, chain and contract as text: the evidence of the registration.
    pub text: String,
}

/// Whether ingress and matcher share a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Threads {
    /// One thread reads, applies and answers. Saves a wake-up on machines with few cores.
    Shared,
    /// One thread each; with four or more cores the matcher is pinned.
    Apart,
}

impl Threads {
    /// The default for a machine with this many cores: fewer than four share.
    #[must_use]
    pub const fn for_cores(cores: usize) -> Self {
        if cores < CORES_FOR_APART {
            Self::Shared
        } else {
            Self::Apart
        }
    }
}

/// When snapshots are published.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Publishing {
    /// Whether the engine executes its journal a second time and publishes snapshots.
    pub enabled: bool,
    /// Maximum time between snapshots while commands are applied.
    pub interval: Duration,
    /// Maximum number of frames between snapshots; at least 1.
    pub frames: u64,
    /// Rows of a history chunk. Only tests change it: gateways support the standard alone.
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

/// The configuration of [`crate::run`]. [`EngineConfig::new`] gives the defaults.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Directory of lock, socket, journal and snapshots; created with mode 0700.
    pub data_directory: PathBuf,
    /// Durability of acknowledgements, sizes, the disk reserve below which new orders are rejected,
    /// and whether to start after an I/O error.
    pub journal: foretell_journal::Options,
    /// When snapshots are published.
    pub publishing: Publishing,
    /// Execute the whole journal and ignore snapshots: verifies all of it.
    pub ignore_snapshots: bool,
    /// Memory reserved in the core, and in the publisher's copy of it.
    pub capacity: Capacity,
    /// Maximum number of commands waiting for the matcher; an eighth is reserved for cancels. 16 to
    /// 2^20.
    pub ring_capacity: usize,
    /// Maximum number of gateway connections.
    pub max_connections: usize,
    /// Whether ingress and matcher share a thread.
    pub threads: Threads,
    /// What an idle matcher does on a thread of its own.
    pub waiting: Waiting,
    /// Pin the matcher to the last core (only on a thread of its own).
    pub pin_matcher: bool,
    /// Journalled at the first start; commands make later changes. `new_operator_hours` is journalled at
    /// every start that changes it.
    pub settings: Settings,
    /// Journalled at a start if the journal lacks them.
    pub domains: Vec<SigningDomain>,
    /// The first command of a new journal, unless it is the default. A journal that is no sandbox does not become one.
    pub beginning: Begin,
    /// Post-only mode for this long after a restart (not at the first start); zero = none.
    pub post_only_after_restart: Duration,
    /// The operator accepts that re-execution differs from the journal at this sequence.
    pub accept_divergence: Option<Sequence>,
    /// Start although the wall clock is more than seven days ahead of the last command.
    pub accept_clock_jump: bool,
    /// Nanoseconds that are added to the wall clock of the machine; tests step it. `None` = it is taken as it is.
    pub wall_clock_error: Option<&'static AtomicI64>,
    /// An owner's orders are cancelled when no heartbeat has arrived for this long
    /// (docs/verify/rules.md §15).
    pub heartbeat_window: Duration,
    /// A peer that does not send its hello, or does not read, for this long is disconnected.
    pub patience: Duration,
    /// Signing of checkpoints; `None` = no checkpoints.
    pub checkpoints: Option<Checkpoints>,
    /// Directory for a log of the stage durations, second by second; see [`StageLog`].
    ///
    /// [`StageLog`]: foretell_stages::StageLog
    pub stage_log: Option<PathBuf>,
    /// The cluster this host belongs to; `None` = it is alone.
    pub cluster: Option<ClusterConfig>,
    /// Stop at SIGTERM and SIGINT. Without it only [`crate::StopHandle`] stops the engine.
    pub handle_signals: bool,
}

/// Where a host of a cluster starts. Leader and standby change places by what happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClusterRole {
    /// Founds the journal, and leads when no host does.
    Leader,
    /// Takes over when the leader is silent.
    Standby,
    /// Never leads.
    Reader,
}

impl ClusterRole {
    /// The name in settings and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Leader => "leader",
            Self::Standby => "standby",
            Self::Reader => "reader",
        }
    }
}

/// A host's place in a cluster (docs/operate/cluster.md).
#[derive(Clone, Debug)]
pub struct ClusterConfig {
    /// Where it starts.
    pub role: ClusterRole,
    /// Its name, unique in the cluster.
    pub host: String,
    /// URL of its trading surface, for clients of other hosts; may be empty.
    pub address: String,
    /// Silence of the leader after which a standby takes over.
    pub takeover_after: Duration,
    /// Keyed digest of the secrets that hosts which can lead share.
    pub fingerprint: String,
    /// What this host signs with, under its name, and whose messages count.
    pub keys: Keys,
    /// The log.
    pub log: Arc<dyn ConnectLog>,
}

/// File, signer and interval of checkpoints.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    /// The key of the deployment.
    pub signer: foretell_checkpoint::Signer,
    /// The file of checkpoints; see [`foretell_checkpoint::CheckpointLog`].
    pub file: PathBuf,
    /// A checkpoint is signed at the end of each segment, and when the last one is older than this
    /// and commands followed it.
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
            ignore_snapshots: false,
            capacity: Capacity::default(),
            ring_capacity: 8_192,
            // One for each connection thread of each gateway.
            max_connections: 128,
            threads: Threads::for_cores(cores),
            waiting: Waiting::for_cores(cores),
            pin_matcher: cores >= CORES_FOR_APART,
            settings: Settings::default(),
            domains: Vec::new(),
            beginning: Begin::default(),
            post_only_after_restart: Duration::ZERO,
            accept_divergence: None,
            accept_clock_jump: false,
            wall_clock_error: None,
            heartbeat_window: Duration::from_secs(15),
            patience: Duration::from_secs(5),
            checkpoints: None,
            stage_log: None,
            cluster: None,
            handle_signals: true,
        }
    }
}
