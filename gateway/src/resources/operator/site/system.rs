//! The system as a whole: `/system/mode`, `/system/settings`, `/snapshot`.

use foretell_link::SnapshotResult;
use foretell_wire::ErrorCode;
use foretell_wire::operator::SnapshotAnswer;

use crate::engine::engine_link::LinkError;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;

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
