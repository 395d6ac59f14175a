//! The refusals of a start, without a start: nothing is locked or changed.

use foretell_checkpoint::CheckpointLog;
use foretell_journal::{ScanReport, wall_clock};

use crate::cluster::refuse_restored_leader;
use crate::config::{ClusterRole, EngineConfig};
use crate::directory::{CHECKPOINTS_NAME, JOURNAL_DIRECTORY, SNAPSHOT_DIRECTORY};
use crate::error::EngineError;
use crate::format::check_format;
use crate::publisher::Beginning;
use crate::recovery;
use crate::start_up::rehearse_configuration;
use crate::threads::random;
use crate::wiring::check_clock;

/// The data directory as a start would find it.
#[derive(Debug)]
pub struct StartReport {
    /// The journal; `None` if it has no frame yet.
    pub journal: Option<ScanReport>,
    /// Whether the journal is that of a sandbox, which moves its own clock.
    pub is_sandbox: bool,
}

/// Does what [`crate::run`] does on the data directory of a stopped engine until it would change a file: executes the
/// journal from the newest snapshot, and applies the configuration. It takes as long as a start, and as much memory.
/// `role` is the host's role in a cluster, whose log is not asked.
///
/// # Errors
/// Those with which [`crate::run`] refuses to start.
pub fn check_start(
    config: &EngineConfig,
    role: Option<ClusterRole>,
) -> Result<StartReport, EngineError> {
    let data = &config.data_directory;
    check_format(data)?;
    let (journal, snapshots) = (data.join(JOURNAL_DIRECTORY), data.join(SNAPSHOT_DIRECTORY));
    refuse_restored_leader(role, &journal)?;
    let (mut exchange, report) = recovery::rehearse(config, random()?, role.is_some())?;
    let is_sandbox = exchange.sandbox_clock().is_some();
    let last_time = report.as_ref().map(|report| report.last_time);
    if let Some(last) = last_time.filter(|_| role.is_none() && !is_sandbox) {
        check_clock(config, last, wall_clock::now().0)?;
    }
    if let Some(report) = &report {
        let genesis = &report.genesis;
        let beginning = Beginning {
            config,
            journal: &journal,
            snapshots: &snapshots,
            genesis,
            index_key: random()?,
        };
        let checked = beginning.check(report.last_sequence);
        checked.map_err(EngineError::Journal)?;
    }
    // A start without a journal makes a new one; checkpoints that are there belong to another.
    let genesis = report.as_ref().map(|report| report.genesis);
    if let Some(genesis) = genesis.or_else(|| role.is_none().then_some([0; 32])) {
        CheckpointLog::check(&data.join(CHECKPOINTS_NAME), &genesis)
            .map_err(EngineError::Checkpoints)?;
    }
    // A reader executes what a leader configured.
    if role != Some(ClusterRole::Reader) {
        rehearse_configuration(&mut exchange, config, last_time.unwrap_or_default())?;
    }
    Ok(StartReport {
        journal: report,
        is_sandbox,
    })
}
