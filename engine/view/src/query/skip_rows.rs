//! Skips a number of the newest rows of several trade lists at once.

use std::collections::BinaryHeap;

use crate::query::merged_search::MergedSearch;
use crate::rows::row_filter::RowFilter;
use crate::rows::trade_list::{FilterableTrades, TradeList, TradeSearch};
use crate::rows::trade_slot::TradeSlot;

/// Matches buffered per list.
const BUFFERED: usize = 4;
/// Maximum number of rows of one trade.
const ROWS_OF_A_TRADE: usize = 2;

/// Skips the newest trades of some lists without common trades, while their matching rows fit into
/// `rows`, and subtracts those rows. Returns the number of oldest trades left in each list.
///
/// The time is logarithmic in `rows` and in the lengths; for some hundred lists it is a few
/// milliseconds. A filter by more than side and role cannot be counted from summaries; then nothing
/// is skipped.
#[must_use]
pub fn skip_newest<'a>(
    lists: impl Iterator<Item = FilterableTrades<'a>>,
    filter: RowFilter<'_>,
    rows: &mut usize,
) -> Vec<usize> {
    let (lists, mut searches): (Vec<_>, Vec<_>) =
        lists.map(|list| (list, list.search(filter))).unzip();
    if !filter.is_countable() {
        return lists.iter().map(TradeList::len).collect();
    }
    match &mut searches[..] {
        [only] => only.skip(rows),
        several => skip_in_rounds(several, rows),
    }
    // The rest is too short to be divided into shares.
    let left = lists
        .iter()
        .zip(&searches)
        .map(|(list, search)| list.oldest(search.remaining()));
    let mut left = MergedSearch::new(left, filter, (BUFFERED, usize::MAX));
    while let Some((_, matches)) = left.peek() {
        let Some(rest) = rows.checked_sub(count(matches)) else {
            break;
        };
        *rows = rest;
        left.next();
    }
    left.remaining()
}

fn count(matches: [bool; ROWS_OF_A_TRADE]) -> usize {
    matches.into_iter().filter(|matches| *matches).count()
}

/// Works in rounds; each skips about half of the rows.
fn skip_in_rounds(searches: &mut [TradeSearch<'_, '_>], rows: &mut usize) {
    loop {
        let share = *rows / (2 * searches.len()).max(1);
        if share < ROWS_OF_A_TRADE || !skip_shares(searches, share, rows) {
            return;
        }
    }
}

/// Skips a share of one list at a time, always of the list where that leads to the newest position.
/// The trades skipped in a list are newer than that position. Every other list has at most a share
/// of such trades. So the skipped trades are among the newest `rows` of all lists while `rows`
/// allows a share per list. Returns false when no trade is left in any list.
fn skip_shares(searches: &mut [TradeSearch<'_, '_>], share: usize, rows: &mut usize) -> bool {
    let mut skipped: Vec<_> = searches
        .iter()
        .map(|list| Skipped::of(list, share))
        .collect();
    let places = skipped.iter().enumerate();
    let mut next: BinaryHeap<_> = places
        .map(|(list, skipped)| (skipped.place, list))
        .collect();
    while *rows >= share * searches.len() {
        let Some((place, list)) = next.pop() else {
            return false;
        };
        searches[list] = skipped[list].search.clone();
        *rows -= skipped[list].rows;
        // `None`, the oldest position, means that no trade is left in the list.
        if place.is_some() {
            skipped[list] = Skipped::of(&searches[list], share);
            next.push((skipped[list].place, list));
        }
    }
    true
}

/// A list after skipping a share of its newest rows.
struct Skipped<'a, 's> {
    search: TradeSearch<'a, 's>,
    /// Number of rows skipped.
    rows: usize,
    /// The newest trade that is left.
    place: Option<TradeSlot>,
}

impl<'a, 's> Skipped<'a, 's> {
    fn of(list: &TradeSearch<'a, 's>, share: usize) -> Self {
        let (mut search, mut left) = (list.clone(), share);
        search.skip(&mut left);
        Self {
            place: search.newest(),
            search,
            rows: share - left,
        }
    }
}

#[cfg(test)]
mod tests {
    use foretell_model::Side;
    use proptest::prelude::*;

    use super::*;
    use crate::rows::trade_entry::TradeEntry;
    use crate::rows::trade_entry::tests::{Listed, OTHERS, lists_of_trades};
    use crate::rows::trade_nodes::tests::TradeLists;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn skipped_rows_are_the_newest_of_all(
            count in 1..8_usize,
            entries in lists_of_trades(8, 600),
            (taker_only, whole_trades) in any::<(bool, bool)>(),
            side in prop::option::of(prop::sample::select(Side::ALL)),
            rows in prop_oneof![0..40_usize, 0..1_400_usize],
        ) {
            let filter = RowFilter { taker_only, whole_trades, side, ..RowFilter::default() };
            let mut entries = entries;
            for entry in entries.iter_mut().filter(|entry| entry.list != OTHERS) {
                entry.list %= count;
            }
            let lists = TradeLists::filled(6, &entries);
            let mut left = rows;
            let remaining = skip_newest(
                (0..count).map(|list| lists.list(list)),
                filter,
                &mut left,
            );
            // The skipped trades, and their numbers of matching rows.
            let listed = entries.iter().filter(|entry| entry.list != OTHERS);
            let places = listed.scan(vec![0; count], |seen, Listed { list, rows, .. }| {
                seen[*list] += 1;
                Some((seen[*list] > remaining[*list], rows))
            });
            let places: Vec<_> = places.collect();
            let rows_of = |rows: &TradeEntry| {
                filter.of(rows).map_or(0, super::count)
            };
            let gone = places.iter().filter(|(is_gone, _)| *is_gone);
            prop_assert_eq!(gone.map(|(_, trade)| rows_of(trade)).sum::<usize>(), rows - left);
            // Each is newer than every remaining trade with matching rows, and the next one does
            // not fit.
            let stayed = places.iter().rposition(|(is_gone, trade)| !is_gone && rows_of(trade) > 0);
            let first_gone = places.iter().position(|(is_gone, trade)| *is_gone && rows_of(trade) > 0);
            prop_assert!(first_gone.is_none_or(|gone| stayed.is_none_or(|stayed| stayed < gone)));
            prop_assert!(stayed.is_none_or(|stayed| rows_of(places[stayed].1) > left));
        }

        #[test]
        fn nothing_is_skipped_uncounted(
            count in 1..4_usize,
            entries in lists_of_trades(3, 60),
        ) {
            let lists = TradeLists::filled(6, &entries);
            let filter = RowFilter { lots: foretell_model::Lots(2), ..RowFilter::default() };
            let whole = || (0..count).map(|list| lists.list(list));
            let mut left = 1_000;
            let remaining = skip_newest(whole(), filter, &mut left);
            prop_assert_eq!((remaining, left), (whole().map(|list| list.len()).collect(), 1_000));
        }
    }
}
