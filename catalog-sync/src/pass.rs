//! Reads a list page by page while it may change. Pure: pages in, the next request out.

mod full;
mod updated;

use std::collections::HashSet;

use crate::upstream::UpstreamPage;

pub use full::FullPass;
pub use updated::UpdatedPass;

/// The next step of a pass after a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassStep {
    /// Request the next page.
    More,
    /// Rows were deleted in between and others may have been missed: read some rows again.
    Again,
    /// The list is complete.
    Done,
    /// The upstream ignores the requested order.
    Unordered,
    /// The upstream repeats pages or cursors, or leaves rows out: the rest cannot be read.
    Repeats,
}

/// The ids of a page's rows; rows may lack one.
fn id_set(page: &UpstreamPage) -> HashSet<String> {
    let ids = page.rows.iter().map(|row| row.id.clone());
    ids.filter(|id| !id.is_empty()).collect()
}
