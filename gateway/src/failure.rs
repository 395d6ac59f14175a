//! Failed requests, and their answers in the shape of each surface (docs/api/errors.md §1).
//! `foretell_wire` defines the errors of the interface.

use foretell_wire::data::{DataError, with_class};
use foretell_wire::{ApiError, ErrorCode};
use http::header::{ALLOW, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::json;

use crate::answer::Answer;
use crate::engine_link::LinkError;
use crate::rate_limits::RateLimited;
use crate::signature_gate::TooManyWaiting;
use crate::surface::Surface;

/// The code of an error; every answer to a failed request has it.
pub(crate) const X_ERROR_CODE: HeaderName = HeaderName::from_static("x-error-code");

/// A failed request.
#[derive(Debug)]
pub(crate) struct Failure(Box<Details>);

#[derive(Debug)]
struct Details {
    code: ErrorCode,
    text: String,
    /// The whole body, when it has fields in addition to the text.
    body: Option<String>,
    headers: HeaderMap,
}

impl Failure {
    /// A failure with a text of its own.
    pub(crate) fn new(code: ErrorCode, text: String) -> Self {
        let failure = Self(Box::new(Details {
            code,
            text,
            body: None,
            headers: HeaderMap::new(),
        }));
        match code.retry_after() {
            Some(seconds) => failure.header(RETRY_AFTER, HeaderValue::from(seconds)),
            None => failure,
        }
    }

    /// The code.
    pub(crate) const fn code(&self) -> ErrorCode {
        self.0.code
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

    /// The answer in the shape of a surface: always JSON.
    pub(crate) fn render(self, surface: Surface) -> Answer {
        let Details {
            code,
            text,
            body,
            headers,
        } = *self.0;
        let status = StatusCode::from_u16(code.status()).expect("statuses are constants");
        let body = body.unwrap_or_else(|| error_body(surface, code, &text));
        let mut answer = Answer::with_status(status, body);
        answer.headers.extend(headers);
        answer.header(X_ERROR_CODE, HeaderValue::from_static(code.name()))
    }
}

/// The interface fixes the fields of the public surfaces, so only the operator's body has the code.
fn error_body(surface: Surface, code: ErrorCode, text: &str) -> String {
    match surface {
        Surface::Trading => json!({ "error": text }),
        Surface::Operator | Surface::Health => {
            json!({ "error": text, "code": code.name() })
        }
        Surface::Data => json!({ "error": with_class(code.status(), text) }),
        Surface::Catalog => json!({ "type": catalog_type(code.status()), "error": text }),
    }
    .to_string()
}

const fn catalog_type(status: u16) -> &'static str {
    match status {
        404 => "not found error",
        405 => "method not allowed",
        429 => "rate limited",
        503 => "unavailable",
        500 => "internal error",
        _ => "bad request",
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self::from(&error)
    }
}

impl From<&ApiError> for Failure {
    fn from(error: &ApiError) -> Self {
        Self::new(error.code(), error.text())
    }
}

impl From<ErrorCode> for Failure {
    fn from(code: ErrorCode) -> Self {
        ApiError::from(code).into()
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        Self::new(error.code(), error.to_string())
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
        let retry_after = limited.status.reset;
        let mut failure = Self::from(ApiError::RateLimited {
            scope: limited.scope.name(),
            limit: limited.status.limit,
            window: limited.scope.seconds(),
            retry_after,
        });
        limited.status.add_headers(&mut failure.0.headers);
        failure.header(RETRY_AFTER, HeaderValue::from(retry_after))
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

pub(crate) fn method_not_allowed(allowed: String) -> Failure {
    let value = HeaderValue::from_str(&allowed).expect("names of methods");
    let error = ApiError::Coded(ErrorCode::MethodNotAllowed, vec![allowed]);
    Failure::from(error).header(ALLOW, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_surface_has_its_shape() {
        const INTERNAL: &str = "internal_error: unexpected database failure";
        for (code, text, data, catalog) in [
            (
                "not_found",
                "not found",
                "not_found: not found",
                "not found error",
            ),
            (
                "method_not_allowed",
                "x",
                "method_not_allowed: x",
                "method not allowed",
            ),
            ("body_too_large", "x", "bad_request: x", "bad request"),
            ("path_too_long", "x", "bad_request: x", "bad request"),
            ("recovering", "x", "unavailable: x", "bad request"),
            (
                "rate_limited",
                "rate_limited: x",
                "rate_limited: x",
                "rate limited",
            ),
            ("busy", "x", "unavailable: x", "unavailable"),
            (
                "missing_parameter",
                "missing_field: user",
                "missing_field: user",
                "bad request",
            ),
            ("internal_error", "x", INTERNAL, "internal error"),
        ] {
            let is_it = |known: &&ErrorCode| known.name() == code;
            let known = *ErrorCode::ALL.iter().find(is_it).unwrap();
            let body = |surface| {
                let answer = Failure::new(known, text.to_owned()).render(surface);
                assert_eq!(answer.status.as_u16(), known.status());
                assert_eq!(answer.headers[X_ERROR_CODE], code);
                serde_json::from_slice::<serde_json::Value>(&answer.body).unwrap()
            };
            assert_eq!(body(Surface::Trading), json!({ "error": text }));
            let operator = json!({ "error": text, "code": code });
            assert_eq!(body(Surface::Operator), operator);
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
        assert_eq!(answer.headers[X_ERROR_CODE], "busy");
    }
}
