//! Every refusal as an HTTP answer, always JSON. The refusals of the interface are
//! `foretell_wire`'s; what only a transport can refuse stands here.

use foretell_wire::Failure as Refusal;
use foretell_wire::data::DataFailure;
use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};
use serde_json::json;

use crate::answer::Answer;
use crate::config::Surface;
use crate::engine_link::LinkFailure;
use crate::rate_limits::Refused;
use crate::signatures::TooManyWaiting;

/// When a client may have taken its answers.
const RETRY_UNREAD_SECONDS: u32 = 1;

/// An answer that is a refusal.
#[derive(Debug)]
pub(crate) struct Failure(Box<Answer>);

impl Failure {
    /// The answer.
    pub(crate) fn into_answer(self) -> Answer {
        *self.0
    }
}

impl From<Answer> for Failure {
    fn from(answer: Answer) -> Self {
        Self(Box::new(answer))
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        answer(&refusal).into()
    }
}

impl From<DataFailure> for Failure {
    fn from(failure: DataFailure) -> Self {
        let status = StatusCode::from_u16(failure.status()).expect("statuses are constants");
        let answer = Answer::with_status(status, failure.body());
        match failure.retry_after() {
            Some(seconds) => answer.header(RETRY_AFTER, HeaderValue::from(seconds)),
            None => answer,
        }
        .into()
    }
}

impl From<LinkFailure> for Failure {
    fn from(failure: LinkFailure) -> Self {
        refusal_of(failure).into()
    }
}

impl From<TooManyWaiting> for Failure {
    fn from(_: TooManyWaiting) -> Self {
        Refusal::Busy.into()
    }
}

/// What an engine that gave no answer means to a client.
pub(crate) fn refusal_of(failure: LinkFailure) -> Refusal {
    match failure {
        LinkFailure::Away => Refusal::EngineAway,
        LinkFailure::Busy => Refusal::Busy,
        LinkFailure::DiskLow => Refusal::DiskLow,
        LinkFailure::Unknown => Refusal::OutcomeUnknown,
    }
}

/// The answer of a refusal.
pub(crate) fn answer(refusal: &Refusal) -> Answer {
    with_body(refusal, refusal.body())
}

/// The answer of a refusal that says more than its text.
pub(crate) fn with_body(refusal: &Refusal, body: String) -> Answer {
    let status = StatusCode::from_u16(refusal.status()).expect("statuses are constants");
    let answer = Answer::with_status(status, body);
    match refusal.retry_after() {
        Some(seconds) => answer.header(RETRY_AFTER, HeaderValue::from(seconds)),
        None => answer,
    }
}

/// The answer to one request too many, in the shape of its surface (protocol 10).
pub(crate) fn too_many_requests(surface: Surface, refused: &Refused) -> Answer {
    let refusal = Refusal::RateLimited {
        scope: refused.scope.name(),
        limit: refused.standing.limit,
        window: refused.scope.seconds(),
        retry_after: refused.standing.reset,
    };
    let text = refusal.text();
    let body = match surface {
        Surface::Trading | Surface::Operator => json!({ "error": text }),
        Surface::Data => json!({ "error": format!("rate_limited: {text}") }),
        Surface::Catalog => json!({ "type": "rate limited", "error": text }),
    };
    let mut answer = with_body(&refusal, body.to_string());
    refused.standing.tell(&mut answer.headers);
    answer
}

/// A client that may not ask the data surface (interface, Authentication).
pub(crate) fn not_allowlisted() -> Answer {
    transport(StatusCode::UNAUTHORIZED, "unauthorized: ip_not_allowlisted")
}

/// A client that leaves its answers unread and asks for more.
pub(crate) fn answers_unread() -> Answer {
    let text = "too many bytes of answers are not read yet: read them, then retry";
    let answer = transport(StatusCode::SERVICE_UNAVAILABLE, text);
    answer.header(RETRY_AFTER, HeaderValue::from(RETRY_UNREAD_SECONDS))
}

fn transport(status: StatusCode, text: &str) -> Answer {
    Answer::with_status(status, json!({ "error": text }).to_string())
}

pub(crate) fn method_not_allowed(allowed: &str) -> Answer {
    let text = format!("method not allowed, allowed: {allowed}");
    transport(StatusCode::METHOD_NOT_ALLOWED, &text)
}

pub(crate) fn path_too_long() -> Answer {
    transport(StatusCode::URI_TOO_LONG, "path too long")
}

pub(crate) fn body_too_slow() -> Answer {
    transport(
        StatusCode::REQUEST_TIMEOUT,
        "the body did not arrive in time",
    )
}

pub(crate) fn body_broken() -> Answer {
    transport(StatusCode::BAD_REQUEST, "the body broke off")
}
