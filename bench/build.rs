//! Sets the commit this program is built from, for the stamp on its measurements.

use std::path::Path;
use std::process::Command;

/// Source folders: changes there mark the build as different from the commit.
const SOURCES: &[&str] = &[
    "bench",
    "catalog-sync",
    "engine",
    "gateway",
    "journal",
    "ops",
    "Cargo.lock",
    "Cargo.toml",
];

fn main() {
    let workspace = Path::new("..");
    for source in SOURCES {
        println!(
            "cargo::rerun-if-changed={}",
            workspace.join(source).display()
        );
    }
    // Each commit and checkout appends to this log.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".to_owned());
    let changes = git(&["status", "--porcelain", "--untracked-files=no"]);
    let mark = if changes.is_some_and(|changes| !changes.is_empty()) {
        "+"
    } else {
        ""
    };
    println!("cargo::rustc-env=FORETELL_COMMIT={commit}{mark}");
}

/// Output of git; `None` without git or outside of a repository.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
