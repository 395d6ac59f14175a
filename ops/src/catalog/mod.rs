//! `foretell catalog`: the catalog from the command line, and the process that keeps it.

pub(crate) mod arguments;
mod listing;
mod synced;

use std::process::ExitCode;

use crate::config::Config;
use crate::failure::Failure;
use crate::output::Output;
use arguments::Catalog;

pub(crate) use synced::{import_records, put_records};

/// `foretell catalog …`
///
/// # Errors
/// The catalog, the upstream or the exchange cannot be used; the text says which.
pub(crate) fn run(config: &Config, command: &Catalog, output: Output) -> Result<ExitCode, Failure> {
    match command {
        Catalog::Sync(sync) => synced::sync(config, sync, output),
        Catalog::Import {
            files,
            catalog_only,
        } => synced::import(config, files, *catalog_only, output),
        Catalog::List { what, filters } => listing::list(config, *what, filters, output),
        Catalog::Show { name, event } => listing::show(config, name, *event, output),
        Catalog::Check => synced::check(config, output),
    }
}
