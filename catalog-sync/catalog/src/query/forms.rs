//! Forms of the values of the catalog surface.

use foretell_model::WalletAddress;
use foretell_wire::read::query::text_form::{self, By, Rows, Schema, Whole, Words};

use crate::record::read_date;
use crate::search_text::normalised;
use crate::sort_key::sortable;

/// Most entries of a list.
pub(super) const MAX_ENTRIES: usize = 500;
/// Most characters of a search term.
const MAX_TERM: usize = 256;

pub(super) const TEXT: By<String> = By::new("a text", |text| Some(text.to_owned()), Schema::Text);

/// An entry of a list of texts.
pub(super) const ENTRY: By<String> = By {
    schema: Schema::Pattern("^[^,]+$"),
    ..TEXT
};

pub(super) const FLAG: By<bool> = By {
    allowed: "true, false, 1, 0",
    ..text_form::FLAG
};

/// An id of up to 63 bits, digits only.
pub(super) const ID: By<u64> = By::new("a whole number", id, Schema::UpTo(i64::MAX.unsigned_abs()));

pub(super) const ADDRESS: By<WalletAddress> = By {
    allowed: "0x and 40 hex digits",
    ..text_form::WALLET
};

/// A date in microseconds since 1970. A plus that was not escaped arrives as a space.
pub(super) const DATE: By<i64> = By::new(
    "a date: 2026-01-31, 2026-01-31T12:00:00Z",
    |text| {
        let date = read_date(text).or_else(|| read_date(&text.replace(' ', "+")));
        date.map(|date| date.as_microsecond())
    },
    Schema::Text,
);

/// A decimal number as the key that amounts are sorted by.
pub(super) const AMOUNT: By<i64> = By::new(
    "a decimal number",
    |text| {
        let amount = text.parse().ok();
        amount
            .filter(|amount: &f64| amount.is_finite())
            .map(sortable)
    },
    Schema::Number,
);

/// A search term, normalised.
pub(super) const TERM: By<String> = By::new(
    "1 to 256 characters",
    |text| {
        text.chars()
            .nth(MAX_TERM)
            .is_none()
            .then(|| normalised(text))
    },
    Schema::Characters(MAX_TERM),
);

/// Rows of a page.
pub(super) const LIMIT: Rows = Rows(Whole {
    least: 1,
    most: 500,
});

/// Rows before a page.
pub(super) const OFFSET: Whole = Whole {
    least: 0,
    most: u32::MAX,
};

/// A page by its number.
pub(super) const PAGE: Whole = Whole {
    least: 1,
    most: 1_000_000,
};

/// The lifecycle of events, as the `closed` that it requires.
pub(super) const STATUS: Words<Option<bool>> = Words(&[
    ("active", Some(false)),
    ("closed", Some(true)),
    ("all", None),
]);

/// The one language of the stored texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Locale {
    /// English.
    #[default]
    En,
}

pub(super) const LOCALE: Words<Locale> = Words(&[("en", Locale::En)]);

/// Digits of a number of up to 63 bits.
pub(super) fn id(text: &str) -> Option<u64> {
    let number = text_form::digits(text)?;
    i64::try_from(number).is_ok().then_some(number)
}
