//! `foretell audit show --set-aside`: frames that a former leader wrote and never acknowledged.

use std::path::Path;
use std::process::ExitCode;

use foretell_journal::Scratch;
use foretell_journal::replica::read_set_aside;
use serde_json::{Value, json};

use crate::error::AuditError as Failure;
use crate::exit_codes::NOT_FOUND;
use crate::prove::registry::Registry;
use crate::show::shown_frame;
use foretell_terminal::Output;

/// Prints the frames of a file, or the one with this sequence. Accounts and markets are numbers: the
/// journal that would name them went on without these frames.
///
/// # Errors
/// The file cannot be read, or has no such frame.
pub(crate) fn run(file: &Path, sequence: Option<u64>, output: Output) -> Result<ExitCode, Failure> {
    let read = read_set_aside(file).map_err(|error| Failure::new(error.to_string()))?;
    let (registry, mut scratch) = (Registry::default(), Scratch::default());
    let mut frames = Vec::new();
    for (header, batch) in read.batches() {
        for frame in batch {
            let frame = frame.map_err(|error| Failure::new(error.to_string()))?;
            if sequence.is_some_and(|wanted| wanted != frame.sequence().0) {
                continue;
            }
            let shown = frame
                .decode(&mut scratch)
                .map_err(|error| Failure::new(error.to_string()))?;
            let mut value = shown_frame::frame(&frame, &shown, &registry);
            value["term"] = json!(header.epoch);
            frames.push(value);
        }
    }
    if frames.is_empty() {
        let text = format!("{}: no such frame", file.display());
        return Err(Failure::new(text).code(NOT_FOUND));
    }
    output.answer(&Value::Array(frames), |frames| {
        serde_json::to_string_pretty(frames).expect("JSON values have a text")
    });
    Ok(ExitCode::SUCCESS)
}
