//! Checks what a journal says: evidence and signatures, re-execution by the core and by the reference,
//! money and shares, checkpoints and attested states.

pub(crate) mod attested;
pub(crate) mod checkpoints;
pub(crate) mod conservation;
pub(crate) mod evidence;
pub(crate) mod execution;
pub(crate) mod fold;
pub(crate) mod frame_batch;
pub(crate) mod reader;
pub(crate) mod reference;
pub(crate) mod registry;
pub(crate) mod signatures;
pub(crate) mod signed_set;
pub(crate) mod state_compare;
pub(crate) mod verify;
