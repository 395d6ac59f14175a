//! A copy that was not compared with its log yet is readable up to what disk and log had.

use std::path::Path;

use foretell_model::Sequence;

use super::local_end::LocalEnd;
use crate::control::{self, ControlPage, ControlView, EngineStart, JournalPosition};
use crate::error::JournalError;
use crate::options::Options;
use crate::recover::fill_random;
use crate::segment::FIRST_BATCH;
use crate::watermark;

/// The end of the confirmed part of a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConfirmedEnd {
    /// Term of its last batch.
    pub term: u64,
    /// The random bytes that name the journal.
    pub genesis: [u8; 32],
    /// The last sequence that readers see.
    pub last: Sequence,
}

/// Publishes a control page of the confirmed part, for readers of a host whose log does not answer.
/// A page that an engine wrote since the machine started stays: it names no less, and a reader
/// must not go back. Returns `None` for a journal without a confirmed frame.
///
/// # Errors
/// As [`LocalEnd::open`].
pub fn publish_confirmed(
    dir: &Path,
    options: &Options,
) -> Result<Option<ConfirmedEnd>, JournalError> {
    let local = LocalEnd::open(dir, options)?;
    let Some(mark) = watermark::read(dir)? else {
        return Ok(None);
    };
    let Some(end) = local.confirmed().filter(|end| end.last > Sequence(0)) else {
        return Ok(None);
    };
    let confirmed = |term, last| ConfirmedEnd {
        term,
        genesis: mark.genesis,
        last,
    };
    if let Ok(view) = ControlView::open(dir)
        && view.start.genesis == mark.genesis
        && view.durable() >= end.last
    {
        return Ok(Some(confirmed(view.start.epoch, view.durable())));
    }
    let mut of_segment = local.items().iter().filter(|it| it.segment == end.segment);
    let header = of_segment.next().unwrap_or(end);
    let mut generation = [0; 8];
    fill_random(&*options.host, &mut generation)?;
    let start = EngineStart {
        epoch: end.term,
        generation: u64::from_le_bytes(generation),
        genesis: mark.genesis,
        segment: end.segment,
        first: header.last.next(),
        found: end.last,
        is_replica: true,
    };
    let position = JournalPosition {
        segment: end.segment,
        offset: end.end.max(FIRST_BATCH),
    };
    control::supersede(dir)?;
    ControlPage::create(dir, &start, end.last, position)?;
    Ok(Some(confirmed(end.term, end.last)))
}
