//! `foretell audit show --set-aside`: frames that a former leader wrote and never acknowledged.

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use crate::error::AuditError;
use foretell_journal::Scratch;
use foretell_journal::replica::read_set_aside;
use foretell_terminal::Output;
use serde::Serialize;

use super::shown_frame::ShownFrame;
use crate::exit_codes::NOT_FOUND;
use crate::prove::registry::Registry;

#[derive(Debug, Serialize)]
struct ShownFrames(Vec<ShownFrame>);

impl fmt::Display for ShownFrames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string_pretty(self).expect("JSON values have a text"))
    }
}

/// Prints the frames of a file, or the one with this sequence. Accounts and markets are numbers: the
/// journal that would name them went on without these frames.
///
/// # Errors
/// The file cannot be read, or has no such frame.
pub(crate) fn run(
    file: &Path,
    sequence: Option<u64>,
    output: Output,
) -> Result<ExitCode, AuditError> {
    let unreadable = |error: &dyn fmt::Display| AuditError::new(error.to_string());
    let aside = read_set_aside(file).map_err(|error| unreadable(&error))?;
    let (registry, mut scratch) = (Registry::default(), Scratch::default());
    let mut frames = Vec::new();
    for (header, batch) in aside.batches() {
        for frame in batch {
            let frame = frame.map_err(|error| unreadable(&error))?;
            if sequence.is_some_and(|wanted| wanted != frame.sequence().0) {
                continue;
            }
            let records = frame.decode(&mut scratch);
            let records = records.map_err(|error| unreadable(&error))?;
            let mut shown = ShownFrame::new(&frame, &records, &registry);
            shown.term = Some(header.epoch);
            frames.push(shown);
        }
    }
    if frames.is_empty() {
        let text = format!("{}: no such frame", file.display());
        return Err(AuditError::new(text).code(NOT_FOUND));
    }
    output.print(&ShownFrames(frames));
    Ok(ExitCode::SUCCESS)
}
