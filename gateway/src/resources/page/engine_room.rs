//! `GET /ui/api/engine`: how the exchange is doing, without the operator's token. It shows sums and
//! durations only: no process ids, addresses, paths or names of accounts.

use std::path::Path;
use std::time::Instant;

use foretell_link::{Stage, Status};
use foretell_wire::checkpoint::CheckpointRow;
use foretell_wire::operator::mode_word;
use foretell_wire::{ErrorCode, json_text};
use serde::Serialize;

use crate::app::App;
use crate::http::answer::Answer;
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;
use crate::page::EngineRoom;
use crate::policy::limits::ENGINE_ROOM_AGE;
use crate::resources::operator::site::status::{StageRow, engine_stages, own_stages};
use crate::resources::page::page;
use crate::resources::service::checkpoints::newest_row;

#[derive(Serialize)]
struct Room {
    /// `null` while the engine is unavailable.
    engine: Option<EngineRow>,
    gateway: GatewayRow,
    journal: JournalRow,
    checkpoint: Option<CheckpointRow>,
}

#[derive(Serialize)]
struct EngineRow {
    mode: &'static str,
    durability: &'static str,
    sequence: u64,
    durable_sequence: u64,
    epoch: u64,
    /// Commands applied in the last whole second.
    commands_per_second: u64,
    live_orders: u64,
    markets: u32,
    accounts: u32,
    connections: u32,
    ring_used: u32,
    ring_capacity: u32,
    busy: u64,
    disk_low: bool,
    snapshot_sequence: u64,
    publisher_lag: u64,
    stages: Vec<StageRow>,
}

#[derive(Serialize)]
struct GatewayRow {
    version: &'static str,
    ready: bool,
    sequence: u64,
    durable_sequence: u64,
    epoch: u64,
    trades: u64,
    connections: usize,
    in_flight: usize,
    stages: Vec<StageRow>,
}

/// Files of the data directory.
#[derive(Clone, Copy, Default, Serialize)]
struct JournalRow {
    segments: u64,
    bytes: u64,
    snapshots: u64,
    snapshot_bytes: u64,
}

/// `GET /ui/api/engine`: one answer for all clients, at most half a second old.
pub(crate) async fn show(context: RequestContext) -> Result<Answer, Failure> {
    // Held while it is rendered: the others wait for that answer instead of asking the engine.
    let mut room = page(&context)?.engine_room.lock().await;
    let fresh = room
        .take()
        .filter(|room| room.made.elapsed() < ENGINE_ROOM_AGE);
    let shown = match fresh {
        Some(fresh) => fresh,
        None => render(&context).await?,
    };
    *room = Some(shown.clone());
    Ok(Answer::json(shown.body).at(shown.position))
}

async fn render(context: &RequestContext) -> Result<EngineRoom, Failure> {
    let app = &context.app;
    let page = page(context)?;
    let (journal, snapshots) = (page.journal.clone(), page.snapshots.clone());
    let measuring = tokio::task::spawn_blocking(move || measure(&journal, &snapshots));
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
        mode: mode_word(status.mode),
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
    let (segments, bytes) = files_of(journal);
    let (snapshots, snapshot_bytes) = files_of(snapshots);
    JournalRow {
        segments,
        bytes,
        snapshots,
        snapshot_bytes,
    }
}

/// Number and bytes of the files of a directory; none when it cannot be read.
fn files_of(directory: &Path) -> (u64, u64) {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| entry.metadata().ok().filter(|it| it.is_file()));
    files.fold((0, 0), |(count, bytes), file| {
        (count + 1, bytes + file.len())
    })
}
