//! Batch sizes of a running engine.

use std::path::Path;

use foretell_journal::batch::{BatchHeader, HEADER_BYTES};
use foretell_journal::segment::{self, FIRST_BATCH};
use foretell_model::Sequence;

use crate::error::MeasureError;

/// Mean batch size after the sequence `after`, headers and padding included. The last batch is on
/// disk too, because its frames are acknowledged.
pub(super) fn mean_bytes(journal: &Path, after: Sequence) -> Result<usize, MeasureError> {
    let (mut count, mut bytes) = (0, 0);
    for number in 1.. {
        let path = segment::path(journal, number);
        if !path.exists() {
            break;
        }
        let segment = std::fs::read(path).map_err(MeasureError::io("reading the journal"))?;
        let mut at = FIRST_BATCH as usize;
        while let Some(header) = segment
            .get(at..)
            .and_then(|rest| BatchHeader::read(rest).ok())
        {
            if header.first > after {
                count += 1;
                bytes += header.total();
            }
            at += header.total().max(HEADER_BYTES);
        }
    }
    if count == 0 {
        return Err(MeasureError::Wrong(
            "nothing was written under load".to_owned(),
        ));
    }
    Ok(bytes / count)
}
