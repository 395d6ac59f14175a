//! The core and its naive twin must give the same responses, events and state for the same commands:
//! the pair, what random commands must cover, and takers, lists and memory beyond their bounds. The
//! random commands themselves are in `walk`.

mod beyond_the_bound;
pub(crate) mod coverage;
pub(crate) mod pair;
mod quotes_seen;
