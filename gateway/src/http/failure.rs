//! Failed requests, and their answers in the shape of each surface (docs/api/errors.md §1).
//! `foretell_wire` defines the errors of the interface.

use foretell_wire::data::{V2Error, with_class};
use foretell_wire::{ApiError, ErrorCode, json_text};
use http::header::{ALLOW, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::json;

use crate::access::signature_gate::TooManyWaiting;
use crate::engine::engine_link::LinkError;
use crate::http::answer::Answer;
use crate::http::surface::{ErrorShape, Surface};
use crate::policy::rate_limits::RateLimited;

/// The code of an error; every answer to a failed request has it.
pub(crate) const X_ERROR_CODE: HeaderName = HeaderName::from_static("x-error-code");

/// The id of a failure of version 2 of the data surface: the same as in its body and in the log.
pub(crate) const X_TRACE_ID: HeaderName = HeaderName::from_static("x-trace-id");

/// A failed request: its error, and what its answer has beside it.
#[derive(Debug)]
pub(crate) struct Failure(Box<Details>);

#[derive(Debug)]
struct Details {
    error: ApiError,
    /// The whole body, when it has fields in addition to the text.
    body: Option<String>,
    headers: HeaderMap,
}

impl Failure {
    /// The code.
    pub(crate) const fn code(&self) -> ErrorCode {
        self.0.error.code()
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

    /// The answer in a shape: always JSON.
    pub(crate) fn render(self, shape: impl Into<ErrorShape>) -> Answer {
        let Details {
            error,
            body,
            headers,
        } = *self.0;
        let code = error.code();
        let status = StatusCode::from_u16(code.status()).expect("statuses are constants");
        let mut trace_id = None;
        let body = body.unwrap_or_else(|| match shape.into() {
            ErrorShape::Of(surface) => error_body(surface, code, &error.text()),
            ErrorShape::DataV2 => json_text(&V2Error::new(&error, trace_id.insert(new_trace_id()))),
        });
        let mut answer = Answer::with_status(status, body);
        answer.headers.extend(headers);
        if let Some(trace_id) = trace_id {
            tracing::debug!(trace_id, code = code.name(), "refused");
            let value = HeaderValue::from_str(&trace_id).expect("hexadecimal digits");
            answer.headers.insert(X_TRACE_ID, value);
        }
        answer.header(X_ERROR_CODE, HeaderValue::from_static(code.name()))
    }
}

/// 32 hexadecimal digits, by which an operator finds a failure in the log at the level `debug`.
fn new_trace_id() -> String {
    let mut bytes = [0; 16];
    // Without randomness the id is zeros: the failure is told all the same.
    let _ = getrandom::fill(&mut bytes);
    hex::encode(bytes)
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
        let retry_after = error.code().retry_after();
        let failure = Self(Box::new(Details {
            error,
            body: None,
            headers: HeaderMap::new(),
        }));
        match retry_after {
            Some(seconds) => failure.header(RETRY_AFTER, HeaderValue::from(seconds)),
            None => failure,
        }
    }
}

impl From<ErrorCode> for Failure {
    fn from(code: ErrorCode) -> Self {
        ApiError::from(code).into()
    }
}

impl From<LinkError> for Failure {
    fn from(error: LinkError) -> Self {
        error.code().into()
    }
}

impl From<TooManyWaiting> for Failure {
    fn from(_: TooManyWaiting) -> Self {
        ErrorCode::Busy.into()
    }
}

impl From<&RateLimited> for ApiError {
    fn from(limited: &RateLimited) -> Self {
        ErrorCode::RateLimited.with([
            &limited.scope.name(),
            &limited.status.limit,
            &limited.scope.seconds(),
            &limited.status.reset,
        ])
    }
}

impl From<&RateLimited> for Failure {
    fn from(limited: &RateLimited) -> Self {
        let mut failure = Self::from(ApiError::from(limited));
        limited.status.add_headers(&mut failure.0.headers);
        failure.header(RETRY_AFTER, HeaderValue::from(limited.status.reset))
    }
}

pub(crate) fn method_not_allowed(allowed: String) -> Failure {
    let value = HeaderValue::from_str(&allowed).expect("names of methods");
    Failure::from(ErrorCode::MethodNotAllowed.with([&allowed])).header(ALLOW, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_surface_has_its_shape() {
        const INTERNAL: &str = "internal_error: unexpected database failure";
        let cases: [(ApiError, &str, &str, &str); 9] = [
            (
                ErrorCode::NotFound.into(),
                "not found",
                "not_found: not found",
                "not found error",
            ),
            (
                ErrorCode::MethodNotAllowed.with([&"GET"]),
                "method not allowed, allowed: GET",
                "method_not_allowed: method not allowed, allowed: GET",
                "method not allowed",
            ),
            (
                ErrorCode::BodyTooLarge.with([&9]),
                "the body is too large, allowed: 9 bytes",
                "bad_request: the body is too large, allowed: 9 bytes",
                "bad request",
            ),
            (
                ErrorCode::PathTooLong.into(),
                "path too long",
                "bad_request: path too long",
                "bad request",
            ),
            (
                ErrorCode::Recovering.into(),
                "the engine is recovering: retry later",
                "unavailable: the engine is recovering: retry later",
                "bad request",
            ),
            (
                ErrorCode::RateLimited.with([&"book", &1, &10, &3]),
                "rate limit exceeded: book, allowed: 1 in 10 s, retry in 3 s",
                "rate_limited: rate limit exceeded: book, allowed: 1 in 10 s, retry in 3 s",
                "rate limited",
            ),
            (
                ErrorCode::Busy.into(),
                "busy: retry later",
                "unavailable: busy: retry later",
                "unavailable",
            ),
            (
                ErrorCode::MissingParameter.with([&"user"]),
                "missing_field: user",
                "missing_field: user",
                "bad request",
            ),
            (
                ErrorCode::Internal.into(),
                "internal error",
                INTERNAL,
                "internal error",
            ),
        ];
        for (error, text, data, catalog) in cases {
            let code = error.code();
            let body = |surface| {
                let answer = Failure::from(error.clone()).render(surface);
                assert_eq!(answer.status.as_u16(), code.status());
                assert_eq!(answer.headers[X_ERROR_CODE], code.name());
                serde_json::from_slice::<serde_json::Value>(&answer.body).unwrap()
            };
            assert_eq!(body(Surface::Trading), json!({ "error": text }));
            let operator = json!({ "error": text, "code": code.name() });
            assert_eq!(body(Surface::Operator), operator);
            assert_eq!(body(Surface::Data), json!({ "error": data }));
            let catalog = json!({ "type": catalog, "error": text });
            assert_eq!(body(Surface::Catalog), catalog);
        }
    }

    #[test]
    fn version_2_of_the_data_surface_has_a_shape_of_its_own() {
        let answer = |error: ApiError| {
            let answer = Failure::from(error).render(Surface::Data.error_shape("/v2/trades"));
            let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
            assert_eq!(
                answer.headers[X_TRACE_ID],
                body["trace_id"].as_str().unwrap()
            );
            body
        };
        let wrong = answer(ErrorCode::InvalidParameter.with([&"limit", &"too large"]));
        let expected = json!({
            "error": "invalid_field: limit: too large",
            "code": "invalid_request",
            "parameter": "limit",
            "retryable": false,
            "trace_id": wrong["trace_id"],
        });
        assert_eq!(wrong, expected);
        let busy = answer(ErrorCode::Busy.into());
        assert_eq!(
            (&busy["code"], &busy["retryable"]),
            (&json!("dependency_unavailable"), &json!(true))
        );
        assert!(busy.get("parameter").is_none());
        assert_ne!(busy["trace_id"], wrong["trace_id"]);
        assert_eq!(Surface::Data.error_shape("/trades"), Surface::Data.into());
        assert_eq!(
            Surface::Trading.error_shape("/v2/trades"),
            Surface::Trading.into()
        );
    }

    #[test]
    fn a_body_of_its_own_is_rendered_as_it_is() {
        let failure = Failure::from(ErrorCode::Busy).with_body("{}".to_owned());
        let answer = failure.render(Surface::Data);
        assert_eq!(
            (answer.status.as_u16(), &answer.body[..]),
            (503, &b"{}"[..])
        );
        assert_eq!(answer.headers[RETRY_AFTER], "1");
        assert_eq!(answer.headers[X_ERROR_CODE], "busy");
    }
}
