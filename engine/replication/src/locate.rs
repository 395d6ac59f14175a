//! Finds the end of a local copy in the log.

use foretell_journal::replica::{Item, LocalItem};
use thiserror::Error;

use crate::log::{Bounds, LogError};
use crate::signed::{Message, SignedLog};

/// Messages at each end of the log among which one is signed for the journal.
const SAMPLE: u64 = 256;
/// Messages before the one found by position among which a repeated one may have misled the search.
const MISLED: u64 = 4_096;

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
    /// Nothing in the log is signed for this journal.
    #[error(
        "no message of the replicated log is signed for this journal: copy cluster.key (of a reader: cluster.pub) from \
         another host of the cluster, or make the log again (foretell cluster init --from)"
    )]
    NotSigned,
    /// The caller gave up.
    #[error("the search in the replicated log was stopped")]
    Stopped,
    /// A message of the log is no item.
    #[error("message {number} of the replicated log: {why}")]
    Damaged {
        /// Its number.
        number: u64,
        /// The reason.
        why: String,
    },
}

/// Compares the items at the end of a local copy with the log. `items` are not empty. Calls `goes_on` before each
/// message that it reads: strangers may have written any number between two that count.
///
/// # Errors
/// [`LocateError`].
pub fn locate(
    log: &mut SignedLog,
    bounds: Bounds,
    items: &[LocalItem],
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<Located, LocateError> {
    let log = &mut Search { log, goes_on };
    let confirmed = items.iter().rposition(|item| item.confirmed).unwrap_or(0);
    let anchor = &items[confirmed];
    let first = first_signed(log, bounds)?.ok_or(LocateError::NotSigned)?;
    if first.position > (anchor.segment, anchor.offset) {
        return after_purge(items, &first);
    }
    let number = find(log, bounds, anchor)?.ok_or(LocateError::NotInLog {
        segment: anchor.segment,
        offset: anchor.offset,
    })?;
    let mut located = Located {
        kept: confirmed + 1,
        number,
    };
    while let Some(item) = items.get(located.kept)
        && let Some(number) = walk(log, located.number + 1, bounds.last, item)?
    {
        located.kept += 1;
        located.number = number;
    }
    Ok(located)
}

/// The log, and the caller's answer whether to read on.
struct Search<'l> {
    log: &'l mut SignedLog,
    goes_on: &'l mut dyn FnMut() -> bool,
}

/// The first message that counts; `None` if there is none at both ends of the log.
fn first_signed(log: &mut Search<'_>, bounds: Bounds) -> Result<Option<SignedItem>, LocateError> {
    let Bounds { first, last } = bounds;
    let begin = signed_from(log, first, last.min(first + SAMPLE))?;
    if begin.is_some() || signed_from(log, first.max(last.saturating_sub(SAMPLE)), last)?.is_none()
    {
        return Ok(begin);
    }
    signed_from(log, first, last)
}

/// The log begins after the anchor. The copy can go on only if the log's first message follows it;
/// the hash chain proves that when the message is written.
fn after_purge(items: &[LocalItem], first: &SignedItem) -> Result<Located, LocateError> {
    let (segment, offset) = first.position;
    let follows = |item: &LocalItem| {
        (item.segment, item.end) == (segment, offset) || (item.segment + 1, 0) == (segment, offset)
    };
    match items
        .iter()
        .rposition(|item| follows(item) && item.last.0 + 1 == first.sequence)
    {
        Some(at) => Ok(Located {
            kept: at + 1,
            number: first.number - 1,
        }),
        None => Err(LocateError::NeedsCopy {
            segment,
            offset,
            sequence: first.sequence,
        }),
    }
}

/// The message of an item. Positions rise from message to message, but for the few that a leader had in flight when a
/// stranger took a number before them: they count nowhere, and mislead a search by position a little.
fn find(
    log: &mut Search<'_>,
    bounds: Bounds,
    wanted: &LocalItem,
) -> Result<Option<u64>, LocateError> {
    let position = (wanted.segment, wanted.offset);
    let number = first_where(log, bounds, |item| item.position >= position)?;
    if let Some(found) = signed_from(log, number, bounds.last)?
        && found.digest == wanted.digest
    {
        return Ok(Some(found.number));
    }
    let from = number.saturating_sub(MISLED).max(bounds.first);
    walk(log, from, bounds.last, wanted)
}

/// The first message from number `from` on that is this item. A message of a later term ends the search: what the leader
/// before it had not in the log by then never comes.
fn walk(
    log: &mut Search<'_>,
    from: u64,
    last: u64,
    wanted: &LocalItem,
) -> Result<Option<u64>, LocateError> {
    let mut from = from;
    while let Some(found) = signed_from(log, from, last)? {
        if found.digest == wanted.digest {
            return Ok(Some(found.number));
        }
        if found.term > wanted.term {
            return Ok(None);
        }
        from = found.number + 1;
    }
    Ok(None)
}

/// The number after the messages whose items do not fulfil `is_reached`, which later ones do.
fn first_where(
    log: &mut Search<'_>,
    bounds: Bounds,
    is_reached: impl Fn(&SignedItem) -> bool,
) -> Result<u64, LocateError> {
    let (mut low, mut high) = (bounds.first, bounds.last);
    while low <= high {
        let middle = low + (high - low) / 2;
        match signed_from(log, middle, high)? {
            Some(item) if !is_reached(&item) => low = item.number + 1,
            _ => high = middle - 1,
        }
    }
    Ok(low)
}

/// A message of the log that counts.
#[derive(Debug)]
struct SignedItem {
    number: u64,
    /// Segment and offset.
    position: (u32, u32),
    term: u64,
    /// First sequence.
    sequence: u64,
    digest: [u8; 32],
}

/// The first message of a host from number `from` to `last`.
fn signed_from(
    log: &mut Search<'_>,
    from: u64,
    last: u64,
) -> Result<Option<SignedItem>, LocateError> {
    for number in from..=last {
        if !(log.goes_on)() {
            return Err(LocateError::Stopped);
        }
        let damaged = |why: String| LocateError::Damaged { number, why };
        let message = log
            .log
            .read(number)?
            .ok_or_else(|| damaged("it is missing".to_owned()))?;
        let Message::Signed { content, .. } = message else {
            continue;
        };
        let item = Item::read(&content).map_err(damaged)?;
        let first = match &item {
            Item::Segment(header) => header.first,
            Item::Batch(header, _) => header.first,
        };
        return Ok(Some(SignedItem {
            number,
            position: item.position(),
            term: item.term(),
            sequence: first.0,
            digest: *blake3::hash(&content).as_bytes(),
        }));
    }
    Ok(None)
}

/// Number of the last message whose first sequence is at most `sequence`: purging the messages before
/// it keeps that frame. `None` when the log begins after it.
///
/// # Errors
/// [`LocateError`].
pub fn message_of(
    log: &mut SignedLog,
    bounds: Bounds,
    sequence: u64,
) -> Result<Option<u64>, LocateError> {
    let goes_on = &mut || true;
    let log = &mut Search { log, goes_on };
    let after = first_where(log, bounds, |item| item.sequence > sequence)?;
    Ok(after
        .checked_sub(1)
        .filter(|number| *number >= bounds.first))
}
