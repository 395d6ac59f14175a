//! A host of a cluster: it follows the replicated log, and leads when it has taken over
//! (`docs/internals/decisions/0019`).
//!
//! ```text
//! join ─▶ recover ─▶ follow ──(silence, or nobody leads)──▶ takeover ─▶ lead ─▶ ends
//!           hot exchange, publisher, own journal                          superseded: exit code 79
//! ```
//! A start always follows first, whatever the role: what the log has decides. `join.rs` brings the
//! local copy in line with the log (`readiness.rs` serves reads meanwhile), `standby.rs` follows and takes over, `leader.rs` publishes what
//! the sync thread seals.

pub(crate) mod identity;
pub(crate) mod join;
mod leader;
mod readiness;
pub(crate) mod standby;
pub(crate) mod status;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use foretell_journal::replica::{self, ReplicaWriter};
use foretell_journal::restored::{self, IncompleteCopy};
use foretell_replication::SignedLog;

use self::identity::Identity;
use self::leader::Leader;
use self::readiness::Readiness;
use self::standby::{Standby, StandbyStep};
pub use self::status::CLUSTER_STATUS_NAME;
use self::status::StatusFile;
use crate::clock::{SystemClocks, Trust};
use crate::config::{ClusterConfig, ClusterRole, EngineConfig};
use crate::directory::Directory;
use crate::error::EngineError;
use crate::recovery::{self, mode_and_heartbeats};
use crate::stop::Stop;
use crate::threads::{Ready, Serving, random, spawn_publisher};
use crate::wiring::{ServingParts, Wakers, WritableExchange};

/// Sleep of a host that follows, unless something arrives.
const IDLE: Duration = Duration::from_millis(50);

/// Runs a host until it is stopped or superseded.
pub(crate) fn run(
    config: &EngineConfig,
    cluster: &ClusterConfig,
    directory: &Directory,
    on_ready: impl FnOnce(&Ready),
) -> Result<(), EngineError> {
    let clocks = SystemClocks::start(config.wall_clock_error);
    let journal = directory.journal();
    refuse_restored_leader(Some(cluster.role), &journal)?;
    let log = (cluster.log)
        .connect()
        .map_err(|error| EngineError::Cluster(error.to_string()))?;
    let mut log = SignedLog::new(log, cluster.keys.clone());
    let thread = std::thread::current();
    log.set_waker(Arc::new(move || thread.unpark()));
    let mut status = StatusFile::create(&config.data_directory, cluster)
        .map_err(EngineError::process("writing the cluster's status"))?;
    let stop =
        Stop::new(config.handle_signals).map_err(EngineError::process("listening to signals"))?;
    let mut readiness = Readiness::new(config, directory, stop.handle.clone(), on_ready);
    let identity = Identity::new(directory.place()?, random()?);
    let joined = join_log(
        config,
        (cluster, &identity),
        &journal,
        (&mut log, &mut status),
        &mut readiness,
        &stop,
    )?;
    let Some(applied) = joined else {
        return Ok(());
    };
    // What a restored copy lacks is in the log that it has joined.
    restored::forget_restored(&*config.journal.disk, &journal).map_err(EngineError::Journal)?;
    let restored = recovery::restore(config, directory, random()?, replica::recover_replica)?;
    let opened = ReplicaWriter::open(restored.journal);
    let (mut writer, journal, helper) = opened.map_err(EngineError::Journal)?;
    writer
        .start_preallocator(helper)
        .map_err(EngineError::Journal)?;
    let wakers = Wakers::new(config)?;
    wakers.mailbox.set_leading(false);
    let publisher = spawn_publisher(wakers.publisher(
        config,
        directory,
        journal.clone(),
        restored.store,
        restored.newly_accepted,
        (random()?, clocks),
    ))?;
    readiness.ready(journal.epoch(), journal.genesis(), writer.last_sequence());
    let mut standby = Standby::new(
        config,
        (cluster, identity),
        log,
        writer,
        restored.exchange,
        applied,
        clocks,
    );
    let end_publisher = |publisher: std::thread::JoinHandle<Result<(), EngineError>>| {
        wakers.mailbox.stop();
        journal.wake_followers();
        publisher.join().expect("a panic in it aborts the process")
    };
    loop {
        if stop.is_requested() || wakers.mailbox.has_failed() {
            let finished = standby.finish();
            end_publisher(publisher)?;
            return finished;
        }
        match standby.step(&mut status)? {
            StandbyStep::More => {}
            StandbyStep::Idle => std::thread::park_timeout(IDLE),
            StandbyStep::Leads => break,
        }
    }
    let taken = standby.lead();
    wakers.mailbox.set_leading(true);
    let (mode, heartbeats) = mode_and_heartbeats(&taken.exchange);
    let writable = WritableExchange {
        exchange: taken.exchange,
        mode,
        heartbeats,
        last_time: taken.last_time,
        trust: Trust::Cluster(Arc::clone(&taken.leader.confirmed)),
        newly_accepted: restored.newly_accepted,
        appender: taken.appender,
        syncer: taken.syncer,
        journal: journal.clone(),
    };
    let parts = ServingParts::wire(config, writable, wakers, clocks, random()?);
    let leader = Leader::start(taken.leader, status, &parts)?;
    let serving = Serving {
        config,
        directory,
        parts,
        stop: Some(stop),
    };
    let served = serving.run(publisher, |_| {});
    // The sync thread has ended; what it submitted is published, and the heartbeat resigns.
    match leader.finish() {
        Ok(()) => served,
        Err(superseded) => Err(EngineError::Superseded(superseded.to_string())),
    }
}

/// A copy that may lack acknowledged frames must not found a log.
pub(crate) fn refuse_restored_leader(
    role: Option<ClusterRole>,
    journal: &Path,
) -> Result<(), EngineError> {
    let copy = restored::restored_from(journal).map_err(EngineError::Journal)?;
    match copy.filter(|_| role == Some(ClusterRole::Leader)) {
        Some(IncompleteCopy { last, .. }) => Err(EngineError::Cluster(format!(
            "this journal was restored from a backup that ends at sequence {last}, and cluster.role is \"leader\"; start \
             it with cluster.role = \"standby\": the log has what it lacks"
        ))),
        None => Ok(()),
    }
}

/// Joins the log, and serves reads meanwhile; `None` when it is stopped before that.
fn join_log(
    config: &EngineConfig,
    host: (&ClusterConfig, &Identity),
    journal: &Path,
    (log, status): (&mut SignedLog, &mut StatusFile),
    readiness: &mut Readiness<'_, impl FnOnce(&Ready)>,
    stop: &Stop,
) -> Result<Option<u64>, EngineError> {
    let is_stopped = || stop.is_requested();
    let mut waiting = |status: &mut StatusFile| readiness.without_log(status);
    join::join(
        config,
        host,
        journal,
        log,
        status,
        &is_stopped,
        &mut waiting,
    )
}
