//! Pages of keyset paths and their cursors.

use crate::error::CatalogError;
use crate::query::{Column, Order, Page};
use crate::table::Rows;

/// A page with one more row, which shows whether another page follows.
pub(super) const fn with_one_more(page: Page) -> Page {
    Page {
        limit: page.limit + 1,
        offset: page.offset,
    }
}

/// Cuts the rows to the page. Returns the field of the next page's cursor, empty on the last page.
pub(super) fn next_cursor(
    rows: &mut Vec<u32>,
    page: Page,
    of: &Rows,
    order: &Order,
    text: impl Fn(Column, u32) -> Result<String, CatalogError>,
) -> Result<String, CatalogError> {
    let has_more = rows.len() > page.limit as usize;
    rows.truncate(page.limit as usize);
    match rows.last().filter(|_| has_more) {
        Some(last) => {
            let cursor = of.cursor(order, *last, text)?.text();
            Ok(format!(r#","next_cursor":"{cursor}""#))
        }
        None => Ok(String::new()),
    }
}
