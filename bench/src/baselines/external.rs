//! External baseline: a command that processes the same stream, alternating with our baseline, to
//! check that ours is fast enough.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;

use crate::error::MeasureError;

/// Words that follow the figures in the command's output.
const UNIT: &str = "ns/op";
const TRADES: &str = "trades";

/// The command and its stream.
#[derive(Clone, Debug)]
pub(crate) struct ExternalBaseline {
    command: String,
    stream: PathBuf,
}

/// Result of one run.
pub(crate) struct ExternalRun {
    /// Nanoseconds per command.
    pub(crate) nanos: f64,
    /// Trades, if it counts them.
    pub(crate) trades: Option<u64>,
    /// The whole output.
    pub(crate) text: String,
}

impl ExternalBaseline {
    /// `command` is a shell command. It finds the stream's file in `$STREAM` and prints, in any
    /// context, nanoseconds per command as `18.0 ns/op`, and may print `984106 trades`.
    pub(crate) fn new(command: &str, stream: &Path) -> Self {
        Self {
            command: command.to_owned(),
            stream: stream.to_owned(),
        }
    }

    /// Runs it once.
    ///
    /// # Errors
    /// The command fails, or prints no figure.
    pub(crate) fn run(&self) -> Result<ExternalRun, MeasureError> {
        let output = Command::new("sh")
            .args(["-c", &self.command])
            .env("STREAM", &self.stream)
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .map_err(MeasureError::io("running the reference"))?;
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let nanos = figure(&text, UNIT).filter(|_| output.status.success());
        let nanos = nanos.ok_or_else(|| {
            MeasureError::Wrong(format!(
                "the reference `{}` ended with {} and printed {text:?}, no `N {UNIT}`",
                self.command, output.status
            ))
        })?;
        let trades = figure(&text, TRADES);
        Ok(ExternalRun {
            nanos,
            trades,
            text,
        })
    }
}

/// The number before a word.
fn figure<T: FromStr>(text: &str, word: &str) -> Option<T> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let at = words.iter().position(|other| *other == word)?;
    words.get(at.checked_sub(1)?)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figure_precedes_its_unit() {
        let cases = [
            ("own-array thr 18.1 ns/op resting=3 Sum {}", Some(18.1)),
            ("ns/op 18.1", None),
            ("fast ns/op", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(figure(text, UNIT), expected, "{text}");
        }
    }

    #[test]
    fn an_external_baseline_gets_the_stream_and_must_succeed() {
        let run = |command| ExternalBaseline::new(command, Path::new("/x/one.bin")).run();
        let found = run(r#"test "$STREAM" = /x/one.bin && echo own: 7.5 ns/op 3 trades"#).unwrap();
        assert_eq!((found.nanos, found.trades), (7.5, Some(3)));
        assert_eq!(found.text, "own: 7.5 ns/op 3 trades");
        assert!(run("echo 7.5 ns/op; false").is_err());
        assert!(run("echo nothing").is_err());
    }
}
