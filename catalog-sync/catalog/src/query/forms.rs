//! Forms of the values of the catalog surface.

use foretell_model::WalletAddress;
use foretell_wire::read::query::text_form::{self, Rows, Whole, Words};
use foretell_wire::values;
use foretell_wire::values::{Bytes, FlagText, Wallet};
use jiff::fmt::temporal::Pieces;

use crate::record::read_date;
use crate::search_text::normalised;
use crate::sort_key::sortable;

/// Most entries of a list.
pub(super) const MAX_ENTRIES: usize = 500;
const DAY_MICROS: i64 = 86_400_000_000;
/// Most entries of a list of ids of 40 or 64 digits: more do not fit in a query string.
pub(super) const MAX_LONG_IDS: usize = 100;
/// Most characters of a search term.
const MAX_TERM: usize = 256;

values! {
    pub(super) Text { reads String: str, "a text", |text: &str| Some(text.to_owned()); }
    /// An entry of a list of texts.
    pub(super) Entry { reads String: str { "pattern": "^[^,]+$" }, Text::ALLOWED, Text::read; }
    pub(super) Flag { reads bool: str as FlagText, "true, false, 1, 0", FlagText::read; }
    /// An id of up to 63 bits, digits only.
    pub Id { reads u64: str { "type": "integer", "minimum": 0, "maximum": i64::MAX }, "a whole number", id; }
    pub(super) Address { reads WalletAddress: str as Wallet, "0x and 40 hex digits", Wallet::read; }
    /// A date in microseconds since 1970. A plus that was not escaped arrives as a space.
    pub(super) Date { reads i64: str, "a date: 2026-01-31, 2026-01-31T12:00:00Z", date; }
    /// The last microsecond of a day, or a date as [`Date`].
    pub(super) LastDate { reads i64: str, Date::ALLOWED, last_date; }
    /// An id of a question, as its text.
    pub(super) QuestionId { reads String: str as Bytes, Bytes::ALLOWED, |text: &str| Bytes::read(text).map(|_| text.to_owned()); }
    /// An address, as its text.
    pub(super) AddressText { reads String: str as Wallet, Address::ALLOWED, |text: &str| Wallet::read(text).map(|_| text.to_owned()); }
    /// A token id.
    pub(super) TokenText { reads String: str { "pattern": "^[0-9]{1,78}$" }, "a decimal token id", token; }
    /// A decimal number as the key that amounts are sorted by.
    pub(super) Amount { reads i64: str { "type": "number" }, "a decimal number", amount; }
    /// A search term, normalised.
    pub(super) Term { reads String: str { "maxLength": MAX_TERM }, "1 to 256 characters", term; }
}

fn date(text: &str) -> Option<i64> {
    let date = read_date(text).or_else(|| read_date(&text.replace(' ', "+")));
    date.map(|date| date.as_microsecond())
}

fn last_date(text: &str) -> Option<i64> {
    let first = date(text)?;
    let is_day = Pieces::parse(text.trim()).is_ok_and(|pieces| pieces.time().is_none());
    Some(first + if is_day { DAY_MICROS - 1 } else { 0 })
}

fn token(text: &str) -> Option<String> {
    let is_id = (1..=78).contains(&text.len()) && text.bytes().all(|digit| digit.is_ascii_digit());
    is_id.then(|| text.to_owned())
}

fn amount(text: &str) -> Option<i64> {
    let amount: f64 = text.parse().ok()?;
    amount.is_finite().then(|| sortable(amount))
}

fn term(text: &str) -> Option<String> {
    let fits = text.chars().nth(MAX_TERM).is_none();
    fits.then(|| normalised(text))
}

/// Rows of a page.
pub(super) const LIMIT: Rows = Rows(Whole(1, 500));

/// Rows before a page.
pub(super) const OFFSET: Whole = Whole(0, u32::MAX);

/// A page by its number.
pub(super) const PAGE: Whole = Whole(1, 1_000_000);

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
