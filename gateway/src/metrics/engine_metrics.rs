//! Figures of the engine, as of a scrape, and durations of stages.

use foretell_link::{ClockState, Stage, StageBuckets, Status};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::metrics::Number;
use crate::metrics::stage_histogram::StageSeconds;

metrics! {
    /// All of them are 0 before the engine answered first.
    EngineMetrics "engine_"
    stage_seconds: StageSeconds, "Time of a command in a stage of the engine";
    live_orders: Number, "Orders resting in all books";
    ring_used: Number, "Commands waiting for the matcher";
    busy: Number, "Commands rejected because the queue was full, since engine start";
    disk_low: Gauge, "1 while new orders are rejected because the disk is nearly full";
    clock_alarms: Number, "Times engine time was over 2 s from wall time, since engine start";
    clock_wrong: Gauge, "1 while engine time does not follow the wall clock of its host";
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
        self.clock_wrong
            .set(i64::from(engine.clock != ClockState::Right));
        let snapshots = &engine.snapshots;
        self.snapshot_sequence.set(snapshots.newest.0);
        self.snapshot_failed.set(i64::from(snapshots.unwritten));
        self.view_stopped.set(snapshots.view_stopped.0);
        self.publisher_lag.set(engine.publisher_lag());
        let names = Stage::ALL.iter().map(|stage| stage.name());
        self.set_stages(names.zip(engine.buckets));
    }

    pub(crate) fn set_stages(&self, stages: impl Iterator<Item = (&'static str, StageBuckets)>) {
        self.stage_seconds.set(stages);
    }
}
