//! Cursors: an accepted cursor is one that the exchange would have written.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use foretell_wire::limits::MAX_OFFSET;
use foretell_wire::read::page::{Cursor, END, Page};

use crate::{Seed, error_checks};

pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    match Cursor::parse(Some(text)) {
        Ok(cursor) => {
            assert!(cursor.offset() <= MAX_OFFSET, "{text:?}");
            if !text.is_empty() {
                assert_eq!(text, cursor_text(cursor.offset()), "one text a page");
            }
        }
        Err(failure) => error_checks::check_trading(&failure),
    }
    // The bytes as an offset: the cursor written for a page parses to the same page.
    let mut number = [0; 8];
    let count = bytes.len().min(8);
    number[..count].copy_from_slice(&bytes[..count]);
    let offset = u64::from_le_bytes(number);
    let found = Cursor::parse(Some(&cursor_text(offset)));
    match found {
        Ok(cursor) => assert_eq!(cursor.offset(), offset),
        Err(_) => assert!(offset > MAX_OFFSET, "{offset} was refused"),
    }
    let page = Page::new(vec![()], 1, Some(Cursor::at(offset)));
    assert_eq!(page.next_cursor, cursor_text(offset));
    assert_eq!(
        Page::<()>::empty(1).next_cursor,
        END,
        "the last page says so"
    );
}

/// The cursor text of the page at an offset, made without the code under test.
fn cursor_text(offset: u64) -> String {
    STANDARD.encode(offset.to_string())
}

pub(crate) fn seeds() -> Vec<Seed> {
    let texts = [
        ("none", ""),
        ("first", "MA=="),
        ("hundred", "MTAw"),
        ("largest", "MTAwMDAwMDAwMDAwMDAwMDAwMA=="),
        ("end", "LTE="),
        ("no-padding", "MA"),
        ("leading-zero", "MDA="),
        ("plus", "KzE="),
        ("fraction", "MS41"),
        ("not-utf8", "/w=="),
    ];
    texts.map(|(name, text)| (name, text.into())).into()
}
