//! The replicated log of a cluster: the trait, what a leader and a starting host do with it, and an
//! in-memory model of it.
//!
//! The log holds messages numbered from 1: the items of one journal ([`foretell_journal::replica`]).
//! A message is accepted only right after the one that its publisher expects to be the last, so that
//! two leaders cannot both go on (`docs/internals/decisions/0019`).
//!
//! Deliberately absent: a network client (`foretell-jetstream` has it), threads, consensus.

mod decide;
mod fields;
mod fill;
mod locate;
mod log;
mod model;
mod records;
mod silence;
mod window;

pub use decide::{Decision, decide};
pub use fill::{Fill, FillError};
pub use locate::{LocateError, Located, locate, message_of};
pub use log::{
    Bounds, ConnectLog, LogError, Message, Outcome, Publish, ReplicatedLog, Wake, message_id,
};
pub use model::{Fault, Model, ModelLog};
pub use records::{Heartbeat, HostRecord};
pub use silence::Silence;
pub use window::{Superseded, Window};
