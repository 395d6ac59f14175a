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

pub(crate) mod connection;
pub(crate) mod fan_out;
pub(crate) mod render;
pub(crate) mod service;
pub(crate) mod stream_fold;
pub(crate) mod subscription;
