//! Errors of the trading and operator surfaces: a code and its values (docs/api/errors.md).
//!
//! [`crate::errors::error_code`] has the texts. Clients match on the fixed ones; every other names the
//! field, the value and the allowed range. [`crate::errors::rejection`] translates the core's rejections.

use core::fmt::Display;

use crate::errors::error_code::ErrorCode;
use crate::limits::MAX_QUOTED_CHARACTERS;

/// A missing field, or a field with a wrong value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The field's name in the interface.
    pub field: &'static str,
    /// The value, shortened and escaped; `None` = the field is missing.
    pub value: Option<String>,
    /// The allowed values.
    pub allowed: &'static str,
}

impl FieldError {
    /// The problem of a required field that is absent or null.
    #[must_use]
    pub const fn missing(field: &'static str, allowed: &'static str) -> Self {
        Self {
            field,
            value: None,
            allowed,
        }
    }

    /// The problem of a field with a wrong value.
    #[must_use]
    pub fn wrong(field: &'static str, value: &str, allowed: &'static str) -> Self {
        Self {
            field,
            value: Some(quoted(value)),
            allowed,
        }
    }
}

/// Quotes a client's text for an answer: cut, with every control, invisible and direction-changing
/// character escaped, so that it cannot forge a line of a log or a page.
#[must_use]
pub fn quoted(text: &str) -> String {
    format!("'{}'", shown(text, &['\'', '"'], "..."))
}

/// As [`quoted`], in the double quotes of the catalog.
#[must_use]
pub fn double_quoted(text: &str) -> String {
    format!("\"{}\"", shown(text, &['\''], "…"))
}

fn shown(text: &str, plain: &[char], rest: &str) -> String {
    let mut shown = String::new();
    for character in text.chars().take(MAX_QUOTED_CHARACTERS) {
        match plain.contains(&character) {
            true => shown.push(character),
            false => shown.extend(character.escape_debug()),
        }
    }
    if text.chars().nth(MAX_QUOTED_CHARACTERS).is_some() {
        shown.push_str(rest);
    }
    shown
}

/// An error as a client sees it. [`core::fmt::Display`] is the text of its `error`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    code: ErrorCode,
    /// A value for each part in `<>` of the code's text.
    values: Vec<String>,
}

impl ErrorCode {
    /// The error with a value for each part in `<>` of its text.
    #[must_use]
    pub fn with<const N: usize>(self, values: [&dyn Display; N]) -> ApiError {
        ApiError::new(self, values.map(ToString::to_string).into())
    }
}

impl ApiError {
    /// An error with a value for each part in `<>` of its text.
    #[must_use]
    pub fn new(code: ErrorCode, values: Vec<String>) -> Self {
        debug_assert_eq!(
            code.text().matches('<').count(),
            values.len(),
            "a value for each part of {:?}",
            code.text()
        );
        Self { code, values }
    }

    /// The code.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        self.code
    }

    /// The values in its text.
    #[must_use]
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// The HTTP status (docs/api/errors.md §2).
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.code.status()
    }

    /// The text of `error`.
    #[must_use]
    pub fn text(&self) -> String {
        self.to_string()
    }
}

impl Display for ApiError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (mut text, mut values) = (self.code.text(), self.values.iter());
        while let Some((before, (_, after))) = text
            .split_once('<')
            .and_then(|(before, rest)| Some((before, rest.split_once('>')?)))
        {
            f.write_str(before)?;
            f.write_str(values.next().map_or("", String::as_str))?;
            text = after;
        }
        f.write_str(text)
    }
}

impl core::error::Error for ApiError {}

impl From<ErrorCode> for ApiError {
    fn from(code: ErrorCode) -> Self {
        Self::new(code, Vec::new())
    }
}

impl From<FieldError> for ApiError {
    fn from(problem: FieldError) -> Self {
        match problem.value {
            Some(value) => ErrorCode::InvalidField.with([&problem.field, &value, &problem.allowed]),
            None => ErrorCode::MissingField.with([&problem.field, &problem.allowed]),
        }
    }
}

#[cfg(test)]
#[path = "api_error_tests.rs"]
mod tests;
