//! Lists over a log: the rows of another log for each account, market and so on.
//!
//! A list is a tree of nodes that are never changed. A posting is the node of one entry, a span that
//! of [`FAN_OUT`] postings or spans. Each refers to the node of the entries before its own, so the
//! newest node of each list, its end, leads to all others in logarithmic time. A span is written
//! with the last posting it covers; the rank of a posting alone determines which spans end with it.
//!
//! A span has a [`Summary`] of its entries. A search for rare rows skips spans without them, and a
//! count adds up spans without reading their entries ([`walk`]).

mod walk;

pub(crate) use walk::{Probe, Walk, WalkPosition};

use core::fmt::Debug;

use foretell_model::codec::{Fixed, fixed};

use crate::error::Impossible;
use crate::storage::by_number::entry_of;
use crate::storage::chunk::Chunking;
use crate::storage::log::Log;
use crate::storage::row::LogRow;
use crate::storage::slot::{self, Packed};

/// Binary logarithm of [`FAN_OUT`].
const FAN_BITS: u32 = 3;
/// Number of nodes that a span covers.
const FAN_OUT: u64 = 1 << FAN_BITS;

/// A summary of several entries of a list.
pub trait Summary: Fixed + Copy + Default {
    /// One entry, as far as summaries and searches concern it.
    type Entry: Copy + Debug;
    /// A reader of the nodes.
    type Nodes<'a>: Nodes<Self>;

    /// The level of the largest spans. Their number of entries, 2^30, fits into 32 bits.
    const MAX_LEVEL: u32 = 10;

    /// The summary of one entry.
    fn of(entry: &Self::Entry) -> Self;

    /// The summary of the entries of both.
    #[must_use]
    fn join(self, other: Self) -> Self;
}

/// Reads nodes by slot. Postings and spans have slots of their own.
pub trait Nodes<S: Summary>: Copy + Debug {
    /// The slot of the node before a posting, and its entry.
    fn posting(self, slot: u64) -> Option<(u64, S::Entry)>;

    /// The target of a posting. Targets ascend along a list.
    fn target(self, slot: u64) -> Option<u64>;

    /// A span.
    fn span(self, slot: u64) -> Option<Span<S>>;

    /// Prefetches a node.
    fn prefetch(self, slot: u64, is_span: bool);
}

fixed! {
    /// The node of several entries. In lists of which nothing but targets is stored, also that of one.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Span<S: Summary> {
        /// Slot of the node before its entries; 0 at the start of the list.
        older: Packed,
        /// Slot of the newest node that it covers; 0 for one entry.
        newest: Packed,
        /// The target of its newest entry.
        target: Packed,
        /// The summary of its entries.
        summary: S,
    }
}

impl<S: Summary> Span<S> {
    /// The entries before those of this span, which is at the cursor.
    fn before(&self, at: Cursor) -> Cursor {
        Cursor::at::<S>(self.older.slot(), at.len - at.width())
    }

    /// The same entries as of the cursor at this span, at the newest node that it covers.
    fn inside(&self, at: Cursor) -> Cursor {
        Cursor {
            slot: self.newest.slot(),
            level: at.level - 1,
            ..at
        }
    }
}

impl<S: Summary> LogRow for Span<S> {
    const CHUNK_BITS: u32 = if S::SIZE == 0 { 17 } else { 16 };
}

/// No summary.
impl Summary for () {
    type Entry = ();
    type Nodes<'a> = &'a Log<Span<()>>;

    fn of((): &()) -> Self {}

    fn join(self, (): Self) -> Self {}
}

/// Postings and spans in one log, each entry its own summary.
impl<S: Summary<Entry = S> + Debug> Nodes<S> for &Log<Span<S>> {
    fn posting(self, slot: u64) -> Option<(u64, S)> {
        self.get(slot).map(|node| (node.older.slot(), node.summary))
    }

    fn target(self, slot: u64) -> Option<u64> {
        self.get(slot).map(|node| node.target.slot())
    }

    fn span(self, slot: u64) -> Option<Span<S>> {
        self.get(slot)
    }

    fn prefetch(self, slot: u64, _: bool) {
        Log::prefetch(self, slot, 0..Span::<S>::SIZE);
    }
}

fixed! {
    /// The end of a list. It has what the next span needs of its postings, so that none of them is read
    /// again.
    #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
    pub(crate) struct ListEnd<S: Summary> {
        /// Slot of the largest node that ends with its newest entry; 0 for an empty list.
        last: Packed,
        /// Its length.
        len: Packed,
        /// Slot of the node before the postings that no span covers; 0 if there are none.
        before: Packed,
        /// The summary of these postings.
        summary: S,
    }
}

impl<S: Summary> ListEnd<S> {
    /// Its length.
    fn len(&self) -> u64 {
        self.len.slot()
    }

    /// Whether the list has no entry.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds the posting of an entry with this summary. The posting gets the returned node as the one
    /// before it. Spans may end with it.
    pub(crate) fn push(&mut self, posting: u64, entry: S) -> Result<Packed, Impossible> {
        let (len, older) = (self.len() + 1, self.last);
        // Only invalid bytes can claim such a length.
        if len >= slot::END {
            return Err(Impossible::HistoryUnreadable);
        }
        (self.before, self.summary) = match self.is_covered() {
            true => (older, entry),
            false => (self.before, self.summary.join(entry)),
        };
        (self.last, self.len) = (Packed::of(posting), Packed::of(len));
        Ok(older)
    }

    /// Whether spans cover all its postings, or end with the newest.
    fn is_covered(&self) -> bool {
        self.len().is_multiple_of(FAN_OUT)
    }
}

/// The ends of all lists of one kind, by number; missing ones are empty.
pub(crate) type ListEnds<S> = Vec<ListEnd<S>>;

/// The `len` oldest entries of a list, and a node that ends with the newest of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Cursor {
    len: u64,
    slot: u64,
    /// 0 for a posting, else that of the span.
    level: u32,
}

impl Cursor {
    /// At the largest node that ends there.
    fn at<S: Summary>(slot: u64, len: u64) -> Self {
        let level = match len {
            0 => 0,
            _ => (len.trailing_zeros() / FAN_BITS).min(S::MAX_LEVEL),
        };
        Self { len, slot, level }
    }

    /// Number of entries of the node.
    fn width(self) -> u64 {
        1 << (FAN_BITS * self.level)
    }
}

/// Where the nodes of a list are written.
pub(crate) trait NodeLog<S: Summary> {
    fn nodes(&self) -> S::Nodes<'_>;

    /// Appends a span and returns its slot.
    fn push_span(&mut self, span: &Span<S>) -> Result<u64, Impossible>;
}

impl<S> NodeLog<S> for Log<Span<S>>
where
    S: for<'a> Summary<Nodes<'a> = &'a Log<Span<S>>>,
{
    fn nodes(&self) -> &Self {
        self
    }

    fn push_span(&mut self, span: &Span<S>) -> Result<u64, Impossible> {
        let slot = self.len();
        self.push(span)?;
        Ok(slot)
    }
}

/// Writes the spans that end with the newest posting of a list.
pub(crate) fn write_spans<S: Summary>(
    log: &mut impl NodeLog<S>,
    end: &mut ListEnd<S>,
) -> Result<(), Impossible> {
    if !end.is_covered() {
        return Ok(());
    }
    let top = Cursor::at::<S>(end.last.slot(), end.len());
    let mut newest = Cursor { level: 0, ..top };
    while newest.level < top.level {
        let span = match newest.level {
            0 => span_over_postings(log.nodes(), end),
            _ => span_over_spans(log.nodes(), newest),
        };
        newest.slot = log.push_span(&span.ok_or(Impossible::HistoryUnreadable)?)?;
        newest.level += 1;
    }
    *end = ListEnd {
        last: Packed::of(newest.slot),
        len: end.len,
        ..ListEnd::default()
    };
    Ok(())
}

/// The span over the newest postings of a list.
fn span_over_postings<S: Summary>(nodes: S::Nodes<'_>, end: &ListEnd<S>) -> Option<Span<S>> {
    Some(Span {
        older: end.before,
        newest: end.last,
        target: Packed::of(nodes.target(end.last.slot())?),
        summary: end.summary,
    })
}

/// The span over a span and those of its level before it.
fn span_over_spans<S: Summary>(nodes: S::Nodes<'_>, newest: Cursor) -> Option<Span<S>> {
    let list = List::<S> { nodes, end: newest };
    let (mut older, mut summary) = list.node(newest)?;
    for _ in 1..FAN_OUT {
        let (before, one) = list.node(older)?;
        (older, summary) = (before, summary.join(one));
    }
    Some(Span {
        older: Packed::of(older.slot),
        newest: Packed::of(newest.slot),
        target: Packed::of(list.target(newest)?),
        summary,
    })
}

/// Lists of one kind by a dense number, such as those of all accounts.
#[derive(Debug)]
pub(crate) struct Lists<S: Summary = ()> {
    pub(crate) nodes: Log<Span<S>>,
    /// The ends of the lists.
    pub(crate) ends: ListEnds<S>,
}

impl<S> Lists<S>
where
    S: Summary<Entry = S> + for<'a> Summary<Nodes<'a> = &'a Log<Span<S>>>,
{
    /// No lists.
    pub(crate) fn new(chunking: Chunking) -> Self {
        Self {
            nodes: Log::new(chunking),
            ends: ListEnds::default(),
        }
    }

    /// The list with this number; it may be empty.
    pub(crate) fn list(&self, number: usize) -> List<'_, S> {
        List::of(&self.nodes, self.ends.get(number))
    }

    /// An empty list.
    pub(crate) fn empty(&self) -> List<'_, S> {
        List::of(&self.nodes, None)
    }

    /// Appends an entry. Targets ascend along a list.
    pub(crate) fn push_with(
        &mut self,
        number: usize,
        target: u64,
        entry: S,
    ) -> Result<(), Impossible> {
        let end = entry_of(&mut self.ends, number);
        let older = end.push(self.nodes.len(), entry)?;
        self.nodes.push(&Span {
            older,
            newest: Packed::default(),
            target: Packed::of(target),
            summary: entry,
        })?;
        write_spans(&mut self.nodes, end)
    }
}

impl Lists {
    /// Appends to a list without summaries.
    pub(crate) fn push(&mut self, number: usize, target: u64) -> Result<(), Impossible> {
        self.push_with(number, target, ())
    }
}

/// A read view of one list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List<'a, S: Summary = ()> {
    nodes: S::Nodes<'a>,
    end: Cursor,
}

impl<'a, S: Summary> List<'a, S> {
    /// The list with this end; an empty one for `None`.
    pub(crate) fn of(nodes: S::Nodes<'a>, end: Option<&ListEnd<S>>) -> Self {
        let (last, len) = end.map_or((0, 0), |end| (end.last.slot(), end.len()));
        Self {
            nodes,
            end: Cursor::at::<S>(last, len),
        }
    }

    /// Its length.
    pub(crate) fn len(&self) -> u64 {
        self.end.len
    }

    /// The target at an index, the oldest at 0.
    pub(crate) fn get(&self, rank: u64) -> Option<u64> {
        if rank >= self.len() {
            return None;
        }
        self.target(self.oldest(rank + 1)?)
    }

    /// Number of oldest entries that satisfy `early`, which must hold for a prefix of the list.
    pub(crate) fn partition_point(&self, early: impl Fn(u64) -> bool) -> u64 {
        let is_early = |at| self.target(at).is_none_or(&early);
        if self.len() == 0 || is_early(self.end) {
            return self.len();
        }
        // The newest entry at the cursor is never early.
        let mut at = self.end;
        while let Some(older) = self.older(at) {
            let is_bound = older.len == 0 || is_early(older);
            at = match (is_bound, at.level) {
                (false, _) => older,
                (true, 0) => return older.len,
                (true, _) => match self.inside(at) {
                    Some(inside) => inside,
                    None => break,
                },
            };
        }
        at.len
    }

    /// The `end` oldest entries, newest first.
    pub(crate) fn newest_first(&self, end: u64) -> NewestFirst<'a, S> {
        NewestFirst {
            list: *self,
            next: self.oldest(end.min(self.len())),
        }
    }

    /// The cursor after the `len` oldest entries, at the largest node that ends there.
    fn oldest(&self, len: u64) -> Option<Cursor> {
        let mut at = self.end;
        while at.len > len {
            at = match at.len - at.width() >= len {
                true => self.older(at)?,
                false => self.inside(at)?,
            };
        }
        Some(at)
    }

    /// The target of the newest entry at a cursor.
    fn target(&self, at: Cursor) -> Option<u64> {
        match at.level {
            0 => self.nodes.target(at.slot),
            _ => self.nodes.span(at.slot).map(|span| span.target.slot()),
        }
    }

    /// The entries before the node at a cursor of some entries, and the summary of the node. Cursors
    /// only get shorter or lower, so every walk ends, even over invalid bytes.
    fn node(&self, at: Cursor) -> Option<(Cursor, S)> {
        if at.level > 0 {
            let span = self.nodes.span(at.slot)?;
            return Some((span.before(at), span.summary));
        }
        let (older, entry) = self.nodes.posting(at.slot)?;
        Some((Cursor::at::<S>(older, at.len - 1), S::of(&entry)))
    }

    fn older(&self, at: Cursor) -> Option<Cursor> {
        self.node(at).map(|(older, _)| older)
    }

    fn inside(&self, at: Cursor) -> Option<Cursor> {
        Some(self.nodes.span(at.slot)?.inside(at))
    }
}

/// Entries of a list, newest first.
#[derive(Clone, Debug)]
pub(crate) struct NewestFirst<'a, S: Summary> {
    list: List<'a, S>,
    next: Option<Cursor>,
}

impl<S: Summary> Iterator for NewestFirst<'_, S> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let mut at = self.next.filter(|at| at.len > 0)?;
        while at.level > 0 {
            at = self.list.inside(at)?;
        }
        self.next = self.list.older(at);
        self.list.nodes.target(at.slot)
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use proptest::prelude::*;

    use super::*;
    use crate::storage::slot::count;

    const NUMBERS: usize = 4;

    fn filled(bits: u8, pushes: &[usize]) -> (Lists, Vec<Vec<u64>>) {
        let mut lists = Lists::<()>::new(Chunking::Bits(bits));
        let mut plain = vec![Vec::new(); NUMBERS];
        for (target, &number) in (0..).zip(pushes) {
            lists.push(number, target * 2).unwrap();
            plain[number].push(target * 2);
        }
        (lists, plain)
    }

    proptest! {
        #[test]
        fn a_list_is_a_list(
            pushes in prop::collection::vec(0..NUMBERS, 0..400),
            bits in 0..6_u8,
            bound in 0..900_u64,
        ) {
            let (lists, plain) = filled(bits, &pushes);
            for (number, plain) in plain.iter().enumerate() {
                let list = lists.list(number);
                prop_assert_eq!(list.len(), plain.len() as u64);
                for (rank, &target) in (0..).zip(plain) {
                    prop_assert_eq!(list.get(rank), Some(target));
                }
                prop_assert_eq!(list.get(list.len()), None);
                prop_assert_eq!(
                    count(list.partition_point(|target| target < bound)),
                    plain.partition_point(|&target| target < bound)
                );
                for end in [0, list.len() / 2, list.len(), u64::MAX] {
                    let end_of_plain = plain.len().min(count(end));
                    let newest: Vec<u64> = list.newest_first(end).collect();
                    let expected: Vec<u64> = plain[..end_of_plain].iter().rev().copied().collect();
                    prop_assert_eq!(newest, expected);
                }
            }
            prop_assert_eq!(lists.list(NUMBERS).len(), 0);
        }
    }

    #[test]
    fn every_place_of_a_long_list_is_near() {
        const LONG: u64 = 100_000;
        let (lists, _) = filled(10, &vec![0; count(LONG)]);
        let list = lists.list(0);
        for rank in (0..LONG).step_by(997) {
            let steps = Cell::new(0);
            let early = |target| {
                steps.set(steps.get() + 1);
                target < rank * 2
            };
            assert_eq!(list.partition_point(early), rank);
            let steps = steps.get();
            assert!(steps <= 4 * LONG.ilog2(), "{steps} steps to {rank}");
        }
    }

    #[test]
    fn an_end_that_is_not_one_leads_nowhere() {
        let (mut lists, _) = filled(4, &[0; 5]);
        for (last, len) in (0..9).flat_map(|last| (0..70).map(move |len| (last, len))) {
            let (last, len) = (Packed::of(last), Packed::of(len));
            lists.ends = vec![ListEnd {
                last,
                len,
                ..ListEnd::default()
            }];
            let list = lists.list(0);
            assert!(list.newest_first(u64::MAX).count() <= count(len.slot()));
            let _ = (list.get(0), list.partition_point(|_| false));
            let _ = list.partition_point(|target| target < 5);
            let _ = lists.push(0, 5);
        }
    }
}
