//! Several lists of trades that share none, or parts of one, searched as one.

use std::collections::{BinaryHeap, VecDeque};
use std::ops::ControlFlow;

use crate::list::Pause;
use crate::slots::{Found, Search, ToldSlots};
use crate::sought::Sought;
use crate::trade::TradeSlot;

/// A way from new to old through some lists at once: each trade, and whether the taker's and the
/// maker's row of it are sought. It ends where nothing is left, or where a number of looks did not
/// last to find the next one ([`Self::is_stuck`]).
///
/// The lists are looked through by turns: so the memory of several is waited for at once, and that takes
/// most of the time.
#[derive(Debug)]
pub struct Merged<'a, 's> {
    ways: Vec<Way<'a, 's>>,
    /// The next of each list of which it is known.
    next: BinaryHeap<(TradeSlot, usize)>,
    beforehand: usize,
    looks: usize,
    /// The next of a list is not known: the looks did not last.
    is_stuck: bool,
}

/// How far a way through lists has come.
#[derive(Clone, Debug)]
pub struct Paused(Vec<PausedWay>);

#[derive(Clone, Debug)]
struct PausedWay {
    pause: Pause,
    found: VecDeque<Found>,
    is_over: bool,
}

/// The way through one list.
#[derive(Debug)]
struct Way<'a, 's> {
    search: Search<'a, 's>,
    /// What was found and is not asked for yet, the newest first.
    found: VecDeque<Found>,
    is_over: bool,
}

impl<'a, 's> Merged<'a, 's> {
    /// Through some lists, with as many `looks`, each of which takes some hundred nanoseconds. Of each list
    /// as many trades are found `beforehand`.
    pub fn new(
        lists: impl Iterator<Item = ToldSlots<'a>>,
        sought: Sought<'s>,
        (beforehand, looks): (usize, usize),
    ) -> Self {
        let way = |list: ToldSlots<'a>| Way {
            search: list.search(sought),
            found: VecDeque::new(),
            is_over: false,
        };
        Self::through(lists.map(way).collect(), (beforehand, looks))
    }

    /// Goes on with a way through the same lists, which may have grown.
    pub fn resume(
        lists: impl Iterator<Item = ToldSlots<'a>>,
        sought: Sought<'s>,
        Paused(ways): Paused,
        (beforehand, looks): (usize, usize),
    ) -> Self {
        let ways = lists.zip(ways).map(|(list, way)| Way {
            search: list.resume(way.pause, sought),
            found: way.found,
            is_over: way.is_over,
        });
        Self::through(ways.collect(), (beforehand, looks))
    }

    /// Where it would go on.
    #[must_use]
    pub fn pause(self) -> Paused {
        let ways = self.ways.into_iter().map(|way| PausedWay {
            pause: way.search.pause(),
            found: way.found,
            is_over: way.is_over,
        });
        Paused(ways.collect())
    }

    fn through(ways: Vec<Way<'a, 's>>, (beforehand, looks): (usize, usize)) -> Self {
        let mut merged = Self {
            ways,
            next: BinaryHeap::new(),
            beforehand: beforehand.max(1),
            looks: looks.max(1),
            is_stuck: false,
        };
        merged.look();
        merged
    }

    /// Whether the looks did not last.
    #[must_use]
    pub fn is_stuck(&self) -> bool {
        self.is_stuck
    }

    /// How many of the oldest of each list are still ahead.
    pub(crate) fn ahead(&self) -> Vec<usize> {
        self.ways.iter().map(Way::ahead).collect()
    }

    /// What comes next: which trade, and which rows of it.
    pub(crate) fn peek(&self) -> Option<(TradeSlot, [bool; 2])> {
        let (slot, way) = *self.next.peek()?;
        Some((slot, self.ways[way].found.front()?.rows))
    }

    /// Looks for more in all lists of which little is known, by turns.
    fn look(&mut self) {
        let Self { ways, looks, .. } = self;
        let most = self.beforehand;
        let lacks = |way: &Way<'_, '_>| !way.is_over && way.found.len() < most;
        let all = ways.iter().enumerate();
        let lacking = all.filter(|(_, way)| lacks(way)).map(|(at, _)| at);
        let mut lacking: Vec<usize> = lacking.collect();
        while !lacking.is_empty() && *looks > 0 {
            lacking.retain(|&at| {
                *looks = looks.saturating_sub(1);
                ways[at].look();
                lacks(&ways[at])
            });
        }
        let next = ways.iter().enumerate();
        let next = next.filter_map(|(at, way)| Some((way.found.front()?.slot, at)));
        self.next = next.collect();
        self.is_stuck = ways.iter().any(|way| !way.is_over && way.found.is_empty());
    }
}

impl Way<'_, '_> {
    fn look(&mut self) {
        match self.search.look() {
            ControlFlow::Continue(found) => self.found.extend(found),
            ControlFlow::Break(()) => self.is_over = true,
        }
    }

    fn ahead(&self) -> usize {
        match self.found.front() {
            Some(found) => found.place + 1,
            None => self.search.ahead(),
        }
    }
}

impl Iterator for Merged<'_, '_> {
    type Item = (TradeSlot, [bool; 2]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_stuck {
            return None;
        }
        let (slot, at) = self.next.pop()?;
        let way = &mut self.ways[at];
        let found = way.found.pop_front()?;
        match way.found.front() {
            Some(next) => self.next.push((next.slot, at)),
            None if way.is_over => {}
            None => self.look(),
        }
        Some((slot, found.rows))
    }
}

#[cfg(test)]
mod tests {
    use foretell_model::{Lots, MarketNumber, Micros, Side};
    use proptest::prelude::*;

    use super::*;
    use crate::chunk::Chunking;
    use crate::list::{Heads, Lists};
    use crate::log::Log;
    use crate::slots::Slots;
    use crate::span::Span;
    use crate::trade_rows::tests::{Listed, lists_of_trades};

    const LISTS: usize = 3;

    /// A row: its trade, and whether it is the taker's or the maker's.
    type Row = (TradeSlot, usize);

    fn filled(bits: u8, entries: &[Listed]) -> Lists<Span> {
        let mut lists = Lists::of(Log::new(Chunking::Bits(bits)), Heads::default());
        for entry in entries {
            lists.push_with(entry.list, entry.rows).unwrap();
        }
        lists
    }

    /// What is meant of some lists, one by one, newest first.
    fn plainly(entries: &[Listed], among: std::ops::Range<usize>, sought: &Sought<'_>) -> Vec<Row> {
        let entries = entries.iter().rev();
        let entries = entries.filter(|entry| among.contains(&entry.list));
        let rows = entries.flat_map(|Listed { slot, rows, .. }| {
            let meant = rows.rows().filter(|row| {
                (!sought.taker_only || row.role as usize == 0)
                    && sought.side.is_none_or(|side| side == row.side)
                    && rows.lots() >= sought.lots
                    && rows.lots().value_at(row.price) >= sought.value
                    && (sought.markets).is_none_or(|markets| markets.contains(&rows.market()))
            });
            let rows: Vec<Row> = meant.map(|row| (*slot, row.role as usize)).collect();
            rows
        });
        rows.collect()
    }

    fn rows_of((slot, meant): (TradeSlot, [bool; 2])) -> impl Iterator<Item = Row> {
        let rows = meant.into_iter().enumerate().filter(|(_, meant)| *meant);
        rows.map(move |(role, _)| (slot, role))
    }

    /// All that a way through lists finds, resumed whenever the looks did not last.
    fn found(lists: &Lists<Span>, sought: Sought<'_>, reach: (usize, usize)) -> Vec<Row> {
        let all = || (0..LISTS).map(|number| Slots::of(lists.list(number)));
        let (mut rows, mut pauses) = (Vec::new(), 0);
        let mut merged = Merged::new(all(), sought, reach);
        loop {
            rows.extend(merged.by_ref().flat_map(rows_of));
            if !merged.is_stuck() {
                assert_eq!(merged.ahead(), [0; LISTS]);
                return rows;
            }
            merged = Merged::resume(all(), sought, merged.pause(), reach);
            pauses += 1;
            assert!(pauses < 400, "no way comes further");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]

        #[test]
        fn every_offset_of_every_filter_is_the_plain_one(
            entries in lists_of_trades(LISTS, 120),
            taker_only: bool,
            side in prop::option::of(prop::sample::select(Side::ALL)),
            lots in prop_oneof![3 => Just(0), 1 => 1..100_u64],
            value in prop_oneof![3 => Just(0), 1 => 1..1_000_000_u64],
            markets in prop::option::weighted(0.3, prop::collection::btree_set(0..70_u32, 1..30)),
            bits in 0..5_u8,
            reach in (1..20_usize, 1..20_usize),
        ) {
            let markets: Option<Vec<_>> =
                markets.map(|markets| markets.into_iter().map(MarketNumber).collect());
            let sought = Sought {
                taker_only,
                side,
                lots: Lots(lots),
                value: Micros(value),
                markets: markets.as_deref(),
            };
            let lists = filled(bits, &entries);
            let expected = plainly(&entries, 0..LISTS, &sought);
            prop_assert_eq!(found(&lists, sought, reach), expected);

            let expected = plainly(&entries, 0..1, &sought);
            let list = Slots::of(lists.list(0));
            for offset in 0..=expected.len() + 1 {
                let mut search = list.search(sought);
                let mut skip = offset;
                search.pass(&mut skip);
                prop_assert!(sought.is_counted() || skip == offset);
                // Of a trade with two rows the first may be before the offset.
                prop_assert!(!sought.is_counted() || skip <= 1 || offset > expected.len());
                let left = list.oldest(search.ahead()).search(sought);
                let mut rows = Vec::new();
                for mut search in [search, left] {
                    rows.clear();
                    while let ControlFlow::Continue(found) = search.look() {
                        rows.extend(found.into_iter().flat_map(|found| rows_of((found.slot, found.rows))));
                    }
                    let rest = rows.get(skip..).unwrap_or_default();
                    prop_assert_eq!(rest, expected.get(offset..).unwrap_or_default());
                }
            }
        }
    }
}
