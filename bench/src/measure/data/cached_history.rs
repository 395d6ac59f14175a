//! The measured journal: cached under a directory of the caller's, and made again when its
//! generator has changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::error::MeasureError;
use crate::workloads::history::{self, Census, Shape};

/// File that identifies the generator of a journal.
const MARKER_FILE: &str = "made-by.json";
/// Sources of the generator: a change to any of them may change the journal.
const GENERATOR: [&str; 5] = [
    include_str!("../../workloads/history.rs"),
    include_str!("../../workloads/history/closing_trades.rs"),
    include_str!("../../workloads/journal_writer.rs"),
    include_str!("../../workloads/random.rs"),
    include_str!("../../workloads/venue.rs"),
];

/// Marker file of a complete journal.
#[derive(PartialEq, Debug, Serialize, Deserialize)]
struct CacheMarker {
    made_by: String,
    census: Census,
}

/// A data directory with the journal.
pub(super) struct CachedHistory {
    pub(super) data: PathBuf,
    pub(super) census: Census,
    /// Seconds to write it, if it was made now.
    pub(super) write_seconds: Option<f64>,
}

/// Finds the journal of a shape under `directory`, or makes it.
pub(super) fn find_or_make(directory: &Path, shape: &Shape) -> Result<CachedHistory, MeasureError> {
    let name = format!(
        "foretell-bench-data-{}-{}-{}",
        shape.trades, shape.crowd, shape.markets
    );
    let place = directory.join(name);
    let (data, mark) = (place.join("data"), place.join(MARKER_FILE));
    let made_by = maker(shape);
    let text = fs::read(&mark).unwrap_or_default();
    let marker: Option<CacheMarker> = serde_json::from_slice(&text).ok();
    if let Some(marker) = marker.filter(|marker| marker.made_by == made_by) {
        return Ok(CachedHistory {
            data,
            census: marker.census,
            write_seconds: None,
        });
    }
    // The marker is written last: without it the directory is incomplete.
    if place.exists() {
        fs::remove_dir_all(&place).map_err(MeasureError::io("removing an older journal"))?;
    }
    fs::create_dir_all(&place).map_err(MeasureError::io("making a directory"))?;
    let began = Instant::now();
    let census = history::write(&data, shape)?.1;
    let write_seconds = began.elapsed().as_secs_f64();
    let text =
        serde_json::to_vec(&CacheMarker { made_by, census }).expect("texts and numbers are JSON");
    fs::write(&mark, text).map_err(MeasureError::io("marking a journal as complete"))?;
    Ok(CachedHistory {
        data,
        census,
        write_seconds: Some(write_seconds),
    })
}

/// Identifies the generator of such a journal.
fn maker(shape: &Shape) -> String {
    let generator = GENERATOR
        .iter()
        .fold(0, |sum, text| crc32c::crc32c_append(sum, text.as_bytes()));
    let formats = [
        foretell_journal::segment::VERSION,
        foretell_journal::batch::VERSION,
        foretell_journal::frame::VERSION,
    ];
    format!("generator {generator:08x}, formats {formats:?}, {shape:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_is_remade_when_its_generator_changes() {
        let directory = tempfile::tempdir().unwrap();
        let shape = Shape {
            trades: 200,
            live_orders: 10,
            crowd: 20,
            markets: 60,
            lived: true,
        };
        let made = find_or_make(directory.path(), &shape).unwrap();
        assert!(made.write_seconds.is_some());
        // At first 12 of 20 wallets buy Yes of the first market; market makers come to hold it too.
        let everybody = u64::from(shape.crowd + history::MAKERS);
        assert!(
            (12..=everybody).contains(&made.census.holders),
            "{:?}",
            made.census
        );
        assert!(made.census.closed_positions > 0, "{:?}", made.census);
        let again = find_or_make(directory.path(), &shape).unwrap();
        assert_eq!((again.write_seconds, again.census), (None, made.census));
        let mark = made.data.with_file_name(MARKER_FILE);
        let text = fs::read_to_string(&mark).unwrap();
        fs::write(&mark, text.replace("generator", "an older generator")).unwrap();
        let anew = find_or_make(directory.path(), &shape).unwrap();
        assert!(anew.write_seconds.is_some());
        assert_eq!(fs::read_to_string(mark).unwrap(), text);
    }
}
