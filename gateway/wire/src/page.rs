//! Pages and their cursors: base64 of the decimal offset (interface, common conventions).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use crate::failure::Failure;

/// Rows of a page of orders or trades.
pub const PAGE_ROWS: usize = 100;
/// Rows of a page of markets.
pub const PAGE_MARKETS: usize = 500;
/// Newest rows `GET /builder/trades` gives as a bare array.
pub const BARE_BUILDER_ROWS: usize = 500;
/// What the last page says: base64 of `-1`.
pub const END: &str = "LTE=";
/// No listing is that long; a cursor past it was not ours.
const MAX_OFFSET: usize = 1_000_000_000;

/// Where a page starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor(usize);

impl Cursor {
    /// Reads `next_cursor`; empty or absent is the first page.
    ///
    /// # Errors
    /// [`Failure::InvalidCursor`] for what is not base64 of a plain offset: negative ones (so `LTE=`
    /// too: there is no page after the last), ones past any listing, ones with leading zeros.
    pub fn parse(text: Option<&str>) -> Result<Self, Failure> {
        let text = match text {
            None | Some("") => return Ok(Self(0)),
            Some(text) => text,
        };
        let offset = offset(text).filter(|offset| *offset <= MAX_OFFSET);
        offset.map(Self).ok_or(Failure::InvalidCursor)
    }

    /// Rows before the page.
    #[must_use]
    pub const fn offset(self) -> usize {
        self.0
    }

    fn text(self) -> String {
        STANDARD.encode(self.0.to_string())
    }
}

fn offset(text: &str) -> Option<usize> {
    if text.len() > 16 {
        return None;
    }
    let digits = String::from_utf8(STANDARD.decode(text).ok()?).ok()?;
    let offset: usize = digits.parse().ok()?;
    // One text a page: `+1`, `01` are not ours.
    (offset.to_string() == digits).then_some(offset)
}

/// A page of a listing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Page<T> {
    /// Its rows.
    pub data: Vec<T>,
    /// Where the next one starts; [`END`] on the last.
    pub next_cursor: String,
    /// Rows a page may have.
    pub limit: usize,
    /// Rows this page has.
    pub count: usize,
}

impl<T> Page<T> {
    /// The page at `cursor` of a listing of `total` rows, `limit` a page; `rows` are those of this
    /// page, at most `limit`.
    #[must_use]
    pub fn new(rows: Vec<T>, cursor: Cursor, limit: usize, total: usize) -> Self {
        let end = cursor.0.saturating_add(rows.len());
        let next_cursor = if end < total && !rows.is_empty() {
            Cursor(end).text()
        } else {
            END.to_owned()
        };
        Self {
            count: rows.len(),
            data: rows,
            next_cursor,
            limit,
        }
    }

    /// A listing without rows.
    #[must_use]
    pub fn empty(limit: usize) -> Self {
        Self::new(Vec::new(), Cursor::default(), limit, 0)
    }
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
    #[case(Some("OTk5OTk5OTk5OTk5"), None)] // 999999999999
    #[case(Some("OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5"), None)]
    #[case(Some("/w=="), None)] // not UTF-8
    fn cursors(#[case] text: Option<&str>, #[case] expected: Option<usize>) {
        assert_eq!(
            Cursor::parse(text).map(Cursor::offset),
            expected.ok_or(Failure::InvalidCursor)
        );
    }

    #[test]
    fn the_last_page_says_so() {
        let first = Page::new(vec![1, 2], Cursor(0), 2, 3);
        assert_eq!(
            crate::json_text(&first),
            r#"{"data":[1,2],"next_cursor":"Mg==","limit":2,"count":2}"#
        );
        let second = Page::new(vec![3], Cursor::parse(Some("Mg==")).unwrap(), 2, 3);
        assert_eq!((second.next_cursor.as_str(), second.count), (END, 1));
        // Exactly full, past the end, and empty listings end as well.
        assert_eq!(Page::new(vec![1, 2], Cursor(0), 2, 2).next_cursor, END);
        assert_eq!(
            Page::new(Vec::<u8>::new(), Cursor(9), 2, 3).next_cursor,
            END
        );
        assert_eq!(Page::<u8>::empty(100).next_cursor, END);
    }

    proptest! {
        #[test]
        fn every_cursor_we_write_is_read_back(offset in 0..=MAX_OFFSET) {
            prop_assert_eq!(Cursor::parse(Some(&Cursor(offset).text())), Ok(Cursor(offset)));
        }

        #[test]
        fn any_text_is_read_or_refused(text: String) {
            let _ = Cursor::parse(Some(&text));
        }
    }
}
