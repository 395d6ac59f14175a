//! Splits files and pages into records with constant memory.
//!
//! Input formats: JSON arrays, JSON lines, objects that wrap an array
//! (`{data|markets|events|series|tags|value: […]}`), and concatenations of these; in UTF-8 with or
//! without a byte order mark or UTF-16 with one; plain, gzip or zstd.

mod encoding;
mod scan;
mod split;

pub use split::{RawRecord, Records};

use std::io::Read;

use crate::error::CatalogError;
use crate::record::read;
use crate::report::Report;
use crate::store::Writer;

/// Records per transaction. Large, because every transaction writes most pages of the indices.
const BATCH: usize = 4_096;

/// Stores all records of a file in transactions of `BATCH` records, and calls `progress` with the
/// totals after each. Committed transactions stay when a later one fails.
///
/// # Errors
/// The file cannot be read or unpacked, or the database failed. The report lists bad records.
pub fn import(
    writer: &mut Writer,
    file: impl Read,
    mut progress: impl FnMut(&Report),
) -> Result<Report, CatalogError> {
    let mut records = Records::open(file)?;
    let mut total = Report::default();
    loop {
        let mut batch = writer.begin()?;
        let mut count = 0;
        for record in records.by_ref().take(BATCH) {
            count += 1;
            match record?.and_then(|raw| read(raw.kind, &raw.json)) {
                Ok(read) => batch.put(&read)?,
                Err(skip) => batch.skip(skip),
            }
        }
        total.merge(batch.commit()?);
        if count < BATCH {
            return Ok(total);
        }
        progress(&total);
    }
}

#[cfg(test)]
#[path = "import_tests.rs"]
mod tests;
