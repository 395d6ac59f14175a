//! Cursors: what is taken is what we would have written.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use foretell_wire::page::{Cursor, END, Page};

use crate::{Seed, refusal};

/// No listing is longer.
const LARGEST: usize = 1_000_000_000;

pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    match Cursor::parse(Some(text)) {
        Ok(cursor) => {
            assert!(cursor.offset() <= LARGEST, "{text:?}");
            if !text.is_empty() {
                assert_eq!(text, cursor_text(cursor.offset()), "one text a page");
            }
        }
        Err(failure) => refusal::of_trading(&failure),
    }
    // The bytes as a number: every page we could name is found again under the name we give it.
    let mut number = [0; 4];
    let count = bytes.len().min(4);
    number[..count].copy_from_slice(&bytes[..count]);
    let offset = u32::from_le_bytes(number) as usize;
    let found = Cursor::parse(Some(&cursor_text(offset)));
    match found {
        Ok(cursor) => assert_eq!(cursor.offset(), offset),
        Err(_) => assert!(offset > LARGEST, "{offset} was refused"),
    }
    if (1..=LARGEST).contains(&offset) {
        assert_eq!(named_by_a_page(offset), cursor_text(offset));
    }
}

/// The text of the cursor to a page behind so many rows, made without the code it checks.
fn cursor_text(offset: usize) -> String {
    STANDARD.encode(offset.to_string())
}

/// How a page of one row names the page behind it.
fn named_by_a_page(offset: usize) -> String {
    let before = cursor_text(offset - 1);
    let cursor = Cursor::parse(Some(&before)).expect("a page before one of ours is ours");
    let page = Page::new(vec![()], cursor, 1, offset + 1);
    let last = Page::new(vec![()], cursor, 1, offset);
    assert_eq!(last.next_cursor, END, "the last page says so");
    page.next_cursor
}

pub(crate) fn seeds() -> Vec<Seed> {
    let texts = [
        ("none", ""),
        ("first", "MA=="),
        ("hundred", "MTAw"),
        ("largest", "MTAwMDAwMDAwMA=="),
        ("end", "LTE="),
        ("no-padding", "MA"),
        ("leading-zero", "MDA="),
        ("plus", "KzE="),
        ("fraction", "MS41"),
        ("not-utf8", "/w=="),
    ];
    texts.map(|(name, text)| (name, text.into())).into()
}
