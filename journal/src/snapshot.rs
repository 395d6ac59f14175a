//! The container for snapshots: files that are whole or ignored.
//!
//! A **live image** is the state of the exchange and of the views right after one frame; a
//! **history chunk** is a fixed number of rows of a log that never change again. Each is one file:
//! a header, named sections of bytes, a table of the sections, and a hash over all of it. A file is
//! written under another name, synced, renamed, and never stored to again, so whoever finds it
//! under its name maps it; what does not read as it was written is passed over with a reason
//! ([`Unfit`]), because everything in a snapshot can be made anew from the journal.
//!
//! ```text
//!   0 magic "FRTLSNAP"   |   8 version u16 | 10 kind u16 | 12 number of the chunk u32
//!  16 sequence u64       |  24 bytes of the file u64
//!  32 genesis, 32 bytes
//!  64 offset of the table u64 | 72 sections u32 | 76 CRC32C of the table u32
//!  80 rows of the chunk u32   | 84 layout u32 | 88 zero u32 | 92 CRC32C of the header u32
//!  96 hash, 32 bytes
//! 128 sections, each at a multiple of 64; then the table, 64 bytes a section
//! ```
//! `header.rs` is that header, `write.rs` and `read.rs` a file; `image.rs` and `chunk.rs` say what
//! the two kinds hold beyond it; `shelf.rs` is their directory.
//!
//! Absent on purpose: what the sections mean (the engine and the views write and read them).

mod attested;
mod chunk;
mod header;
mod image;
mod read;
mod shelf;
mod write;

pub use attested::{newest_attested_image, unattested_images};
pub use chunk::{CHUNK_BYTES, Chunk, ChunkEntry, LogName};
pub use header::{HEADER_BYTES, Kind, Label, MAGIC, VERSION};
pub use image::{CHUNKS, Image, PROOF, Proof};
pub use read::{Section, Snapshot, Unfit};
pub use shelf::{Shelf, images, newest_image};
pub use write::SnapshotWriter;

/// The directory of snapshots in a data directory.
pub const SNAPSHOT_DIRECTORY: &str = "snapshots";
