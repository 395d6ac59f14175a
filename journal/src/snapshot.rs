//! The container for snapshots: files that are valid as a whole or ignored.
//!
//! A **live image** is the state of the exchange and of the views right after one frame. A
//! **history chunk** is a fixed number of rows of a log that never change again. Each is one file:
//! a header, named sections of bytes, a table of the sections, and a hash over all of it. A file is
//! written under a temporary name, synced, renamed, and never changed again, so readers map it. An
//! invalid file is skipped with a reason ([`SnapshotError`]): a snapshot can be rebuilt from the journal.
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
//! `header.rs` has that header, `write.rs` and `read.rs` write and read a file, `image.rs` and
//! `chunk.rs` define the content of the two kinds, `store.rs` manages the directory.
//!
//! Out of scope: the meaning of the sections (the engine and the views write and read them).

mod attested;
mod chunk;
mod error;
mod header;
mod image;
mod read;
mod store;
mod write;

pub use attested::{newest_attested_image, oldest_attested_image, unattested_images};
pub use chunk::{CHUNK_ENTRY_BYTES, Chunk, ChunkEntry, LogName};
pub use error::SnapshotError;
pub use header::{HEADER_BYTES, MAGIC, SnapshotKind, SnapshotLabel, VERSION};
pub use image::{CHUNKS, Image, PROOF, Proof};
pub use read::{Section, Snapshot};
pub use store::{SnapshotStore, images, newest_image};
pub use write::SnapshotWriter;

/// The name of the snapshot directory in a data directory.
pub const SNAPSHOT_DIRECTORY: &str = "snapshots";
