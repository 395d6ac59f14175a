//! The upstream: pages of its lists over HTTP, each asked for until it comes or hope is gone.
//!
//! Nothing an upstream sends can hurt: sizes, times, redirects, nesting and kinds of content are
//! bounded before anything is parsed, and a broken record costs only itself.

mod client;
mod failure;
mod page;
mod retry;

pub use client::{Bounds, Upstream};
pub use failure::Failure;
pub use page::{Order, Page, PageRequest, Row};
pub use retry::{Backoff, retry_after};
