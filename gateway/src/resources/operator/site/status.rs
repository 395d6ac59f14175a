//! `GET /status`: an overview of the exchange, its engine and this gateway.

use std::collections::BTreeMap;

use foretell_catalog::SyncStatus;
use foretell_link::{ClusterStatus, Stage, StageSummary, Status};
use foretell_model::{MarketNumber, MarketState, Outcome, Price, TimeNs};
use foretell_stages::Stages as _;
use foretell_view::View;
use foretell_wire::errors::rejection::state_word;
use foretell_wire::json_text;
use foretell_wire::operator::{PolicyChange, StatusAnswer, mode_word};
use foretell_wire::text::decimal;
use serde::Serialize;

use crate::app::App;
use crate::catalog::descriptions::Descriptions;
use crate::http::answer::Answer;
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;
use crate::http::timing;
use crate::streams::connection::close::CODES;
use crate::streams::fan_out::stats::StreamReadings;
use crate::view::unpaid::Unpaid;

/// Books listed: those with the most orders. The trading surface has all.
const BOOKS: usize = 100;

#[derive(Serialize)]
struct Page {
    /// Absent while the engine is unavailable.
    engine: Option<Engine>,
    /// Absent on a host that is alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<Cluster>,
    gateway: Gateway,
    /// Absent while no sync has run.
    #[serde(skip_serializing_if = "Option::is_none")]
    catalog: Option<CatalogSync>,
    exchange: StatusAnswer,
    /// Of markets that are neither closed nor resolved, most orders first.
    books: Vec<BookRow>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Engine {
    pid: Option<i32>,
    mode: &'static str,
    durability: &'static str,
    sequence: u64,
    durable_sequence: u64,
    epoch: u64,
    markets: u32,
    accounts: u32,
    live_orders: u64,
    connections: u32,
    ring: String,
    busy: u64,
    disk_low: bool,
    clock_alarms: u64,
    snapshot_sequence: u64,
    /// Whether the newest attempt to write a snapshot failed.
    snapshot_failed: bool,
    /// The frame that the publisher's view cannot follow; 0 when it follows.
    view_stopped: u64,
    publisher_lag: u64,
    stages: Vec<StageRow>,
}

/// The host's place in its cluster.
#[derive(Serialize)]
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
    state: String,
}

/// How far the catalog has its upstream.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CatalogSync {
    upstream: String,
    follows: bool,
    /// Unix seconds of the last round that read the changes, and their age.
    round: Option<i64>,
    age_seconds: Option<i64>,
    /// Unix seconds of the last full round that read every list to its end.
    complete: Option<i64>,
    is_complete: bool,
    failed_lists: Vec<String>,
    findings: Vec<String>,
    /// Conditions of registered markets that the upstream no longer has.
    vanished: Vec<String>,
}

/// Prices of the first outcome; empty where the book has no such side.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BookRow {
    condition_id: String,
    question: String,
    status: &'static str,
    #[serde(serialize_with = "decimal::as_text_or_empty")]
    best_bid: Option<Price>,
    #[serde(serialize_with = "decimal::as_text_or_empty")]
    best_ask: Option<Price>,
    live_orders: usize,
}

/// Durations of a stage since the process started, and in the last whole second.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::resources) struct StageRow {
    stage: &'static str,
    #[serde(flatten)]
    since_start: Durations,
    last_second: Durations,
}

/// Durations in microseconds.
#[derive(Serialize)]
struct Durations {
    count: u64,
    p50: f64,
    p99: f64,
    p999: f64,
    max: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Gateway {
    pid: u32,
    version: &'static str,
    ready: bool,
    /// The frame its view cannot follow; 0 when it follows.
    view_stopped: u64,
    sequence: u64,
    durable_sequence: u64,
    epoch: u64,
    connections: usize,
    in_flight: usize,
    streams: Streams,
    stages: Vec<StageRow>,
}

/// Stream connections of this gateway.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Streams {
    market: u64,
    user: u64,
    /// Connections without a channel yet.
    unnamed: u64,
    subscriptions: u64,
    messages: u64,
    bytes: u64,
    bad_requests: u64,
    /// Age of the oldest waiting message.
    lag_ms: u64,
    /// Ended connections by close code; codes without any are absent.
    closes: BTreeMap<&'static str, u64>,
}

/// `GET /status`.
pub(crate) async fn show(context: RequestContext) -> Result<Answer, Failure> {
    let app = &context.app;
    let status = app.engine.status().await.ok();
    let readings = app.readings();
    let catalog = app.sync_status().await;
    let state = app.shared_view.read();
    let durability = app
        .engine
        .welcome()
        .map_or("unknown", |welcome| welcome.durability.name());
    let page = Page {
        engine: status.map(|status| engine(&status, app.engine.engine_process())),
        cluster: app.cluster.status().map(cluster),
        gateway: Gateway {
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
        catalog: catalog.map(|status| catalog_sync(status, app.now())),
        exchange: exchange(&state.view, state.epoch, durability, app.now()),
        books: books(&state.view, &app.descriptions),
    };
    Ok(Answer::json(json_text(&page)).at(state.position()))
}

fn catalog_sync(status: SyncStatus, now: TimeNs) -> CatalogSync {
    let now = i64::try_from(now.0 / 1_000_000_000).unwrap_or(i64::MAX);
    let conditions = status.vanished.iter().map(|it| it.condition.to_string());
    CatalogSync {
        vanished: conditions.collect(),
        upstream: status.upstream,
        follows: status.follows,
        round: status.round,
        age_seconds: status.round.map(|round| now.saturating_sub(round).max(0)),
        complete: status.complete,
        is_complete: status.is_complete,
        failed_lists: status.failed_lists,
        findings: status.findings,
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
        state: status.state,
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
            condition_id: market.condition.to_string(),
            question: descriptions.of(market).question.clone(),
            status: state_word(market.state),
            best_bid: yes.best_bid(),
            best_ask: yes.best_ask(),
            live_orders: orders(&number),
        })
    };
    markets.into_iter().take(BOOKS).filter_map(row).collect()
}

fn engine(status: &Status, pid: Option<i32>) -> Engine {
    Engine {
        pid,
        mode: mode_word(status.mode),
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
