//! Finds the end of a local copy in the log.

use foretell_journal::replica::{Item, LocalItem};
use thiserror::Error;

use crate::log::{Bounds, LogError, ReplicatedLog};

/// The agreement of a local copy with the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Located {
    /// Number of local items, from the first one given, that the log has too.
    pub kept: usize,
    /// Number of the message that is the last of them.
    pub number: u64,
}

/// Why a local copy cannot go on from the log.
#[derive(Debug, Error)]
pub enum LocateError {
    /// No answer.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A confirmed item is not in the log.
    #[error(
        "the replicated log does not have segment {segment}, byte {offset} as this journal has it, although disk and log had it"
    )]
    NotInLog {
        /// The segment.
        segment: u32,
        /// The offset.
        offset: u32,
    },
    /// The log no longer has what this host lacks.
    #[error(
        "the replicated log begins at segment {segment}, byte {offset} (frame {sequence}); this host lacks earlier frames: \
         start it on a copy of another host's data directory (foretell cluster seed)"
    )]
    NeedsCopy {
        /// Segment of the log's first message.
        segment: u32,
        /// Its offset.
        offset: u32,
        /// The first frame that the log has.
        sequence: u64,
    },
    /// A message of the log is no item.
    #[error("message {number} of the replicated log: {why}")]
    Damaged {
        /// Its number.
        number: u64,
        /// The reason.
        why: String,
    },
}

/// Compares the items at the end of a local copy with the log. `items` are not empty.
///
/// # Errors
/// [`LocateError`].
pub fn locate(
    log: &mut dyn ReplicatedLog,
    bounds: Bounds,
    items: &[LocalItem],
) -> Result<Located, LocateError> {
    let confirmed = items.iter().rposition(|item| item.confirmed).unwrap_or(0);
    let anchor = &items[confirmed];
    let not_in_log = LocateError::NotInLog {
        segment: anchor.segment,
        offset: anchor.offset,
    };
    if bounds.last < bounds.first {
        return Err(not_in_log);
    }
    let (position, sequence) = position(log, bounds.first)?;
    if position > (anchor.segment, anchor.offset) {
        return after_purge(items, bounds.first, (position, sequence));
    }
    let Some(number) = find(log, bounds, (anchor.segment, anchor.offset))? else {
        return Err(not_in_log);
    };
    if !is_same(log, number, anchor)? {
        return Err(not_in_log);
    }
    let mut located = Located {
        kept: confirmed + 1,
        number,
    };
    while let Some(item) = items.get(located.kept)
        && is_same(log, located.number + 1, item)?
    {
        located.kept += 1;
        located.number += 1;
    }
    Ok(located)
}

/// The log begins after the anchor. The copy can go on only if the log's first message follows it;
/// the hash chain proves that when the message is written.
fn after_purge(
    items: &[LocalItem],
    first: u64,
    ((segment, offset), sequence): ((u32, u32), u64),
) -> Result<Located, LocateError> {
    let follows = |item: &LocalItem| {
        (item.segment, item.end) == (segment, offset) || (item.segment + 1, 0) == (segment, offset)
    };
    match items
        .iter()
        .rposition(|item| follows(item) && item.last.0 + 1 == sequence)
    {
        Some(at) => Ok(Located {
            kept: at + 1,
            number: first - 1,
        }),
        None => Err(LocateError::NeedsCopy {
            segment,
            offset,
            sequence,
        }),
    }
}

/// The message at a position of the journal. Positions rise from message to message.
fn find(
    log: &mut dyn ReplicatedLog,
    bounds: Bounds,
    wanted: (u32, u32),
) -> Result<Option<u64>, LocateError> {
    let (mut low, mut high) = (bounds.first, bounds.last);
    while low <= high {
        let middle = low + (high - low) / 2;
        match position(log, middle)?.0.cmp(&wanted) {
            std::cmp::Ordering::Equal => return Ok(Some(middle)),
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle - 1,
        }
    }
    Ok(None)
}

/// Segment, offset and first sequence of a message.
fn position(log: &mut dyn ReplicatedLog, number: u64) -> Result<((u32, u32), u64), LocateError> {
    let damaged = |why: String| LocateError::Damaged { number, why };
    let bytes = log
        .read(number)?
        .ok_or_else(|| damaged("it is missing".to_owned()))?;
    let item = Item::read(&bytes.bytes).map_err(damaged)?;
    let first = match &item {
        Item::Segment(header) => header.first,
        Item::Batch(header, _) => header.first,
    };
    Ok((item.position(), first.0))
}

fn is_same(
    log: &mut dyn ReplicatedLog,
    number: u64,
    item: &LocalItem,
) -> Result<bool, LocateError> {
    let bytes = log.read(number)?;
    Ok(bytes.is_some_and(|it| *blake3::hash(&it.bytes).as_bytes() == item.digest))
}

/// Number of the last message whose first sequence is at most `sequence`: purging the messages before
/// it keeps that frame. `None` when the log begins after it.
///
/// # Errors
/// [`LocateError`].
pub fn message_of(
    log: &mut dyn ReplicatedLog,
    bounds: Bounds,
    sequence: u64,
) -> Result<Option<u64>, LocateError> {
    let (mut low, mut high, mut found) = (bounds.first, bounds.last, None);
    while low <= high {
        let middle = low + (high - low) / 2;
        if position(log, middle)?.1 <= sequence {
            found = Some(middle);
            low = middle + 1;
        } else {
            high = middle - 1;
        }
    }
    Ok(found)
}
