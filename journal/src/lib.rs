//! The hash-chained, memory-mapped journal: frames, batches, segments; writing, recovery,
//! following; and the container for snapshots. The only crate that maps and syncs files.
//!
//! `FORMAT.md` documents every byte. One thread stages frames ([`Appender`]). One thread writes and
//! syncs them in batches ([`Syncer`]). Any number of readers in any process follow ([`Follower`]).
//! [`recover()`] is the only way to open a journal for writing; [`scan()`] verifies one without
//! changing it. A file of [`snapshot`] is valid as a whole or ignored; it can be rebuilt from the
//! journal.
//!
//! Out of scope: the meaning of commands (matching), the proof of an order (evidence is opaque
//! bytes here), any network.

pub mod append;
pub mod archive;
pub mod batch;
mod batch_cursor;
mod bytes;
pub mod chain;
mod check;
pub mod clock_and_random;
pub mod control;
mod directory;
pub mod disk;
mod durable_end;
pub mod error;
mod extent;
pub mod follow;
pub mod frame;
mod frame_reader;
mod log_queue;
mod map;
pub mod options;
mod preallocate;
mod primitives;
pub mod recover;
pub mod replica;
pub mod restored;
pub mod scan;
pub mod segment;
mod segment_scan;
mod segments;
pub mod snapshot;
pub mod state;
pub mod sync;
pub mod wall_clock;
pub mod watermark;

#[cfg(all(test, loom))]
#[path = "../tests/loom/models.rs"]
mod models;

pub use append::Appender;
pub use batch::{Batch, batch_bytes};
pub use bytes::PAGE;
pub use chain::receipt;
pub use check::{check_running, check_stopped};
pub use directory::marker_path;
pub use durable_end::DurableEnd;
pub use error::JournalError;
pub use extent::{Extent, Piece};
pub use follow::{Follower, Next};
pub use frame::{Frame, FrameError, Scratch};
pub use frame_reader::{FrameInclusion, FrameReader, Frames};
pub use options::Options;
pub use preallocate::Preallocator;
pub use recover::{FrameVisitor, Recovered, RecoveryReport, recover, recover_into};
pub use scan::{Batches, ScanReport, genesis, genesis_of, scan};
pub use segments::{Segments, archived_through};
pub use state::JournalState;
pub use sync::{SyncStep, Syncer};
