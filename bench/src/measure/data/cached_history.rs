//! The measured journal: cached under a directory of the caller's, and made again when its
//! generator has changed.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::error::MeasureError;
use crate::harness::cached;
use crate::workloads::history::{self, Census, Shape};

/// Sources of the generator: a change to any of them may change the journal.
const GENERATOR: [&str; 5] = [
    include_str!("../../workloads/history.rs"),
    include_str!("../../workloads/history/closing_trades.rs"),
    include_str!("../../workloads/journal_writer.rs"),
    include_str!("../../workloads/random.rs"),
    include_str!("../../workloads/venue.rs"),
];

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
    let data = place.join("data");
    let began = Instant::now();
    let write = || Ok(history::write(&data, shape)?.1);
    let (census, is_found) = cached::find_or_make(&place, &maker(shape), write)?;
    let write_seconds = (!is_found).then(|| began.elapsed().as_secs_f64());
    Ok(CachedHistory {
        data,
        census,
        write_seconds,
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
    use std::fs;

    use super::*;
    use crate::harness::cached::MARKER_FILE;

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
