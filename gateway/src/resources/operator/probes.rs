//! `/livez`, `/readyz`, `/metrics`: for machines on this machine, without a token. They tell no
//! secret and change nothing.

use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use serde::Serialize;

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;

const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// `GET /livez`: the process serves.
pub(crate) async fn live(_: Call) -> Result<Answer, Failure> {
    Ok(Answer::json(r#"{"live":true}"#))
}

#[derive(Serialize)]
struct Ready {
    ready: bool,
    view: bool,
    engine: bool,
    /// What this gateway's view cannot follow, when that is why it is not ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    view_stopped: Option<u64>,
}

/// `GET /readyz`: reads show a state and the engine takes commands.
pub(crate) async fn ready(call: Call) -> Result<Answer, Failure> {
    let view = call.app.replica.is_ready();
    let engine = call.app.engine.welcome().is_some();
    let body = foretell_wire::json_text(&Ready {
        ready: view && engine,
        view,
        engine,
        view_stopped: call.app.replica.stopped().map(|at| at.0),
    });
    let status = if view && engine {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    Ok(Answer::with_status(status, body))
}

/// `GET /metrics`.
pub(crate) async fn metrics(call: Call) -> Result<Answer, Failure> {
    let engine = call.app.engine.status().await.ok();
    let app = &call.app;
    let page = app
        .metrics
        .page(app.readings(), &app.durations, engine.as_deref());
    Ok(Answer::json(page).header(CONTENT_TYPE, OPEN_METRICS))
}
