//! `foretell journal …`: the files of the journal.

mod archive;
mod store;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::config::Config;
use crate::failure::Failure;
use crate::output::Output;

/// `foretell journal`
#[derive(Debug, Subcommand)]
pub(crate) enum JournalCommand {
    /// Move sealed segments to an archive and free their space
    Archive(Archive),
}

/// `foretell journal archive`
#[derive(Debug, Args)]
pub(crate) struct Archive {
    /// Directory of the archive
    #[arg(long, value_name = "DIR", required_unless_present = "command", conflicts_with_all = ["command", "fetch"])]
    to: Option<PathBuf>,
    /// Shell command that stores {file} as {name}
    #[arg(long, value_name = "COMMAND", requires = "fetch")]
    command: Option<String>,
    /// Shell command that reads {name} back into {file}
    #[arg(long, value_name = "COMMAND", requires = "command")]
    fetch: Option<String>,
}

/// Runs a command.
///
/// # Errors
/// As the command says.
pub(crate) fn run(
    config: &Config,
    command: &JournalCommand,
    output: Output,
) -> Result<ExitCode, Failure> {
    match command {
        JournalCommand::Archive(arguments) => archive::run(config, arguments, output),
    }
}
