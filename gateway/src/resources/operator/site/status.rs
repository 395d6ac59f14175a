//! `GET /status`: an overview of the exchange, its engine and this gateway.

use std::collections::BTreeMap;

use foretell_catalog::SyncStatus;
use foretell_journal::wall_clock::since_epoch;
use foretell_link::{ClusterStatus, Stage, StageSummary, Status};
use foretell_model::{ConditionId, MarketNumber, MarketState, Outcome, Price, SystemMode, TimeNs};
use foretell_stages::Stages as _;
use foretell_view::View;
use foretell_wire::operator::{PolicyChange, StatusAnswer};
use foretell_wire::schema::JsonSchema;
use foretell_wire::{ErrorCode, values};
use serde::Serialize;

use crate::app::{App, milliseconds_between};
use crate::catalog::descriptions::Descriptions;
use crate::host_reports::{HostReport as _, ProcessesReport, SupervisedProcess, WebhooksReport};
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;
use crate::http::timing;
use crate::metrics;
use crate::policy::work;
use crate::resources::operator::site::processes::{self, Process};
use crate::streams::connection::close::CODES;
use crate::streams::fan_out::stats::StreamReadings;
use crate::view::unpaid::Unpaid;

/// Books listed: those with the most orders. The trading surface has all.
const BOOKS: usize = 100;

/// Answer of `GET /status`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Status")]
pub(crate) struct Page {
    /// `null` while the engine is unavailable.
    engine: Option<Engine>,
    /// Absent on a host that is alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<Cluster>,
    /// The gateway that answers.
    gateway: Gateway,
    /// The other gateways of this host.
    gateways: Vec<OtherGateway>,
    /// Absent while no sync has run.
    #[serde(skip_serializing_if = "Option::is_none")]
    catalog: Option<CatalogSync>,
    exchange: StatusAnswer,
    /// The processes of this host.
    processes: Vec<Process>,
    /// The processes that `foretell up` keeps running; empty without it.
    supervised: Vec<Supervised>,
    /// Absent without webhooks.
    #[serde(skip_serializing_if = "Option::is_none")]
    webhooks: Option<Webhooks>,
    /// Up to 100 markets that are neither closed nor resolved, most orders first.
    #[schemars(length(max = BOOKS))]
    books: Vec<BookRow>,
}

/// The engine's own figures.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Engine {
    /// Process id; `null` on another host.
    pid: Option<i32>,
    #[serde(with = "values::Mode")]
    mode: SystemMode,
    #[serde(with = "values::Durability")]
    durability: &'static str,
    /// Last executed command.
    sequence: u64,
    /// Last command synced to disk.
    durable_sequence: u64,
    /// Number of recoveries.
    epoch: u64,
    markets: u32,
    accounts: u32,
    live_orders: u64,
    /// Connected gateways.
    connections: u32,
    /// Used and total slots of the command queue.
    #[schemars(extend("pattern" = "^[0-9]+/[0-9]+$"))]
    ring: String,
    /// Commands rejected because the queue was full.
    busy: u64,
    /// The disk is nearly full, so new orders are rejected.
    disk_low: bool,
    /// Clock steps of more than 2 s.
    clock_alarms: u64,
    /// What engine time does about the wall clock: `right` = it follows it.
    clock: &'static str,
    /// Engine time minus the wall clock of the gateway's host, milliseconds.
    clock_difference_ms: i64,
    /// Sequence of the newest snapshot.
    snapshot_sequence: u64,
    /// The newest attempt to write a snapshot failed.
    snapshot_failed: bool,
    /// Sequence that the read model cannot apply; 0 when it follows.
    view_stopped: u64,
    /// Commands that the snapshot publisher has not executed yet.
    publisher_lag: u64,
    stages: Vec<StageRow>,
}

/// The host's place in its cluster.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Cluster {
    host: String,
    role: String,
    leading: bool,
    term: u64,
    leader: String,
    leader_address: String,
    own_sequence: u64,
    stream_sequence: u64,
    lag_frames: u64,
    lag_ms: u64,
    takeovers: u64,
    foreign_messages: u64,
    /// Number of the first message that the replicated log lost before this host had it; 0 when none is known.
    lost_message: u64,
    state: String,
    /// How its clock differs from those of the other hosts; empty while it agrees with them.
    clock: String,
}

/// How far the catalog has its upstream.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CatalogSync {
    /// Base URL.
    upstream: String,
    /// Whether rounds follow each other.
    follows: bool,
    /// Unix seconds of the last round that read the changes.
    round: Option<i64>,
    /// Age of that round in seconds.
    age_seconds: Option<u64>,
    /// Unix seconds of the last full round that read every list to its end.
    complete: Option<i64>,
    /// Whether the last full round did.
    is_complete: bool,
    /// Lists that were not read to their end.
    failed_lists: Vec<String>,
    /// Why, and the error of a failed round.
    findings: Vec<String>,
    /// Conditions of registered markets, not over, that the upstream no longer has.
    #[schemars(with = "Vec<values::Hash>")]
    vanished: Vec<String>,
}

/// A process that `foretell up` keeps running.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Supervised {
    /// What it is: `engine`, `gateway-1`, `webhooks`, …
    name: String,
    /// Whether it runs and is ready.
    ready: bool,
    restarts: u64,
    /// How it last ended, such as `exit status: 78`; empty if it did not.
    ended: String,
    /// Whether it is not restarted.
    final_end: bool,
}

/// How far the webhook process has come.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Webhooks {
    /// Notices acknowledged by the receiver since the process started.
    delivered: u64,
    /// Failed attempts since the process started.
    failed_attempts: u64,
    /// Last sequence whose notices are all delivered.
    sequence: u64,
    /// Sequence of the notice that the receiver has not acknowledged; `null` when none waits.
    waiting_sequence: Option<u64>,
    /// Seconds since its first failed attempt; 0 when none waits.
    waiting_seconds: u64,
    /// Why the last attempt failed; empty when none waits.
    reason: String,
}

/// A book: prices of the first outcome, empty where it has no such side.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct BookRow {
    #[serde(with = "values::Hash")]
    condition_id: ConditionId,
    question: String,
    #[serde(with = "values::State")]
    status: MarketState,
    /// Of the first outcome.
    #[serde(with = "values::AmountOrEmpty")]
    best_bid: Option<Price>,
    /// Of the first outcome.
    #[serde(with = "values::AmountOrEmpty")]
    best_ask: Option<Price>,
    live_orders: usize,
}

/// Durations of a processing stage since the process started, and in the last whole second.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Stage")]
pub(in crate::resources) struct StageRow {
    stage: &'static str,
    #[serde(flatten)]
    since_start: Durations,
    last_second: Durations,
}

/// Durations in microseconds.
#[derive(Serialize, JsonSchema)]
struct Durations {
    /// Number of durations.
    count: u64,
    /// Median, microseconds.
    #[schemars(range(min = 0))]
    p50: f64,
    /// 99th percentile, microseconds.
    #[schemars(range(min = 0))]
    p99: f64,
    /// 99.9th percentile, microseconds.
    #[schemars(range(min = 0))]
    p999: f64,
    /// Longest, microseconds.
    #[schemars(range(min = 0))]
    max: f64,
}

/// Another gateway of this host. All figures are 0 while it does not answer.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct OtherGateway {
    /// Number of the gateway.
    number: u32,
    /// Process id; `null` while it does not run.
    pid: Option<u32>,
    /// Whether it answers.
    up: bool,
    /// Sequence visible to reads.
    sequence: u64,
    /// Last command synced to disk.
    durable_sequence: u64,
    /// Number of engine recoveries.
    epoch: u64,
    /// Open client connections.
    connections: u64,
}

/// This gateway's own figures.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Gateway {
    /// Number of the gateway, from 1.
    number: u32,
    /// Process id.
    pid: u32,
    version: &'static str,
    /// Whether its view serves reads.
    ready: bool,
    /// Sequence that its read model cannot apply; 0 when it follows.
    view_stopped: u64,
    /// Sequence visible to reads.
    sequence: u64,
    /// Last command synced to disk.
    durable_sequence: u64,
    /// Number of engine recoveries.
    epoch: u64,
    /// Open client connections.
    connections: usize,
    /// Commands sent to the engine without an answer yet.
    in_flight: usize,
    streams: Streams,
    stages: Vec<StageRow>,
}

/// Stream connections of this gateway, and counts since its start.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Streams {
    /// Connections of the market channel.
    market: u64,
    /// Connections of the user channel.
    user: u64,
    /// Connections without a channel yet.
    unnamed: u64,
    /// Tokens and user channels subscribed to.
    subscriptions: u64,
    /// Messages sent.
    messages: u64,
    /// Bytes sent.
    bytes: u64,
    /// Messages of clients that were not understood.
    bad_requests: u64,
    /// Age of the oldest waiting message, ms.
    lag_ms: u64,
    /// Ended connections by close code, `none` without a close frame; codes without any are absent.
    closes: BTreeMap<&'static str, u64>,
}

/// `GET /status`.
pub(crate) async fn show(context: RequestContext) -> Result<Json<Page>, Failure> {
    let app = &context.app;
    let (status, others) = tokio::join!(app.engine.status(), app.place.others());
    let status = status.ok();
    let readings = app.readings();
    let catalog = app.sync_status().await;
    let engine_process = app.engine.engine_process();
    let reports = app.reports.clone();
    let listing = work::blocking(move || {
        let supervised = ProcessesReport::read(&reports).unwrap_or_default();
        let webhooks = WebhooksReport::read(&reports);
        (processes::all(engine_process), supervised, webhooks)
    });
    let (processes, roster, webhooks_report) = listing.await.map_err(|_| ErrorCode::Internal)?;
    let state = app.shared_view.read();
    let durability = app
        .engine
        .welcome()
        .map_or("unknown", |welcome| welcome.durability.name());
    let page = Page {
        engine: status.map(|status| engine(&status, engine_process, app.now())),
        cluster: app.cluster.status().map(cluster),
        gateway: Gateway {
            number: app.place.number(),
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION"),
            ready: app.shared_view.is_ready(),
            view_stopped: readings.view_stopped,
            sequence: readings.view_sequence,
            durable_sequence: readings.durable_sequence,
            epoch: readings.epoch,
            connections: readings.connections_open,
            in_flight: readings.engine_in_flight,
            streams: streams(&readings.streams),
            stages: own_stages(app),
        },
        gateways: others
            .iter()
            .map(|(number, page)| other_gateway(*number, page.as_deref(), &processes))
            .collect(),
        catalog: catalog.map(|status| catalog_sync(status, app.now())),
        exchange: exchange(&state.view, state.epoch, durability, app.exchange_time()),
        processes,
        supervised: roster.processes.into_iter().map(supervised).collect(),
        webhooks: webhooks_report.map(webhooks),
        books: books(&state.view, &app.descriptions),
    };
    Ok(Json::of(&page).at(state.position()))
}

fn catalog_sync(status: SyncStatus, now: TimeNs) -> CatalogSync {
    let now = i64::try_from(now.0 / 1_000_000_000).unwrap_or(i64::MAX);
    let conditions = status.vanished.iter().map(|it| it.condition.to_string());
    CatalogSync {
        vanished: conditions.collect(),
        upstream: status.upstream,
        follows: status.follows,
        round: status.round,
        age_seconds: status
            .round
            .map(|round| now.saturating_sub(round).try_into().unwrap_or(0)),
        complete: status.complete,
        is_complete: status.is_complete,
        failed_lists: status.failed_lists,
        findings: status.findings,
    }
}

/// The figures of another gateway, from its page of metrics.
fn other_gateway(number: u32, page: Option<&str>, processes: &[Process]) -> OtherGateway {
    let name = format!("gateway-{number}");
    let process = processes.iter().find(|process| process.name == name);
    let figure = |name| page.and_then(|page| metrics::figure(page, name));
    let figure = |name| figure(name).unwrap_or_default();
    OtherGateway {
        number,
        pid: process.map(|process| process.pid),
        up: page.is_some(),
        sequence: figure("view_sequence"),
        durable_sequence: figure("durable_sequence"),
        epoch: figure("epoch"),
        connections: figure("connections_open"),
    }
}

fn supervised(process: SupervisedProcess) -> Supervised {
    Supervised {
        name: process.name,
        ready: process.ready,
        restarts: process.restarts,
        ended: process.ended,
        final_end: process.final_end,
    }
}

fn webhooks(report: WebhooksReport) -> Webhooks {
    let waiting_seconds = report.waiting_seconds(since_epoch().as_secs());
    let waiting = report.waiting;
    Webhooks {
        delivered: report.delivered,
        failed_attempts: report.failed_attempts,
        sequence: report.sequence,
        waiting_sequence: waiting.as_ref().map(|waiting| waiting.sequence),
        waiting_seconds,
        reason: waiting.map(|waiting| waiting.reason).unwrap_or_default(),
    }
}

fn cluster(status: ClusterStatus) -> Cluster {
    Cluster {
        lag_frames: status.lag_frames(),
        host: status.host,
        role: status.role,
        leading: status.leading,
        term: status.term,
        leader: status.leader,
        leader_address: status.leader_address,
        own_sequence: status.own_sequence,
        stream_sequence: status.stream_sequence,
        lag_ms: status.lag_ms,
        takeovers: status.takeovers,
        foreign_messages: status.foreign_messages,
        lost_message: status.lost_message,
        state: status.state,
        clock: status.clock,
    }
}

fn streams(now: &StreamReadings) -> Streams {
    let [market, user, unnamed] = now.connections;
    let closes = CODES.into_iter().zip(now.closes);
    Streams {
        market,
        user,
        unnamed,
        subscriptions: now.subscriptions,
        messages: now.messages,
        bytes: now.bytes,
        bad_requests: now.bad_requests,
        lag_ms: now.lag_ms,
        closes: closes.filter(|(_, count)| *count > 0).collect(),
    }
}

fn exchange(view: &View, epoch: u64, durability: &'static str, now: TimeNs) -> StatusAnswer {
    let system = view.system();
    let unpaid = Unpaid::of(view, now);
    StatusAnswer {
        sequence: view.sequence().0,
        epoch,
        durability,
        mode: system.mode,
        rules: system.rules,
        markets: view.market_count() as u64,
        accounts: view.accounts().count() as u64,
        live_orders: view.orders().live_count() as u64,
        unpaid_markets: unpaid.markets,
        oldest_unpaid_seconds: unpaid.oldest_seconds,
        outward_closed: system.is_outward_closed(),
        fees: system.fees,
        collateral: system.collateral,
        settings: system.settings.into(),
        payments: view.people().payments.into(),
        policy: PolicyChange::of(None, view.resolutions().site.policy),
    }
}

fn books(view: &View, descriptions: &Descriptions) -> Vec<BookRow> {
    let open = |state| !matches!(state, MarketState::Closed | MarketState::Resolved);
    let orders = |market: &MarketNumber| view.orders().live_count_in(*market);
    let mut markets: Vec<MarketNumber> = view
        .markets()
        .iter()
        .filter(|(_, market)| open(market.state) && !market.archived)
        .map(|(number, _)| number)
        .collect();
    markets.sort_by_key(|market| std::cmp::Reverse(orders(market)));
    let row = |number: MarketNumber| {
        let (market, book) = (view.markets().get(number)?, view.books().get(number)?);
        let yes = book.of(Outcome::Yes);
        Some(BookRow {
            condition_id: market.condition,
            question: descriptions.of(market).question.clone(),
            status: market.state,
            best_bid: yes.best_bid(),
            best_ask: yes.best_ask(),
            live_orders: orders(&number),
        })
    };
    markets.into_iter().take(BOOKS).filter_map(row).collect()
}

fn engine(status: &Status, pid: Option<i32>, now: TimeNs) -> Engine {
    Engine {
        pid,
        mode: status.mode,
        durability: status.durability.name(),
        sequence: status.sequence.0,
        durable_sequence: status.durable.0,
        epoch: status.epoch,
        markets: status.markets,
        accounts: status.accounts,
        live_orders: status.live_orders,
        connections: status.connections,
        ring: format!("{}/{}", status.ring_used, status.ring_capacity),
        busy: status.busy,
        disk_low: status.disk_low,
        clock_alarms: status.clock_alarms,
        clock: status.clock.name(),
        clock_difference_ms: milliseconds_between(status.time, now),
        snapshot_sequence: status.snapshots.newest.0,
        snapshot_failed: status.snapshots.unwritten,
        view_stopped: status.snapshots.view_stopped.0,
        publisher_lag: status.publisher_lag(),
        stages: engine_stages(status),
    }
}

pub(in crate::resources) fn engine_stages(status: &Status) -> Vec<StageRow> {
    let rows = Stage::ALL.iter().zip(&status.stages).zip(&status.seconds);
    rows.map(|((stage, since_start), second)| row(stage.name(), since_start, second))
        .collect()
}

pub(in crate::resources) fn own_stages(app: &App) -> Vec<StageRow> {
    let told = app.durations.summaries();
    let rows = timing::Stage::ALL.iter().zip(&told);
    rows.map(|(stage, told)| row(stage.name(), &told.since_start, &told.second))
        .collect()
}

fn row(stage: &'static str, since_start: &StageSummary, second: &StageSummary) -> StageRow {
    StageRow {
        stage,
        since_start: durations(since_start),
        last_second: durations(second),
    }
}

fn durations(summary: &StageSummary) -> Durations {
    #[allow(clippy::cast_precision_loss)] // nanoseconds of a quarter of a year are exact
    let micros = |nanos: u64| nanos as f64 / 1_000.0;
    Durations {
        count: summary.count,
        p50: micros(summary.p50),
        p99: micros(summary.p99),
        p999: micros(summary.p999),
        max: micros(summary.max),
    }
}
