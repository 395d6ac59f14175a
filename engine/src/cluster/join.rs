//! Brings the local copy in line with the log before it is recovered.

use std::fs::OpenOptions;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use foretell_journal::replica::{self, LocalEnd};
use foretell_journal::segment::SegmentHeader;
use foretell_model::limits::FORMAT_ID;
use foretell_replication::{
    Beginning, Decision, HostRecord, LocateError, LogError, SignedLog, decide, locate,
};

use super::identity::{Identity, Namesakes};
use super::status::StatusFile;
use crate::clock::{Clocks as _, SystemClocks, now};
use crate::config::{ClusterConfig, ClusterRole, EngineConfig};
use crate::error::EngineError;

/// A running host says so far more often than this, and no clock is this wrong.
const RUNNING_WITHIN_MS: u64 = 30_000;
/// Pause between two attempts.
const RETRY: Duration = Duration::from_millis(250);
/// Messages of the log that are read between two reports.
const READS_PER_REPORT: u32 = 256;

/// The result of an attempt.
#[derive(Debug)]
pub(crate) enum Attempt {
    /// The local copy ends with this message of the log.
    Joined(u64),
    /// Not yet, for this reason.
    Waits(String),
}

/// Compares the journal with the log until both agree, and sets aside what the log does not have.
/// Returns the number of the log's message that the journal ends with; `None` when it is stopped. Calls `waiting`
/// after each failed attempt.
///
/// # Errors
/// The journal is not of this log, or an I/O error. A log that does not answer is awaited.
pub(crate) fn join(
    config: &EngineConfig,
    (cluster, identity): (&ClusterConfig, &Identity),
    journal: &Path,
    log: &mut SignedLog,
    status: &mut StatusFile,
    is_stopped: &dyn Fn() -> bool,
    waiting: &mut dyn FnMut(&mut StatusFile) -> Result<(), EngineError>,
) -> Result<Option<u64>, EngineError> {
    let clocks = SystemClocks::start(config.wall_clock_error);
    mark_as_replica(journal).map_err(EngineError::process("marking the journal"))?;
    let mut hosts = Hosts {
        cluster,
        namesakes: Namesakes::new(&cluster.host, identity),
        listening_since: None,
    };
    loop {
        let mut reads = 0;
        let mut goes_on = || {
            reads += 1;
            if reads % READS_PER_REPORT == 0 {
                status.set_state("searching the log for the journal's end");
                status.write(clocks.wall());
            }
            !is_stopped()
        };
        let attempt = match hosts.compare(log, now(&clocks), clocks.wall() / 1_000_000)? {
            Some(waits) => Attempt::Waits(waits),
            None => {
                let mut pause = || std::thread::park_timeout(RETRY);
                attempt(config, cluster, journal, log, &mut pause, &mut goes_on)?
            }
        };
        match attempt {
            Attempt::Joined(number) => return Ok(Some(number)),
            Attempt::Waits(state) => status.set_state(&state),
        }
        waiting(status)?;
        status.write(clocks.wall());
        if is_stopped() {
            return Ok(None);
        }
        std::thread::park_timeout(RETRY);
    }
}

/// A start without the cluster refuses a marked journal.
fn mark_as_replica(journal: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(journal)?;
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(replica::marker_path(journal))?
        .sync_all()
}

/// Compares this host with the others before it joins them.
struct Hosts<'c> {
    cluster: &'c ClusterConfig,
    namesakes: Namesakes,
    /// When it first found a record of another process with its name.
    listening_since: Option<Duration>,
}

impl Hosts<'_> {
    /// The hosts that may lead must run builds of one format id, or they would execute one journal differently: a
    /// host waits for the others. They must share their secrets: a client's key and a checkpoint must hold after a
    /// takeover. No two have one name.
    fn compare(
        &mut self,
        log: &mut SignedLog,
        now: Duration,
        wall_ms: u64,
    ) -> Result<Option<String>, EngineError> {
        let cluster = self.cluster;
        let hosts = match log.hosts() {
            Ok(hosts) => hosts,
            Err(LogError::Unreachable(why)) => {
                return Ok(Some(format!("waiting for the log: {why}")));
            }
            Err(other) => return Err(EngineError::Cluster(other.to_string())),
        };
        if let Some(other) = of_another_format(&hosts, cluster, wall_ms) {
            return Ok(Some(format!("not starting: {other}")));
        }
        let leads = cluster.role != ClusterRole::Reader;
        let other = running(&hosts, cluster, wall_ms)
            .find(|host| leads && host.fingerprint != cluster.fingerprint);
        match other {
            None => self.find_namesake(&hosts, now, wall_ms),
            Some(other) => Err(EngineError::Cluster(format!(
                "host {} has another master.secret, operator.token, sync.token or checkpoint.key; copy these files \
                 from it",
                other.host
            ))),
        }
    }

    /// Listens for another process with this host's name for as long as a leader may be silent: each says something more
    /// often. One of another time may be a stranger's repetition, which stops a host only while it lasts.
    fn find_namesake(
        &mut self,
        hosts: &[HostRecord],
        now: Duration,
        wall_ms: u64,
    ) -> Result<Option<String>, EngineError> {
        let lives = hosts.iter().find(|host| self.namesakes.look(host, now));
        if let Some(host) = lives {
            let text = another_runs(&self.cluster.host);
            return match is_of_now(host, wall_ms) {
                true => Err(EngineError::Cluster(text)),
                false => Ok(Some(format!("not starting: {text}"))),
            };
        }
        if !self.namesakes.is_any_known() {
            return Ok(None);
        }
        let patience = self.cluster.takeover_after;
        let since = *self.listening_since.get_or_insert(now);
        let listens =
            now.saturating_sub(since) < patience || self.namesakes.lived_within(patience, now);
        Ok(listens.then(|| "listening whether another host has this name".to_owned()))
    }
}

/// Why a host whose name another one has does not run.
pub(super) fn another_runs(host: &str) -> String {
    format!("another host with cluster.host = {host:?} runs: give each host a name of its own")
}

/// The other hosts that run and may lead. What a reader says stops nobody, and neither does a record of another
/// time: a stranger sends old ones again.
fn running<'h>(
    hosts: &'h [HostRecord],
    cluster: &ClusterConfig,
    wall_ms: u64,
) -> impl Iterator<Item = &'h HostRecord> {
    hosts.iter().filter(move |host| {
        host.host != cluster.host
            && host.role != ClusterRole::Reader.name()
            && is_of_now(host, wall_ms)
    })
}

/// Whether a record was written lately, as far as the two clocks agree.
const fn is_of_now(host: &HostRecord, wall_ms: u64) -> bool {
    host.wall_ms.abs_diff(wall_ms) < RUNNING_WITHIN_MS
}

/// A running host of another format id, as a reason not to go on.
pub(super) fn of_another_format(
    hosts: &[HostRecord],
    cluster: &ClusterConfig,
    wall_ms: u64,
) -> Option<String> {
    let other = running(hosts, cluster, wall_ms).find(|host| host.format != FORMAT_ID)?;
    Some(format!(
        "host {} runs a build of format {}, this one of format {FORMAT_ID}: stop it, or run one build on all hosts",
        other.host, other.format
    ))
}

/// Compares once; `pause` passes time between two questions to the log, and `goes_on` is asked before each message that
/// is read.
pub(crate) fn attempt(
    config: &EngineConfig,
    cluster: &ClusterConfig,
    journal: &Path,
    log: &mut SignedLog,
    pause: &mut dyn FnMut(),
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<Attempt, EngineError> {
    let bounds = match log.bounds() {
        Ok(bounds) => bounds,
        Err(LogError::Unreachable(why)) => {
            return Ok(Attempt::Waits(format!("waiting for the log: {why}")));
        }
        Err(other) => return Err(EngineError::Cluster(other.to_string())),
    };
    let is_empty = bounds.last < bounds.first;
    let local = LocalEnd::open(journal, &config.journal).map_err(EngineError::Journal)?;
    let has_frames = local.items().len() > 1;
    if local.items().is_empty() || (is_empty && !has_frames) {
        drop(local);
        return match log.beginning(bounds, goes_on) {
            Ok(Beginning::Empty) => found(config, cluster, journal, log, pause),
            Ok(Beginning::Header(number, header)) => {
                let created = replica::create(journal, &config.journal, Some(header));
                created.map_err(EngineError::Journal)?;
                Ok(Attempt::Joined(number))
            }
            Ok(Beginning::Other(number)) => Err(EngineError::Cluster(format!(
                "the replicated log begins with message {number}, which no host with this cluster.key wrote as a journal's \
                 beginning: start this host on a copy of another host's data directory (foretell cluster seed), with its \
                 cluster.key (of a reader: cluster.pub), or make the log again (foretell cluster init)"
            ))),
            Ok(Beginning::Stopped) => Ok(Attempt::Waits(LocateError::Stopped.to_string())),
            Err(why) => Ok(Attempt::Waits(format!("waiting for the log: {why}"))),
        };
    }
    if is_empty {
        return Err(EngineError::Cluster(
            "the replicated log is empty and this journal is not: make the log from it (foretell cluster init --from)"
                .to_owned(),
        ));
    }
    let genesis = foretell_journal::genesis(journal).map_err(EngineError::Journal)?;
    log.set_genesis(genesis);
    match locate(log, bounds, local.items(), goes_on) {
        Ok(located) => {
            local.keep(located.kept).map_err(EngineError::Journal)?;
            Ok(Attempt::Joined(located.number))
        }
        Err(LocateError::Log(LogError::Unreachable(why))) => {
            Ok(Attempt::Waits(format!("waiting for the log: {why}")))
        }
        Err(stopped @ LocateError::Stopped) => Ok(Attempt::Waits(stopped.to_string())),
        Err(LocateError::NotInLog { .. } | LocateError::NotSigned) if !has_frames => {
            // A host that founded a journal whose header came too late.
            drop(local);
            let removed = replica::remove_unfounded(journal, &config.journal);
            removed.map_err(EngineError::Journal)?;
            Ok(Attempt::Waits(
                "another host founded the journal".to_owned(),
            ))
        }
        Err(other) => Err(EngineError::Cluster(other.to_string())),
    }
}

/// Founds the journal: the first item of an empty log is the header of its first segment.
fn found(
    config: &EngineConfig,
    cluster: &ClusterConfig,
    journal: &Path,
    log: &mut SignedLog,
    pause: &mut dyn FnMut(),
) -> Result<Attempt, EngineError> {
    if cluster.role != ClusterRole::Leader {
        let waits = "the log is empty; waiting for the host with role = \"leader\"";
        return Ok(Attempt::Waits(waits.to_owned()));
    }
    let created = match first_header(journal)? {
        Some(header) => Ok(header),
        None => replica::create(journal, &config.journal, None),
    };
    let header = created.map_err(EngineError::Journal)?;
    log.set_genesis(header.genesis);
    let mut attempts = 0;
    let mut wait = || {
        pause();
        attempts += 1;
        attempts < 40
    };
    match decide(log, 0, &header.page()[..], &mut wait) {
        Decision::Accepted(number) => Ok(Attempt::Joined(number)),
        // The next attempt compares the two.
        Decision::Refused => Ok(Attempt::Waits(
            "another host founded the journal".to_owned(),
        )),
        Decision::Unknown => Ok(Attempt::Waits("waiting for the log".to_owned())),
    }
}

/// The header of a journal that was created and not founded yet.
fn first_header(journal: &Path) -> Result<Option<SegmentHeader>, EngineError> {
    match std::fs::read(foretell_journal::segment::path(journal, 1)) {
        Ok(bytes) => match SegmentHeader::read(&bytes) {
            Ok(header) => Ok(Some(header)),
            Err(error) => Err(EngineError::Cluster(format!("segment 1: {error}"))),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(EngineError::process("reading segment 1")(error)),
    }
}
