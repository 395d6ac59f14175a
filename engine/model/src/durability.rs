//! What an acknowledged command survives.

use rkyv::{Archive, Deserialize, Serialize};

/// The guarantee of an acknowledgement (docs/internals/decisions/0003).
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    Default,
    Debug,
    Archive,
    Serialize,
    Deserialize,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// On the disk: acknowledged after `fdatasync`. Survives a power cut.
    #[default]
    Disk,
    /// In the kernel: acknowledged after the write. Survives kill -9 of any process. Synced when
    /// idle and when a segment is full.
    Process,
    /// As `Process`, but not synced before the end. For benchmarks only.
    None,
}

impl Durability {
    /// The name in configuration and on health endpoints.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Disk => "disk",
            Self::Process => "process",
            Self::None => "none",
        }
    }
}
