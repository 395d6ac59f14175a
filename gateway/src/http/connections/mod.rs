//! Connections: admission, bounds, idle and unread ones.

pub(crate) mod admission;
pub(crate) mod bounds;
pub(crate) mod client_quotas;
pub(crate) mod connection;
pub(crate) mod idle_clock;
pub(crate) mod idle_reaper;
pub(crate) mod slot_cache;
pub(crate) mod unread_answers;
