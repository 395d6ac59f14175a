//! Errors of the data surface (docs/api/errors.md §1): `{"error": "<class>: <detail>"}`, and those of version 2.

use serde::Serialize;

use crate::errors::api_error::ApiError;
use crate::errors::error_code::{ErrorCode, Retry};
use crate::schema::JsonSchema;

/// Every class.
const CLASSES: [&str; 10] = [
    "unknown_field",
    "missing_field",
    "invalid_field",
    "unauthorized",
    "internal_error",
    "not_found",
    "method_not_allowed",
    "rate_limited",
    "unavailable",
    "bad_request",
];

/// The error text of a response that was built before its surface was known. A text that starts
/// with a class stays; other texts get the class of their status. Internal errors lose their details.
#[must_use]
pub fn with_class(status: u16, text: &str) -> String {
    let class = text.split_once(": ").map(|(class, _)| class);
    match class {
        _ if status == 500 => "internal_error: unexpected database failure".to_owned(),
        Some(class) if CLASSES.contains(&class) => text.to_owned(),
        _ => format!("{}: {text}", class_of(status)),
    }
}

/// An error of version 2 of the data surface.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErrorV2")]
pub struct V2Error {
    /// What was wrong.
    error: String,
    /// Its kind.
    code: V2ErrorCode,
    /// The parameter that was missing, wrong or unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter: Option<String>,
    /// Whether the same request may succeed later.
    retryable: bool,
    /// Its id, also in the header `x-trace-id` and in the exchange's log at the level `debug`.
    #[schemars(regex(pattern = "^[0-9a-f]{32}$"))]
    trace_id: String,
}

/// The kinds of errors of version 2.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum V2ErrorCode {
    InvalidRequest,
    Unauthorized,
    NotFound,
    MethodNotAllowed,
    RateLimited,
    DependencyUnavailable,
    Internal,
}

impl V2Error {
    /// An error with its id.
    #[must_use]
    pub fn new(error: &ApiError, trace_id: &str) -> Self {
        let status = error.status();
        let is_of_parameter = matches!(
            error.code(),
            ErrorCode::MissingParameter | ErrorCode::InvalidParameter | ErrorCode::UnknownParameter
        );
        let code = match status {
            401 | 403 => V2ErrorCode::Unauthorized,
            404 => V2ErrorCode::NotFound,
            405 => V2ErrorCode::MethodNotAllowed,
            429 => V2ErrorCode::RateLimited,
            425 | 503 => V2ErrorCode::DependencyUnavailable,
            500 => V2ErrorCode::Internal,
            _ => V2ErrorCode::InvalidRequest,
        };
        Self {
            error: error.text(),
            code,
            // All three texts begin with its name.
            parameter: error.values().first().filter(|_| is_of_parameter).cloned(),
            retryable: error.code().retry() != Retry::Never,
            trace_id: trace_id.to_owned(),
        }
    }
}

/// The class of an error common to all surfaces.
const fn class_of(status: u16) -> &'static str {
    match status {
        401 => "unauthorized",
        404 => "not_found",
        405 => "method_not_allowed",
        429 => "rate_limited",
        425 | 503 => "unavailable",
        500 => "internal_error",
        _ => "bad_request",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(ErrorCode::MissingParameter.with([&"user"]), "missing_field: user")]
    #[case(ErrorCode::Internal.into(), "internal_error: unexpected database failure")]
    #[case(ErrorCode::NotFound.into(), "not_found: not found")]
    #[case(ErrorCode::Recovering.into(), "unavailable: the engine is recovering: retry later")]
    #[case(ErrorCode::Busy.into(), "unavailable: busy: retry later")]
    fn an_error_is_a_class_and_a_detail(#[case] error: ApiError, #[case] text: &str) {
        assert_eq!(with_class(error.status(), &error.text()), text);
    }
}
