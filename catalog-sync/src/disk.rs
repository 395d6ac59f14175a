//! Free space on the disk that the catalog shares with the journal.

use std::path::Path;

/// Free bytes of the file system of `path`; the maximum value if unknown.
pub(crate) fn free_bytes(path: &Path) -> u64 {
    let free = |stat: rustix::fs::StatVfs| stat.f_bavail.saturating_mul(stat.f_frsize);
    rustix::fs::statvfs(path).map_or(u64::MAX, free)
}
