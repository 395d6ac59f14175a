//! Priorities of lines on standard error where that is the system's journal (sd-daemon(3)).

use std::os::linux::fs::MetadataExt as _;
use std::sync::LazyLock;

use tracing::Level;

/// The priority that begins a line of this level in the system's journal; empty elsewhere.
pub(crate) fn priority(level: Level) -> &'static str {
    static IS_JOURNAL: LazyLock<bool> = LazyLock::new(|| {
        let stream = std::env::var("JOURNAL_STREAM").ok();
        stream.is_some() && stream == standard_error()
    });
    match (*IS_JOURNAL, level) {
        (false, _) => "",
        (true, Level::ERROR) => "<3>",
        (true, Level::WARN) => "<4>",
        (true, Level::INFO) => "<6>",
        (true, _) => "<7>",
    }
}

/// Device and inode of standard error, as `JOURNAL_STREAM` has those of the journal's stream.
fn standard_error() -> Option<String> {
    let file = std::fs::metadata("/proc/self/fd/2").ok()?;
    Some(format!("{}:{}", file.st_dev(), file.st_ino()))
}
