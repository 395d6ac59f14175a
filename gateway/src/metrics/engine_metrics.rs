//! Figures of the engine, as of a scrape, and durations of stages.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use foretell_link::{Stage, StageSummary, Status};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::metrics::Number;

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
pub(crate) struct StageQuantile {
    stage: &'static str,
    window: &'static str,
    quantile: &'static str,
}

/// Quantiles of stage durations of one process.
pub(crate) type StageSeconds = Family<StageQuantile, Gauge<f64, AtomicU64>>;

metrics! {
    /// All of them are 0 before the engine answered first.
    EngineMetrics "engine_"
    stage_seconds: StageSeconds, "Time of a command in a stage of the engine";
    live_orders: Number, "Orders resting in all books";
    ring_used: Number, "Commands waiting for the matcher";
    busy: Number, "Commands rejected because the queue was full, since engine start";
    disk_low: Gauge, "1 while new orders are rejected because the disk is nearly full";
    clock_alarms: Number, "Times engine time was over 2 s from wall time, since engine start";
    snapshot_sequence: Number, "Sequence of the newest snapshot; 0 = none";
    snapshot_failed: Gauge, "1 while the last attempt to write a snapshot failed";
    view_stopped: Number, "Sequence at which snapshots stopped; 0 = running";
    publisher_lag: Number, "Durable commands that were not executed a second time yet";
}

impl EngineMetrics {
    pub(crate) fn set(&self, engine: &Status) {
        self.live_orders.set(engine.live_orders);
        self.ring_used.set(u64::from(engine.ring_used));
        self.busy.set(engine.busy);
        self.disk_low.set(i64::from(engine.disk_low));
        self.clock_alarms.set(engine.clock_alarms);
        let snapshots = &engine.snapshots;
        self.snapshot_sequence.set(snapshots.newest.0);
        self.snapshot_failed.set(i64::from(snapshots.unwritten));
        self.view_stopped.set(snapshots.view_stopped.0);
        self.publisher_lag.set(engine.publisher_lag());
        let stages = Stage::ALL.iter().zip(&engine.stages).zip(&engine.seconds);
        for ((stage, since_start), second) in stages {
            self.show_stage(stage.name(), since_start, second);
        }
    }

    pub(crate) fn show_stage(
        &self,
        stage: &'static str,
        since_start: &StageSummary,
        second: &StageSummary,
    ) {
        show(&self.stage_seconds, stage, since_start, second);
    }
}

/// Sets the durations of a stage.
pub(crate) fn show(
    family: &StageSeconds,
    stage: &'static str,
    since_start: &StageSummary,
    second: &StageSummary,
) {
    for (window, summary) in [("start", since_start), ("second", second)] {
        let quantiles = [
            ("0.5", summary.p50),
            ("0.99", summary.p99),
            ("0.999", summary.p999),
            ("1", summary.max),
        ];
        for (quantile, nanos) in quantiles {
            let label = StageQuantile {
                stage,
                window,
                quantile,
            };
            let seconds = Duration::from_nanos(nanos).as_secs_f64();
            family.get_or_create(&label).set(seconds);
        }
    }
}
