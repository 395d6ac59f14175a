//! The text of an answer that is an array of objects, written as it goes.
//!
//! A page may hold ten thousand rows, and most of a row is text that is the same in many: pieces
//! that were made into JSON once are copied, and a number is written from its digits.

use core::fmt::Write as _;

use foretell_model::WalletAddress;

use crate::decimal::Decimal;
use crate::ids;

/// An array of objects.
#[derive(Debug)]
pub struct Rows {
    text: String,
    /// Nothing stands before the next field of the open object.
    is_first: bool,
}

/// Bytes a row takes, about.
const ROW_BYTES: usize = 900;

impl Rows {
    /// An empty array with room for so many rows.
    #[must_use]
    pub fn with_capacity(rows: usize) -> Self {
        let mut text = String::with_capacity(rows * ROW_BYTES + 2);
        text.push('[');
        Self {
            text,
            is_first: true,
        }
    }

    /// The whole array.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.text.push(']');
        self.text
    }

    /// Adds an object of what `fill` writes.
    pub(crate) fn row(&mut self, fill: impl FnOnce(&mut Self)) {
        if !self.text.ends_with('[') {
            self.text.push(',');
        }
        self.text.push('{');
        self.is_first = true;
        fill(self);
        self.text.push('}');
        self.is_first = false;
    }

    /// Adds a field that is an array of objects.
    pub(crate) fn array(&mut self, name: &str, fill: impl FnOnce(&mut Self)) {
        self.name(name);
        self.text.push('[');
        fill(self);
        self.text.push(']');
        self.is_first = false;
    }

    /// Adds fields that are JSON already: `"a":1,"b":"x"`.
    pub(crate) fn fields(&mut self, json: &str) {
        self.separate();
        self.text.push_str(json);
    }

    pub(crate) fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        push_text(&mut self.text, value);
    }

    pub(crate) fn shown(&mut self, name: &str, value: &impl core::fmt::Display) {
        self.name(name);
        write!(self.text, "\"{value}\"").expect("a String takes everything");
    }

    pub(crate) fn wallet(&mut self, name: &str, wallet: &WalletAddress) {
        self.shown(name, wallet);
    }

    pub(crate) fn receipt(&mut self, name: &str, receipt: &[u8; 32]) {
        self.shown(name, &ids::hex_text(receipt));
    }

    /// A number in millionths.
    pub(crate) fn millionths(&mut self, name: &str, value: i128) {
        self.number(name, Decimal::micros(value));
    }

    pub(crate) fn number(&mut self, name: &str, value: Decimal) {
        self.name(name);
        write!(self.text, "{value}").expect("a String takes everything");
    }

    pub(crate) fn whole(&mut self, name: &str, value: u64) {
        self.name(name);
        write!(self.text, "{value}").expect("a String takes everything");
    }

    pub(crate) fn flag(&mut self, name: &str, value: bool) {
        self.name(name);
        self.text.push_str(if value { "true" } else { "false" });
    }

    /// Names are this crate's own and need no escapes.
    fn name(&mut self, name: &str) {
        self.separate();
        self.text.push('"');
        self.text.push_str(name);
        self.text.push_str("\":");
    }

    fn separate(&mut self) {
        if !self.is_first {
            self.text.push(',');
        }
        self.is_first = false;
    }
}

/// Appends a JSON text.
pub(crate) fn push_text(out: &mut String, value: &str) {
    let is_plain = |byte: u8| byte >= 0x20 && byte != b'"' && byte != b'\\';
    if value.bytes().all(is_plain) {
        out.push('"');
        out.push_str(value);
        out.push('"');
    } else {
        out.push_str(&crate::json_text(&value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn rows_are_objects_with_their_fields_in_order() {
        assert_eq!(Rows::with_capacity(0).finish(), "[]");
        let mut rows = Rows::with_capacity(2);
        rows.row(|row| {
            row.text("a", "x");
            row.fields("\"b\":1,\"c\":[]");
            row.array("d", |inner| {
                inner.row(|row| row.flag("e", true));
                inner.row(|row| row.whole("e", 7));
            });
            row.millionths("f", -1_500_000);
        });
        rows.row(|_| ());
        rows.row(|row| row.array("g", |_| ()));
        assert_eq!(
            rows.finish(),
            r#"[{"a":"x","b":1,"c":[],"d":[{"e":true},{"e":7}],"f":-1.5},{},{"g":[]}]"#
        );
    }

    proptest! {
        #[test]
        fn any_text_stays_itself(text: String) {
            let mut rows = Rows::with_capacity(1);
            rows.row(|row| row.text("a", &text));
            let value: Value = serde_json::from_str(&rows.finish()).unwrap();
            prop_assert_eq!(value, json!([{ "a": text }]));
        }
    }
}
