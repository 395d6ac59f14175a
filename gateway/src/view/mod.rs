//! The view that reads are answered from.

pub(crate) mod beginning;
pub(crate) mod chunk_adopter;
pub(crate) mod follower;
pub(crate) mod search;
pub(crate) mod shared_view;
pub(crate) mod trade_search;
pub(crate) mod unpaid;
pub(crate) mod view_bootstrap;
pub(crate) mod waiters;
