//! Errors of the data surface: `{"error": "<class>: <detail>"}` (docs/api/errors.md §1).

use crate::errors::api_error::{ApiError, quoted};
use crate::errors::error_code::ErrorCode;
use crate::limits::MAX_QUOTED_CHARACTERS;

/// A parameter with a wrong `value`, which is shortened and escaped.
pub(crate) fn invalid_parameter(field: &'static str, value: &str, allowed: &str) -> ApiError {
    let why = format!("{} is not {allowed}", quoted(value));
    ErrorCode::InvalidParameter.with([&field, &why])
}

/// An unknown parameter.
pub(crate) fn unknown_parameter(name: &str) -> ApiError {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.[]".contains(&byte);
    let is_shown = (1..=MAX_QUOTED_CHARACTERS).contains(&name.len()) && name.bytes().all(is_plain);
    match is_shown {
        true => ErrorCode::UnknownParameter.with([&name]),
        false => ErrorCode::UnknownParameter.with([&quoted(name)]),
    }
}

/// The error of a query string in the words of this surface.
#[must_use]
pub fn of_query(error: ApiError) -> ApiError {
    match (error.code(), error.values()) {
        (ErrorCode::RepeatedParameter, [name]) => {
            ErrorCode::InvalidParameter.with([name, &"it is repeated, allowed: once"])
        }
        (ErrorCode::InvalidQuery, [why]) => ErrorCode::InvalidParameter.with([&"query", why]),
        _ => error,
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
        _ if status == 500 => "internal_error: unexpected database failure".to_owned(),
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
    #[case(unknown_parameter("foo"), "unknown_field: foo")]
    #[case(unknown_parameter(""), "unknown_field: ''")]
    #[case(unknown_parameter("a\nb"), "unknown_field: 'a\\nb'")]
    #[case(ErrorCode::MissingParameter.with([&"user"]), "missing_field: user")]
    #[case(
        invalid_parameter("limit", "-1", "an integer from 0 to 500"),
        "invalid_field: limit: '-1' is not an integer from 0 to 500"
    )]
    #[case(ErrorCode::Internal.into(), "internal_error: unexpected database failure")]
    #[case(ErrorCode::NotFound.into(), "not_found: not found")]
    #[case(ErrorCode::Recovering.into(), "unavailable: the engine is recovering: retry later")]
    #[case(ErrorCode::Busy.into(), "unavailable: busy: retry later")]
    #[case(
        of_query(ErrorCode::RepeatedParameter.with([&"side"])),
        "invalid_field: side: it is repeated, allowed: once"
    )]
    #[case(
        of_query(ErrorCode::InvalidQuery.with([&"longer than 8192 bytes"])),
        "invalid_field: query: longer than 8192 bytes"
    )]
    fn an_error_is_a_class_and_a_detail(#[case] error: ApiError, #[case] text: &str) {
        assert_eq!(with_class(error.status(), &error.text()), text);
    }

    #[test]
    fn a_long_name_is_cut() {
        let text = unknown_parameter(&"x".repeat(9_000)).text();
        assert!(text.len() < 100, "{text}");
    }
}
