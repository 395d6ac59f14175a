//! `foretell support-bundle`: one archive with what a report of a fault needs, and nothing that others may not
//! read: no secret, no wallet, no order.

mod archive;
mod contents;
mod mask;

use std::fmt;
use std::io::{self, ErrorKind};
use std::process::ExitCode;

use serde::Serialize;

use crate::cli::SupportBundle;
use crate::config::Loaded;
use crate::failure::Failure;
use crate::output::Output;
use archive::Archive;

/// What the archive has.
#[derive(Serialize)]
struct Taken {
    archive: String,
    files: Vec<TakenFile>,
}

/// A file of the archive, or why it is not there.
#[derive(Serialize)]
struct TakenFile {
    name: &'static str,
    what: &'static str,
    /// Bytes; `None` when it was not taken.
    bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
}

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for TakenFile {
            name,
            what,
            bytes,
            missing,
        } in &self.files
        {
            match (bytes, missing) {
                (Some(bytes), _) => writeln!(f, "{name:<20}  {bytes:>9} bytes  {what}")?,
                (None, missing) => {
                    let why = missing.as_deref().unwrap_or_default();
                    writeln!(f, "{name:<20}          not taken  {what}: {why}")?;
                }
            }
        }
        write!(
            f,
            "Wrote {}. Masked: secrets, wallets, ids. Read it before you send it.",
            self.archive
        )
    }
}

/// Writes the archive and lists what it took. A part that cannot be taken is named and stops nothing.
///
/// # Errors
/// The archive is there already, or cannot be written.
pub(crate) fn run(
    loaded: &Loaded,
    arguments: &SupportBundle,
    output: Output,
) -> Result<ExitCode, Failure> {
    let file = &arguments.file;
    let failed = |error: io::Error| Failure::new(format!("{}: {error}", file.display()));
    let mut archive = Archive::create(file).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::new(format!(
            "{}: there is a file of this name already, which is not replaced",
            file.display()
        ))
        .hint("choose another name, or remove the file"),
        _ => failed(error),
    })?;
    let mut files = Vec::new();
    for part in contents::parts(loaded, arguments.logs.as_deref()) {
        if let Ok(content) = &part.content {
            archive.add(part.name, content).map_err(failed)?;
        }
        files.push(TakenFile {
            name: part.name,
            what: part.what,
            bytes: part.content.as_ref().ok().map(Vec::len),
            missing: part.content.err(),
        });
    }
    let taken = Taken {
        archive: file.display().to_string(),
        files,
    };
    archive
        .add("list.txt", taken.to_string().as_bytes())
        .map_err(failed)?;
    archive.finish().map_err(failed)?;
    output.print(&taken);
    Ok(ExitCode::SUCCESS)
}
