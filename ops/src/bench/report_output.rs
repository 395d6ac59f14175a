//! Prints a report and saves it to files.

use std::fs;
use std::io::BufWriter;
use std::path::Path;

use foretell_bench::Report;
use foretell_bench::report::write_log;

use super::arguments::Bench;
use crate::failure::Failure;
use crate::output::Output;

/// Commit this program was built from; `+` if the sources differ from it.
const COMMIT: &str = env!("FORETELL_COMMIT");

/// Prints a report and writes the requested files.
///
/// # Errors
/// A file cannot be written.
pub(super) fn show(mut report: Report, bench: &Bench, output: Output) -> Result<(), Failure> {
    report.set_commit(COMMIT);
    let value = serde_json::to_value(&report)
        .map_err(|error| Failure::new(format!("report as JSON: {error}")))?;
    output.answer(&value, |_| report.to_string());
    if let Some(path) = &bench.save {
        fs::write(path, format!("{value:#}\n")).map_err(|error| cannot_write(path, &error))?;
    }
    if let Some(path) = &bench.hlog {
        let written =
            fs::File::create(path).and_then(|file| write_log(&report, &mut BufWriter::new(file)));
        written.map_err(|error| cannot_write(path, &error))?;
    }
    Ok(())
}

pub(super) fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("{} cannot be written: {error}", path.display()))
        .hint("name a file in a directory that exists and is yours")
}
