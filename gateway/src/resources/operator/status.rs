//! `GET /status`: the exchange, its engine and this gateway at a glance.

use foretell_link::{Stage, Status};
use foretell_view::View;
use foretell_wire::json_text;
use foretell_wire::operator::{StatusAnswer, mode_word};
use serde::Serialize;

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;

#[derive(Serialize)]
struct Page {
    /// Absent while the engine is away.
    engine: Option<Engine>,
    gateway: Gateway,
    exchange: StatusAnswer,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Engine {
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
    stages: Vec<StageRow>,
}

/// Durations in microseconds.
#[derive(Serialize)]
struct StageRow {
    stage: &'static str,
    count: u64,
    p50: f64,
    p99: f64,
    p999: f64,
    max: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Gateway {
    version: &'static str,
    ready: bool,
    sequence: u64,
    durable_sequence: u64,
    epoch: u64,
    connections: usize,
    in_flight: usize,
}

/// `GET /status`.
pub(crate) async fn show(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let status = app.engine.status().await.ok();
    let readings = app.readings();
    let state = app.replica.read();
    let durability = app
        .engine
        .welcome()
        .map_or("unknown", |welcome| welcome.durability.name());
    let page = Page {
        engine: status.map(|status| engine(&status)),
        gateway: Gateway {
            version: env!("CARGO_PKG_VERSION"),
            ready: app.replica.is_ready(),
            sequence: readings.view_sequence,
            durable_sequence: readings.durable_sequence,
            epoch: readings.epoch,
            connections: readings.connections_open,
            in_flight: readings.engine_in_flight,
        },
        exchange: exchange(&state.view, state.epoch, durability),
    };
    Ok(Answer::json(json_text(&page)).at(state.place()))
}

fn exchange(view: &View, epoch: u64, durability: &'static str) -> StatusAnswer {
    let system = view.system();
    StatusAnswer {
        sequence: view.sequence().0,
        epoch,
        durability,
        mode: system.mode,
        rules: system.rules,
        markets: view.markets().count() as u64,
        accounts: view.accounts().count() as u64,
        live_orders: view.orders().live_count() as u64,
        fees: system.fees,
        collateral: system.collateral,
        settings: system.settings,
    }
}

fn engine(status: &Status) -> Engine {
    Engine {
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
        stages: Stage::ALL.iter().map(|&stage| row(stage, status)).collect(),
    }
}

fn row(stage: Stage, status: &Status) -> StageRow {
    let summary = status.stage(stage);
    #[allow(clippy::cast_precision_loss)] // nanoseconds of a quarter of a year are exact
    let micros = |nanos: u64| nanos as f64 / 1_000.0;
    StageRow {
        stage: stage.name(),
        count: summary.count,
        p50: micros(summary.p50),
        p99: micros(summary.p99),
        p999: micros(summary.p999),
        max: micros(summary.max),
    }
}
