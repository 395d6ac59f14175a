//! `/livez`, `/readyz`, `/metrics`: for programs on this machine, without a token. They reveal no
//! secret and change nothing.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use foretell_link::ClusterStatus;
use foretell_wire::errors::api_error::FieldError;
use foretell_wire::schema::JsonSchema;
use foretell_wire::{ApiError, ErrorCode, json_text};
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use serde::Serialize;

use crate::app::App;
use crate::http::answer::{Answer, Json};
use crate::http::endpoint::RequestPart;
use crate::http::failure::Failure;
use crate::http::operation::Operation;
use crate::http::request_context::RequestContext;
use crate::metrics::exchange_metrics::HostReadings;
use crate::metrics::siblings::PATIENCE;
use crate::metrics::{Readings, Scrape};
use crate::policy::limits::SHARED_ANSWER_AGE;
use crate::policy::work;

const TEXT_FORMAT: HeaderValue =
    HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// Maximum number of frames by which reads may be behind; a gateway that is further behind serves no reads for a load
/// balancer. A gateway that keeps up is behind by one batch of the journal, some hundred frames at the highest rates.
const MAX_READ_LAG: u64 = 1_000;

/// Answer of `GET /livez`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Live {
    /// Always true.
    #[schemars(extend("const" = true))]
    live: bool,
}

/// `GET /livez`: the process is serving.
pub(crate) async fn live(_: RequestContext) -> Result<Json<Live>, Failure> {
    Ok(Json::of(&Live { live: true }))
}

/// Answer of `GET /readyz`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Ready {
    /// Whether it serves what the request asks for.
    ready: bool,
    /// Whether the gateway's view serves reads.
    view: bool,
    /// Whether the engine is connected.
    engine: bool,
    /// Frames that reads do not show yet: durable frames that the view has not applied, and in a cluster frames of the
    /// leader's log that this host does not have.
    lag: u64,
    /// Number of a message that the replicated log lost; absent while none is known. This host cannot follow past it.
    #[serde(skip_serializing_if = "Option::is_none")]
    lost_message: Option<u64>,
    /// What engine time, by which orders are judged, does about the wall clock: `right` = it follows it, `unknown` = no
    /// engine is connected.
    clock: &'static str,
    /// Sequence of the frame at which this gateway's view stopped; absent if it did not stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    view_stopped: Option<u64>,
}

/// What a gateway shall be ready for: the query, which has nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    Reads,
    Writes,
}

impl RequestPart for Purpose {
    async fn of(context: &RequestContext) -> Result<Self, Failure> {
        match context.head.uri.query().unwrap_or("for=writes") {
            "for=writes" => Ok(Self::Writes),
            "for=reads" => Ok(Self::Reads),
            query => {
                let given = query.strip_prefix("for=").unwrap_or(query);
                Err(ApiError::from(FieldError::wrong("for", given, "reads, writes")).into())
            }
        }
    }

    fn describe(operation: &mut Operation) {
        #[cfg(feature = "documents")]
        operation.described.takes_word(
            "for",
            "What it shall be ready for. Writes need the engine, too.",
            &["writes", "reads"],
        );
        operation.fails(&[ErrorCode::InvalidField, ErrorCode::NotReady]);
    }
}

/// `GET /readyz`: the view serves reads and the engine accepts commands, in a cluster as long as this
/// host certainly leads. A wrong clock is named and stops nothing: cancels are judged by none. `?for=reads` asks whether the view
/// serves reads that are behind by at most 1,000 frames; `?for=writes` is the default.
pub(crate) async fn ready(
    context: RequestContext,
    purpose: Purpose,
) -> Result<Json<Ready>, Failure> {
    let view = context.app.shared_view.is_ready();
    let engine = context.app.engine.welcome().is_some();
    let takes_writes = engine && context.app.cluster.ensure_leads(engine).is_ok();
    let cluster = context.app.cluster.status();
    let lag = read_lag(context.app.shared_view.lag(), cluster.as_ref());
    let lost_message = cluster.and_then(|status| status.lost());
    let is_ready = view
        && match purpose {
            Purpose::Reads => lag <= MAX_READ_LAG && lost_message.is_none(),
            Purpose::Writes => takes_writes,
        };
    let state = Ready {
        ready: is_ready,
        view,
        engine,
        lag,
        lost_message,
        clock: (context.app.engine.time()).map_or("unknown", |(_, state)| state.name()),
        view_stopped: context.app.shared_view.stopped().map(|at| at.0),
    };
    match is_ready {
        true => Ok(Json::of(&state)),
        false => Err(Failure::from(ErrorCode::NotReady).with_body(json_text(&state))),
    }
}

/// Frames that reads do not show yet.
fn read_lag(view: u64, cluster: Option<&ClusterStatus>) -> u64 {
    let log = cluster.map_or(0, ClusterStatus::lag_frames);
    view.saturating_add(log)
}

/// `GET /metrics`: of all gateways of the exchange on this host, of the engine and of the host. Clients without a token
/// share one page, at most half a second old.
pub(crate) async fn metrics(context: RequestContext) -> Result<Answer, Failure> {
    // Held while it is rendered: the others wait for that page.
    let mut newest = context.app.newest_metrics.lock().await;
    let (made, page) = match newest.take() {
        Some(fresh) if !context.is_operator && fresh.0.elapsed() < SHARED_ANSWER_AGE => fresh,
        _ => (Instant::now(), scrape(&context.app).await?),
    };
    *newest = Some((made, page.clone()));
    Ok(Answer::json(page).header(CONTENT_TYPE, TEXT_FORMAT))
}

async fn scrape(app: &Arc<App>) -> Result<Bytes, Failure> {
    // An engine that hangs does not hide the figures that say so.
    let asked = tokio::time::timeout(PATIENCE, app.engine.status());
    let (engine, others) = tokio::join!(asked, app.place.others());
    let engine = engine.ok().and_then(Result::ok);
    let (reader, process) = (Arc::clone(app), app.engine.engine_process());
    let host = work::blocking(move || HostReadings::read(&reader, process));
    let scrape = Scrape {
        readings: Readings {
            catalog: app.sync_status().await.unwrap_or_default(),
            ..app.readings()
        },
        engine: engine.as_deref(),
        host: host.await.map_err(|_| ErrorCode::Internal)?,
        others,
    };
    Ok(app.metrics.page(&scrape, &app.durations).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_lag_adds_what_the_view_and_the_host_lack() {
        let status = |own_sequence, stream_sequence| ClusterStatus {
            own_sequence,
            stream_sequence,
            ..ClusterStatus::default()
        };
        assert_eq!(read_lag(7, None), 7);
        assert_eq!(read_lag(7, Some(&status(100, 1_854))), 1_761);
        assert_eq!(read_lag(0, Some(&status(100, 90))), 0);
    }
}
