//! Streams: the messages of `/ws/market` and `/ws/user` (docs/api/streams.md).
//!
//! The follower folds a frame under the view's lock and collects what streams show of it
//! (`facts`). Outside of the lock it renders each message once (`encoder`) and puts the frame's
//! messages into the ring (`ring`), from which all connections are served. `demand` knows which
//! markets and keys have receivers: nothing else is rendered.

mod book_copy;
pub(crate) mod demand;
mod encoder;
mod facts;
pub(crate) mod feed;
pub(crate) mod first_book;
mod price_levels;
pub(crate) mod ring;
pub(crate) mod stream_fold;
pub(crate) mod text_frame;
mod user_encoder;
mod user_facts;
