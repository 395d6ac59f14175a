//! Arguments of `foretell backup` and `foretell restore`.

use std::path::PathBuf;

use clap::Args;

/// `foretell backup`
#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// Directory of the backup; later runs add new data
    pub(crate) directory: PathBuf,
    /// Also copy the secrets, into a separate file
    #[arg(long)]
    pub(crate) with_secrets: bool,
    /// Directory of archived segments that the journal lacks
    #[arg(long, value_name = "DIR")]
    pub(crate) archive: Option<PathBuf>,
}

/// `foretell restore`
#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// Directory of the backup
    pub(crate) directory: PathBuf,
    /// Verify the backup and write nothing
    #[arg(long)]
    pub(crate) check: bool,
    /// The exchange was stopped before this complete backup
    #[arg(long, conflicts_with = "check")]
    pub(crate) complete: bool,
    /// Trusted public key: 64 hex digits or a file
    #[arg(long, value_name = "KEY|FILE")]
    pub(crate) checkpoint_key: Option<String>,
    /// Directory of archived segments that the backup lacks
    #[arg(long, value_name = "DIR")]
    pub(crate) archive: Option<PathBuf>,
}
