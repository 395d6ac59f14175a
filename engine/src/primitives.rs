//! What ingress, matcher and sync thread meet at, each under one name: the real primitives, or those
//! of the model checker when it is built to be checked (`tests/loom/run`).

#[cfg(loom)]
#[path = "../tests/loom/primitives.rs"]
mod chosen;

#[cfg(not(loom))]
mod chosen {
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicUsize};

    pub(crate) use crossbeam_queue::ArrayQueue;
    pub(crate) use crossbeam_utils::sync::{Parker, Unparker};
}

pub(crate) use chosen::*;
