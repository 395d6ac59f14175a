//! `foretell catalog`: catalog commands, and the catalog-sync process.

pub(crate) mod arguments;
mod listing;
mod sync_commands;

use std::process::ExitCode;

use crate::config::Config;
use crate::data_directory::check_owner;
use crate::failure::Failure;
use crate::output::Output;
use arguments::Catalog;

pub(crate) use sync_commands::{import_records, put_records};

/// `foretell catalog …`
///
/// # Errors
/// The catalog, the upstream or the exchange cannot be used; the text names it.
pub(crate) fn run(config: &Config, command: &Catalog, output: Output) -> Result<ExitCode, Failure> {
    // Also who reads the catalog makes files beside it.
    check_owner(&config.data.directory)?;
    match command {
        Catalog::Sync(sync) => sync_commands::sync(config, sync, output),
        Catalog::Import {
            files,
            catalog_only,
        } => sync_commands::import(config, files, *catalog_only, output),
        Catalog::List { what, filters } => listing::list(config, *what, filters, output),
        Catalog::Show { name, event } => listing::show(config, name, *event, output),
        Catalog::Check => sync_commands::check(config, output),
    }
}
