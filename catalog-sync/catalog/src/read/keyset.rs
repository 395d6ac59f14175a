//! Pages of keyset paths and their cursors.

use crate::error::CatalogError;
use crate::query::{Column, Order, Page};
use crate::table::Rows;

/// A page of `limit` rows and one more, which shows whether another page follows.
pub(super) const fn with_one_more(limit: usize) -> Page {
    Page {
        limit: limit + 1,
        offset: 0,
    }
}

/// Cuts the rows to `limit`. Returns the field of the next page's cursor, empty on the last page.
pub(super) fn next_cursor(
    rows: &mut Vec<u32>,
    limit: usize,
    of: &Rows,
    order: &Order,
    text: impl Fn(Column, u32) -> Result<String, CatalogError>,
) -> Result<String, CatalogError> {
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    match rows.last().filter(|_| has_more) {
        Some(last) => {
            let cursor = of.cursor(order, *last, text)?.text();
            Ok(format!(r#","next_cursor":"{cursor}""#))
        }
        None => Ok(String::new()),
    }
}
