//! Errors of the data surface: `{"error": "<class>: <detail>"}` (docs/api/errors.md §1).

use thiserror::Error;

use crate::api_error::ApiError;
use crate::error_code::ErrorCode;
use crate::limits::MAX_QUOTED_CHARACTERS;

/// An error of the data surface. [`core::fmt::Display`] is the text of its `error`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DataError {
    /// Unknown parameter; its name, shortened and escaped.
    #[error("unknown_field: {0}")]
    UnknownField(String),
    /// A required parameter is absent or empty.
    #[error("missing_field: {0}")]
    MissingField(&'static str),
    /// A parameter has a wrong value.
    #[error("invalid_field: {field}: {why}")]
    InvalidField {
        /// Its name.
        field: &'static str,
        /// The value and the allowed values.
        why: String,
    },
    /// An internal bug; the log has the details.
    #[error("internal_error: unexpected database failure")]
    Internal,
    /// An error common to all surfaces; its status selects the class.
    #[error("{}: {}", class_of(.0.status()), .0.text())]
    Service(ApiError),
}

impl DataError {
    /// A parameter with a wrong `value`, which is shortened and escaped.
    pub(crate) fn invalid(field: &'static str, value: &str, allowed: &str) -> Self {
        let value = crate::api_error::quoted(value);
        Self::InvalidField {
            field,
            why: format!("{value} is not {allowed}"),
        }
    }

    /// An unknown parameter.
    pub(crate) fn unknown(name: &str) -> Self {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.[]".contains(&byte);
        Self::UnknownField(
            if (1..=MAX_QUOTED_CHARACTERS).contains(&name.len()) && name.bytes().all(is_plain) {
                name.to_owned()
            } else {
                crate::api_error::quoted(name)
            },
        )
    }

    /// The code.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::UnknownField(_) => ErrorCode::UnknownParameter,
            Self::MissingField(_) => ErrorCode::MissingParameter,
            Self::InvalidField { .. } => ErrorCode::InvalidParameter,
            Self::Internal => ErrorCode::Internal,
            Self::Service(error) => error.code(),
        }
    }

    /// The HTTP status.
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.code().status()
    }

    /// Seconds for the `Retry-After` header, where there is one.
    #[must_use]
    pub const fn retry_after(&self) -> Option<u32> {
        match self {
            Self::Service(error) => error.retry_after(),
            _ => None,
        }
    }
}

impl From<ApiError> for DataError {
    fn from(error: ApiError) -> Self {
        match error {
            ApiError::RepeatedParameter(field) => Self::InvalidField {
                field,
                why: "it is repeated, allowed: once".to_owned(),
            },
            ApiError::InvalidQuery(why) => Self::InvalidField {
                field: "query",
                why: why.to_owned(),
            },
            ApiError::Internal => Self::Internal,
            other => Self::Service(other),
        }
    }
}

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
        _ if status == 500 => DataError::Internal.to_string(),
        Some(class) if CLASSES.contains(&class) => text.to_owned(),
        _ => format!("{}: {text}", class_of(status)),
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
    #[case(DataError::unknown("foo"), 400, "unknown_field: foo")]
    #[case(DataError::unknown(""), 400, "unknown_field: ''")]
    #[case(DataError::unknown("a\nb"), 400, "unknown_field: 'a\\nb'")]
    #[case(DataError::MissingField("user"), 400, "missing_field: user")]
    #[case(
        DataError::invalid("limit", "-1", "an integer from 0 to 500"),
        400,
        "invalid_field: limit: '-1' is not an integer from 0 to 500"
    )]
    #[case(
        DataError::Internal,
        500,
        "internal_error: unexpected database failure"
    )]
    #[case(ApiError::Internal.into(), 500, "internal_error: unexpected database failure")]
    #[case(ApiError::NotFound.into(), 404, "not_found: not found")]
    #[case(ApiError::Recovering.into(), 425, "unavailable: the engine is recovering: retry later")]
    #[case(
        ApiError::RepeatedParameter("side").into(),
        400,
        "invalid_field: side: it is repeated, allowed: once"
    )]
    #[case(
        ApiError::InvalidQuery("longer than 8192 bytes").into(),
        400,
        "invalid_field: query: longer than 8192 bytes"
    )]
    #[case(ApiError::Busy.into(), 503, "unavailable: busy: retry later")]
    fn a_failure_is_a_class_and_a_detail(
        #[case] error: DataError,
        #[case] status: u16,
        #[case] text: &str,
    ) {
        assert_eq!(
            (error.status(), error.to_string()),
            (status, text.to_owned())
        );
    }

    #[test]
    fn a_long_name_is_cut() {
        let text = DataError::unknown(&"x".repeat(9_000)).to_string();
        assert!(text.len() < 100, "{text}");
    }
}
