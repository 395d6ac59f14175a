//! The journal that is measured on: made once, kept under a directory the caller names, and made
//! anew when what makes it has changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::error::MeasureError;
use crate::history::{self, Census, Shape};

/// Name of the file that says who made a journal.
const MARK: &str = "made-by.json";
/// What makes the journal: another text of any of these may make another one.
const GENERATOR: [&str; 4] = [
    include_str!("../history.rs"),
    include_str!("../history/exits.rs"),
    include_str!("../journal_writer.rs"),
    include_str!("../dress.rs"),
];

/// What stands beside a journal that is whole.
#[derive(PartialEq, Debug, Serialize, Deserialize)]
struct Mark {
    made_by: String,
    census: Census,
}

/// A data directory with the journal.
pub(super) struct Kept {
    pub(super) data: PathBuf,
    pub(super) census: Census,
    /// Seconds it took, when it was made now.
    pub(super) write_seconds: Option<f64>,
}

/// Finds the journal of a shape under `directory`, or makes it there.
pub(super) fn find_or_make(directory: &Path, shape: &Shape) -> Result<Kept, MeasureError> {
    let name = format!(
        "foretell-bench-data-{}-{}-{}",
        shape.trades, shape.crowd, shape.markets
    );
    let place = directory.join(name);
    let (data, mark) = (place.join("data"), place.join(MARK));
    let made_by = maker(shape);
    let text = fs::read(&mark).unwrap_or_default();
    let there: Option<Mark> = serde_json::from_slice(&text).ok();
    if let Some(there) = there.filter(|there| there.made_by == made_by) {
        return Ok(Kept {
            data,
            census: there.census,
            write_seconds: None,
        });
    }
    // The mark is written last: without it nothing here is whole.
    if place.exists() {
        fs::remove_dir_all(&place).map_err(MeasureError::io("removing an older journal"))?;
    }
    fs::create_dir_all(&place).map_err(MeasureError::io("making a directory"))?;
    let began = Instant::now();
    let census = history::write(&data, shape)?.1;
    let write_seconds = began.elapsed().as_secs_f64();
    let text = serde_json::to_vec(&Mark { made_by, census }).expect("texts and numbers are JSON");
    fs::write(&mark, text).map_err(MeasureError::io("marking a journal as whole"))?;
    Ok(Kept {
        data,
        census,
        write_seconds: Some(write_seconds),
    })
}

/// Says who makes such a journal now.
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
    fn a_journal_is_made_once_and_again_when_its_maker_is_another() {
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
        // Twelve of twenty buy Yes of the first market at first; market makers come to hold it too.
        let everybody = u64::from(shape.crowd + history::MAKERS);
        assert!(
            (12..=everybody).contains(&made.census.holders),
            "{:?}",
            made.census
        );
        assert!(made.census.closed_positions > 0, "{:?}", made.census);
        let again = find_or_make(directory.path(), &shape).unwrap();
        assert_eq!((again.write_seconds, again.census), (None, made.census));
        let mark = made.data.with_file_name(MARK);
        let text = fs::read_to_string(&mark).unwrap();
        fs::write(&mark, text.replace("generator", "an older generator")).unwrap();
        let anew = find_or_make(directory.path(), &shape).unwrap();
        assert!(anew.write_seconds.is_some());
        assert_eq!(fs::read_to_string(mark).unwrap(), text);
    }
}
