//! Gauges of the host's place in its cluster, as of a scrape.

use std::sync::atomic::AtomicU64;

use foretell_link::ClusterStatus;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::metrics::Number;

metrics! {
    /// All of them are 0 on a host that is alone.
    ClusterMetrics "cluster_"
    leading: Gauge, "1 while this host leads its cluster";
    term: Number, "Term of the leader";
    own_sequence: Number, "Last sequence on the disk of this host";
    stream_sequence: Number, "Last sequence of the replicated log, as last read";
    lag_frames: Number, "Frames of the replicated log that are missing on this host";
    lag_seconds: Gauge<f64, AtomicU64>, "Time since this host last had every frame; 0 while it is up to date";
    takeovers: Number, "Takeovers by this engine since its start";
    foreign_messages: Number, "Messages of the replicated log that no host of the cluster signed, read by this engine since its start";
    lost_message: Number, "Number of the first message that the replicated log lost before this host had it; 0 = none";
    clock_differs: Gauge, "1 while the clock of this host differs from those of the other hosts";
    waiting: Gauge, "1 while the engine does not run, or neither leads nor follows";
}

impl ClusterMetrics {
    /// `is_configured` is false on a host that is alone.
    pub(crate) fn set(&self, is_configured: bool, status: Option<&ClusterStatus>) {
        let works = |status: &ClusterStatus| ["leading", "following"].contains(&&*status.state);
        let waits = is_configured && !status.is_some_and(works);
        self.waiting.set(i64::from(waits));
        let unknown = ClusterStatus::default();
        let status = status.unwrap_or(&unknown);
        self.leading.set(i64::from(status.leading));
        self.term.set(status.term);
        self.clock_differs.set(i64::from(!status.clock.is_empty()));
        self.own_sequence.set(status.own_sequence);
        self.stream_sequence.set(status.stream_sequence);
        self.lag_frames.set(status.lag_frames());
        let lag = std::time::Duration::from_millis(status.lag_ms);
        self.lag_seconds.set(lag.as_secs_f64());
        self.takeovers.set(status.takeovers);
        self.foreign_messages.set(status.foreign_messages);
        self.lost_message.set(status.lost_message);
    }
}
