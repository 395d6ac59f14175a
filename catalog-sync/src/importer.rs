//! From files into the catalog.

use std::io::Read;
use std::path::Path;

use foretell_catalog::{CatalogError, Report, Writer};

use crate::clock::Clock;
use crate::progress::Progress;

/// Puts every record of files into the catalog.
pub struct Importer<'p> {
    writer: Writer,
    clock: &'p dyn Clock,
    progress: &'p Progress,
}

impl<'p> Importer<'p> {
    /// Opens the catalog at `path`, or makes it.
    ///
    /// # Errors
    /// What the database said.
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

    /// Puts the records of one file, known by `name`, and keeps the report.
    ///
    /// # Errors
    /// The file cannot be read to its end, or what the database said. What stood before the bad
    /// place stays in the catalog.
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
