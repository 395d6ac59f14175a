//! Pages of `/markets/keyset` and `/events/keyset`: the cursor is the last row of the page before.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use foretell_wire::read::query::family::Family;
use foretell_wire::values;
use foretell_wire::values::Readable as _;
use foretell_wire::{ApiError, parameters};

use super::forms::LIMIT;
use super::order::{Column, Order};

/// Most bytes of a text in a cursor, which must fit in a request line.
pub(crate) const MAX_TEXT_BYTES: usize = 512;

/// A row of a list by its sort values and its id: the next page begins after it. Rows that do not
/// change keep their side of it, whatever happens to others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cursor {
    /// The columns of the order, one for each value.
    columns: Vec<Column>,
    ascending: bool,
    /// The row's values.
    pub(crate) values: Vec<SortValue>,
    /// The row's id.
    pub(crate) id: i64,
}

/// A value of a sort column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SortValue {
    /// Of a number column: microseconds since 1970, or the key of an amount.
    #[serde(rename = "n")]
    Number(i64),
    /// Of a text column.
    #[serde(rename = "t")]
    Text(String),
    /// A text above [`MAX_TEXT_BYTES`]: the one that the row has when the next page is read.
    #[serde(rename = "o")]
    OfRow,
}

impl Cursor {
    /// The cursor after the row with these values in the columns of [`Order::before_id`].
    pub(crate) fn new(order: &Order, values: Vec<SortValue>, id: i64) -> Self {
        Self {
            columns: order.before_id().collect(),
            ascending: order.ascending,
            values,
            id,
        }
    }

    /// The text of `next_cursor`.
    pub(crate) fn text(&self) -> String {
        let json = serde_json::to_vec(self).expect("texts and numbers have a JSON form");
        URL_SAFE_NO_PAD.encode(json)
    }

    /// Reads the text of a cursor.
    fn of(text: &str) -> Option<Self> {
        let json = URL_SAFE_NO_PAD.decode(text).ok()?;
        serde_json::from_slice(&json).ok()
    }

    /// Whether it is of a list in this order.
    fn fits(&self, order: &Order) -> bool {
        let is_of_column = |(column, value): (&Column, &SortValue)| {
            column.is_text() != matches!(value, SortValue::Number(_))
        };
        self.columns.iter().copied().eq(order.before_id())
            && self.ascending == order.ascending
            && self.values.len() == self.columns.len()
            && self.columns.iter().zip(&self.values).all(is_of_column)
    }
}

parameters! {
    /// A page of a list, after the row of a cursor.
    pub struct KeysetPage: Catalog {
        /// Maximum number of rows.
        pub limit: usize = or(LIMIT, "100"),
        /// `next_cursor` of the page before, which had the same `order` and `ascending`.
        pub after_cursor: Option<Cursor> = optional(CursorText),
    }
}

impl KeysetPage {
    /// Refuses a cursor of another order.
    pub(super) fn check(&self, order: &Order) -> Result<(), ApiError> {
        match self
            .after_cursor
            .as_ref()
            .filter(|after| !after.fits(order))
        {
            Some(other) => {
                let text = other.text();
                Err(Family::Catalog.wrong("after_cursor", &text, CursorText::ALLOWED))
            }
            None => Ok(()),
        }
    }
}

values! {
    CursorText { reads Cursor: str { "pattern": "^[A-Za-z0-9_-]+$" }, "next_cursor of an earlier page with the same order and ascending", Cursor::of; }
}
