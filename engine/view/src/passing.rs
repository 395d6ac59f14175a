//! Over the newest rows of several lists of trades at once, by their number.

use std::collections::BinaryHeap;

use crate::merged::Merged;
use crate::slots::{Search, Slots, ToldSlots};
use crate::sought::Sought;
use crate::trade::TradeSlot;

/// Trades of a list that are found before they are asked for.
const BEFOREHAND: usize = 4;
/// Most rows of one trade.
const ROWS_OF_A_TRADE: usize = 2;

/// Passes over the newest trades of some lists that share none, as long as the rows of them that are
/// sought are no more than `rows`, of which they are taken. How many of the oldest of each list are left
/// then.
///
/// The time is logarithmic in `rows` and in the lengths; for some hundred lists it is a few milliseconds. Where more is sought than a side or takers, nothing is known by number or passed over.
#[must_use]
pub fn pass_newest<'a>(
    lists: impl Iterator<Item = ToldSlots<'a>>,
    sought: Sought<'_>,
    rows: &mut usize,
) -> Vec<usize> {
    let (lists, mut searches): (Vec<_>, Vec<_>) =
        lists.map(|list| (list, list.search(sought))).unzip();
    if !sought.is_counted() {
        return lists.iter().map(Slots::len).collect();
    }
    match &mut searches[..] {
        [only] => only.pass(rows),
        several => pass_several(several, rows),
    }
    // What is left lies in parts that are too short for shares.
    let left = lists
        .iter()
        .zip(&searches)
        .map(|(list, search)| list.oldest(search.ahead()));
    let mut left = Merged::new(left, sought, (BEFOREHAND, usize::MAX));
    while let Some((_, meant)) = left.peek() {
        let Some(rest) = rows.checked_sub(count(meant)) else {
            break;
        };
        *rows = rest;
        left.next();
    }
    left.ahead()
}

fn count(meant: [bool; ROWS_OF_A_TRADE]) -> usize {
    meant.into_iter().filter(|meant| *meant).count()
}

/// In rounds, in each of which about half of the rows go.
fn pass_several(searches: &mut [Search<'_, '_>], rows: &mut usize) {
    loop {
        let share = *rows / (2 * searches.len()).max(1);
        if share < ROWS_OF_A_TRADE || !pass_shares(searches, share, rows) {
            return;
        }
    }
}

/// Passes over a share of one list after the other, always of the one in which that leads to the newest
/// place. What it passes over in a list is newer than that place; what the others have of such trades
/// is within a share of theirs. So they are among the newest `rows` of all as long as those are a
/// share for each. False when nothing is left of any list.
fn pass_shares(searches: &mut [Search<'_, '_>], share: usize, rows: &mut usize) -> bool {
    let mut passed: Vec<_> = searches
        .iter()
        .map(|list| Passed::of(list, share))
        .collect();
    let places = passed.iter().enumerate();
    let mut next: BinaryHeap<_> = places.map(|(list, passed)| (passed.place, list)).collect();
    while *rows >= share * searches.len() {
        let Some((place, list)) = next.pop() else {
            return false;
        };
        searches[list] = passed[list].search.clone();
        *rows -= passed[list].rows;
        // The oldest place of all is that of a list of which nothing is left.
        if place.is_some() {
            passed[list] = Passed::of(&searches[list], share);
            next.push((passed[list].place, list));
        }
    }
    true
}

/// A list without a share of its newest rows.
struct Passed<'a, 's> {
    search: Search<'a, 's>,
    /// How many rows went.
    rows: usize,
    /// The newest trade that is left.
    place: Option<TradeSlot>,
}

impl<'a, 's> Passed<'a, 's> {
    fn of(list: &Search<'a, 's>, share: usize) -> Self {
        let (mut search, mut left) = (list.clone(), share);
        search.pass(&mut left);
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
    use crate::chunk::Chunking;
    use crate::list::{Heads, Lists};
    use crate::log::Log;
    use crate::span::Span;
    use crate::trade_rows::TradeRows;
    use crate::trade_rows::tests::{Listed, OTHERS, lists_of_trades};

    fn filled(entries: &[Listed]) -> Lists<Span> {
        let mut lists = Lists::of(Log::new(Chunking::Bits(6)), Heads::default());
        for entry in entries {
            lists.push_with(entry.list, entry.rows).unwrap();
        }
        lists
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn what_is_passed_over_is_the_newest_of_all(
            count in 1..8_usize,
            entries in lists_of_trades(8, 600),
            taker_only: bool,
            side in prop::option::of(prop::sample::select(Side::ALL)),
            rows in prop_oneof![0..40_usize, 0..1_400_usize],
        ) {
            let sought = Sought { taker_only, side, ..Sought::default() };
            let mut entries = entries;
            for entry in entries.iter_mut().filter(|entry| entry.list != OTHERS) {
                entry.list %= count;
            }
            let lists = filled(&entries);
            let mut left = rows;
            let ahead = pass_newest(
                (0..count).map(|list| Slots::of(lists.list(list))),
                sought,
                &mut left,
            );
            // Which trades went, and how many rows they have.
            let listed = entries.iter().filter(|entry| entry.list != OTHERS);
            let places = listed.scan(vec![0; count], |seen, Listed { list, rows, .. }| {
                seen[*list] += 1;
                Some((seen[*list] > ahead[*list], rows))
            });
            let places: Vec<_> = places.collect();
            let rows_of = |rows: &TradeRows| {
                sought.of(rows).map_or(0, super::count)
            };
            let gone = places.iter().filter(|(is_gone, _)| *is_gone);
            prop_assert_eq!(gone.map(|(_, trade)| rows_of(trade)).sum::<usize>(), rows - left);
            // None of them is older than one with rows that stayed, which has more than are left.
            let stayed = places.iter().rposition(|(is_gone, trade)| !is_gone && rows_of(trade) > 0);
            let first_gone = places.iter().position(|(is_gone, trade)| *is_gone && rows_of(trade) > 0);
            prop_assert!(first_gone.is_none_or(|gone| stayed.is_none_or(|stayed| stayed < gone)));
            prop_assert!(stayed.is_none_or(|stayed| rows_of(places[stayed].1) > left));
        }

        #[test]
        fn nothing_goes_uncounted(
            count in 1..4_usize,
            entries in lists_of_trades(3, 60),
        ) {
            let lists = filled(&entries);
            let sought = Sought { lots: foretell_model::Lots(2), ..Sought::default() };
            let whole = || (0..count).map(|list| Slots::of(lists.list(list)));
            let mut left = 1_000;
            let ahead = pass_newest(whole(), sought, &mut left);
            prop_assert_eq!((ahead, left), (whole().map(|list| list.len()).collect(), 1_000));
        }
    }
}
