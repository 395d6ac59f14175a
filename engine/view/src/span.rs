//! What many trades have at most, kept along the lists of trades: so that who looks for large
//! fills, for one side or one market passes over long stretches without such a trade.

use foretell_model::{Lots, MarketNumber, Micros, Outcome, Price, Side};

use crate::list::Summary;
use crate::order::own_price;
use crate::row::fixed;
use crate::trade::{Party, Trade};

/// Micros of a cent: values are kept in cents, rounded up.
const CENT: u64 = 10_000;

/// What is looked for; whatever a row is asked for beside it, it is asked row by row.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Sought {
    /// The side of the row's owner; `None` = either.
    pub side: Option<Side>,
    /// The least shares, in lots.
    pub lots: Lots,
    /// The least value at the price of the row's owner.
    pub value: Micros,
    /// The only market; `None` = any.
    pub market: Option<MarketNumber>,
}

/// Bounds on some rows of trades: each has at most this much, and one of these sides and markets.
/// None of it is exact: what a span admits may not be there, what it excludes is not.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Span {
    /// Most lots; the largest number stands for any.
    lots: u32,
    /// Most cents; the same.
    cents: u32,
    /// A bit for each number of a market, modulo 32.
    markets: u32,
    /// A bit for each side, by its code.
    sides: u8,
}

fixed!(Span {
    lots: u32,
    cents: u32,
    markets: u32,
    sides: u8,
});

impl Span {
    /// That of one party's row of a trade.
    pub(crate) fn of_party(trade: &Trade, party: &Party) -> Self {
        let Party { outcome, side, .. } = *party;
        Self::of_row(trade.lots, price(trade, outcome), side, trade.market)
    }

    /// That of both rows of a trade.
    pub(crate) fn of_trade(trade: &Trade) -> Self {
        Self::of_party(trade, &trade.taker).join(Self::of_party(trade, &trade.maker))
    }

    fn of_row(lots: Lots, price: Price, side: Side, market: MarketNumber) -> Self {
        Self {
            lots: bounded(lots.0),
            cents: bounded(lots.value_at(price).0.div_ceil(CENT)),
            markets: bit(market),
            sides: 1 << side as u8,
        }
    }

    /// Whether there may be a row that is looked for.
    pub(crate) fn may_have(&self, sought: &Sought) -> bool {
        let side = |side: Side| self.sides & 1 << side as u8 != 0;
        reaches(self.lots, sought.lots.0)
            && reaches(self.cents, sought.value.0.div_ceil(CENT))
            && sought.side.is_none_or(side)
            && (sought.market).is_none_or(|market| self.markets & bit(market) != 0)
    }
}

impl Summary for Span {
    fn join(self, other: Self) -> Self {
        Self {
            lots: self.lots.max(other.lots),
            cents: self.cents.max(other.cents),
            markets: self.markets | other.markets,
            sides: self.sides | other.sides,
        }
    }
}

fn price(trade: &Trade, outcome: Outcome) -> Price {
    own_price(outcome, trade.yes_price)
}

const fn bit(market: MarketNumber) -> u32 {
    1 << (market.0 % u32::BITS)
}

fn bounded(amount: u64) -> u32 {
    u32::try_from(amount).unwrap_or(u32::MAX)
}

fn reaches(most: u32, least: u64) -> bool {
    most == u32::MAX || u64::from(most) >= least
}

/// Spans of blocks of trades in the order of the journal, for whoever looks through all of them.
pub(crate) type Blocks = Vec<Span>;

/// Trades of a block.
const BLOCK: u32 = 64;

/// Adds the trade at a slot.
pub(crate) fn add_to_blocks(blocks: &mut Blocks, slot: u32, span: Span) {
    let number = (slot / BLOCK) as usize;
    if blocks.len() <= number {
        blocks.resize(number + 1, Span::default());
    }
    blocks[number] = blocks[number].join(span);
}

/// The slots below `end`, from new to old, without the blocks that have nothing of what is looked
/// for.
pub(crate) fn newest_first_of(
    blocks: &Blocks,
    end: u32,
    sought: Sought,
) -> impl Iterator<Item = u32> {
    let used = blocks.iter().take(end.div_ceil(BLOCK) as usize);
    let used = (0..end.div_ceil(BLOCK)).zip(used).rev();
    used.filter(move |(_, span)| span.may_have(&sought))
        .flat_map(move |(number, _)| (number * BLOCK..end.min((number + 1) * BLOCK)).rev())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Row = (u64, u16, bool, u32);

    fn span((lots, price, buy, market): Row) -> Span {
        Span::of_row(Lots(lots), Price(price), side(buy), MarketNumber(market))
    }

    fn side(buy: bool) -> Side {
        if buy { Side::Buy } else { Side::Sell }
    }

    fn is_sought((lots, price, buy, market): Row, sought: &Sought) -> bool {
        Lots(lots) >= sought.lots
            && Lots(lots).value_at(Price(price)) >= sought.value
            && sought.side.is_none_or(|wanted| wanted == side(buy))
            && (sought.market).is_none_or(|wanted| wanted.0 == market)
    }

    fn rows() -> impl Strategy<Value = Vec<Row>> {
        let lots = prop_oneof![1..100_u64, 1..(1_u64 << 40)];
        prop::collection::vec((lots, 0..=10_000_u16, any::<bool>(), 0..70_u32), 0..200)
    }

    fn sought() -> impl Strategy<Value = Sought> {
        let least = prop_oneof![Just(0), 1..1_000_000_u64, 1..(1_u64 << 45)];
        let side = prop::option::of(any::<bool>());
        (least.clone(), least, side, prop::option::of(0..70_u32)).prop_map(
            |(lots, value, buy, market)| Sought {
                side: buy.map(side_of),
                lots: Lots(lots),
                value: Micros(value),
                market: market.map(MarketNumber),
            },
        )
    }

    fn side_of(buy: bool) -> Side {
        side(buy)
    }

    proptest! {
        #[test]
        fn what_is_excluded_is_not_there(rows in rows(), sought in sought()) {
            let all = rows.iter().map(|row| span(*row)).reduce(Span::join);
            let any = rows.iter().any(|row| is_sought(*row, &sought));
            prop_assert!(!any || all.is_some_and(|all| all.may_have(&sought)));
            let mut blocks = Blocks::new();
            for (slot, row) in (0..).zip(&rows) {
                add_to_blocks(&mut blocks, slot, span(*row));
            }
            let end = u32::try_from(rows.len()).unwrap();
            for end in [0, end / 2, end] {
                let found: Vec<_> = newest_first_of(&blocks, end, sought).collect();
                prop_assert!(found.is_sorted_by(|a, b| a > b) && found.iter().all(|slot| *slot < end));
                let missed = (0..end).filter(|slot| !found.contains(slot));
                for slot in missed {
                    prop_assert!(!is_sought(rows[slot as usize], &sought));
                }
            }
        }
    }

    #[test]
    fn one_row_is_found_by_what_it_is() {
        let span = span((250, 4_000, true, 33));
        let none = Sought::default();
        for (sought, found) in [
            (none, true),
            (
                Sought {
                    lots: Lots(250),
                    ..none
                },
                true,
            ),
            (
                Sought {
                    lots: Lots(251),
                    ..none
                },
                false,
            ),
            (
                Sought {
                    value: Micros(1_000_000),
                    ..none
                },
                true,
            ),
            (
                Sought {
                    value: Micros(1_000_001),
                    ..none
                },
                false,
            ),
            (
                Sought {
                    side: Some(Side::Sell),
                    ..none
                },
                false,
            ),
            (
                Sought {
                    market: Some(MarketNumber(1)),
                    ..none
                },
                true,
            ),
            (
                Sought {
                    market: Some(MarketNumber(2)),
                    ..none
                },
                false,
            ),
        ] {
            assert_eq!(span.may_have(&sought), found, "{sought:?}");
        }
    }
}
