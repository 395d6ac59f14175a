//! Cost of replication: acknowledgements of a leader with a reader, on three NATS servers of this
//! machine, compared with a bare client that publishes as many messages of their mean size at the same
//! rate, beside local syncs; and the reader's lag after an acknowledgement.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use foretell_auth::Domains;
use foretell_engine::{ClusterConfig, ClusterRole, EngineConfig, JOURNAL_DIRECTORY};
use foretell_journal::Follower;
use foretell_journal::replica::MAX_ITEM_BYTES;
use foretell_model::{Sequence, WalletAddress};
use foretell_replication::Keys;

use super::ScratchDir;
use super::journal::{batches_after, loaded_turn};
use crate::baselines::bare_publish::BarePublisher;
use crate::baselines::sync_file::SyncFile;
use crate::error::MeasureError;
use crate::harness::latency::{NANOS_PER_MS, Stopwatch, nanos};
use crate::harness::live_exchange::{open_venue, start_alone};
use crate::harness::nats_servers::{self, NatsServers, SERVERS};
use crate::harness::order_flow::OrderFlow;
use crate::harness::rounds::Rounds;
use crate::harness::running_engine::RunningEngine;
use crate::report::{Goal, Interval, Measure, Report};

/// Maximum ratio of a replicated acknowledgement at half load to the bare publish, at median.
const PUBLISH_GOAL: f64 = 1.2;
/// Maximum lag of a reader after the acknowledgement at p99, in milliseconds.
const LAG_GOAL_MS: f64 = 20.0;
/// Owner of the account.
const OWNER: WalletAddress = WalletAddress([9; 20]);
/// Commands in flight when measuring the capacity.
const WINDOW: usize = 512;
/// Orders a second while the reader is followed.
const ORDERS_PER_SECOND: u32 = 200;
const STREAM: &str = "foretell";
const TAKEOVER_AFTER: Duration = Duration::from_secs(2);
/// Maximum time until a leader leads, and until a reader has all acknowledged frames.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_micros(50);

const BARE: &str = "bare publish and sync";
const LOCAL: &str = "acknowledgement alone, half load";
const REPLICATED: &str = "acknowledgement replicated, half load";
const LAG: &str = "reader behind the acknowledgement";

/// Arguments of `foretell-bench replicate`.
#[derive(Debug, Args)]
pub struct ReplicateScope {
    #[arg(long, value_name = "FILE", default_value = "nats-server", help = nats_servers::program())]
    nats_server: PathBuf,
    /// Rounds; medians are reported
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds of each part of a round
    #[arg(long = "seconds", value_name = "SECONDS", default_value = "2", value_parser = super::seconds)]
    turn: Duration,
    #[command(flatten)]
    scratch: ScratchDir,
}

pub(super) fn measure(scope: &ReplicateScope) -> Result<Report, MeasureError> {
    let mut report = Report::begin("replicate", "disk");
    report.rounds = scope.rounds.max(1);
    let scratch = scope.scratch.directory("replicate")?;
    let servers = NatsServers::start(&scope.nats_server, scratch.path())?;
    servers.make_streams(STREAM)?;
    let file = SyncFile::create(&scratch.path().join("floor"))
        .map_err(MeasureError::io("preparing the floor's file"))?;
    let urls = servers.settings("bench", STREAM).servers;
    let mut bare = BarePublisher::start(&urls, SERVERS, file)?;
    let hosts = Hosts::start(&servers, scratch.path())?;
    let alone = start_alone(&scratch.path().join("alone"), &Domains::default(), &[OWNER])?;
    let mut local = OrderFlow::connect(&alone.ready.socket, 0)?;
    let mut replicated = OrderFlow::connect(&hosts.leader.ready.socket, 0)?;
    half_load(
        &mut report,
        &hosts,
        &mut bare,
        &mut local,
        &mut replicated,
        scope.turn,
    )?;
    lag(&mut report, &hosts, &mut replicated, scope.turn)?;
    alone.stop()?;
    hosts.stop()?;
    Ok(report.end())
}

/// A leader and a reader, each with a data directory of its own.
struct Hosts {
    leader: RunningEngine,
    reader: RunningEngine,
    journals: [PathBuf; 2],
}

impl Hosts {
    fn start(servers: &NatsServers, directory: &Path) -> Result<Self, MeasureError> {
        let start = |name: &str, role| {
            let data = directory.join(name);
            let engine = RunningEngine::start(host(&data, name, role, servers))?;
            Ok::<_, MeasureError>((engine, data.join(JOURNAL_DIRECTORY)))
        };
        let (leader, written) = start("leader", ClusterRole::Leader)?;
        let end = Instant::now() + PATIENCE;
        while leader.operator().is_err() {
            if Instant::now() > end {
                return Err(MeasureError::wrong("no host leads"));
            }
            std::thread::park_timeout(PAUSE);
        }
        open_venue(&leader.ready, &Domains::default(), &[OWNER])?;
        let (reader, copied) = start("reader", ClusterRole::Reader)?;
        Ok(Self {
            leader,
            reader,
            journals: [written, copied],
        })
    }

    fn stop(self) -> Result<(), MeasureError> {
        self.reader.stop()?;
        self.leader.stop()
    }
}

fn host(data: &Path, name: &str, role: ClusterRole, servers: &NatsServers) -> EngineConfig {
    let mut config = EngineConfig::new(data.to_owned());
    config.journal.staging_bytes = MAX_ITEM_BYTES;
    config.cluster = Some(ClusterConfig {
        role,
        host: name.to_owned(),
        address: String::new(),
        takeover_after: TAKEOVER_AFTER,
        fingerprint: String::new(),
        keys: Keys::of_leader(name, &[1; 32], &BTreeMap::new()).expect("no reader's key is wrong"),
        log: Arc::new(servers.settings(name, STREAM)),
    });
    config
}

/// Measures the bare client, an engine that is alone, and the leader in turns.
fn half_load(
    report: &mut Report,
    hosts: &Hosts,
    bare: &mut BarePublisher,
    local: &mut OrderFlow,
    replicated: &mut OrderFlow,
    turn: Duration,
) -> Result<(), MeasureError> {
    let full = replicated.full_rate(WINDOW, turn)?;
    let mut rate = full / 2.0;
    let [mut replicas, mut locals, mut bares] = [REPLICATED, LOCAL, BARE].map(Rounds::new);
    for _ in 0..report.rounds {
        let begun = report.elapsed();
        let (times, after) = loaded_turn(replicated, &mut rate, turn)?;
        replicas.push(report, begun, &times);
        let (batches, bytes) = batches_after(&hosts.journals[0], after)?;
        let begun = report.elapsed();
        let (times, _) = loaded_turn(local, &mut rate, turn)?;
        locals.push(report, begun, &times);
        let begun = report.elapsed();
        bares.push(report, begun, &bare.publish(batches, bytes, turn)?);
    }
    let median = replicas.medians().over(&bares.medians());
    let goal = "acknowledgement replicated, half load / bare publish and sync, p50";
    report
        .goals
        .push(Goal::at_most(goal, PUBLISH_GOAL, median.ratio()));
    report
        .measures
        .extend([median, replicas.p99s().over(&bares.p99s())]);
    for lane in [locals, bares] {
        report.measures.extend([lane.medians(), lane.p99s()]);
    }
    report
        .measures
        .push(Measure::single("full load, replicated", "1/s", full).higher());
    report.scope = format!(
        "a leader, a reader and {SERVERS} servers on one machine; half load is {rate:.0} commands a second"
    );
    Ok(())
}

/// Measures how long after an acknowledgement the reader's journal has it.
fn lag(
    report: &mut Report,
    hosts: &Hosts,
    flow: &mut OrderFlow,
    turn: Duration,
) -> Result<(), MeasureError> {
    let reader = Follower::open(&hosts.journals[1], Sequence(0));
    let reader = reader.map_err(MeasureError::wrong)?;
    let mut behind = Stopwatch::new();
    let (begun, stop) = (report.elapsed(), AtomicBool::new(false));
    let end = Instant::now() + turn;
    flow.run(ORDERS_PER_SECOND, &stop, |sequence| {
        let acknowledged = Instant::now();
        while reader.durable() < sequence {
            if acknowledged.elapsed() > PATIENCE {
                return Err(MeasureError::wrong("the reader does not follow"));
            }
            std::thread::park_timeout(PAUSE);
        }
        behind.record(nanos(acknowledged.elapsed()));
        stop.store(Instant::now() >= end, Ordering::Relaxed);
        Ok(())
    })?;
    let length = report.elapsed() - begun;
    report.record(LAG, Interval::new(begun, length, behind.times()));
    let quantiles = behind.quantiles(NANOS_PER_MS);
    let measure = Measure::single(LAG, "ms", quantiles.p50).quantiles(quantiles);
    let goal = format!("ms of the {LAG}, p99");
    report
        .goals
        .push(Goal::at_most(goal, LAG_GOAL_MS, Some(quantiles.p99)));
    report.measures.push(measure);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// Skipped without a new enough program of the servers in `PATH` or `FORETELL_NATS_SERVER`.
    #[test]
    fn a_leader_is_compared_with_a_bare_client() {
        let program = std::env::var_os("FORETELL_NATS_SERVER").unwrap_or("nats-server".into());
        let program = PathBuf::from(program);
        if let Err(error) = nats_servers::check(&program) {
            // Write around the harness, which hides the output of passing tests.
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: no replication is measured: {error}"
            );
            return;
        }
        let scope = ReplicateScope {
            nats_server: program,
            rounds: 1,
            turn: Duration::from_millis(200),
            scratch: ScratchDir::default(),
        };
        let report = measure(&scope).unwrap();
        for name in [BARE, LOCAL, REPLICATED, LAG] {
            assert!(
                report.measure(name).unwrap().value > 0.0,
                "{name}\n{report}"
            );
        }
        assert_eq!(report.goals.len(), 2);
    }
}
