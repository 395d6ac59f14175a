//! Streams: the messages of `/ws/market` and `/ws/user` (docs/api/streams.md).
//!
//! The follower folds a frame under the view's lock and collects what streams show of it
//! (`facts`). Outside of the lock it renders each message once (`encoder`) and puts the frame's
//! messages into the ring (`ring`), from which all connections are served. `demand` knows which
//! markets and keys have receivers: nothing else is rendered.
//!
//! A connection arrives through the dispatcher (`upgrade`) and keeps its task (`connection`), which
//! reads requests (`websocket`, `input`) and applies them (`session`, `market_subscription`,
//! `user_subscription`). Each serving thread has one hub (`fan_out`): it adds new messages of the
//! ring to the outboxes of its connections (`index`, `member`, `outbox`), checks times
//! (`keep_alive`) and wakes the connections' tasks, which write.

mod book_copy;
pub(crate) mod close;
pub(crate) mod connection;
pub(crate) mod demand;
mod encoder;
mod facts;
pub(crate) mod fan_out;
pub(crate) mod feed;
pub(crate) mod first_book;
mod first_books;
mod index;
mod input;
pub(crate) mod journal_replay;
mod keep_alive;
mod market_subscription;
mod member;
mod missed;
mod outbox;
mod price_levels;
pub(crate) mod ring;
pub(crate) mod service;
mod session;
pub(crate) mod stats;
pub(crate) mod stream_fold;
pub(crate) mod text_frame;
pub(crate) mod upgrade;
mod user_encoder;
mod user_facts;
mod user_subscription;
pub(crate) mod websocket;
