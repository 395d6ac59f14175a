//! The words in which a surface rejects parameters (docs/api/errors.md §1).

use crate::errors::api_error::{ApiError, double_quoted, quoted};
use crate::errors::error_code::ErrorCode;
use crate::limits::MAX_QUOTED_CHARACTERS;
use crate::read::query::parameter::Parameter;

/// A surface, as clients see it in errors of parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// Trading, page and operator surface; they ignore unknown parameters
    /// (docs/api/overview.md §5).
    Trading,
    /// The data surface: `<class>: <detail>`.
    Data,
    /// The catalog surface.
    Catalog,
}

impl Family {
    /// The codes of errors in parameters, but for forms with codes of their own.
    #[must_use]
    pub const fn codes(self) -> &'static [ErrorCode] {
        match self {
            Self::Trading => &[
                ErrorCode::InvalidQuery,
                ErrorCode::MissingField,
                ErrorCode::InvalidField,
                ErrorCode::RepeatedParameter,
                ErrorCode::TooManyEntries,
            ],
            Self::Data => &[
                ErrorCode::UnknownParameter,
                ErrorCode::MissingParameter,
                ErrorCode::InvalidParameter,
            ],
            Self::Catalog => &[ErrorCode::InvalidQuery, ErrorCode::InvalidCatalogParameter],
        }
    }

    /// The error of a query string that cannot be read.
    #[must_use]
    pub fn query_error(self, error: ApiError) -> ApiError {
        match (self, error.code(), error.values()) {
            (Self::Data, ErrorCode::InvalidQuery, [why]) => {
                ErrorCode::InvalidParameter.with([&"query", why])
            }
            _ => error,
        }
    }

    /// The error of an unknown parameter; the trading surface ignores those.
    pub(crate) fn unknown(self, name: &str, known: &[Parameter]) -> ApiError {
        if self == Self::Catalog {
            let known: Vec<_> = known.iter().flat_map(Parameter::spellings).collect();
            let (name, known) = (double_quoted(name), known.join(", "));
            return catalog_error(&format!("{name} is no parameter here, allowed: {known}"));
        }
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.[]".contains(&byte);
        let is_short = (1..=MAX_QUOTED_CHARACTERS).contains(&name.len());
        match is_short && name.bytes().all(is_plain) {
            true => ErrorCode::UnknownParameter.with([&name]),
            false => ErrorCode::UnknownParameter.with([&quoted(name)]),
        }
    }

    /// The error of a required parameter that is absent.
    #[must_use]
    pub fn missing(self, name: &str, allowed: &str) -> ApiError {
        match self {
            Self::Trading => ErrorCode::MissingField.with([&name, &allowed]),
            Self::Data => ErrorCode::MissingParameter.with([&name]),
            Self::Catalog => catalog_error(&format!("{name} is required")),
        }
    }

    /// The error of a value, which is shortened and escaped.
    #[must_use]
    pub fn wrong(self, name: &str, value: &str, allowed: &str) -> ApiError {
        match self {
            Self::Trading => ErrorCode::InvalidField.with([&name, &quoted(value), &allowed]),
            Self::Data => {
                let why = format!("{} is not {allowed}", quoted(value));
                ErrorCode::InvalidParameter.with([&name, &why])
            }
            Self::Catalog => {
                let value = double_quoted(value);
                catalog_error(&format!("{name} is {value}, allowed: {allowed}"))
            }
        }
    }

    pub(crate) fn repeated(self, parameter: &Parameter) -> ApiError {
        let name = parameter.name;
        match self {
            Self::Trading => ErrorCode::RepeatedParameter.with([&name]),
            Self::Data => {
                let why = "it is repeated, allowed: once";
                ErrorCode::InvalidParameter.with([&name, &why])
            }
            Self::Catalog => {
                let names: Vec<_> = parameter.spellings().collect();
                let names = names.join(" or ");
                catalog_error(&format!("{names} is given more than once, allowed: once"))
            }
        }
    }

    pub(crate) fn too_many(self, name: &str, count: usize, most: usize) -> ApiError {
        match self {
            Self::Trading => {
                let allowed = format!("up to {most}");
                ErrorCode::TooManyEntries.with([&name, &count, &allowed])
            }
            Self::Data => {
                let why = format!("{count} entries are not up to {most}");
                ErrorCode::InvalidParameter.with([&name, &why])
            }
            Self::Catalog => catalog_error(&format!(
                "{name} has {count} entries, allowed: up to {most}"
            )),
        }
    }

    /// What is allowed of some words.
    pub(crate) fn words(self, words: &[&str]) -> String {
        match (self, words) {
            (Self::Trading, [first, second]) => format!("{first} or {second}"),
            (Self::Trading | Self::Catalog, words) => words.join(", "),
            (Self::Data, words) => format!("one of {}", words.join(", ")),
        }
    }

    /// What is allowed of an integer within bounds.
    pub(crate) fn whole(self, least: u32, most: u32) -> String {
        match self {
            Self::Trading | Self::Catalog => format!("{least} to {most}"),
            Self::Data => format!("an integer from {least} to {most}"),
        }
    }
}

fn catalog_error(problem: &str) -> ApiError {
    ErrorCode::InvalidCatalogParameter.with([&problem])
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("foo", "unknown_field: foo")]
    #[case("", "unknown_field: ''")]
    #[case("a\nb", "unknown_field: 'a\\nb'")]
    fn an_unknown_parameter_is_quoted_where_it_is_not_plain(
        #[case] name: &str,
        #[case] text: &str,
    ) {
        assert_eq!(Family::Data.unknown(name, &[]).text(), text);
    }

    #[test]
    fn a_long_name_is_cut() {
        let text = Family::Data.unknown(&"x".repeat(9_000), &[]).text();
        assert!(text.len() < 100, "{text}");
    }
}
