//! The model checker's primitives for the engine.

pub(crate) use loom::sync::atomic::{AtomicBool, AtomicUsize};

#[path = "../../../tests/loom/stand_ins.rs"]
mod stand_ins;

pub(crate) use stand_ins::{ArrayQueue, Parker, Unparker, check};
