//! A part as a process of its own: its report, or why there is none.

use std::process::{Command, ExitStatus, Stdio};

use serde_json::Value;

use crate::error::MeasureError;
use crate::report::Report;

/// Lines in the report of a process that ended without an error.
const MOST_LINES: usize = 5;

/// The report of a process that prints it as JSON.
pub(super) fn measured(command: &mut Command) -> Result<Report, MeasureError> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(MeasureError::io("starting a part"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        eprint!("{said}");
        return serde_json::from_slice(&output.stdout).map_err(MeasureError::wrong);
    }
    if let Some(error) = reported(&said) {
        return Err(MeasureError::Wrong(error));
    }
    eprint!("{said}");
    Err(MeasureError::Wrong(unreported(output.status, &said)))
}

/// The error that a process printed before it ended.
fn reported(said: &str) -> Option<String> {
    let last: Value = serde_json::from_str(said.lines().next_back()?).ok()?;
    last["error"].as_str().map(str::to_owned)
}

/// How a process ended without an error, and what it said: of a panic the message.
fn unreported(status: ExitStatus, said: &str) -> String {
    let lines = || said.lines().map(str::trim).filter(|line| !line.is_empty());
    let begin = lines().position(|line| line.contains(" panicked at "));
    let said = lines()
        .skip(begin.unwrap_or(0))
        .take_while(|line| !line.starts_with("note: ") && *line != "stack backtrace:");
    let said: Vec<_> = said.take(MOST_LINES).collect();
    format!("{status}: {}", said.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<Report, String> {
        measured(Command::new("sh").args(["-c", script])).map_err(|error| error.to_string())
    }

    /// A part that says nothing of its own has failed, however it ended.
    #[test]
    fn a_part_may_end_in_any_way() {
        let json = serde_json::to_string(&Report::begin("x", "none").end()).unwrap();
        assert_eq!(shell(&format!("echo '{json}'")).unwrap().bench, "x");
        let cases = [
            (
                r#"echo '{"error":"no disk","hint":"h"}' >&2; exit 1"#,
                "no disk",
            ),
            (
                "printf \"began\n\nthread 'a' (7) panicked at b.rs:1:2:\nno room\nnote: run\n\" >&2; exit 101",
                "exit status: 101: thread 'a' (7) panicked at b.rs:1:2: no room",
            ),
            ("echo last words >&2; kill -ABRT $$", "signal: 6 (SIGABRT)"),
            ("echo last words >&2; exit 3", "exit status: 3: last words"),
        ];
        for (script, expected) in cases {
            let error = shell(script).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
        assert!(shell("echo no report").is_err());
    }
}
