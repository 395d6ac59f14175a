//! Imports files into the catalog.

use std::io::Read;
use std::path::Path;

use foretell_catalog::{CatalogError, Report, Writer};

use crate::clock::Clock;
use crate::progress::Progress;

/// Imports the records of files.
pub struct Importer<'p> {
    writer: Writer,
    clock: &'p dyn Clock,
    progress: &'p Progress,
}

impl<'p> Importer<'p> {
    /// Opens or creates the catalog at `path`.
    ///
    /// # Errors
    /// A database error.
    pub fn open(
        path: &Path,
        clock: &'p dyn Clock,
        progress: &'p Progress,
    ) -> Result<Self, CatalogError> {
        Ok(Self {
            writer: Writer::open(path)?,
            clock,
            progress,
        })
    }

    /// Imports the records of one file, named `name`, and stores the report.
    ///
    /// # Errors
    /// The file cannot be read to its end, or the database failed. Earlier records stay in the
    /// catalog.
    pub fn import(&mut self, name: &str, file: impl Read) -> Result<Report, CatalogError> {
        self.progress.begin(name);
        let mut before = 0;
        let report = foretell_catalog::import::import(&mut self.writer, file, |report| {
            let all = records(report);
            self.progress
                .advance(usize::try_from(all - before).unwrap_or(0));
            before = all;
        })?;
        self.writer.keep_report(self.clock.now(), name, &report)?;
        self.progress.end();
        Ok(report)
    }
}

fn records(report: &Report) -> u64 {
    [report.events, report.markets, report.series, report.tags]
        .iter()
        .map(|tally| tally.added + tally.changed + tally.unchanged)
        .sum()
}
