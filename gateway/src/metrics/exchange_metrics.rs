//! What one gateway tells of the exchange and its host: build, processes, disk, ages, money.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicU64;

use foretell_checkpoint::CheckpointReader;
use foretell_journal::wall_clock::since_epoch;
use foretell_model::TimeNs;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use crate::app::App;
use crate::host_reports::{HostReport, ProcessesReport, WebhooksReport};
use crate::metrics::Number;
use crate::metrics::money::Money;
use crate::metrics::process_metrics::{SupervisedMetrics, WebhooksMetrics};
use crate::resources::operator::site::processes::{self, Process};

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct ProcessLabel {
    process: String,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct DirectoryLabel {
    directory: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct KindLabel {
    kind: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct GatewayLabel {
    gateway: u32,
}

type Amount = Gauge<f64, AtomicU64>;

metrics! {
    /// The processes of the host, in the names that every exporter has.
    ProcessMetrics "process_"
    cpu_seconds: Family<ProcessLabel, Counter<f64, AtomicU64>>, "CPU time of a process of the exchange";
    resident_memory_bytes: Family<ProcessLabel, Number>, "Resident memory of the process";
    open_fds: Family<ProcessLabel, Number>, "Open file descriptors of the process";
    max_fds: Family<ProcessLabel, Number>, "Maximum open file descriptors of the process";
    threads: Family<ProcessLabel, Number>, "Threads of the process";
    start_time_seconds: Family<ProcessLabel, Number>, "Unix time at which the process started";
}

metrics! {
    /// The exchange as a whole.
    ExchangeMetrics ""
    up: Family<GatewayLabel, Gauge>, "1 while the gateway exports its metrics";
    disk_free_bytes: Family<DirectoryLabel, Number>, "Free bytes of the file system of a directory";
    disk_size_bytes: Family<DirectoryLabel, Number>, "Size of that file system in bytes";
    journal_bytes: Number, "Bytes of the journal's segments";
    journal_segments: Number, "Segments of the journal";
    snapshot_timestamp_seconds: Number, "Unix time of the newest snapshot; 0 = none";
    checkpoint_timestamp_seconds: Number, "Unix time of the newest signed checkpoint; 0 = none";
    backup_timestamp_seconds: Number, "Unix time of the last backup; 0 = none is known";
    money: Family<KindLabel, Amount>, "Collateral by kind, whole units";
}

/// What is read of the host for a scrape.
#[derive(Default)]
pub(crate) struct HostReadings {
    processes: Vec<Process>,
    /// Free bytes and size, by directory.
    disks: [(&'static str, Option<(u64, u64)>); 2],
    journal: (u64, u64),
    /// Unix seconds.
    checkpoint: u64,
    backup: u64,
    supervised: ProcessesReport,
    webhooks: WebhooksReport,
}

impl HostReadings {
    /// Blocks.
    pub(crate) fn read(app: &App, engine: Option<i32>) -> Self {
        let sources = &app.view_sources;
        Self {
            processes: processes::all(engine),
            disks: [
                ("journal", disk(&sources.journal)),
                ("snapshots", disk(&sources.snapshots)),
            ],
            journal: processes::segments_of(&sources.journal),
            checkpoint: checkpoint(&app.checkpoints).unwrap_or_default(),
            backup: backup(&app.last_backup).unwrap_or_default(),
            supervised: HostReport::read(&app.reports).unwrap_or_default(),
            webhooks: HostReport::read(&app.reports).unwrap_or_default(),
        }
    }
}

/// Free bytes and size of a directory's file system.
fn disk(directory: &Path) -> Option<(u64, u64)> {
    let found = rustix::fs::statvfs(directory).ok()?;
    Some((
        found.f_bavail.saturating_mul(found.f_frsize),
        found.f_blocks.saturating_mul(found.f_frsize),
    ))
}

fn checkpoint(file: &Path) -> Option<u64> {
    let reader = CheckpointReader::open(file).ok()??;
    let newest = reader.newest().ok()??;
    Some(newest.checkpoint.time.0 / 1_000)
}

fn backup(record: &Path) -> Option<u64> {
    let record: serde_json::Value = serde_json::from_slice(&fs::read(record).ok()?).ok()?;
    Some(record.get("time_ms")?.as_u64()? / 1_000)
}

/// The registry of a scraped gateway.
#[derive(Default)]
pub(crate) struct HostMetrics {
    processes: ProcessMetrics,
    exchange: ExchangeMetrics,
    supervised: SupervisedMetrics,
    webhooks: WebhooksMetrics,
}

impl HostMetrics {
    /// Registers the processes at the root, the others below the prefix.
    pub(crate) fn register(&self, root: &mut Registry, prefix: &str) {
        self.processes.register(root);
        let below = root.sub_registry_with_prefix(prefix);
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        below.register("build", "Version of the running build", build);
        self.exchange.register(below);
        self.supervised.register(below);
        self.webhooks.register(below);
    }

    pub(crate) fn set_gateways(&self, answered: impl Iterator<Item = (u32, bool)>) {
        for (gateway, is_up) in answered {
            let up = self.exchange.up.get_or_create(&GatewayLabel { gateway });
            up.set(i64::from(is_up));
        }
    }

    pub(crate) fn set_money(&self, money: &Money) {
        for (kind, amount) in [
            ("deposited", money.deposited),
            ("locked", money.locked),
            ("fees", money.fees),
            ("rebates", money.rebates),
            ("held", money.held),
        ] {
            #[allow(clippy::cast_precision_loss)] // a figure for charts
            let units = amount.0 as f64 / 1e6;
            self.exchange
                .money
                .get_or_create(&KindLabel { kind })
                .set(units);
        }
    }

    pub(crate) fn set_snapshot(&self, newest: TimeNs) {
        let exchange = &self.exchange;
        exchange.snapshot_timestamp_seconds.set(newest.seconds().0);
    }

    pub(crate) fn set_host(&self, host: &HostReadings) {
        let exchange = &self.exchange;
        for (directory, sizes) in host.disks {
            let Some((free, size)) = sizes else {
                continue;
            };
            let label = DirectoryLabel { directory };
            exchange.disk_free_bytes.get_or_create(&label).set(free);
            exchange.disk_size_bytes.get_or_create(&label).set(size);
        }
        let (segments, bytes) = host.journal;
        exchange.journal_segments.set(segments);
        exchange.journal_bytes.set(bytes);
        exchange.checkpoint_timestamp_seconds.set(host.checkpoint);
        exchange.backup_timestamp_seconds.set(host.backup);
        self.supervised.set(&host.supervised);
        let now = since_epoch().as_secs();
        self.webhooks.set(&host.webhooks, now);
        self.set_processes(&host.processes);
    }

    fn set_processes(&self, found: &[Process]) {
        let own = &self.processes;
        own.cpu_seconds.clear();
        for gauges in [
            &own.resident_memory_bytes,
            &own.open_fds,
            &own.max_fds,
            &own.threads,
            &own.start_time_seconds,
        ] {
            gauges.clear();
        }
        for process in found {
            let label = ProcessLabel {
                process: process.name.clone(),
            };
            own.cpu_seconds
                .get_or_create(&label)
                .inc_by(process.cpu_seconds);
            for (gauges, value) in [
                (&own.resident_memory_bytes, process.memory_bytes),
                (&own.open_fds, process.open_files),
                (&own.max_fds, process.max_open_files),
                (&own.threads, process.threads),
                (&own.start_time_seconds, process.started),
            ] {
                gauges.get_or_create(&label).set(value);
            }
        }
    }

    /// A value of every label, for the operator's reference.
    pub(crate) fn set_example(&self) {
        self.set_gateways([(1, true)].into_iter());
        self.set_money(&Money::default());
        self.set_host(&HostReadings {
            processes: vec![Process::default()],
            disks: [("journal", Some((0, 0))), ("snapshots", None)],
            ..HostReadings::default()
        });
        self.supervised.set_example();
    }
}
