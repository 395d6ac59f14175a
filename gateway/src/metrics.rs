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
pub(crate) mod exchange_metrics;
mod exposition;
pub(crate) mod money;
mod process_metrics;
pub(crate) mod siblings;
mod stage_histogram;
pub(crate) mod stream_metrics;

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use foretell_catalog::SyncStatus;
use foretell_link::{ClusterStatus, StageBuckets, Status};
use foretell_model::TimeNs;
use foretell_stages::{Durations, Stages as _};
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
use crate::metrics::engine_metrics::EngineMetrics;
use crate::metrics::exchange_metrics::{HostMetrics, HostReadings};
use crate::metrics::money::Money;
use crate::metrics::stage_histogram::StageSeconds;
use crate::metrics::stream_metrics::StreamMetrics;
use crate::policy::rate_limits::Scope;
use crate::streams::fan_out::stats::StreamReadings;
use crate::view::unpaid::Unpaid;

/// Before every name but those of processes.
const PREFIX: &str = "foretell_gateway";
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
struct Check {
    check: &'static str,
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
    signatures: Family<Check, Counter>, "Right signatures of orders and sets of quotes, by check";
    signer_tables_built: Counter, "Tables of known signers built";
    signer_table_bytes: Gauge, "Bytes of tables of known signers";
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
    outward_closed: Gauge, "1 while withdrawals, webhooks, the sync and the oracle are disabled after a restore";
    stage_seconds: StageSeconds, "Time of a write in a stage of this gateway";
}

/// The counters and gauges of one process.
pub(crate) struct Metrics {
    /// Of this gateway.
    number: u32,
    /// What every gateway has of its own.
    of_gateway: Registry,
    /// What one of them tells of the exchange.
    of_exchange: Registry,
    host: HostMetrics,
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
    /// Bytes of tables of known signers.
    pub(crate) signer_table_bytes: usize,
    pub(crate) engine_connected: bool,
    pub(crate) engine_in_flight: usize,
    pub(crate) view_sequence: u64,
    pub(crate) view_stopped: u64,
    pub(crate) durable_sequence: u64,
    pub(crate) epoch: u64,
    pub(crate) streams: StreamReadings,
    pub(crate) unpaid: Unpaid,
    /// Whether nothing goes outward since a restore.
    pub(crate) outward_closed: bool,
    /// When the last operator was added.
    pub(crate) operator_added: TimeNs,
    /// The host is one of a cluster; and the report of its engine.
    pub(crate) in_cluster: bool,
    pub(crate) cluster: Option<ClusterStatus>,
    /// How far the catalog has its upstream.
    pub(crate) catalog: SyncStatus,
    pub(crate) money: Money,
}

/// What the page of a scrape is made of.
pub(crate) struct Scrape<'a> {
    pub(crate) readings: Readings,
    pub(crate) engine: Option<&'a Status>,
    pub(crate) host: HostReadings,
    /// Pages of the other gateways; `None` for one that does not answer.
    pub(crate) others: Vec<(u32, Option<String>)>,
}

impl Metrics {
    /// Those of the gateway with this number.
    pub(crate) fn new(number: u32) -> Self {
        let histogram: fn() -> Histogram = || {
            let bounds = std::iter::successors(Some(FIRST_BUCKET), |bound| Some(bound * 2.0));
            Histogram::new(bounds.take(usize::from(BUCKETS)))
        };
        let mut metrics = Self {
            number,
            of_gateway: Registry::default(),
            of_exchange: Registry::default(),
            host: HostMetrics::default(),
            seconds: Family::new_with_constructor(histogram),
            own: GatewayMetrics::default(),
            engine: EngineMetrics::default(),
            streams: StreamMetrics::default(),
            cluster: ClusterMetrics::default(),
            catalog: CatalogMetrics::default(),
        };
        let label = ("gateway".into(), number.to_string().into());
        let own = metrics.of_gateway.sub_registry_with_prefix(PREFIX);
        let own = own.sub_registry_with_label(label);
        let help = "Time from the request head to the answer";
        own.register("request_seconds", help, metrics.seconds.clone());
        metrics.own.register(own);
        metrics.streams.register(own);
        metrics.host.register(&mut metrics.of_exchange, PREFIX);
        let exchange = metrics.of_exchange.sub_registry_with_prefix(PREFIX);
        metrics.engine.register(exchange);
        metrics.cluster.register(exchange);
        metrics.catalog.register(exchange);
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

    /// Records a right signature: by the table of a known signer, or by recovery of the key.
    pub(crate) fn signature(&self, is_known: bool) {
        let check = if is_known { "known" } else { "recovered" };
        self.own.signatures.get_or_create(&Check { check }).inc();
    }

    /// Records a table of a known signer.
    pub(crate) fn signer_table_built(&self) {
        self.own.signer_tables_built.inc();
    }

    /// Records a connection rejected at a limit.
    pub(crate) fn connection_refused(&self) {
        self.own.connections_refused.inc();
    }

    /// Records a request rejected because the client has too many unread answers.
    pub(crate) fn answer_refused(&self) {
        self.own.answers_refused.inc();
    }

    /// The page of this gateway alone, in OpenMetrics.
    pub(crate) fn own_page(&self, now: &Readings, stages: &Durations<timing::Stage>) -> String {
        let gauge = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
        self.own.connections_open.set(gauge(now.connections_open));
        self.own.unread_bytes.set(gauge(now.unread_bytes));
        (self.own.signer_table_bytes).set(gauge(now.signer_table_bytes));
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
        self.own.outward_closed.set(i64::from(now.outward_closed));
        self.streams.set(&now.streams);
        let durations = stages.summaries().into_iter();
        let named = timing::Stage::ALL.iter().zip(durations);
        let buckets = named.map(|(stage, durations)| (stage.name(), durations.buckets));
        self.own.stage_seconds.set(buckets);
        encoded(&self.of_gateway)
    }

    /// The page of a scrape, in the text format of Prometheus.
    pub(crate) fn page(&self, scrape: &Scrape<'_>, stages: &Durations<timing::Stage>) -> String {
        let now = &scrape.readings;
        let mut pages = vec![self.own_page(now, stages)];
        let others = scrape.others.iter();
        let answered = others
            .clone()
            .map(|(number, page)| (*number, page.is_some()));
        self.host
            .set_gateways(answered.chain([(self.number, true)]));
        pages.extend(others.filter_map(|(_, page)| page.clone()));
        self.host.set_money(&now.money);
        self.host.set_host(&scrape.host);
        self.cluster.set(now.in_cluster, now.cluster.as_ref());
        self.catalog.set(&now.catalog);
        if let Some(engine) = scrape.engine {
            self.engine.set(engine);
            self.host.set_snapshot(engine.snapshots.newest_time);
        }
        pages.push(encoded(&self.of_exchange));
        exposition::merged(&pages)
    }
}

/// The value of a gateway's metric in its page of metrics.
pub(crate) fn figure(page: &str, name: &str) -> Option<u64> {
    let name = format!("{PREFIX}_{name}{{");
    let line = page.lines().find(|line| line.starts_with(&name))?;
    line.rsplit_once(' ')?.1.parse().ok()
}

fn encoded(registry: &Registry) -> String {
    let mut page = String::new();
    encode(&mut page, registry).expect("a String takes every write");
    page
}

/// The page of a scrape with every metric and one value of every label: the operator's reference is
/// generated from it.
#[must_use]
pub fn metrics_example() -> String {
    let metrics = Metrics::new(1);
    metrics
        .meter("/order", StatusCode::OK)
        .record(Duration::ZERO);
    metrics.order("live");
    metrics.signature(true);
    metrics.rate_limited(Scope::Book);
    metrics
        .engine
        .set_stages([("apply", StageBuckets::default())].into_iter());
    metrics.host.set_example();
    let pages = [
        metrics.own_page(&Readings::default(), &Durations::default()),
        encoded(&metrics.of_exchange),
    ];
    exposition::merged(&pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_shows_what_was_counted() {
        let metrics = Metrics::new(1);
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
        let readings = Readings {
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
                ..Unpaid::default()
            },
            outward_closed: true,
            catalog: SyncStatus {
                follows: true,
                round: Some(1_770_000_060),
                complete: Some(1_770_000_000),
                failed_lists: vec!["tags".into()],
                ..SyncStatus::default()
            },
            ..Readings::default()
        };
        let scrape = Scrape {
            readings,
            engine: None,
            host: HostReadings::default(),
            others: vec![(2, None)],
        };
        let page = metrics.page(&scrape, &durations);
        for line in [
            "foretell_gateway_requests_total{gateway=\"1\",route=\"/book\",status=\"200\"} 1",
            "foretell_gateway_request_seconds_count{gateway=\"1\",route=\"/order\"} 1",
            "foretell_gateway_orders_total{gateway=\"1\",result=\"live\"} 1",
            "foretell_gateway_unauthorized_total{gateway=\"1\"} 1",
            "foretell_gateway_rate_limited_total{gateway=\"1\",scope=\"order_burst\"} 1",
            "foretell_gateway_connections_refused_total{gateway=\"1\"} 1",
            "foretell_gateway_connections_open{gateway=\"1\"} 3",
            "foretell_gateway_answers_refused_total{gateway=\"1\"} 1",
            "foretell_gateway_unread_bytes{gateway=\"1\"} 8",
            "foretell_gateway_engine_connected{gateway=\"1\"} 1",
            "foretell_gateway_engine_in_flight{gateway=\"1\"} 4",
            "foretell_gateway_view_sequence{gateway=\"1\"} 5",
            "foretell_gateway_view_stopped{gateway=\"1\"} 8",
            "foretell_gateway_durable_sequence{gateway=\"1\"} 6",
            "foretell_gateway_epoch{gateway=\"1\"} 7",
            "foretell_gateway_markets_unpaid{gateway=\"1\"} 2",
            "foretell_gateway_oldest_unpaid_seconds{gateway=\"1\"} 9",
            "foretell_gateway_outward_closed{gateway=\"1\"} 1",
            "foretell_gateway_catalog_follows 1",
            "foretell_gateway_catalog_round_timestamp_seconds 1770000060",
            "foretell_gateway_catalog_complete_timestamp_seconds 1770000000",
            "foretell_gateway_catalog_complete 0",
            "foretell_gateway_catalog_failed_lists 1",
            "foretell_gateway_catalog_vanished_markets 0",
            "foretell_gateway_stage_seconds_bucket{gateway=\"1\",le=\"0.000001\",stage=\"hmac\"} 0",
            "foretell_gateway_stage_seconds_bucket{gateway=\"1\",le=\"0.000002\",stage=\"hmac\"} 1",
            "foretell_gateway_stage_seconds_bucket{gateway=\"1\",le=\"+Inf\",stage=\"hmac\"} 1",
            "foretell_gateway_stage_seconds_sum{gateway=\"1\",stage=\"hmac\"} 0.000002",
            "# TYPE foretell_gateway_stage_seconds histogram",
            "foretell_gateway_up{gateway=\"2\"} 0",
            concat!(
                "foretell_gateway_build_info{version=\"",
                env!("CARGO_PKG_VERSION"),
                "\"} 1"
            ),
        ] {
            assert!(
                page.lines().any(|found| found == line),
                "{line} is not in\n{page}"
            );
        }
    }
}
