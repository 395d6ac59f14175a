//! The hash-chained, memory-mapped journal: frames, batches, segments; writing, recovering,
//! following; and the container for snapshots. The only crate that maps and syncs files.
//!
//! `FORMAT.md` draws every byte. One thread stages frames ([`Appender`]), one writes and syncs them
//! in batches ([`Syncer`]), any number in any process follow ([`Follower`]); [`recover()`] is the only
//! way to open a journal for writing, [`scan()`] verifies one without changing it. Files of
//! [`snapshot`] are whole or ignored, and can always be made anew from the journal.
//!
//! Absent on purpose: what the commands mean (matching), how an order was proven (evidence is
//! opaque bytes here), any network.

pub mod append;
pub mod batch;
mod bytes;
pub mod chain;
pub mod control;
mod directory;
pub mod disk;
pub mod error;
pub mod follow;
pub mod frame;
mod frame_reader;
pub mod host;
mod map;
pub mod options;
mod prepare;
mod primitives;
pub mod record;
pub mod recover;
pub mod scan;
pub mod segment;
mod segment_scan;
pub mod snapshot;
pub mod state;
pub mod sync;
mod walk;
pub mod watermark;

#[cfg(all(test, loom))]
#[path = "../tests/loom/models.rs"]
mod models;

pub use append::Appender;
pub use batch::Batch;
pub use bytes::PAGE;
pub use chain::receipt;
pub use directory::marker_path;
pub use error::JournalError;
pub use follow::{Follower, Next};
pub use frame::{Frame, FrameError, Scratch};
pub use frame_reader::{FrameReader, Frames};
pub use options::{Durability, Options};
pub use prepare::Helper;
pub use recover::{Reader, Recovered, Report, recover, recover_into};
pub use scan::{Batches, ScanReport, genesis, scan};
pub use state::JournalState;
pub use sync::{Step, Syncer};
