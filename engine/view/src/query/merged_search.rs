//! A merged search over several lists of trades without common trades, or over parts of lists.

use std::collections::{BinaryHeap, VecDeque};
use std::ops::ControlFlow;

use crate::rows::row_filter::RowFilter;
use crate::rows::trade_list::{FilterableTrades, TradeMatch, TradeSearch};
use crate::rows::trade_slot::TradeSlot;
use crate::storage::list::WalkPosition;

/// Iterates over the matching trades of several lists, newest first. Each item has two flags:
/// whether the taker's row matches, and whether the maker's does. It ends when no trade is left, or
/// when the limit of probes (list entries examined) is reached ([`Self::is_out_of_probes`]).
///
/// It probes the lists round-robin: most of the time is cache misses, and those of several lists
/// overlap.
#[derive(Debug)]
pub struct MergedSearch<'a, 's> {
    sources: Vec<MergeSource<TradeSearch<'a, 's>>>,
    /// The next match of each list, if known.
    next: BinaryHeap<(TradeSlot, usize)>,
    buffered: usize,
    probes: usize,
    /// The probe limit was reached before the next match of some list was known.
    is_out_of_probes: bool,
}

/// The position of a merged search.
#[derive(Clone, Debug)]
pub struct MergePosition(Vec<MergeSource<WalkPosition>>);

/// The search in one list, or its position.
#[derive(Clone, Debug)]
struct MergeSource<S> {
    search: S,
    /// Matches found ahead of the merge, newest first.
    found: VecDeque<TradeMatch>,
    is_exhausted: bool,
}

impl<S> MergeSource<S> {
    fn map<T>(self, change: impl FnOnce(S) -> T) -> MergeSource<T> {
        MergeSource {
            search: change(self.search),
            found: self.found,
            is_exhausted: self.is_exhausted,
        }
    }
}

impl<'a, 's> MergedSearch<'a, 's> {
    /// Searches `lists` with at most `probes` probes of some hundred nanoseconds each. Buffers up
    /// to `buffered` matches per list.
    pub fn new(
        lists: impl Iterator<Item = FilterableTrades<'a>>,
        filter: RowFilter<'s>,
        (buffered, probes): (usize, usize),
    ) -> Self {
        let source = |list: FilterableTrades<'a>| MergeSource {
            search: list.search(filter),
            found: VecDeque::new(),
            is_exhausted: false,
        };
        Self::through(lists.map(source).collect(), (buffered, probes))
    }

    /// Continues a search over the same lists, which may have grown.
    pub fn resume(
        lists: impl Iterator<Item = FilterableTrades<'a>>,
        filter: RowFilter<'s>,
        MergePosition(sources): MergePosition,
        (buffered, probes): (usize, usize),
    ) -> Self {
        let resumed = |(list, source): (FilterableTrades<'a>, MergeSource<_>)| {
            source.map(|position| list.resume(position, filter))
        };
        let sources = lists.zip(sources).map(resumed);
        Self::through(sources.collect(), (buffered, probes))
    }

    /// The current position.
    #[must_use]
    pub fn position(self) -> MergePosition {
        let sources = self.sources.into_iter();
        let positions = sources.map(|source| source.map(|search| search.position()));
        MergePosition(positions.collect())
    }

    fn through(
        sources: Vec<MergeSource<TradeSearch<'a, 's>>>,
        (buffered, probes): (usize, usize),
    ) -> Self {
        let mut merged = Self {
            sources,
            next: BinaryHeap::new(),
            buffered: buffered.max(1),
            probes: probes.max(1),
            is_out_of_probes: false,
        };
        merged.probe();
        merged
    }

    /// Whether the probe limit was reached.
    #[must_use]
    pub fn is_out_of_probes(&self) -> bool {
        self.is_out_of_probes
    }

    /// Number of oldest trades of each list that remain.
    pub(crate) fn remaining(&self) -> Vec<usize> {
        self.sources.iter().map(MergeSource::remaining).collect()
    }

    /// The next match: its trade and the flags of its rows.
    pub(crate) fn peek(&self) -> Option<(TradeSlot, [bool; 2])> {
        let (slot, source) = *self.next.peek()?;
        Some((slot, self.sources[source].found.front()?.rows))
    }

    /// Probes all lists with few buffered matches, round-robin.
    fn probe(&mut self) {
        let Self {
            sources, probes, ..
        } = self;
        let most = self.buffered;
        let lacks = |source: &MergeSource<TradeSearch<'_, '_>>| {
            !source.is_exhausted && source.found.len() < most
        };
        let all = sources.iter().enumerate();
        let lacking = all.filter(|(_, source)| lacks(source)).map(|(at, _)| at);
        let mut lacking: Vec<usize> = lacking.collect();
        while !lacking.is_empty() && *probes > 0 {
            lacking.retain(|&at| {
                *probes = probes.saturating_sub(1);
                sources[at].probe();
                lacks(&sources[at])
            });
        }
        let next = sources.iter().enumerate();
        let next = next.filter_map(|(at, source)| Some((source.found.front()?.slot, at)));
        self.next = next.collect();
        self.is_out_of_probes = sources
            .iter()
            .any(|source| !source.is_exhausted && source.found.is_empty());
    }
}

impl MergeSource<TradeSearch<'_, '_>> {
    fn probe(&mut self) {
        match self.search.probe() {
            ControlFlow::Continue(found) => self.found.extend(found),
            ControlFlow::Break(()) => self.is_exhausted = true,
        }
    }

    fn remaining(&self) -> usize {
        match self.found.front() {
            Some(found) => found.place + 1,
            None => self.search.remaining(),
        }
    }
}

impl Iterator for MergedSearch<'_, '_> {
    type Item = (TradeSlot, [bool; 2]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_out_of_probes {
            return None;
        }
        let (slot, at) = self.next.pop()?;
        let source = &mut self.sources[at];
        let found = source.found.pop_front()?;
        match source.found.front() {
            Some(next) => self.next.push((next.slot, at)),
            None if source.is_exhausted => {}
            None => self.probe(),
        }
        Some((slot, found.rows))
    }
}

#[cfg(test)]
mod tests {
    use foretell_model::{Lots, MarketNumber, Micros, Side};
    use proptest::prelude::*;

    use super::*;
    use crate::rows::trade_entry::tests::{Listed, lists_of_trades};
    use crate::rows::trade_nodes::tests::TradeLists;

    const LISTS: usize = 3;

    /// A row: its trade, and the role (0 taker, 1 maker).
    type Row = (TradeSlot, usize);

    /// The matches of some lists by plain iteration, newest first.
    fn matches_by_iteration(
        entries: &[Listed],
        among: std::ops::Range<usize>,
        filter: &RowFilter<'_>,
    ) -> Vec<Row> {
        let entries = entries.iter().rev();
        let entries = entries.filter(|entry| among.contains(&entry.list));
        let rows = entries.flat_map(|Listed { slot, rows, .. }| {
            let matches = rows.rows().filter(|row| {
                let is_taker = row.role as usize == 0;
                let of_fill = (rows.lots(), rows.lots().value_at(row.price));
                let shown = match is_taker && filter.whole_trades {
                    true => rows.whole().map(|(_, sum)| (sum.lots, sum.value)),
                    false => Some(of_fill),
                };
                (!filter.taker_only || is_taker)
                    && filter.side.is_none_or(|side| side == row.side)
                    && shown
                        .is_some_and(|(lots, value)| lots >= filter.lots && value >= filter.value)
                    && (filter.markets).is_none_or(|markets| markets.contains(&rows.market()))
            });
            let rows: Vec<Row> = matches.map(|row| (*slot, row.role as usize)).collect();
            rows
        });
        rows.collect()
    }

    fn rows_of((slot, matches): (TradeSlot, [bool; 2])) -> impl Iterator<Item = Row> {
        let rows = matches
            .into_iter()
            .enumerate()
            .filter(|(_, matches)| *matches);
        rows.map(move |(role, _)| (slot, role))
    }

    /// All matches of a search, resumed whenever it reaches the probe limit.
    fn found(lists: &TradeLists, filter: RowFilter<'_>, reach: (usize, usize)) -> Vec<Row> {
        let all = || (0..LISTS).map(|number| lists.list(number));
        let (mut rows, mut pauses) = (Vec::new(), 0);
        let mut merged = MergedSearch::new(all(), filter, reach);
        loop {
            rows.extend(merged.by_ref().flat_map(rows_of));
            if !merged.is_out_of_probes() {
                assert_eq!(merged.remaining(), [0; LISTS]);
                return rows;
            }
            merged = MergedSearch::resume(all(), filter, merged.position(), reach);
            pauses += 1;
            assert!(pauses < 400, "no search gets further");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]

        #[test]
        fn every_offset_of_every_filter_is_the_plain_one(
            entries in lists_of_trades(LISTS, 120),
            (taker_only, whole_trades) in any::<(bool, bool)>(),
            side in prop::option::of(prop::sample::select(Side::ALL)),
            lots in prop_oneof![3 => Just(0), 1 => 1..100_u64],
            value in prop_oneof![3 => Just(0), 1 => 1..1_000_000_u64],
            markets in prop::option::weighted(0.3, prop::collection::btree_set(0..70_u32, 1..30)),
            bits in 0..5_u8,
            reach in (1..20_usize, 1..20_usize),
        ) {
            let markets: Option<Vec<_>> =
                markets.map(|markets| markets.into_iter().map(MarketNumber).collect());
            let filter = RowFilter {
                taker_only,
                whole_trades,
                side,
                lots: Lots(lots),
                value: Micros(value),
                markets: markets.as_deref(),
            };
            let lists = TradeLists::filled(bits, &entries);
            let expected = matches_by_iteration(&entries, 0..LISTS, &filter);
            prop_assert_eq!(found(&lists, filter, reach), expected);

            let expected = matches_by_iteration(&entries, 0..1, &filter);
            let list = lists.list(0);
            for offset in 0..=expected.len() + 1 {
                let mut search = list.search(filter);
                let mut skip = offset;
                search.skip(&mut skip);
                prop_assert!(filter.is_countable() || skip == offset);
                // The offset may fall between the two rows of one trade.
                prop_assert!(!filter.is_countable() || skip <= 1 || offset > expected.len());
                let left = list.oldest(search.remaining()).search(filter);
                let mut rows = Vec::new();
                for mut search in [search, left] {
                    rows.clear();
                    while let ControlFlow::Continue(found) = search.probe() {
                        rows.extend(found.into_iter().flat_map(|found| rows_of((found.slot, found.rows))));
                    }
                    let rest = rows.get(skip..).unwrap_or_default();
                    prop_assert_eq!(rest, expected.get(offset..).unwrap_or_default());
                }
            }
        }
    }
}
