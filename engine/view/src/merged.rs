//! Several lists of trades that share none, searched as one.

use std::collections::BinaryHeap;

use crate::slots::{Found, Search, ToldSlots};
use crate::sought::Sought;
use crate::trade::TradeSlot;

/// A way from new to old through some lists at once: each trade, and whether the taker's and the
/// maker's row of it are sought. It ends where nothing is left, or where a number of looks did not
/// last to find the next one ([`Self::is_stuck`]).
#[derive(Debug)]
pub struct Merged<'a, 's> {
    searches: Vec<Search<'a, 's>>,
    /// How many of the oldest of each list are still ahead, the one in `next` among them.
    ahead: Vec<usize>,
    /// The next of each list that has one: of which list, and which rows of it are sought.
    next: BinaryHeap<(TradeSlot, usize, [bool; 2])>,
    looks: usize,
    /// The next of a list is not known: the looks did not last.
    is_stuck: bool,
}

impl<'a, 's> Merged<'a, 's> {
    /// Through some lists, with as many `looks`, but more than there are lists: so that starting again
    /// from where an earlier way came to, it comes further.
    pub fn new(
        lists: impl Iterator<Item = ToldSlots<'a>>,
        sought: Sought<'s>,
        looks: usize,
    ) -> Self {
        let searches: Vec<_> = lists.map(|list| list.search(sought)).collect();
        let mut merged = Self {
            ahead: vec![0; searches.len()],
            next: BinaryHeap::with_capacity(searches.len()),
            looks: looks.max(searches.len() + 1),
            searches,
            is_stuck: false,
        };
        for list in 0..merged.searches.len() {
            merged.look(list);
        }
        merged
    }

    /// Whether the looks did not last.
    #[must_use]
    pub fn is_stuck(&self) -> bool {
        self.is_stuck
    }

    /// How many of the oldest of each list another way has to go through, to go on where this one is.
    #[must_use]
    pub fn ahead(&self) -> &[usize] {
        &self.ahead
    }

    /// Looks for the next one of a list.
    fn look(&mut self, list: usize) {
        let search = &mut self.searches[list];
        let found = search.next(&mut self.looks);
        self.ahead[list] = match found {
            Some(Found { place, .. }) => place + 1,
            None => search.ahead(),
        };
        match found {
            Some(Found {
                slot, taker, maker, ..
            }) => self.next.push((slot, list, [taker, maker])),
            None => self.is_stuck |= self.ahead[list] > 0,
        }
    }
}

impl Iterator for Merged<'_, '_> {
    type Item = (TradeSlot, [bool; 2]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_stuck {
            return None;
        }
        let (slot, list, rows) = self.next.pop()?;
        self.look(list);
        Some((slot, rows))
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
    use crate::trade_rows::TradeRows;
    use crate::trade_rows::tests::rows_of_trades;

    const LISTS: usize = 3;

    /// A row: its trade, and whether it is the taker's or the maker's.
    type Row = (TradeSlot, usize);

    fn filled(bits: u8, entries: &[(usize, TradeRows)]) -> Lists<Span> {
        let mut lists = Lists::of(Log::new(Chunking::Bits(bits)), Heads::default());
        for (slot, (list, rows)) in (0..).zip(entries) {
            lists.push_with(*list, slot, *rows).unwrap();
        }
        lists
    }

    /// What is meant of some lists, one by one, newest first.
    fn plainly(
        entries: &[(usize, TradeRows)],
        among: std::ops::Range<usize>,
        sought: &Sought<'_>,
    ) -> Vec<Row> {
        let entries = (0_u32..1_000)
            .zip(entries)
            .collect::<Vec<_>>()
            .into_iter()
            .rev();
        let entries = entries.filter(|(_, (list, _))| among.contains(list));
        let rows = entries.flat_map(|(slot, (_, rows))| {
            let meant = rows.rows().filter(|row| {
                (!sought.taker_only || row.role as usize == 0)
                    && sought.side.is_none_or(|side| side == row.side)
                    && rows.lots() >= sought.lots
                    && rows.lots().value_at(row.price) >= sought.value
                    && (sought.markets).is_none_or(|markets| markets.contains(&rows.market()))
            });
            let rows: Vec<Row> = meant
                .map(|row| (TradeSlot(slot), row.role as usize))
                .collect();
            rows
        });
        rows.collect()
    }

    fn rows_of((slot, meant): (TradeSlot, [bool; 2])) -> impl Iterator<Item = Row> {
        let rows = meant.into_iter().enumerate().filter(|(_, meant)| *meant);
        rows.map(move |(role, _)| (slot, role))
    }

    /// All that a way through lists finds, begun anew whenever the looks did not last.
    fn found(lists: &Lists<Span>, sought: Sought<'_>, looks: usize) -> Vec<Row> {
        let list = |number| Slots::of(lists.list(number));
        let mut ahead: Vec<usize> = (0..LISTS).map(|number| list(number).len()).collect();
        let (mut rows, mut ways) = (Vec::new(), 0);
        loop {
            let left = ahead.iter().enumerate();
            let left = left.map(|(number, ahead)| list(number).oldest(*ahead));
            let mut merged = Merged::new(left, sought, looks);
            rows.extend(merged.by_ref().flat_map(rows_of));
            if !merged.is_stuck() {
                return rows;
            }
            ahead = merged.ahead().to_vec();
            ways += 1;
            assert!(ways < 400, "no way comes further");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]

        #[test]
        fn every_offset_of_every_filter_is_the_plain_one(
            entries in prop::collection::vec((0..LISTS, rows_of_trades()), 0..120),
            taker_only: bool,
            side in prop::option::of(prop::sample::select(Side::ALL)),
            lots in prop_oneof![3 => Just(0), 1 => 1..100_u64],
            value in prop_oneof![3 => Just(0), 1 => 1..1_000_000_u64],
            markets in prop::option::weighted(0.3, prop::collection::btree_set(0..70_u32, 1..30)),
            bits in 0..5_u8,
            looks in 1..20_usize,
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
            prop_assert_eq!(found(&lists, sought, looks), expected);

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
                    let mut looks = usize::MAX;
                    while let Some(found) = search.next(&mut looks) {
                        rows.extend(rows_of((found.slot, [found.taker, found.maker])));
                    }
                    let rest = rows.get(skip..).unwrap_or_default();
                    prop_assert_eq!(rest, expected.get(offset..).unwrap_or_default());
                }
            }
        }
    }
}
