//! Errors of the data surface: `{"error": "<class>: <detail>"}` (docs/api/errors.md §1).

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
    use crate::errors::api_error::ApiError;
    use crate::errors::error_code::ErrorCode;
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
