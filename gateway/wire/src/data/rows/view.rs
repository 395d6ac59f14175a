//! Rows as JSON: a view of a row is a struct of the answer's fields, and version 2 of an answer is
//! another view of the same row.

use schemars::JsonSchema;
use serde::Serialize;

use crate::data::read::page::LimitOffset;

/// Declares the struct of an answer's row with the value of each field.
macro_rules! view {
    ($(#[$meta:meta])* $view:ident of $row:ty, $it:ident, $case:literal {
        $($(#[$attribute:meta])* $field:ident: $type:ty = $value:expr,)+
    }) => {
        $(#[$meta])*
        #[derive(Debug, serde::Serialize, schemars::JsonSchema)]
        #[serde(rename_all = $case)]
        pub struct $view<'a> {
            $($(#[$attribute])* $field: $type,)+
        }

        impl<'a> From<&'a $row> for $view<'a> {
            fn from($it: &'a $row) -> Self {
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
    has_more: bool,
    next_cursor: Option<String>,
}

impl<T> V2Page<T> {
    /// A page of these rows; `has_more` when others follow.
    #[must_use]
    pub fn new(data: Vec<T>, page: LimitOffset, has_more: bool) -> Self {
        let next = has_more.then(|| (page.offset + page.limit) as u64);
        Self::continued(data, next)
    }

    /// A page of these rows, and the cursor of the next one.
    #[must_use]
    pub fn continued(data: Vec<T>, next: Option<u64>) -> Self {
        let pagination = Pagination {
            has_more: next.is_some(),
            next_cursor: next.map(|next| next.to_string()),
        };
        Self { data, pagination }
    }

    /// The page of some rows and, if there is one, the row after it.
    #[must_use]
    pub fn probed<'a, R>(rows: &'a [R], page: LimitOffset) -> Self
    where
        T: From<&'a R>,
    {
        let data = rows.iter().take(page.limit).map(T::from);
        Self::new(data.collect(), page, rows.len() > page.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_names_the_next_one() {
        let page = |limit| {
            let page = LimitOffset { limit, offset: 4 };
            let rows = ["a".to_owned(), "b".to_owned()];
            crate::json_text(&V2Page::<&String>::probed(&rows, page))
        };
        assert_eq!(
            page(1),
            r#"{"data":["a"],"pagination":{"has_more":true,"next_cursor":"5"}}"#
        );
        assert_eq!(
            page(2),
            r#"{"data":["a","b"],"pagination":{"has_more":false,"next_cursor":null}}"#
        );
    }
}
