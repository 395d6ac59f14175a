//! All metrics of this process by name.

pub(crate) mod catalog_metrics;
pub(crate) mod cluster_metrics;
pub(crate) mod stream_metrics;

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use foretell_catalog::SyncStatus;
use foretell_link::{ClusterStatus, Stage, StageSummary, Status};
use foretell_stages::{Durations, StageDurations, Stages as _};
use http::StatusCode;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::http::timing;
use crate::metrics::catalog_metrics::CatalogMetrics;
use crate::metrics::cluster_metrics::ClusterMetrics;
use crate::metrics::stream_metrics::StreamMetrics;
use crate::policy::rate_limits::Scope;
use crate::streams::fan_out::stats::StreamReadings;
use crate::view::unpaid::Unpaid;

/// From 50 µs to 6.5 s, doubling.
const FIRST_BUCKET: f64 = 50e-6;
const BUCKETS: u16 = 18;

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct RouteStatus {
    route: &'static str,
    status: u16,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct RouteLabel {
    route: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct Result {
    result: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct Limit {
    scope: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct StageQuantile {
    stage: &'static str,
    window: &'static str,
    quantile: &'static str,
}

/// Quantiles of stage durations of one process.
type StageSeconds = Family<StageQuantile, Gauge<f64, AtomicU64>>;

/// The counters and gauges of one process.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RouteStatus, Counter>,
    seconds: Family<RouteLabel, Histogram>,
    orders: Family<Result, Counter>,
    unauthorized: Counter,
    rate_limited: Family<Limit, Counter>,
    connections_refused: Counter,
    connections_open: Gauge,
    answers_refused: Counter,
    unread_bytes: Gauge,
    streams: StreamMetrics,
    cluster: ClusterMetrics,
    catalog: CatalogMetrics,
    engine_connected: Gauge,
    engine_in_flight: Gauge,
    view_sequence: Gauge<u64, AtomicU64>,
    view_stopped: Gauge<u64, AtomicU64>,
    durable_sequence: Gauge<u64, AtomicU64>,
    epoch: Gauge<u64, AtomicU64>,
    markets_unpaid: Gauge<u64, AtomicU64>,
    oldest_unpaid_seconds: Gauge<u64, AtomicU64>,
    stage_seconds: StageSeconds,
    engine_stage_seconds: StageSeconds,
    engine_live_orders: Gauge<u64, AtomicU64>,
    engine_ring_used: Gauge<u64, AtomicU64>,
    engine_busy: Gauge<u64, AtomicU64>,
    engine_disk_low: Gauge,
    engine_clock_alarms: Gauge<u64, AtomicU64>,
    engine_snapshot_sequence: Gauge<u64, AtomicU64>,
    engine_snapshot_failed: Gauge,
    engine_view_stopped: Gauge<u64, AtomicU64>,
    engine_publisher_lag: Gauge<u64, AtomicU64>,
}

/// The requests of one route with one status.
pub(crate) struct Meter {
    requests: Counter,
    seconds: Histogram,
}

impl Meter {
    fn record(&self, took: Duration) {
        self.requests.inc();
        self.seconds.observe(took.as_secs_f64());
    }
}

/// Values read at the moment of a scrape.
#[derive(Clone, Default)]
pub(crate) struct Readings {
    pub(crate) connections_open: usize,
    /// Of answers that clients have not read.
    pub(crate) unread_bytes: usize,
    pub(crate) engine_connected: bool,
    pub(crate) engine_in_flight: usize,
    pub(crate) view_sequence: u64,
    pub(crate) view_stopped: u64,
    pub(crate) durable_sequence: u64,
    pub(crate) epoch: u64,
    pub(crate) streams: StreamReadings,
    pub(crate) unpaid: Unpaid,
    /// The host is one of a cluster; and the report of its engine.
    pub(crate) in_cluster: bool,
    pub(crate) cluster: Option<ClusterStatus>,
    /// How far the catalog has its upstream.
    pub(crate) catalog: SyncStatus,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let histogram: fn() -> Histogram = || {
            let bounds = std::iter::successors(Some(FIRST_BUCKET), |bound| Some(bound * 2.0));
            Histogram::new(bounds.take(usize::from(BUCKETS)))
        };
        let mut metrics = Self {
            registry: Registry::with_prefix("foretell_gateway"),
            requests: Family::default(),
            seconds: Family::new_with_constructor(histogram),
            orders: Family::default(),
            unauthorized: Counter::default(),
            rate_limited: Family::default(),
            connections_refused: Counter::default(),
            connections_open: Gauge::default(),
            answers_refused: Counter::default(),
            unread_bytes: Gauge::default(),
            streams: StreamMetrics::default(),
            cluster: ClusterMetrics::default(),
            catalog: CatalogMetrics::default(),
            engine_connected: Gauge::default(),
            engine_in_flight: Gauge::default(),
            view_sequence: Gauge::default(),
            view_stopped: Gauge::default(),
            durable_sequence: Gauge::default(),
            epoch: Gauge::default(),
            markets_unpaid: Gauge::default(),
            oldest_unpaid_seconds: Gauge::default(),
            stage_seconds: Family::default(),
            engine_stage_seconds: Family::default(),
            engine_live_orders: Gauge::default(),
            engine_ring_used: Gauge::default(),
            engine_busy: Gauge::default(),
            engine_disk_low: Gauge::default(),
            engine_clock_alarms: Gauge::default(),
            engine_snapshot_sequence: Gauge::default(),
            engine_snapshot_failed: Gauge::default(),
            engine_view_stopped: Gauge::default(),
            engine_publisher_lag: Gauge::default(),
        };
        metrics.register();
        metrics.register_engine();
        metrics.streams.register(&mut metrics.registry);
        metrics.cluster.register(&mut metrics.registry);
        metrics.catalog.register(&mut metrics.registry);
        metrics
    }

    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register("requests", "Answered requests", self.requests.clone());
        registry.register(
            "request_seconds",
            "Time from the request head to the answer",
            self.seconds.clone(),
        );
        registry.register("orders", "Orders by result", self.orders.clone());
        registry.register(
            "unauthorized",
            "Requests rejected with 401",
            self.unauthorized.clone(),
        );
        registry.register(
            "rate_limited",
            "Requests rejected with 429, by setting of `[limits]`",
            self.rate_limited.clone(),
        );
        registry.register(
            "connections_refused",
            "Connections refused at a limit",
            self.connections_refused.clone(),
        );
        registry.register(
            "connections_open",
            "Open connections",
            self.connections_open.clone(),
        );
        registry.register(
            "answers_refused",
            "Reads rejected because the client left answers unread",
            self.answers_refused.clone(),
        );
        registry.register(
            "unread_bytes",
            "Bytes of answers that clients have not read",
            self.unread_bytes.clone(),
        );
        registry.register(
            "engine_connected",
            "1 while the engine is connected",
            self.engine_connected.clone(),
        );
        registry.register(
            "engine_in_flight",
            "Requests waiting for the engine",
            self.engine_in_flight.clone(),
        );
        registry.register(
            "view_sequence",
            "Sequence visible to reads",
            self.view_sequence.clone(),
        );
        registry.register(
            "view_stopped",
            "Sequence at which the view stopped and reads are rejected; 0 = running",
            self.view_stopped.clone(),
        );
        registry.register(
            "durable_sequence",
            "Last durable sequence",
            self.durable_sequence.clone(),
        );
        registry.register("epoch", "Number of engine recoveries", self.epoch.clone());
        registry.register(
            "markets_unpaid",
            "Closed markets without a payout",
            self.markets_unpaid.clone(),
        );
        registry.register(
            "oldest_unpaid_seconds",
            "Time since the oldest of them closed; 0 = none",
            self.oldest_unpaid_seconds.clone(),
        );
        registry.register(
            "stage_seconds",
            "Time of a write in a stage of this gateway",
            self.stage_seconds.clone(),
        );
    }

    /// Registers the engine's figures, as of a scrape.
    fn register_engine(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "engine_stage_seconds",
            "Time of a command in a stage of the engine",
            self.engine_stage_seconds.clone(),
        );
        registry.register(
            "engine_live_orders",
            "Orders resting in all books",
            self.engine_live_orders.clone(),
        );
        registry.register(
            "engine_ring_used",
            "Commands waiting for the matcher",
            self.engine_ring_used.clone(),
        );
        registry.register(
            "engine_busy",
            "Commands rejected because the queue was full, since engine start",
            self.engine_busy.clone(),
        );
        registry.register(
            "engine_disk_low",
            "1 while new orders are rejected because the disk is nearly full",
            self.engine_disk_low.clone(),
        );
        registry.register(
            "engine_clock_alarms",
            "Times engine time was over 2 s from wall time, since engine start",
            self.engine_clock_alarms.clone(),
        );
        registry.register(
            "engine_snapshot_sequence",
            "Sequence of the newest snapshot; 0 = none",
            self.engine_snapshot_sequence.clone(),
        );
        registry.register(
            "engine_snapshot_failed",
            "1 while the last attempt to write a snapshot failed",
            self.engine_snapshot_failed.clone(),
        );
        registry.register(
            "engine_view_stopped",
            "Sequence at which snapshots stopped; 0 = running",
            self.engine_view_stopped.clone(),
        );
        registry.register(
            "engine_publisher_lag",
            "Durable commands that were not executed a second time yet",
            self.engine_publisher_lag.clone(),
        );
    }

    /// Records a request rejected by a rate limit.
    pub(crate) fn rate_limited(&self, scope: Scope) {
        let label = Limit {
            scope: scope.name(),
        };
        self.rate_limited.get_or_create(&label).inc();
    }

    /// Records an answered request of a route, which is its path and the meter of its successes;
    /// `None` is a request without a route.
    pub(crate) fn request(
        &self,
        route: Option<(&'static str, &OnceLock<Meter>)>,
        status: StatusCode,
        took: Duration,
    ) {
        match route {
            Some((path, meter)) if status == StatusCode::OK => {
                let meter = meter.get_or_init(|| self.meter(path, status));
                meter.record(took);
            }
            _ => {
                let name = route.map_or("none", |(path, _)| path);
                self.meter(name, status).record(took);
            }
        }
        if status == StatusCode::UNAUTHORIZED {
            self.unauthorized.inc();
        }
    }

    fn meter(&self, route: &'static str, status: StatusCode) -> Meter {
        let status = status.as_u16();
        let requests = self.requests.get_or_create(&RouteStatus { route, status });
        Meter {
            requests: Counter::clone(&requests),
            seconds: Histogram::clone(&self.seconds.get_or_create(&RouteLabel { route })),
        }
    }

    /// Records an order's result (`live`, `matched`, `delayed`, `unmatched`, `error`, `duplicate`).
    pub(crate) fn order(&self, result: &'static str) {
        self.orders.get_or_create(&Result { result }).inc();
    }

    /// Records a connection rejected at a limit.
    pub(crate) fn connection_refused(&self) {
        self.connections_refused.inc();
    }

    /// Records a request rejected because the client has too many unread answers.
    pub(crate) fn answer_refused(&self) {
        self.answers_refused.inc();
    }

    /// Renders the page of a scrape.
    pub(crate) fn page(
        &self,
        now: Readings,
        stages: &Durations<timing::Stage>,
        engine: Option<&Status>,
    ) -> String {
        let gauge = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
        self.connections_open.set(gauge(now.connections_open));
        self.unread_bytes.set(gauge(now.unread_bytes));
        self.engine_connected.set(i64::from(now.engine_connected));
        self.engine_in_flight.set(gauge(now.engine_in_flight));
        self.view_sequence.set(now.view_sequence);
        self.view_stopped.set(now.view_stopped);
        self.durable_sequence.set(now.durable_sequence);
        self.epoch.set(now.epoch);
        self.markets_unpaid.set(now.unpaid.markets);
        self.oldest_unpaid_seconds.set(now.unpaid.oldest_seconds);
        self.streams.set(&now.streams);
        self.cluster.set(now.in_cluster, now.cluster.as_ref());
        self.catalog.set(&now.catalog);
        self.read_stages(stages);
        if let Some(engine) = engine {
            self.read_engine(engine);
        }
        let mut page = String::new();
        encode(&mut page, &self.registry).expect("a String takes every write");
        page
    }

    fn read_engine(&self, engine: &Status) {
        self.engine_live_orders.set(engine.live_orders);
        self.engine_ring_used.set(u64::from(engine.ring_used));
        self.engine_busy.set(engine.busy);
        self.engine_disk_low.set(i64::from(engine.disk_low));
        self.engine_clock_alarms.set(engine.clock_alarms);
        let snapshots = &engine.snapshots;
        self.engine_snapshot_sequence.set(snapshots.newest.0);
        self.engine_snapshot_failed
            .set(i64::from(snapshots.unwritten));
        self.engine_view_stopped.set(snapshots.view_stopped.0);
        self.engine_publisher_lag.set(engine.publisher_lag());
        let stages = Stage::ALL.iter().zip(&engine.stages).zip(&engine.seconds);
        for ((stage, since_start), second) in stages {
            show(
                &self.engine_stage_seconds,
                stage.name(),
                since_start,
                second,
            );
        }
    }

    fn read_stages(&self, durations: &Durations<timing::Stage>) {
        for (stage, told) in timing::Stage::ALL.iter().zip(durations.summaries()) {
            let StageDurations {
                since_start,
                second,
            } = told;
            show(&self.stage_seconds, stage.name(), &since_start, &second);
        }
    }
}

/// The page of a scrape with every metric and one value of every label: the operator's reference is
/// generated from it.
#[must_use]
pub fn metrics_example() -> String {
    let metrics = Metrics::new();
    metrics
        .meter("/order", StatusCode::OK)
        .record(Duration::ZERO);
    metrics.order("live");
    metrics.rate_limited(Scope::Book);
    let stage = StageSummary::default();
    show(&metrics.engine_stage_seconds, "apply", &stage, &stage);
    metrics.page(Readings::default(), &Durations::default(), None)
}

/// Sets the durations of a stage.
fn show(
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_shows_what_was_counted() {
        let metrics = Metrics::new();
        let (book, order) = (OnceLock::new(), OnceLock::new());
        metrics.request(
            Some(("/book", &book)),
            StatusCode::OK,
            Duration::from_millis(1),
        );
        metrics.request(
            Some(("/order", &order)),
            StatusCode::UNAUTHORIZED,
            Duration::from_micros(80),
        );
        metrics.order("live");
        metrics.connection_refused();
        metrics.answer_refused();
        metrics.rate_limited(Scope::OrderBurst);
        let durations = Durations::default();
        durations.record(timing::Stage::Hmac, 2_000);
        let page = metrics.page(
            Readings {
                connections_open: 3,
                unread_bytes: 8,
                engine_connected: true,
                engine_in_flight: 4,
                view_sequence: 5,
                view_stopped: 8,
                durable_sequence: 6,
                epoch: 7,
                unpaid: Unpaid {
                    markets: 2,
                    oldest_seconds: 9,
                },
                catalog: SyncStatus {
                    follows: true,
                    round: Some(1_770_000_060),
                    complete: Some(1_770_000_000),
                    failed_lists: vec!["tags".into()],
                    ..SyncStatus::default()
                },
                ..Readings::default()
            },
            &durations,
            None,
        );
        for line in [
            "foretell_gateway_requests_total{route=\"/book\",status=\"200\"} 1",
            "foretell_gateway_request_seconds_count{route=\"/order\"} 1",
            "foretell_gateway_orders_total{result=\"live\"} 1",
            "foretell_gateway_unauthorized_total 1",
            "foretell_gateway_rate_limited_total{scope=\"order_burst\"} 1",
            "foretell_gateway_connections_refused_total 1",
            "foretell_gateway_connections_open 3",
            "foretell_gateway_answers_refused_total 1",
            "foretell_gateway_unread_bytes 8",
            "foretell_gateway_engine_connected 1",
            "foretell_gateway_engine_in_flight 4",
            "foretell_gateway_view_sequence 5",
            "foretell_gateway_view_stopped 8",
            "foretell_gateway_durable_sequence 6",
            "foretell_gateway_epoch 7",
            "foretell_gateway_markets_unpaid 2",
            "foretell_gateway_oldest_unpaid_seconds 9",
            "foretell_gateway_catalog_follows 1",
            "foretell_gateway_catalog_round_timestamp_seconds 1770000060",
            "foretell_gateway_catalog_complete_timestamp_seconds 1770000000",
            "foretell_gateway_catalog_complete 0",
            "foretell_gateway_catalog_failed_lists 1",
            "foretell_gateway_catalog_vanished_markets 0",
            "foretell_gateway_stage_seconds{stage=\"hmac\",window=\"start\",quantile=\"0.5\"} 0.000002",
            "foretell_gateway_stage_seconds{stage=\"hmac\",window=\"second\",quantile=\"0.5\"} 0.0",
        ] {
            assert!(
                page.lines().any(|found| found == line),
                "{line} is not in\n{page}"
            );
        }
    }
}
