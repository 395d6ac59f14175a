//! Failed requests, and their answers in the shape of each surface (docs/api/errors.md §1).
//! `foretell_wire` defines the errors of the interface; this file has those that only the transport
//! gives.

use foretell_wire::ApiError;
use foretell_wire::data::{DataError, with_code};
use http::header::{ALLOW, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::json;

use crate::answer::Answer;
use crate::config::Surface;
use crate::engine_link::LinkError;
use crate::rate_limits::RateLimited;
use crate::signatures::TooManyWaiting;

/// Seconds after which a client may have read its answers.
const RETRY_UNREAD_SECONDS: u32 = 1;

/// A failed request.
#[derive(Debug)]
pub(crate) struct Failure(Box<Details>);

#[derive(Debug)]
struct Details {
    status: StatusCode,
    text: String,
    /// The whole body, when it has fields in addition to the text.
    body: Option<String>,
    headers: HeaderMap,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self(Box::new(Details {
            status,
            text: text.into(),
            body: None,
            headers: HeaderMap::new(),
        }))
    }

    /// Replaces the body that its surface would render.
    pub(crate) fn with_body(mut self, body: String) -> Self {
        self.0.body = Some(body);
        self
    }

    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.headers.insert(name, value);
        self
    }

    fn retry_after(self, seconds: Option<u32>) -> Self {
        match seconds {
            Some(seconds) => self.header(RETRY_AFTER, HeaderValue::from(seconds)),
            None => self,
        }
    }

    /// The answer in the shape of a surface: always JSON.
    pub(crate) fn render(self, surface: Surface) -> Answer {
        let Details {
            status,
            text,
            body,
            headers,
        } = *self.0;
        let body = body.unwrap_or_else(|| error_body(surface, status, &text));
        let mut answer = Answer::with_status(status, body);
        answer.headers.extend(headers);
        answer
    }
}

fn error_body(surface: Surface, status: StatusCode, text: &str) -> String {
    match surface {
        Surface::Trading | Surface::Operator => json!({ "error": text }),
        Surface::Data => json!({ "error": with_code(status.as_u16(), text) }),
        Surface::Catalog => json!({ "type": catalog_type(status), "error": text }),
    }
    .to_string()
}

const fn catalog_type(status: StatusCode) -> &'static str {
    match status {
        StatusCode::NOT_FOUND => "not found error",
        StatusCode::METHOD_NOT_ALLOWED => "method not allowed",
        StatusCode::TOO_MANY_REQUESTS => "rate limited",
        StatusCode::SERVICE_UNAVAILABLE => "unavailable",
        StatusCode::INTERNAL_SERVER_ERROR => "internal error",
        _ => "bad request",
    }
}

fn status(status: u16) -> StatusCode {
    StatusCode::from_u16(status).expect("statuses are constants")
}

impl From<&ApiError> for Failure {
    fn from(error: &ApiError) -> Self {
        Self::new(status(error.status()), error.text()).retry_after(error.retry_after())
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self::from(&error)
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        Self::new(status(error.status()), error.to_string()).retry_after(error.retry_after())
    }
}

impl From<LinkError> for Failure {
    fn from(error: LinkError) -> Self {
        api_error_of(error).into()
    }
}

impl From<TooManyWaiting> for Failure {
    fn from(_: TooManyWaiting) -> Self {
        ApiError::Busy.into()
    }
}

impl From<&RateLimited> for Failure {
    fn from(limited: &RateLimited) -> Self {
        let mut failure = Self::from(ApiError::RateLimited {
            scope: limited.scope.name(),
            limit: limited.status.limit,
            window: limited.scope.seconds(),
            retry_after: limited.status.reset,
        });
        limited.status.add_headers(&mut failure.0.headers);
        failure
    }
}

/// The error that a client gets when the engine gave no answer.
pub(crate) fn api_error_of(error: LinkError) -> ApiError {
    match error {
        LinkError::Unavailable => ApiError::EngineUnavailable,
        LinkError::Busy => ApiError::Busy,
        LinkError::DiskLow => ApiError::DiskLow,
        LinkError::OutcomeUnknown => ApiError::OutcomeUnknown,
    }
}

/// A client that is not on the data surface's allowlist (docs/api/overview.md §6).
pub(crate) fn not_allowlisted() -> Failure {
    Failure::new(StatusCode::UNAUTHORIZED, "unauthorized: ip_not_allowlisted")
}

/// A client with too many unread answers.
pub(crate) fn answers_unread() -> Failure {
    let text = "too many bytes of answers are not read yet: read them, then retry";
    let failure = Failure::new(StatusCode::SERVICE_UNAVAILABLE, text);
    failure.retry_after(Some(RETRY_UNREAD_SECONDS))
}

pub(crate) fn method_not_allowed(allowed: &str) -> Failure {
    let text = format!("method not allowed, allowed: {allowed}");
    let value = HeaderValue::from_str(allowed).expect("names of methods");
    Failure::new(StatusCode::METHOD_NOT_ALLOWED, text).header(ALLOW, value)
}

pub(crate) fn path_too_long() -> Failure {
    Failure::new(StatusCode::URI_TOO_LONG, "path too long")
}

pub(crate) fn body_too_slow() -> Failure {
    Failure::new(
        StatusCode::REQUEST_TIMEOUT,
        "the body did not arrive in time",
    )
}

pub(crate) fn body_broken() -> Failure {
    Failure::new(StatusCode::BAD_REQUEST, "the body broke off")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_surface_has_its_shape() {
        const INTERNAL: &str = "internal_error: unexpected database failure";
        for (status, text, data, catalog) in [
            (404, "not found", "not_found: not found", "not found error"),
            (405, "x", "method_not_allowed: x", "method not allowed"),
            (413, "x", "bad_request: x", "bad request"),
            (414, "x", "bad_request: x", "bad request"),
            (425, "x", "unavailable: x", "bad request"),
            (429, "rate_limited: x", "rate_limited: x", "rate limited"),
            (503, "x", "unavailable: x", "unavailable"),
            (
                400,
                "missing_field: user",
                "missing_field: user",
                "bad request",
            ),
            (500, "x", INTERNAL, "internal error"),
        ] {
            let body = |surface| {
                let status = StatusCode::from_u16(status).unwrap();
                let answer = Failure::new(status, text).render(surface);
                assert_eq!(answer.status, status);
                serde_json::from_slice::<serde_json::Value>(&answer.body).unwrap()
            };
            assert_eq!(body(Surface::Trading), json!({ "error": text }));
            assert_eq!(body(Surface::Operator), json!({ "error": text }));
            assert_eq!(body(Surface::Data), json!({ "error": data }));
            let catalog = json!({ "type": catalog, "error": text });
            assert_eq!(body(Surface::Catalog), catalog);
        }
    }

    #[test]
    fn a_body_of_its_own_is_rendered_as_it_is() {
        let failure = Failure::from(ApiError::Busy).with_body("{}".to_owned());
        let answer = failure.render(Surface::Data);
        assert_eq!(
            (answer.status.as_u16(), &answer.body[..]),
            (503, &b"{}"[..])
        );
        assert_eq!(answer.headers[RETRY_AFTER], "1");
    }
}
