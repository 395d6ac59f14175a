//! Gauges of the host's place in its cluster, as of a scrape.

use std::sync::atomic::AtomicU64;

use foretell_link::ClusterStatus;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// All of them are 0 on a host that is alone.
#[derive(Default)]
pub(crate) struct ClusterMetrics {
    leading: Gauge,
    term: Gauge<u64, AtomicU64>,
    own_sequence: Gauge<u64, AtomicU64>,
    stream_sequence: Gauge<u64, AtomicU64>,
    lag_frames: Gauge<u64, AtomicU64>,
    lag_seconds: Gauge<f64, AtomicU64>,
    takeovers: Gauge<u64, AtomicU64>,
    waiting: Gauge,
}

impl ClusterMetrics {
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register(
            "cluster_leading",
            "1 while this host leads its cluster",
            self.leading.clone(),
        );
        registry.register("cluster_term", "Term of the leader", self.term.clone());
        registry.register(
            "cluster_own_sequence",
            "Last sequence on the disk of this host",
            self.own_sequence.clone(),
        );
        registry.register(
            "cluster_stream_sequence",
            "Last sequence of the replicated log, as last read",
            self.stream_sequence.clone(),
        );
        registry.register(
            "cluster_lag_frames",
            "Frames of the replicated log that this host lacks",
            self.lag_frames.clone(),
        );
        registry.register(
            "cluster_lag_seconds",
            "Time since this host had everything; 0 when it has",
            self.lag_seconds.clone(),
        );
        registry.register(
            "cluster_takeovers",
            "Takeovers by this engine since its start",
            self.takeovers.clone(),
        );
        registry.register(
            "cluster_waiting",
            "1 while the engine does not run, or neither leads nor follows",
            self.waiting.clone(),
        );
    }

    /// `is_configured` is false on a host that is alone.
    pub(crate) fn set(&self, is_configured: bool, status: Option<&ClusterStatus>) {
        let works = |status: &ClusterStatus| ["leading", "following"].contains(&&*status.state);
        let waits = is_configured && !status.is_some_and(works);
        self.waiting.set(i64::from(waits));
        let unknown = ClusterStatus::default();
        let status = status.unwrap_or(&unknown);
        self.leading.set(i64::from(status.leading));
        self.term.set(status.term);
        self.own_sequence.set(status.own_sequence);
        self.stream_sequence.set(status.stream_sequence);
        self.lag_frames.set(status.lag_frames());
        let lag = std::time::Duration::from_millis(status.lag_ms);
        self.lag_seconds.set(lag.as_secs_f64());
        self.takeovers.set(status.takeovers);
    }
}
