//! Output on standard output: text and tables for people, JSON with `--json`. Other people's texts
//! stay one line and steer no terminal.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};

use foretell_wire::text::printable::is_printable;
use serde::Serialize;
use serde_json::Value;

/// Output format of this run.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// JSON instead of text.
    pub json: bool,
}

impl Output {
    /// Prints an answer: its fields as JSON, or its text.
    ///
    /// # Panics
    /// The answer has a map whose keys are no texts.
    pub fn print(self, answer: &(impl Serialize + Display)) {
        if self.json {
            line(&serde_json::to_string(answer).expect("an answer has a JSON text"));
        } else {
            line(answer.to_string().trim_end());
        }
    }

    /// Prints an answer as JSON, or as the text that `text` makes of it.
    pub fn answer(self, value: &Value, text: impl FnOnce(&Value) -> String) {
        if self.json {
            line(&value.to_string());
        } else {
            line(text(value).trim_end());
        }
    }
}

/// Prints one line; a closed pipe (`| head`) is not an error.
pub fn line(text: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stdout().lock(), "{}", escape(text, "\n"));
}

/// Escapes non-printable characters of untrusted text, so that it stays one line and cannot control
/// the terminal.
#[must_use]
pub fn shown(text: &str) -> String {
    escape(text, "")
}

/// Escapes non-printable characters except those in `kept`, as JSON does: JSON text keeps its
/// meaning.
#[must_use]
pub fn escape(text: &str, kept: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if is_printable(character) || kept.contains(character) {
            escaped.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    escaped
}

/// Other people's text as a cell of a CSV file for people: a spreadsheet would run one that begins like a formula, so it
/// gets an apostrophe in front.
#[must_use]
pub fn csv_text(text: &str) -> Cow<'_, str> {
    match text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
}

/// A table with aligned columns; the first row is the header.
#[must_use]
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            rows.iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let padding = width.saturating_sub(cell.chars().count());
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', padding + 2));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A count as `u64`, for bars and JSON.
#[must_use]
pub fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Text of a JSON field: strings through [`shown`], null as `-`, everything else as JSON.
#[must_use]
pub fn field(value: &Value, name: &str) -> String {
    match &value[name] {
        Value::Null => "-".to_owned(),
        Value::String(text) => shown(text),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_peoples_texts_stay_one_line_and_steer_no_terminal() {
        let value = serde_json::json!({ "name": "a\x1b[31m\nb\u{9b}\u{202e}\u{e0041}é" });
        let name = "a\\u001b[31m\\u000ab\\u009b\\u202e\\udb40\\udc41é";
        assert_eq!(field(&value, "name"), name);
        // It parses as the same JSON.
        let printed = escape(&value.to_string(), "\n");
        assert!(printed.chars().all(is_printable), "{printed}");
        assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), value);
        assert_eq!(escape("two\nlines\t", "\n"), "two\nlines\\u0009");
    }

    #[test]
    fn columns_line_up_and_lines_end_clean() {
        let rows = [
            vec!["name".to_owned(), "n".to_owned()],
            vec!["ä".to_owned(), "12".to_owned()],
        ];
        assert_eq!(table(&rows), "name  n\nä     12\n");
    }
}
