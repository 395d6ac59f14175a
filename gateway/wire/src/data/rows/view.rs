//! Rows as JSON: a view of a row is a struct of the answer's fields, and version 2 of an answer is
//! another view of the same row.

use serde::Serialize;

use crate::data::read::cursor::{PlaceKey, RowKey};
use crate::data::read::page::LimitOffset;
use crate::schema::JsonSchema;

/// Declares the struct of an answer's row with the value of each field.
macro_rules! view {
    ($(#[$meta:meta])* $view:ident of $row:ty, $it:ident, $case:literal {
        $($(#[$attribute:meta])* $field:ident: $type:ty = $value:expr,)+
    }) => {
        $(#[$meta])*
        #[derive(Debug, serde::Serialize, $crate::schema::JsonSchema)]
        #[serde(rename_all = $case)]
        pub struct $view<'a> {
            $($(#[$attribute])* $field: $type,)+
        }

        impl<'a> From<$row> for $view<'a> {
            fn from($it: $row) -> Self {
                Self { $($field: $value,)+ }
            }
        }
    };
}
pub(crate) use view;

/// An answer of version 2 in one piece.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct V2Answer<T> {
    /// The answer.
    pub data: T,
}

/// A page of version 2.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct V2Page<T> {
    data: Vec<T>,
    pagination: Pagination,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Pagination {
    /// Most rows of the page.
    limit: u32,
    /// Rows of the pages before.
    offset: u32,
    has_more: bool,
    next_cursor: Option<String>,
}

impl<T> V2Page<T> {
    /// A page of these rows, and where the next one begins, if others follow.
    #[must_use]
    pub fn new(data: Vec<T>, page: LimitOffset, next: Option<impl RowKey>) -> Self {
        let shown = |rows| u32::try_from(rows).unwrap_or(u32::MAX);
        let offset = shown(page.offset);
        let next = next.map(|key| PlaceKey {
            key,
            offset: offset.saturating_add(shown(data.len())),
        });
        let pagination = Pagination {
            limit: shown(page.limit),
            offset,
            has_more: next.is_some(),
            next_cursor: next.map(|place| place.text()),
        };
        Self { data, pagination }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::read::cursor::RankKey;

    #[test]
    fn a_page_names_its_last_row_when_others_follow() {
        let place = LimitOffset {
            limit: 1,
            offset: 7,
        };
        let page = |last: Option<RankKey>| crate::json_text(&V2Page::new(vec!["a"], place, last));
        let last = RankKey { sum: 5, number: 1 };
        assert_eq!(
            page(Some(last)),
            r#"{"data":["a"],"pagination":{"limit":1,"offset":7,"has_more":true,"next_cursor":"5.1~8"}}"#
        );
        assert_eq!(
            page(None),
            r#"{"data":["a"],"pagination":{"limit":1,"offset":7,"has_more":false,"next_cursor":null}}"#
        );
    }
}
