//! Every failure of the data surface: `{"error": "<code>: <detail>"}` (protocol 10, 12).

use serde::Serialize;
use thiserror::Error;

use crate::failure::Failure;

/// Characters of a parameter's own name that are repeated to the client.
const SHOWN_NAME: usize = 48;

/// A failure as a client of the data surface sees it. [`core::fmt::Display`] is its `error`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DataFailure {
    /// A parameter the endpoint does not have; its name, shortened and escaped.
    #[error("unknown_field: {0}")]
    UnknownField(String),
    /// A required parameter is absent or empty.
    #[error("missing_field: {0}")]
    MissingField(&'static str),
    /// A parameter holds what it must not.
    #[error("invalid_field: {field}: {why}")]
    InvalidField {
        /// Its name.
        field: &'static str,
        /// What it holds and what is allowed.
        why: String,
    },
    /// The caller's address is not on the allowlist.
    #[error("unauthorized: ip_not_allowlisted")]
    NotAllowlisted,
    /// A mistake of ours; the log has the rest.
    #[error("internal_error: unexpected database failure")]
    Internal,
    /// What every surface can say, with a code by its status.
    #[error("{}: {}", code_of(.0.status()), .0.text())]
    Service(Failure),
}

impl DataFailure {
    /// A parameter that holds `value`, repeated shortened and escaped.
    pub(crate) fn invalid(field: &'static str, value: &str, allowed: &str) -> Self {
        let value = crate::failure::quoted(value);
        Self::InvalidField {
            field,
            why: format!("{value} is not {allowed}"),
        }
    }

    /// A parameter the endpoint does not have.
    pub(crate) fn unknown(name: &str) -> Self {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.[]".contains(&byte);
        Self::UnknownField(
            if (1..=SHOWN_NAME).contains(&name.len()) && name.bytes().all(is_plain) {
                name.to_owned()
            } else {
                crate::failure::quoted(name)
            },
        )
    }

    /// The HTTP status.
    #[must_use]
    pub const fn status(&self) -> u16 {
        match self {
            Self::UnknownField(_) | Self::MissingField(_) | Self::InvalidField { .. } => 400,
            Self::NotAllowlisted => 401,
            Self::Internal => 500,
            Self::Service(failure) => failure.status(),
        }
    }

    /// Seconds for the `Retry-After` header, where there is one.
    #[must_use]
    pub const fn retry_after(&self) -> Option<u32> {
        match self {
            Self::Service(failure) => failure.retry_after(),
            _ => None,
        }
    }

    /// The body of the answer.
    #[must_use]
    pub fn body(&self) -> String {
        #[derive(Serialize)]
        struct Body {
            error: String,
        }
        let error = self.to_string();
        crate::json_text(&Body { error })
    }
}

impl From<Failure> for DataFailure {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::RepeatedParameter(field) => Self::InvalidField {
                field,
                why: "it stands more than once".to_owned(),
            },
            Failure::InvalidQuery(why) => Self::InvalidField {
                field: "query",
                why: why.to_owned(),
            },
            Failure::Internal => Self::Internal,
            other => Self::Service(other),
        }
    }
}

/// Every code.
const CODES: [&str; 10] = [
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

/// The text of a failure that was put into words before its surface was known: as it is when it
/// begins with a code, else behind the code of its status. Of a mistake of ours nothing is told.
#[must_use]
pub fn coded(status: u16, text: &str) -> String {
    let code = text.split_once(": ").map(|(code, _)| code);
    match code {
        _ if status == 500 => DataFailure::Internal.to_string(),
        Some(code) if CODES.contains(&code) => text.to_owned(),
        _ => format!("{}: {text}", code_of(status)),
    }
}

/// The code of what every surface can say.
const fn code_of(status: u16) -> &'static str {
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
    #[case(DataFailure::unknown("foo"), 400, "unknown_field: foo")]
    #[case(DataFailure::unknown(""), 400, "unknown_field: ''")]
    #[case(DataFailure::unknown("a\nb"), 400, "unknown_field: 'a\\nb'")]
    #[case(DataFailure::MissingField("user"), 400, "missing_field: user")]
    #[case(
        DataFailure::invalid("limit", "-1", "an integer from 0 to 500"),
        400,
        "invalid_field: limit: '-1' is not an integer from 0 to 500"
    )]
    #[case(DataFailure::NotAllowlisted, 401, "unauthorized: ip_not_allowlisted")]
    #[case(
        DataFailure::Internal,
        500,
        "internal_error: unexpected database failure"
    )]
    #[case(Failure::Internal.into(), 500, "internal_error: unexpected database failure")]
    #[case(Failure::NotFound.into(), 404, "not_found: not found")]
    #[case(Failure::Recovering.into(), 425, "unavailable: the engine is recovering: retry later")]
    #[case(
        Failure::RepeatedParameter("side").into(),
        400,
        "invalid_field: side: it stands more than once"
    )]
    #[case(
        Failure::InvalidQuery("longer than 8192 bytes").into(),
        400,
        "invalid_field: query: longer than 8192 bytes"
    )]
    #[case(Failure::Busy.into(), 503, "unavailable: busy: retry later")]
    fn a_failure_is_a_code_and_a_detail(
        #[case] failure: DataFailure,
        #[case] status: u16,
        #[case] text: &str,
    ) {
        assert_eq!(
            (failure.status(), failure.to_string()),
            (status, text.to_owned())
        );
        let body: serde_json::Value = serde_json::from_str(&failure.body()).unwrap();
        assert_eq!(body, serde_json::json!({ "error": text }));
    }

    #[test]
    fn a_long_name_is_cut() {
        let text = DataFailure::unknown(&"x".repeat(9_000)).to_string();
        assert!(text.len() < 100, "{text}");
    }
}
