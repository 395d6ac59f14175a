//! Summaries of the rows in a span of a trade list: exact counts per kind, and maxima of size
//! and value. Counts skip rows without reading them; maxima let a search for large fills or for one
//! side skip spans without a match.

use foretell_model::codec::fixed;
use foretell_model::{Lots, Micros, Side};

use crate::rows::row_filter::RowFilter;
use crate::rows::trade_entry::{Role, TradeEntry};

/// Kinds of rows: of a fill's taker or maker, or of a whole trade; bought or sold.
const KINDS: usize = 6;

fixed! {
    /// A summary of some rows of trades. Counts are exact. Maxima are rounded: a span they admit may have
    /// no match, a span they exclude has none.
    #[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
    pub struct TradeSummary {
        /// Number of rows of each kind.
        counts: [u32; KINDS],
        /// Maximum lots of each kind, as [`rounded`] numbers.
        lots: [u16; KINDS],
        /// Maximum value of each kind in micros, as [`rounded`] numbers.
        values: [u16; KINDS],
    }
}

const fn kind(role: Role, side: Side) -> usize {
    2 * role as usize + matches!(side, Side::Sell) as usize
}

/// The kind of a taker's row of a whole trade.
const fn whole_kind(side: Side) -> usize {
    4 + matches!(side, Side::Sell) as usize
}

/// A filter in the terms of summaries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SummaryFilter {
    kinds: [bool; KINDS],
    lots: u16,
    value: u16,
}

impl SummaryFilter {
    pub(crate) fn of(filter: &RowFilter<'_>) -> Self {
        let mut kinds = [false; KINDS];
        for &side in Side::ALL {
            let taker = match filter.whole_trades {
                true => whole_kind(side),
                false => kind(Role::Taker, side),
            };
            kinds[taker] = filter.matches_kind(Role::Taker, side);
            kinds[kind(Role::Maker, side)] = filter.matches_kind(Role::Maker, side);
        }
        Self {
            kinds,
            lots: rounded(filter.lots.0),
            value: rounded(filter.value.0),
        }
    }
}

impl TradeSummary {
    /// The summary of the rows in one entry.
    pub(crate) fn of(trade: &TradeEntry) -> Self {
        let mut summary = Self::default();
        for row in trade.rows() {
            let value = trade.value(&row);
            summary.set(kind(row.role, row.side), trade.lots(), value);
        }
        if let Some((side, sum)) = trade.whole() {
            summary.set(whole_kind(side), sum.lots, sum.value);
        }
        summary
    }

    fn set(&mut self, kind: usize, lots: Lots, value: Micros) {
        self.counts[kind] = 1;
        self.lots[kind] = rounded(lots.0);
        self.values[kind] = rounded(value.0);
    }

    /// The summary of the rows of both.
    pub(crate) fn join(self, other: Self) -> Self {
        let mut both = self;
        for kind in 0..KINDS {
            // Only invalid bytes can overflow the count.
            both.counts[kind] = both.counts[kind].saturating_add(other.counts[kind]);
            both.lots[kind] = both.lots[kind].max(other.lots[kind]);
            both.values[kind] = both.values[kind].max(other.values[kind]);
        }
        both
    }

    /// Whether the span may have a matching row.
    pub(crate) fn may_match(&self, summary_filter: &SummaryFilter) -> bool {
        let of_kind = |kind: usize| {
            summary_filter.kinds[kind]
                && self.counts[kind] > 0
                && self.lots[kind] >= summary_filter.lots
                && self.values[kind] >= summary_filter.value
        };
        (0..KINDS).any(of_kind)
    }

    /// Number of rows of the matching kinds.
    pub(crate) fn count(&self, summary_filter: &SummaryFilter) -> usize {
        let counts = self.counts.iter().zip(summary_filter.kinds);
        let wanted = counts.filter(|(_, wanted)| *wanted);
        wanted.map(|(count, _)| *count as usize).sum()
    }
}

/// A number in 16 bits: its 11 leading binary digits, and the number of digits after them.
/// Monotonic; exact below 2,048.
fn rounded(number: u64) -> u16 {
    const DIGITS: u32 = 11;
    let following = (u64::BITS - number.leading_zeros()).saturating_sub(DIGITS);
    let leading = u16::try_from(number >> following).expect("11 digits");
    // With digits after it, the first leading digit is 1; it adds one to their number.
    let following = u16::try_from(following).expect("53 at most");
    (following << (DIGITS - 1)) + leading
}

#[cfg(test)]
mod tests {
    use foretell_model::{MarketNumber, Outcome};
    use proptest::prelude::*;

    use super::*;
    use crate::rows::trade_entry::tests::{rows_of_trades, trade};

    proptest! {
        #[test]
        fn what_is_excluded_is_not_there_and_the_rest_is_counted(
            entries in prop::collection::vec(rows_of_trades(), 1..100),
            (taker_only, whole_trades) in any::<(bool, bool)>(),
            side in prop::option::of(prop::sample::select(Side::ALL)),
            markets in prop::option::of(prop::collection::btree_set(0..70_u32, 1..4)),
            leasts in (prop_oneof![Just(0), 1..(1_u64 << 41)], prop_oneof![Just(0), 1..(1_u64 << 54)]),
        ) {
            let markets: Option<Vec<_>> =
                markets.map(|markets| markets.into_iter().map(MarketNumber).collect());
            let filter = RowFilter {
                taker_only,
                whole_trades,
                side,
                lots: Lots(leasts.0),
                value: Micros(leasts.1),
                markets: markets.as_deref(),
            };
            let summary_filter = SummaryFilter::of(&filter);
            let summary = entries.iter().map(TradeSummary::of).reduce(TradeSummary::join).unwrap();
            let found = || entries.iter().filter_map(|entry| filter.of(entry));
            prop_assert!(found().count() == 0 || summary.may_match(&summary_filter));
            let plain = RowFilter { taker_only, whole_trades, side, ..RowFilter::default() };
            let rows = entries.iter().filter_map(|entry| plain.of(entry)).flatten();
            prop_assert_eq!(summary.count(&summary_filter), rows.filter(|matches| *matches).count());
        }

        #[test]
        fn rough_numbers_keep_the_order(one: u64, other: u64, shift in 0..64_u32) {
            let (one, other) = (one >> shift, other >> shift);
            prop_assert!(rounded(one.min(other)) <= rounded(one.max(other)));
            prop_assert!(one >= 2_048 || u64::from(rounded(one)) == one);
        }
    }

    #[test]
    fn rough_numbers_rise_where_digits_are_dropped() {
        for bits in 11..64 {
            let power = 1_u64 << bits;
            assert_eq!(rounded(power) - rounded(power - 1), 1);
        }
        assert!(rounded(u64::MAX) > rounded(u64::MAX >> 11));
    }

    #[test]
    fn kinds_are_told_apart() {
        let (buy, sell) = ((Side::Buy, Outcome::Yes), (Side::Sell, Outcome::Yes));
        // Large buys by the taker, a small sell by the maker.
        let entries = [
            TradeEntry::of_taker(&trade(100_000, 4_000, 33, [buy, sell])),
            TradeEntry::of_maker(&trade(250, 4_000, 33, [buy, sell])),
        ];
        let summary = entries
            .iter()
            .map(TradeSummary::of)
            .reduce(TradeSummary::join)
            .unwrap();
        let none = RowFilter::default();
        for (filter, found) in [
            (none, true),
            (
                RowFilter {
                    lots: Lots(100_000),
                    ..none
                },
                true,
            ),
            (
                RowFilter {
                    lots: Lots(110_000),
                    ..none
                },
                false,
            ),
            (
                RowFilter {
                    value: Micros(400_000_000),
                    ..none
                },
                true,
            ),
            (
                RowFilter {
                    value: Micros(410_000_000),
                    ..none
                },
                false,
            ),
            (
                RowFilter {
                    side: Some(Side::Sell),
                    ..none
                },
                true,
            ),
            (
                RowFilter {
                    side: Some(Side::Sell),
                    lots: Lots(251),
                    ..none
                },
                false,
            ),
            (
                RowFilter {
                    side: Some(Side::Sell),
                    taker_only: true,
                    ..none
                },
                false,
            ),
        ] {
            assert_eq!(
                summary.may_match(&SummaryFilter::of(&filter)),
                found,
                "{filter:?}"
            );
        }
    }
}
