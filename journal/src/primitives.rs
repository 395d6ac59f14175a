//! The thread primitives of this crate under one name: the real ones, or those of the model checker
//! in its build (`tests/loom/run`).

#[cfg(loom)]
#[path = "../tests/loom/primitives.rs"]
mod chosen;

#[cfg(not(loom))]
mod chosen {
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, fence};

    pub(crate) use crossbeam_queue::ArrayQueue;
    pub(crate) use crossbeam_utils::atomic::AtomicCell;
    pub(crate) use crossbeam_utils::sync::{Parker, Unparker};
}

pub(crate) use chosen::*;
