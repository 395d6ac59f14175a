//! `foretell backup`, `restore`, `journal archive` and `audit` as processes.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use foretell_tests::exchange::{Exchange, Options, PATIENCE, foretell};
use foretell_tests::random::Random;
use serde_json::Value;

/// An exchange with the smallest segments, so that there are several.
pub(crate) fn small_segments() -> Options {
    Options::demo().with("FORETELL_ENGINE_SEGMENT_MIB", "1")
}

/// A path as an argument.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

/// `foretell --json` with these arguments on a data directory.
pub(crate) fn on(data: &Path, arguments: &[&str]) -> Command {
    let mut command = foretell();
    command
        .args(["--json", "--data", text(data)])
        .args(arguments);
    command.stdin(Stdio::null());
    command
}

/// The answer of a command that succeeds.
pub(crate) fn answer(mut command: Command) -> Value {
    let output = command.output().expect("a process");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {said}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// What a command that fails says, and its exit code.
pub(crate) fn refusal(mut command: Command) -> (i32, String) {
    let Output { status, stderr, .. } = command.output().expect("a process");
    let said = String::from_utf8_lossy(&stderr).into_owned();
    assert!(!status.success(), "{command:?} succeeds");
    (status.code().expect("it ends by itself"), said)
}

/// Takes a backup.
pub(crate) fn backup(data: &Path, to: &Path, more: &[&str]) -> Value {
    answer(on(data, &[&["backup", text(to)], more].concat()))
}

/// Verifies a backup.
pub(crate) fn check(backup: &Path) -> Value {
    answer(on(backup, &["restore", "--check", text(backup)]))
}

/// The last answer of runs of `journal archive`, until no follower holds a segment that may leave.
pub(crate) fn archive(run: impl Fn() -> Command) -> Value {
    let begun = Instant::now();
    loop {
        let archived = answer(run());
        let kept_for = archived["kept_for"].as_str().expect("why");
        if !kept_for.contains("run this again") {
            return archived;
        }
        assert!(begun.elapsed() < PATIENCE, "{archived}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// Audits the journal of a data directory together with its archive.
pub(crate) fn audit(data: &Path, archive: &Path) -> Value {
    answer(on(data, &["audit", "--archive", text(archive), "verify"]))
}

/// Writes a snapshot on an exchange that runs, and a frame that attests it.
pub(crate) fn snapshot(exchange: &Exchange) {
    operate(exchange, &["system", "snapshot"]);
}

/// Writes a frame.
pub(crate) fn deposit(exchange: &Exchange) {
    let wallet = format!("0x{}", "ab".repeat(20));
    operate(exchange, &["account", "deposit", &wallet, "1"]);
}

/// An operator's command. After a start of the engine it is repeated until gateways are connected.
fn operate(exchange: &Exchange, arguments: &[&str]) {
    let begun = Instant::now();
    loop {
        let output = exchange.foretell(arguments).output().expect("a process");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status.success() {
            true => return,
            false => assert!(
                said.contains("(503)") && begun.elapsed() < PATIENCE,
                "{said}"
            ),
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// Kills the command after a random part of the time that it takes. Returns whether it had ended before.
pub(crate) fn kill(mut command: Command, takes: Duration, random: &mut Random) -> bool {
    let micros = u64::try_from(takes.as_micros()).expect("a short time");
    let mut process = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a process");
    // The moment is the experiment; nothing is expected by then.
    std::thread::park_timeout(Duration::from_micros(random.below(micros + 1)));
    let has_ended = process.try_wait().expect("a process").is_some();
    let _ = process.kill();
    process.wait().expect("it ends");
    has_ended
}

/// How long a command takes that succeeds.
pub(crate) fn duration(command: Command) -> Duration {
    let begun = Instant::now();
    answer(command);
    begun.elapsed()
}
