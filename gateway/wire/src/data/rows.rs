//! Incremental writer of a JSON array of objects.
//!
//! A page may have ten thousand rows that share most of their text. Shared text is rendered once
//! and copied, and numbers are written from their digits.

use core::fmt::Write as _;

use foretell_model::WalletAddress;

use crate::text::decimal::{Decimal, DigitBuffer};

/// A field name as one text: `,"name":`. Names are constants of this crate and need no escapes.
macro_rules! field {
    ($name:literal) => {
        concat!(",\"", $name, "\":")
    };
}
pub(crate) use field;

/// An array of objects.
#[derive(Debug)]
pub struct RowWriter {
    text: String,
    /// The open object has no field yet.
    is_first: bool,
}

/// Approximate bytes of a row.
const ROW_BYTES: usize = 900;

/// The two hex digits of every byte.
const HEX: [[u8; 2]; 256] = {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut table = [[0; 2]; 256];
    let mut byte = 0;
    while byte < table.len() {
        table[byte] = [DIGITS[byte >> 4], DIGITS[byte & 15]];
        byte += 1;
    }
    table
};

impl RowWriter {
    /// An empty array with capacity for `rows` rows.
    #[must_use]
    pub fn with_capacity(rows: usize) -> Self {
        let mut text = String::with_capacity(rows * ROW_BYTES + 2);
        text.push('[');
        Self {
            text,
            is_first: true,
        }
    }

    /// Closes and returns the array.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.text.push(']');
        self.text
    }

    /// Adds an object whose fields `fill` writes.
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

    /// Adds a field that is an array of objects written by `fill`.
    pub(crate) fn array(&mut self, name: &'static str, fill: impl FnOnce(&mut Self)) {
        self.name(name);
        self.text.push('[');
        fill(self);
        self.text.push(']');
        self.is_first = false;
    }

    /// Adds fields that are already JSON: `"a":1,"b":"x"`.
    pub(crate) fn fields(&mut self, json: &str) {
        self.separate();
        self.text.push_str(json);
    }

    pub(crate) fn text(&mut self, name: &'static str, value: &str) {
        self.name(name);
        push_text(&mut self.text, value);
    }

    pub(crate) fn shown(&mut self, name: &'static str, value: &impl core::fmt::Display) {
        self.name(name);
        write!(self.text, "\"{value}\"").expect("a String takes everything");
    }

    pub(crate) fn wallet(&mut self, name: &'static str, wallet: &WalletAddress) {
        self.name(name);
        self.hex(&wallet.0);
    }

    pub(crate) fn receipt(&mut self, name: &'static str, receipt: &[u8; 32]) {
        self.name(name);
        self.hex(receipt);
    }

    /// A number in millionths.
    pub(crate) fn millionths(&mut self, name: &'static str, value: i128) {
        self.number(name, Decimal::micros(value));
    }

    pub(crate) fn number(&mut self, name: &'static str, value: Decimal) {
        self.name(name);
        self.text
            .push_str(value.digits(&mut DigitBuffer::default()));
    }

    pub(crate) fn whole(&mut self, name: &'static str, value: u64) {
        self.number(name, Decimal::new(value.into(), 0));
    }

    pub(crate) fn flag(&mut self, name: &'static str, value: bool) {
        self.name(name);
        self.text.push_str(if value { "true" } else { "false" });
    }

    /// Appends a name of [`field`], without its leading comma for the first field.
    fn name(&mut self, name: &'static str) {
        let name = if self.is_first { &name[1..] } else { name };
        self.is_first = false;
        self.text.push_str(name);
    }

    /// Appends bytes in the form of [`push_hex`].
    fn hex<const BYTES: usize>(&mut self, bytes: &[u8; BYTES]) {
        push_hex(&mut self.text, bytes);
    }

    fn separate(&mut self) {
        if !self.is_first {
            self.text.push(',');
        }
        self.is_first = false;
    }
}

/// Appends `"0x`, the hex digits of up to 32 bytes, and `"`.
fn push_hex<const BYTES: usize>(out: &mut String, bytes: &[u8; BYTES]) {
    let mut text = [b'"'; 2 * 32 + 4];
    let text = &mut text[..2 * BYTES + 4];
    text[1..3].copy_from_slice(b"0x");
    for (digits, byte) in text[3..].chunks_exact_mut(2).zip(bytes) {
        digits.copy_from_slice(&HEX[usize::from(*byte)]);
    }
    out.push_str(core::str::from_utf8(text).expect("digits are ASCII"));
}

/// The field `proxyWallet`, in the form of [`json_fields`].
pub(crate) fn wallet_field(wallet: &WalletAddress) -> Box<str> {
    let mut json = String::with_capacity(64);
    json.push_str("\"proxyWallet\":");
    push_hex(&mut json, &wallet.0);
    json.into()
}

/// Renders text fields for use inside an object.
pub(crate) fn json_fields<'a>(fields: impl Iterator<Item = (&'a str, &'a str)>) -> Box<str> {
    let mut json = String::new();
    for (name, value) in fields {
        if !json.is_empty() {
            json.push(',');
        }
        push_text(&mut json, name);
        json.push(':');
        push_text(&mut json, value);
    }
    json.into()
}

/// Appends a JSON string.
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
        assert_eq!(RowWriter::with_capacity(0).finish(), "[]");
        let mut rows = RowWriter::with_capacity(2);
        rows.row(|row| {
            row.text(field!("a"), "x");
            row.fields("\"b\":1,\"c\":[]");
            row.array(field!("d"), |inner| {
                inner.row(|row| row.flag(field!("e"), true));
                inner.row(|row| row.whole(field!("e"), 7));
            });
            row.millionths(field!("f"), -1_500_000);
        });
        rows.row(|_| ());
        rows.row(|row| row.array(field!("g"), |_| ()));
        assert_eq!(
            rows.finish(),
            r#"[{"a":"x","b":1,"c":[],"d":[{"e":true},{"e":7}],"f":-1.5},{},{"g":[]}]"#
        );
    }

    proptest! {
        #[test]
        fn any_text_stays_itself(text: String) {
            let mut rows = RowWriter::with_capacity(1);
            rows.row(|row| row.text(field!("a"), &text));
            let value: Value = serde_json::from_str(&rows.finish()).unwrap();
            prop_assert_eq!(value, json!([{ "a": text }]));
        }
    }
}
