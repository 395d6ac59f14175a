//! What is said of many rows of trades at once, kept along the lists of trades: how many there are
//! of each kind, which are counted without being looked at, and what they have at most, so that who
//! looks for large fills, for one side or for a market passes over long stretches without such a
//! row.

use foretell_model::Side;

use crate::list::Summary;
use crate::row::fixed;
use crate::sought::Sought;
use crate::trade_rows::{Role, TradeRows};

/// Kinds of rows: a taker's or a maker's, bought or sold.
const KINDS: usize = 4;

/// Some rows of trades. The counts are exact; of the rest, what a span admits may not be there,
/// what it excludes is not.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Span {
    /// How many rows of each kind.
    counts: [u32; KINDS],
    /// Most lots of each kind, as [`rough`] numbers.
    lots: [u16; KINDS],
    /// Most micros of each kind, the same.
    values: [u16; KINDS],
}

fixed!(Span {
    counts: [u32; KINDS],
    lots: [u16; KINDS],
    values: [u16; KINDS],
});

const fn kind(role: Role, side: Side) -> usize {
    2 * role as usize + matches!(side, Side::Sell) as usize
}

/// What is looked for, as spans tell it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    kinds: [bool; KINDS],
    lots: u16,
    value: u16,
}

impl Bounds {
    pub(crate) fn of(sought: &Sought<'_>) -> Self {
        let mut kinds = [false; KINDS];
        for role in Role::ALL {
            for &side in Side::ALL {
                kinds[kind(role, side)] = sought.wants(role, side);
            }
        }
        Self {
            kinds,
            lots: rough(sought.lots.0),
            value: rough(sought.value.0),
        }
    }
}

impl Span {
    /// Whether there may be a row that is looked for.
    pub(crate) fn may_have(&self, bounds: &Bounds) -> bool {
        let of_kind = |kind: usize| {
            bounds.kinds[kind]
                && self.counts[kind] > 0
                && self.lots[kind] >= bounds.lots
                && self.values[kind] >= bounds.value
        };
        (0..KINDS).any(of_kind)
    }

    /// How many rows there are of the kinds looked for.
    pub(crate) fn count(&self, bounds: &Bounds) -> usize {
        let counts = self.counts.iter().zip(bounds.kinds);
        let wanted = counts.filter(|(_, wanted)| *wanted);
        wanted.map(|(count, _)| *count as usize).sum()
    }
}

impl Summary for Span {
    type Entry = TradeRows;
    /// As many as are counted: of an entry are no two rows of one kind.
    const MOST: u64 = u32::MAX as u64;

    fn of(trade: &TradeRows) -> Self {
        let mut span = Self::default();
        for row in trade.rows() {
            let kind = kind(row.role, row.side);
            span.counts[kind] = 1;
            span.lots[kind] = rough(trade.lots().0);
            span.values[kind] = rough(trade.value(&row).0);
        }
        span
    }

    fn join(self, other: Self) -> Self {
        let mut both = self;
        for kind in 0..KINDS {
            // Only strange bytes say more than are counted.
            both.counts[kind] = both.counts[kind].saturating_add(other.counts[kind]);
            both.lots[kind] = both.lots[kind].max(other.lots[kind]);
            both.values[kind] = both.values[kind].max(other.values[kind]);
        }
        both
    }

    fn target(slot: u64, entry: &TradeRows) -> u64 {
        entry.trade_of(slot)
    }
}

/// A number in 16 bits: its 11 leading binary digits, and how many follow. Never lower for a larger
/// number; exact below 2,048.
fn rough(number: u64) -> u16 {
    const DIGITS: u32 = 11;
    let following = (u64::BITS - number.leading_zeros()).saturating_sub(DIGITS);
    let leading = u16::try_from(number >> following).expect("11 digits");
    // The first of the leading digits is 1 where others follow: it counts as one more to follow.
    let following = u16::try_from(following).expect("53 at most");
    (following << (DIGITS - 1)) + leading
}

#[cfg(test)]
mod tests {
    use foretell_model::{Lots, MarketNumber, Micros, Outcome};
    use proptest::prelude::*;

    use super::*;
    use crate::trade_rows::tests::{rows_of_trades, trade};

    proptest! {
        #[test]
        fn what_is_excluded_is_not_there_and_the_rest_is_counted(
            entries in prop::collection::vec(rows_of_trades(), 1..100),
            taker_only: bool,
            side in prop::option::of(prop::sample::select(Side::ALL)),
            markets in prop::option::of(prop::collection::btree_set(0..70_u32, 1..4)),
            leasts in (prop_oneof![Just(0), 1..(1_u64 << 41)], prop_oneof![Just(0), 1..(1_u64 << 54)]),
        ) {
            let markets: Option<Vec<_>> =
                markets.map(|markets| markets.into_iter().map(MarketNumber).collect());
            let sought = Sought {
                taker_only,
                side,
                lots: Lots(leasts.0),
                value: Micros(leasts.1),
                markets: markets.as_deref(),
            };
            let bounds = Bounds::of(&sought);
            let span = entries.iter().map(Span::of).reduce(Span::join).unwrap();
            let found = || entries.iter().filter_map(|entry| sought.of(entry));
            prop_assert!(found().count() == 0 || span.may_have(&bounds));
            let plain = Sought { taker_only, side, ..Sought::default() };
            let rows = entries.iter().filter_map(|entry| plain.of(entry)).flatten();
            prop_assert_eq!(span.count(&bounds), rows.filter(|meant| *meant).count());
        }

        #[test]
        fn rough_numbers_keep_the_order(one: u64, other: u64, shift in 0..64_u32) {
            let (one, other) = (one >> shift, other >> shift);
            prop_assert!(rough(one.min(other)) <= rough(one.max(other)));
            prop_assert!(one >= 2_048 || u64::from(rough(one)) == one);
        }
    }

    #[test]
    fn rough_numbers_rise_where_digits_are_dropped() {
        for bits in 11..64 {
            let power = 1_u64 << bits;
            assert_eq!(rough(power) - rough(power - 1), 1);
        }
        assert!(rough(u64::MAX) > rough(u64::MAX >> 11));
    }

    #[test]
    fn kinds_are_told_apart() {
        let (buy, sell) = ((Side::Buy, Outcome::Yes), (Side::Sell, Outcome::Yes));
        // Large purchases by the taker, a small sale by the maker.
        let entries = [
            TradeRows::of_taker(&trade(100_000, 4_000, 33, [buy, sell])),
            TradeRows::of_maker(&trade(250, 4_000, 33, [buy, sell])),
        ];
        let span = entries.iter().map(Span::of).reduce(Span::join).unwrap();
        let none = Sought::default();
        for (sought, found) in [
            (none, true),
            (
                Sought {
                    lots: Lots(100_000),
                    ..none
                },
                true,
            ),
            (
                Sought {
                    lots: Lots(110_000),
                    ..none
                },
                false,
            ),
            (
                Sought {
                    value: Micros(400_000_000),
                    ..none
                },
                true,
            ),
            (
                Sought {
                    value: Micros(410_000_000),
                    ..none
                },
                false,
            ),
            (
                Sought {
                    side: Some(Side::Sell),
                    ..none
                },
                true,
            ),
            (
                Sought {
                    side: Some(Side::Sell),
                    lots: Lots(251),
                    ..none
                },
                false,
            ),
            (
                Sought {
                    side: Some(Side::Sell),
                    taker_only: true,
                    ..none
                },
                false,
            ),
        ] {
            assert_eq!(span.may_have(&Bounds::of(&sought)), found, "{sought:?}");
        }
    }
}
