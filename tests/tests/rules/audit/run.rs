//! Runs the binary as an auditor does.

use std::path::Path;

use serde_json::Value;

/// Exit codes of `docs/verify/auditing.md`.
pub(crate) const SOUND: i32 = 0;
pub(crate) const UNREADABLE: i32 = 1;
pub(crate) const DAMAGED: i32 = 3;
pub(crate) const CONTRADICTS: i32 = 4;
pub(crate) const FORGED: i32 = 5;
pub(crate) const BROKEN: i32 = 6;
pub(crate) const DIFFERENT: i32 = 7;
pub(crate) const NOT_FOUND: i32 = 8;

/// Runs the audit with these arguments.
pub(crate) fn audit(directory: &Path, arguments: &[&str]) -> (i32, Value) {
    let done = foretell_tests::exchange::foretell()
        .args(["--json", "audit", "--journal"])
        .arg(directory)
        .args(arguments)
        .current_dir(directory)
        .output()
        .expect("the binary runs");
    let text = if done.stdout.is_empty() {
        done.stderr
    } else {
        done.stdout
    };
    let answer = serde_json::from_slice(&text)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&text)));
    (done.status.code().expect("an exit code"), answer)
}
