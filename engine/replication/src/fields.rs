//! Small records as text, a field a line: `name value`.

use std::fmt::{Display, Write as _};
use std::str::FromStr;

/// Appends a field. A line break in a value would forge a field, so it becomes a space.
pub(crate) fn put(text: &mut String, name: &str, value: impl Display) {
    let value = value.to_string().replace(['\n', '\r'], " ");
    writeln!(text, "{name} {value}").expect("a string grows");
}

/// The value of a field.
pub(crate) fn get<T: FromStr>(text: &str, name: &str) -> Option<T> {
    text.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?
        .parse()
        .ok()
}
