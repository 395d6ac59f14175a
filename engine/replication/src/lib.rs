//! The replicated log of a cluster: the trait, and what a leader and a starting host do with it.
//!
//! The log holds messages numbered from 1: the items of one journal ([`foretell_journal::replica`]), each signed for
//! its number. A message is accepted only right after the one that its publisher expects to be the last, so that
//! two leaders cannot both go on (`docs/internals/decisions/0019`). What no host of the cluster signed does not count:
//! [`SignedLog`] is the log without it.
//!
//! Deliberately absent: a network client (`foretell-jetstream` has it), an in-memory model (`foretell-log-model`, for
//! tests), threads, consensus.

mod decide;
mod fields;
mod fill;
mod keys;
mod locate;
mod log;
mod records;
mod signed;
mod silence;
mod window;
mod witnesses;

pub use decide::{Decision, decide};
pub use fill::{Fill, FillError};
pub use keys::{InvalidKey, Keys, is_host_name};
pub use locate::{LocateError, Located, locate, message_of};
pub use log::{
    BeatAge, Bounds, ConnectLog, LogError, Outcome, Publish, RecordAge, ReplicatedLog, Wake,
};
pub use records::{Heartbeat, HostRecord};
pub use signed::{Beginning, Message, SignedLog};
pub use silence::Silence;
pub use window::{Superseded, Window};
pub use witnesses::{ClockVerdict, MAX_CLOCK_DIFFERENCE, Witnesses};
