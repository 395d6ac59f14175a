//! All metrics of this process by name.

/// Declares a group of metrics: the name of each is its field, after the prefix of the group.
macro_rules! metrics {
    ($(#[$doc:meta])* $group:ident $prefix:literal $($metric:ident: $type:ty, $help:literal;)+) => {
        $(#[$doc])*
        #[derive(Default)]
        pub(crate) struct $group { $($metric: $type),+ }

        impl $group {
            pub(crate) fn register(&self, registry: &mut Registry) {
                $(registry.register(
                    concat!($prefix, stringify!($metric)),
                    $help,
                    self.$metric.clone(),
                );)+
            }
        }
    };
}

pub(crate) mod catalog_metrics;
pub(crate) mod cluster_metrics;
mod engine_metrics;
pub(crate) mod stream_metrics;

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use foretell_catalog::SyncStatus;
use foretell_link::{ClusterStatus, StageSummary, Status};
use foretell_model::TimeNs;
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
use crate::metrics::engine_metrics::{EngineMetrics, StageSeconds, show};
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

pub(crate) type Number = Gauge<u64, AtomicU64>;

metrics! {
    /// Requests, connections, and what this process shows of the exchange.
    GatewayMetrics ""
    requests: Family<RouteStatus, Counter>, "Answered requests";
    orders: Family<Result, Counter>, "Orders by result";
    unauthorized: Counter, "Requests rejected with 401";
    rate_limited: Family<Limit, Counter>, "Requests rejected with 429, by setting of `[limits]`";
    connections_refused: Counter, "Connections refused at a limit";
    connections_open: Gauge, "Open connections";
    answers_refused: Counter, "Reads rejected because the client left answers unread";
    unread_bytes: Gauge, "Bytes of answers that clients have not read";
    engine_connected: Gauge, "1 while the engine is connected";
    engine_in_flight: Gauge, "Requests waiting for the engine";
    view_sequence: Number, "Sequence visible to reads";
    view_stopped: Number,
        "Sequence at which the view stopped and reads are rejected; 0 = running";
    durable_sequence: Number, "Last durable sequence";
    epoch: Number, "Number of engine recoveries";
    markets_unpaid: Number, "Closed markets without a payout";
    operator_added_timestamp_seconds: Number, "Unix time at which the last operator was added; 0 = none";
    oldest_unpaid_seconds: Number, "Time since the oldest of them closed; 0 = none";
    stage_seconds: StageSeconds, "Time of a write in a stage of this gateway";
}

/// The counters and gauges of one process.
pub(crate) struct Metrics {
    registry: Registry,
    seconds: Family<RouteLabel, Histogram>,
    own: GatewayMetrics,
    engine: EngineMetrics,
    streams: StreamMetrics,
    cluster: ClusterMetrics,
    catalog: CatalogMetrics,
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
    /// Bytes of answers that clients have not read.
    pub(crate) unread_bytes: usize,
    pub(crate) engine_connected: bool,
    pub(crate) engine_in_flight: usize,
    pub(crate) view_sequence: u64,
    pub(crate) view_stopped: u64,
    pub(crate) durable_sequence: u64,
    pub(crate) epoch: u64,
    pub(crate) streams: StreamReadings,
    pub(crate) unpaid: Unpaid,
    /// When the last operator was added.
    pub(crate) operator_added: TimeNs,
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
            seconds: Family::new_with_constructor(histogram),
            own: GatewayMetrics::default(),
            engine: EngineMetrics::default(),
            streams: StreamMetrics::default(),
            cluster: ClusterMetrics::default(),
            catalog: CatalogMetrics::default(),
        };
        let registry = &mut metrics.registry;
        let help = "Time from the request head to the answer";
        registry.register("request_seconds", help, metrics.seconds.clone());
        metrics.own.register(registry);
        metrics.engine.register(registry);
        metrics.streams.register(registry);
        metrics.cluster.register(registry);
        metrics.catalog.register(registry);
        metrics
    }

    /// Records a request rejected by a rate limit.
    pub(crate) fn rate_limited(&self, scope: Scope) {
        let label = Limit {
            scope: scope.name(),
        };
        self.own.rate_limited.get_or_create(&label).inc();
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
            self.own.unauthorized.inc();
        }
    }

    fn meter(&self, route: &'static str, status: StatusCode) -> Meter {
        let status = status.as_u16();
        let requests = self
            .own
            .requests
            .get_or_create(&RouteStatus { route, status });
        Meter {
            requests: Counter::clone(&requests),
            seconds: Histogram::clone(&self.seconds.get_or_create(&RouteLabel { route })),
        }
    }

    /// Records an order's result (`live`, `matched`, `delayed`, `unmatched`, `error`, `duplicate`).
    pub(crate) fn order(&self, result: &'static str) {
        self.own.orders.get_or_create(&Result { result }).inc();
    }

    /// Records a connection rejected at a limit.
    pub(crate) fn connection_refused(&self) {
        self.own.connections_refused.inc();
    }

    /// Records a request rejected because the client has too many unread answers.
    pub(crate) fn answer_refused(&self) {
        self.own.answers_refused.inc();
    }

    /// Renders the page of a scrape.
    pub(crate) fn page(
        &self,
        now: Readings,
        stages: &Durations<timing::Stage>,
        engine: Option<&Status>,
    ) -> String {
        let gauge = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
        self.own.connections_open.set(gauge(now.connections_open));
        self.own.unread_bytes.set(gauge(now.unread_bytes));
        self.own
            .engine_connected
            .set(i64::from(now.engine_connected));
        self.own.engine_in_flight.set(gauge(now.engine_in_flight));
        self.own.view_sequence.set(now.view_sequence);
        self.own.view_stopped.set(now.view_stopped);
        self.own.durable_sequence.set(now.durable_sequence);
        self.own.epoch.set(now.epoch);
        self.own
            .operator_added_timestamp_seconds
            .set(now.operator_added.seconds().0);
        self.own.markets_unpaid.set(now.unpaid.markets);
        self.own
            .oldest_unpaid_seconds
            .set(now.unpaid.oldest_seconds);
        self.streams.set(&now.streams);
        self.cluster.set(now.in_cluster, now.cluster.as_ref());
        self.catalog.set(&now.catalog);
        self.read_stages(stages);
        if let Some(engine) = engine {
            self.engine.set(engine);
        }
        let mut page = String::new();
        encode(&mut page, &self.registry).expect("a String takes every write");
        page
    }

    fn read_stages(&self, durations: &Durations<timing::Stage>) {
        for (stage, durations) in timing::Stage::ALL.iter().zip(durations.summaries()) {
            let StageDurations {
                since_start,
                second,
            } = durations;
            show(&self.own.stage_seconds, stage.name(), &since_start, &second);
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
    metrics.engine.show_stage("apply", &stage, &stage);
    metrics.page(Readings::default(), &Durations::default(), None)
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
