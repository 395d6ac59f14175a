//! What a list of trades says of each: its rows as far as queries filter by them, so that only
//! what is shown of a trade has to be read at another place.

use foretell_model::{Lots, MarketNumber, Micros, Outcome, Price, Side};

use crate::order::own_price;
use crate::row::fixed;
use crate::trade::{Party, Trade};

/// The rows of a trade in a list: that of its taker, that of its maker, or both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TradeRows {
    lots: Lots,
    market: MarketNumber,
    yes_price: Price,
    /// [`HERE`], [`SOLD`] and [`OF_NO`] of the taker, then of the maker.
    flags: u8,
}

fixed!(TradeRows {
    lots: Lots,
    market: MarketNumber,
    yes_price: Price,
    flags: u8,
});

/// The list has the row.
const HERE: u8 = 1;
/// Its owner sold.
const SOLD: u8 = 2;
/// It is about No.
const OF_NO: u8 = 4;
/// Bits of a row.
const BITS: u32 = 3;

/// Whose row it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Taker,
    Maker,
}

impl Role {
    pub(crate) const ALL: [Self; 2] = [Self::Taker, Self::Maker];
}

/// One row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Row {
    pub(crate) role: Role,
    pub(crate) side: Side,
    /// Of its owner's token.
    pub(crate) price: Price,
}

impl TradeRows {
    /// Both rows of a trade.
    pub(crate) fn of_both(trade: &Trade) -> Self {
        let maker = Self::of_maker(trade);
        Self {
            flags: maker.flags | flags(&trade.taker),
            ..maker
        }
    }

    /// The taker's alone.
    pub(crate) fn of_taker(trade: &Trade) -> Self {
        Self::with(trade, flags(&trade.taker))
    }

    /// The maker's alone.
    pub(crate) fn of_maker(trade: &Trade) -> Self {
        Self::with(trade, flags(&trade.maker) << BITS)
    }

    fn with(trade: &Trade, flags: u8) -> Self {
        Self {
            lots: trade.lots,
            market: trade.market,
            yes_price: trade.yes_price,
            flags,
        }
    }

    /// Shares traded.
    pub(crate) fn lots(&self) -> Lots {
        self.lots
    }

    /// Where.
    pub(crate) fn market(&self) -> MarketNumber {
        self.market
    }

    /// What the owner of a row paid or got for the shares.
    pub(crate) fn value(&self, row: &Row) -> Micros {
        self.lots.value_at(row.price)
    }

    /// The rows that are here.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row> {
        Role::ALL.into_iter().filter_map(|role| self.row(role))
    }

    fn row(&self, role: Role) -> Option<Row> {
        let flags = match role {
            Role::Taker => self.flags,
            Role::Maker => self.flags >> BITS,
        };
        let pick = |flag: u8| flags & flag != 0;
        let (side, outcome) = (
            if pick(SOLD) { Side::Sell } else { Side::Buy },
            if pick(OF_NO) {
                Outcome::No
            } else {
                Outcome::Yes
            },
        );
        pick(HERE).then(|| Row {
            role,
            side,
            price: own_price(outcome, self.yes_price),
        })
    }
}

fn flags(party: &Party) -> u8 {
    let sold = match party.side {
        Side::Buy => 0,
        Side::Sell => SOLD,
    };
    let of_no = match party.outcome {
        Outcome::Yes => 0,
        Outcome::No => OF_NO,
    };
    HERE | sold | of_no
}

#[cfg(test)]
pub(crate) mod tests {
    use foretell_model::{
        AccountNumber, FramePlace, KeyNumber, MatchKind, OrderId, OrderNumber, TimeNs, TradeIndex,
    };
    use proptest::prelude::*;

    use super::*;
    use crate::trade_id::TradeId;

    /// A trade of these lots at this price of Yes in a market, between two who bought or sold, Yes or
    /// No.
    pub(crate) fn trade(
        lots: u64,
        yes_price: u16,
        market: u32,
        [taker, maker]: [(Side, Outcome); 2],
    ) -> Trade {
        let party = |account: u32, (side, outcome)| Party {
            order: OrderNumber(1),
            order_id: OrderId([0; 32]),
            account: AccountNumber(account),
            key: KeyNumber(0),
            outcome,
            side,
            builder: None,
        };
        Trade {
            id: TradeId([0; 16]),
            index: TradeIndex(0),
            time: TimeNs(0),
            place: FramePlace::default(),
            market: MarketNumber(market),
            kind: MatchKind::Complementary,
            yes_price: Price(yes_price),
            lots: Lots(lots),
            fee: Micros(0),
            taker: party(0, taker),
            maker: party(1, maker),
            made_before: None,
        }
    }

    fn parties() -> impl Strategy<Value = [(Side, Outcome); 2]> {
        let party = || {
            (
                prop::sample::select(Side::ALL),
                prop::sample::select(Outcome::ALL),
            )
        };
        [party(), party()]
    }

    /// One or both rows of trades of all kinds.
    pub(crate) fn rows_of_trades() -> impl Strategy<Value = TradeRows> {
        let lots = prop_oneof![1..100_u64, 1..(1_u64 << 40)];
        let given = (lots, 0..=10_000_u16, 0..70_u32, parties(), 0..3_u8);
        given.prop_map(|(lots, price, market, parties, which)| {
            let trade = trade(lots, price, market, parties);
            match which {
                0 => TradeRows::of_both(&trade),
                1 => TradeRows::of_taker(&trade),
                _ => TradeRows::of_maker(&trade),
            }
        })
    }

    proptest! {
        #[test]
        fn rows_are_what_the_parties_did(
            lots in 1..(1_u64 << 40),
            price in 0..=10_000_u16,
            parties in parties(),
        ) {
            let trade = trade(lots, price, 7, parties);
            let row = |role, (side, outcome)| Row {
                role,
                side,
                price: own_price(outcome, Price(price)),
            };
            let (taker, maker) = (row(Role::Taker, parties[0]), row(Role::Maker, parties[1]));
            let listed = |rows: TradeRows| rows.rows().collect::<Vec<_>>();
            prop_assert_eq!(listed(TradeRows::of_both(&trade)), [taker, maker]);
            prop_assert_eq!(listed(TradeRows::of_taker(&trade)), [taker]);
            prop_assert_eq!(listed(TradeRows::of_maker(&trade)), [maker]);
            let rows = TradeRows::of_both(&trade);
            prop_assert_eq!((rows.lots(), rows.market()), (Lots(lots), MarketNumber(7)));
            prop_assert_eq!(rows.value(&maker), Lots(lots).value_at(maker.price));
        }
    }
}
