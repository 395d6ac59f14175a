//! Pages and their cursors: base64 of a decimal offset (docs/api/overview.md §4). An offset
//! is a number of the list's sort key (market, trade or order number), not a row count. So a page
//! begins after the last row of the previous page, even if rows were added or removed in between.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::limits::{MAX_CURSOR, MAX_OFFSET};
use crate::schema::JsonSchema;

/// The cursor of the last page: base64 of `-1`.
pub const END: &str = "LTE=";

/// Start of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor(u64);

impl Cursor {
    /// Reads `next_cursor`; empty or absent is the first page.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidCursor`] unless it is base64 of a plain offset. Offsets are invalid if
    /// negative (including `LTE=`, the end), above [`MAX_OFFSET`], or with leading zeros.
    pub fn parse(text: Option<&str>) -> Result<Self, ApiError> {
        let text = match text {
            None | Some("") => return Ok(Self(0)),
            Some(text) => text,
        };
        let offset = offset(text).filter(|offset| *offset <= MAX_OFFSET);
        offset
            .map(Self)
            .ok_or_else(|| ErrorCode::InvalidCursor.into())
    }

    /// The cursor of a page that starts at an offset.
    #[must_use]
    pub const fn at(offset: u64) -> Self {
        Self(offset)
    }

    /// The start offset; 0 is the first page.
    #[must_use]
    pub const fn offset(self) -> u64 {
        self.0
    }

    /// The `next_cursor` of a page.
    #[must_use]
    pub fn text_of(next: Option<Self>) -> String {
        match next {
            Some(Self(offset)) => STANDARD.encode(offset.to_string()),
            None => END.to_owned(),
        }
    }
}

fn offset(text: &str) -> Option<u64> {
    if text.len() > MAX_CURSOR {
        return None;
    }
    let digits = String::from_utf8(STANDARD.decode(text).ok()?).ok()?;
    let offset: u64 = digits.parse().ok()?;
    // Accept only the canonical text, not `+1` or `01`.
    (offset.to_string() == digits).then_some(offset)
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "{T}Page")]
pub struct Page<T> {
    /// Its rows.
    pub data: Vec<T>,
    /// Cursor of the next page; `LTE=` on the last.
    #[schemars(extend("pattern" = "^[A-Za-z0-9+/]{1,26}={0,2}$"))]
    pub next_cursor: String,
    /// Most rows of a page.
    pub limit: usize,
    /// Rows of this page.
    pub count: usize,
}

impl<T> Page<T> {
    /// A page of at most `limit` rows; `next` is `None` on the last page.
    #[must_use]
    pub fn new(rows: Vec<T>, limit: usize, next: Option<Cursor>) -> Self {
        Self {
            count: rows.len(),
            data: rows,
            next_cursor: Cursor::text_of(next),
            limit,
        }
    }

    /// A list without rows.
    #[must_use]
    pub fn empty(limit: usize) -> Self {
        Self::new(Vec::new(), limit, None)
    }
}

/// The JSON of a [`Page`] whose rows are JSON already.
#[must_use]
pub fn page_json(rows: &[impl AsRef<str>], limit: usize, next: Option<Cursor>) -> String {
    let (next, count) = (Cursor::text_of(next), rows.len());
    let data = array_json(rows);
    format!(r#"{{"data":{data},"next_cursor":"{next}","limit":{limit},"count":{count}}}"#)
}

/// An array of rows that are JSON already.
#[must_use]
pub fn array_json(rows: &[impl AsRef<str>]) -> String {
    let length: usize = rows.iter().map(|row| row.as_ref().len() + 1).sum();
    let mut text = String::with_capacity(length + 2);
    text.push('[');
    for (index, row) in rows.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(row.as_ref());
    }
    text.push(']');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case(None, Some(0))]
    #[case(Some(""), Some(0))]
    #[case(Some("MA=="), Some(0))]
    #[case(Some("MTAw"), Some(100))]
    #[case(Some("LTE="), None)] // -1
    #[case(Some("LTEwMA=="), None)] // -100
    #[case(Some("not base64!"), None)]
    #[case(Some("MA"), None)] // no padding
    #[case(Some("MDA="), None)] // 00
    #[case(Some("KzE="), None)] // +1
    #[case(Some("MS41"), None)] // 1.5
    #[case(Some("OTk5OTk5OTk5OTk5"), Some(999_999_999_999))]
    #[case(Some("MTAwMDAwMDAwMDAwMDAwMDAwMA=="), Some(MAX_OFFSET))]
    #[case(Some("MTAwMDAwMDAwMDAwMDAwMDAwMQ=="), None)] // MAX_OFFSET + 1
    #[case(Some("OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5"), None)]
    #[case(Some("/w=="), None)] // not UTF-8
    fn cursors(#[case] text: Option<&str>, #[case] expected: Option<u64>) {
        assert_eq!(
            Cursor::parse(text).map(Cursor::offset),
            expected.ok_or_else(|| ErrorCode::InvalidCursor.into())
        );
    }

    #[test]
    fn an_array_is_of_what_was_written() {
        assert_eq!(array_json(&[""; 0]), "[]");
        assert_eq!(array_json(&["{}"]), "[{}]");
        assert_eq!(array_json(&["{}", "{}"]), "[{},{}]");
    }

    #[test]
    fn the_last_page_says_so() {
        let first = Page::new(vec![1, 2], 2, Some(Cursor(2)));
        let text = r#"{"data":[1,2],"next_cursor":"Mg==","limit":2,"count":2}"#;
        assert_eq!(crate::json_text(&first), text);
        assert_eq!(page_json(&["1", "2"], 2, Some(Cursor(2))), text);
        let last = Page::new(vec![3], 2, None);
        assert_eq!((last.next_cursor.as_str(), last.count), (END, 1));
        assert_eq!(page_json(&["3"], 2, None), crate::json_text(&last));
        let empty = Page::<u8>::empty(100);
        assert_eq!(empty.next_cursor, END);
        assert_eq!(page_json(&[""; 0], 100, None), crate::json_text(&empty));
    }

    proptest! {
        #[test]
        fn every_cursor_we_write_is_read_back(offset in 0..=MAX_OFFSET) {
            prop_assert_eq!(Cursor::parse(Some(&Cursor::text_of(Some(Cursor(offset))))), Ok(Cursor(offset)));
        }

        #[test]
        fn any_text_is_read_or_refused(text: String) {
            let _ = Cursor::parse(Some(&text));
        }
    }
}
