//! The system as a whole: `/system/mode`, `/system/settings`, `/snapshot`.

use foretell_link::SnapshotResult;
use foretell_model::Command;
use foretell_wire::ErrorCode;
use foretell_wire::operator::{
    CommandAnswer, ModeChange, PaymentsChange, SettingsChange, SnapshotAnswer,
};

use crate::engine::engine_link::LinkError;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromBody;
use crate::http::request_context::RequestContext;
use crate::resources::operator::apply;

/// `POST /system/mode`.
pub(crate) async fn mode(
    context: RequestContext,
    FromBody(ModeChange { mode }): FromBody<ModeChange>,
) -> Result<Json<CommandAnswer>, Failure> {
    apply(&context, Command::SetMode { mode }, &[]).await
}

/// `POST /system/settings`: changes the settings that the body names.
pub(crate) async fn settings(
    context: RequestContext,
    FromBody(change): FromBody<SettingsChange>,
) -> Result<Json<CommandAnswer>, Failure> {
    let settings = change.update();
    apply(&context, Command::ChangeSettings { settings }, &[]).await
}

/// `POST /system/payments`: changes the settings of payments that the body names.
pub(crate) async fn payments(
    context: RequestContext,
    FromBody(change): FromBody<PaymentsChange>,
) -> Result<Json<CommandAnswer>, Failure> {
    let payments = change.update();
    apply(&context, Command::SetPayments { payments }, &[]).await
}

/// `POST /snapshot`: a snapshot of everything that is durable now.
pub(crate) async fn snapshot(context: RequestContext) -> Result<Json<SnapshotAnswer>, Failure> {
    let app = &context.app;
    match app.engine.snapshot().await {
        Ok(SnapshotResult::Published { sequence }) => {
            let snapshot = SnapshotAnswer {
                sequence: sequence.0,
            };
            Ok(Json::of(&snapshot).at(app.shared_view.read().position()))
        }
        Ok(SnapshotResult::Failed) => Err(ErrorCode::SnapshotFailed.into()),
        Ok(SnapshotResult::Off) => Err(ErrorCode::SnapshotsOff.into()),
        Err(LinkError::OutcomeUnknown) => Err(ErrorCode::SnapshotTimeout.into()),
        Err(failure) => Err(failure.into()),
    }
}
