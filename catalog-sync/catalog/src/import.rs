//! Files and pages of records, taken apart with constant memory.
//!
//! Understood: JSON arrays, JSON lines, objects that wrap an array
//! (`{data|markets|events|series|tags|value: […]}`), and any of these one after another in one
//! file; in UTF-8 with or without a byte order mark or UTF-16 with one; plain, gzip or zstd.

mod encoding;
mod scan;
mod split;

pub use split::{RawRecord, Records};

use std::io::Read;

use crate::error::CatalogError;
use crate::record::read;
use crate::report::Report;
use crate::store::Writer;

/// Records that one transaction takes: many, as every transaction writes most pages of the indices.
const BATCH: usize = 4_096;

/// Puts every record of a file, some thousands at a time, and calls `progress` after each of these
/// transactions with what was done so far. What was committed stays when a later part fails.
///
/// # Errors
/// The file cannot be read or unpacked, or what the database said. Bad records are no error: the
/// report lists them.
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
