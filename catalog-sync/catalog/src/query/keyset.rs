//! Pages of `/markets/keyset` and `/events/keyset`: the cursor is where the next page begins.

use super::filters::Page;
use super::parameters::{Parameters, whole, wrong};
use crate::error::CatalogError;

/// Reads the page of a list: by `offset`, or by `after_cursor` on keyset paths.
pub(super) fn page(parameters: &Parameters, is_keyset: bool) -> Result<Page, CatalogError> {
    let mut page = Page::of(parameters)?;
    if is_keyset && let Some(cursor) = parameters.text(&["after_cursor"])? {
        let offset = cursor.strip_prefix('o').and_then(whole);
        let offset = offset.and_then(|offset| u32::try_from(offset).ok());
        page.offset = offset
            .ok_or_else(|| wrong("after_cursor", cursor, "next_cursor of an earlier page"))?;
    }
    Ok(page)
}

/// The cursor of the page after `page`.
pub(crate) fn next_cursor(page: Page) -> String {
    format!("o{}", u64::from(page.offset) + u64::from(page.limit))
}

/// The name of the parameter that chooses a page.
pub(super) const fn name(is_keyset: bool) -> &'static str {
    match is_keyset {
        true => "after_cursor",
        false => "offset",
    }
}
