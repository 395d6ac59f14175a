//! The system as a whole: `/system/mode`, `/system/settings`, `/snapshot`.

use foretell_link::SnapshotResult;
use foretell_model::Command;
use foretell_wire::operator::{read_mode, read_settings};
use foretell_wire::{Failure as Refusal, json_text};
use serde::Serialize;

use super::order;
use crate::answer::Answer;
use crate::call::Call;
use crate::engine_link::LinkFailure;
use crate::failure::Failure;

/// `POST /system/mode`.
pub(crate) async fn mode(call: Call) -> Result<Answer, Failure> {
    let mode = read_mode(&call.body)?;
    Ok(order(&call.app, Command::SetMode { mode }, &[])
        .await?
        .answer())
}

/// `POST /system/settings`: what the body names is changed, the rest stays as it is.
pub(crate) async fn settings(call: Call) -> Result<Answer, Failure> {
    let change = read_settings(&call.body)?;
    let app = &call.app;
    app.replica.caught_up().await?;
    let now = app.replica.read().view.system().settings;
    Ok(
        order(app, Command::ChangeSettings(change.applied_to(now)), &[])
            .await?
            .answer(),
    )
}

/// The answer to a snapshot that was asked for.
#[derive(Serialize)]
struct Snapshot {
    /// There is an image of the state after this command.
    sequence: u64,
}

/// `POST /snapshot`: an image of everything that is durable now.
pub(crate) async fn snapshot(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    match app.engine.snapshot().await {
        Ok(SnapshotResult::Published { sequence }) => {
            let body = json_text(&Snapshot {
                sequence: sequence.0,
            });
            Ok(Answer::json(body).at(app.replica.read().place()))
        }
        Ok(SnapshotResult::Failed) => Err(Refusal::SnapshotFailed.into()),
        Ok(SnapshotResult::Off) => {
            const OFF: &str = "this engine publishes no snapshots";
            Err(Refusal::Conflict(OFF.to_owned()).into())
        }
        Err(LinkFailure::Unknown) => Err(Refusal::SnapshotLate.into()),
        Err(failure) => Err(failure.into()),
    }
}
