//! The upstream: fetches pages of its lists over HTTP, with retries.
//!
//! An upstream cannot do harm: sizes, times, redirects, nesting and content types are limited
//! before parsing, and a broken record affects only itself.

mod client;
mod error;
mod page;
mod retry;

pub use client::{Attempts, Bounds, Upstream};
pub use error::UpstreamError;
pub use page::{
    ListOrder, MarketsRequest, NAMED_MARKETS, PageRequest, PageRow, Position, UpstreamPage,
};
pub use retry::{Backoff, retry_after};
