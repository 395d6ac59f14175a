//! How a list is read page by page while others change it. Pure: pages in, the next request out.

mod full;
mod updated;

pub use full::FullPass;
pub use updated::UpdatedPass;

/// What a page means for the pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// There is more.
    More,
    /// Rows went away in between and others may have slipped past: some are asked for again.
    Again,
    /// The list has been read.
    Done,
    /// The upstream does not keep to the order that was asked for.
    Unordered,
}
