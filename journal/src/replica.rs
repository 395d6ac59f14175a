//! Cluster mode: a journal that is a copy of a replicated log.
//!
//! The log holds the journal's items in their order, one a message: the header of a segment, or a
//! batch without its padding ([`Item`]). So every host has the same bytes, hash chain and receipts.
//! What differs from a journal of one machine (`docs/internals/decisions/0019`):
//!
//! - The epoch is the term of the leader. Only a takeover raises it, with the header of a new
//!   segment. A start rewrites nothing: it resumes in the middle of a segment.
//! - Durable sequence, watermark and the *proven* field of batches are the lower of the local disk
//!   and the log ([`LogQueue`]).
//! - Items after the watermark that the log does not have were never acknowledged. A start sets them
//!   aside ([`LocalEnd::keep`]). This is the only case in which a journal is cut.
//! - A host that does not lead writes what it receives ([`ReplicaWriter`]).

mod confirmed;
mod item;
mod local_end;
mod resume;
mod set_aside;
mod writer;

pub use crate::directory::replica_marker_path as marker_path;
pub use crate::log_queue::{LogQueue, MAX_IN_FLIGHT};
pub use confirmed::{ConfirmedEnd, publish_confirmed};
pub use item::{Item, MAX_ITEM_BYTES};
pub use local_end::{LocalEnd, LocalItem, create, each_item, remove_unfounded};
pub use resume::recover_replica;
pub use set_aside::{SET_ASIDE_DIRECTORY, SetAsideBatches, read_set_aside};
pub use writer::{ReplicaError, ReplicaWriter, Written};
