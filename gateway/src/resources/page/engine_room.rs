//! `GET /ui/api/engine`: how the exchange is doing, without the operator's token. It shows sums and
//! durations only: no process ids, addresses, paths or names of accounts.

use std::path::Path;
use std::time::Instant;

use foretell_link::{Stage, Status};
use foretell_model::SystemMode;
use foretell_wire::checkpoint::CheckpointRow;
use foretell_wire::schema::JsonSchema;
use foretell_wire::{ErrorCode, json_text, values};
use serde::Serialize;

use crate::app::App;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;
use crate::page::EngineRoom;
use crate::policy::limits::SHARED_ANSWER_AGE;
use crate::policy::work;
use crate::resources::operator::site::processes::{files_of, segments_of};
use crate::resources::operator::site::status::{StageRow, engine_stages, own_stages};
use crate::resources::page::page;
use crate::resources::service::checkpoints::newest_row;

/// Answer of `GET /ui/api/engine`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EngineRoom")]
pub(crate) struct Room {
    /// `null` while the engine is unavailable.
    engine: Option<EngineRow>,
    gateway: GatewayRow,
    journal: JournalRow,
    /// The newest signed checkpoint; `null` without one.
    checkpoint: Option<CheckpointRow>,
}

/// The engine's figures.
#[derive(Serialize, JsonSchema)]
struct EngineRow {
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
    /// Commands applied in the last whole second.
    commands_per_second: u64,
    live_orders: u64,
    markets: u32,
    accounts: u32,
    /// Connected gateways.
    connections: u32,
    /// Used slots of the command queue.
    ring_used: u32,
    /// Slots of the command queue.
    ring_capacity: u32,
    /// Commands rejected because the queue was full.
    busy: u64,
    /// The disk is nearly full, so new orders are rejected.
    disk_low: bool,
    /// Sequence of the newest snapshot.
    snapshot_sequence: u64,
    /// Commands that the snapshot publisher has not executed yet.
    publisher_lag: u64,
    stages: Vec<StageRow>,
}

/// The gateway's figures.
#[derive(Serialize, JsonSchema)]
struct GatewayRow {
    version: &'static str,
    /// Whether its view serves reads.
    ready: bool,
    /// Sequence visible to reads.
    sequence: u64,
    /// Last command synced to disk.
    durable_sequence: u64,
    /// Number of engine recoveries.
    epoch: u64,
    /// All trades since the beginning.
    trades: u64,
    /// Open client connections.
    connections: usize,
    /// Commands sent to the engine without an answer yet.
    in_flight: usize,
    stages: Vec<StageRow>,
}

/// Files of the data directory.
#[derive(Clone, Copy, Default, Serialize, JsonSchema)]
struct JournalRow {
    segments: u64,
    bytes: u64,
    snapshots: u64,
    snapshot_bytes: u64,
}

/// `GET /ui/api/engine`: one answer for all clients, at most half a second old.
pub(crate) async fn show(context: RequestContext) -> Result<Json<Room>, Failure> {
    // Held while it is rendered: the others wait for that answer instead of asking the engine.
    let mut room = page(&context)?.engine_room.lock().await;
    let fresh = room
        .take()
        .filter(|room| room.made.elapsed() < SHARED_ANSWER_AGE);
    let shown = match fresh {
        Some(fresh) => fresh,
        None => render(&context).await?,
    };
    *room = Some(shown.clone());
    Ok(Json::written(shown.body).at(shown.position))
}

async fn render(context: &RequestContext) -> Result<EngineRoom, Failure> {
    let app = &context.app;
    let sources = app.view_sources.clone();
    let measuring = work::blocking(move || measure(&sources.journal, &sources.snapshots));
    let journal = measuring.await.map_err(|_| ErrorCode::Internal)?;
    let status = app.engine.status().await.ok();
    let room = Room {
        engine: status.as_deref().map(engine),
        gateway: gateway(app),
        journal,
        checkpoint: newest_row(context).await?,
    };
    Ok(EngineRoom {
        made: Instant::now(),
        body: json_text(&room).into(),
        position: app.shared_view.read().position(),
    })
}

fn engine(status: &Status) -> EngineRow {
    EngineRow {
        mode: status.mode,
        durability: status.durability.name(),
        sequence: status.sequence.0,
        durable_sequence: status.durable.0,
        epoch: status.epoch,
        commands_per_second: status.seconds[Stage::Apply as usize].count,
        live_orders: status.live_orders,
        markets: status.markets,
        accounts: status.accounts,
        connections: status.connections,
        ring_used: status.ring_used,
        ring_capacity: status.ring_capacity,
        busy: status.busy,
        disk_low: status.disk_low,
        snapshot_sequence: status.snapshots.newest.0,
        publisher_lag: status.publisher_lag(),
        stages: engine_stages(status),
    }
}

fn gateway(app: &App) -> GatewayRow {
    let readings = app.readings();
    GatewayRow {
        version: env!("CARGO_PKG_VERSION"),
        ready: app.shared_view.is_ready(),
        sequence: readings.view_sequence,
        durable_sequence: readings.durable_sequence,
        epoch: readings.epoch,
        trades: app.shared_view.read().view.trades().count() as u64,
        connections: readings.connections_open,
        in_flight: readings.engine_in_flight,
        stages: own_stages(app),
    }
}

fn measure(journal: &Path, snapshots: &Path) -> JournalRow {
    let (segments, bytes) = segments_of(journal);
    let (snapshots, snapshot_bytes) = files_of(snapshots);
    JournalRow {
        segments,
        bytes,
        snapshots,
        snapshot_bytes,
    }
}
