use foretell_model::{
    AccountNumber, FramePosition, KeyNumber, OrderId, OrderNumber, Sequence, TimeNs, TradeIndex,
};
use proptest::prelude::*;

use super::*;
use crate::rows::trade::Party;
use crate::rows::trade_id::TradeId;
use crate::rows::trade_slot::TradeSlot;

/// A trade of these lots at this Yes price in a market, with the sides and outcomes of its
/// parties.
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
        links: Default::default(),
        index: TradeIndex(0),
        sum: sum_of(Lots(lots), yes_price, taker.1),
        sequence: Sequence(0),
        time: TimeNs(0),
        place: FramePosition::default(),
        market: MarketNumber(market),
        kind: match taker.0 {
            _ if taker.1 == maker.1 => MatchKind::Complementary,
            Side::Buy => MatchKind::Mint,
            Side::Sell => MatchKind::Merge,
        },
        yes_price: Price(yes_price),
        lots: Lots(lots),
        fee: Micros(0),
        taker: party(0, taker),
        maker: party(1, maker),
        made_before: None,
    }
}

fn sum_of(lots: Lots, yes_price: u16, outcome: Outcome) -> TradeSum {
    TradeSum {
        lots,
        value: lots.value_at(own_price(outcome, Price(yes_price))),
        fee: Micros(0),
    }
}

/// A fill at an index of a trade, whose fills have further lots at the same price.
fn fill_of(mut trade: Trade, (index, further): (u32, u64)) -> Trade {
    let lots = (trade.lots.0).saturating_add(further).min(MOST_LOTS.0);
    trade.index = TradeIndex(index);
    trade.sum = sum_of(Lots(lots), trade.yes_price.0, trade.taker.outcome);
    trade
}

/// The index of a fill, and the further lots of its trade.
fn place_in_trade() -> impl Strategy<Value = (u32, u64)> {
    (0..3_u32, prop_oneof![Just(0), 1..100_u64, 1..(1_u64 << 40)])
}

fn parties() -> impl Strategy<Value = [(Side, Outcome); 2]> {
    let taker = (
        prop::sample::select(Side::ALL),
        prop::sample::select(Outcome::ALL),
    );
    (taker, any::<bool>()).prop_map(|((side, outcome), complementary)| {
        let maker = match complementary {
            true => (side.opposite(), outcome),
            false => (side, outcome.opposite()),
        };
        [(side, outcome), maker]
    })
}

impl TradeEntry {
    pub(crate) fn of_both(trade: &Trade) -> Self {
        let mut row = Vec::new();
        trade.put(&mut row);
        let read = Self::read(&row).unwrap();
        assert_eq!(read, Self::of(trade));
        read
    }

    pub(crate) fn of_taker(trade: &Trade) -> Self {
        Self::of_both(trade).only(Role::Taker)
    }

    pub(crate) fn of_maker(trade: &Trade) -> Self {
        Self::of_both(trade).only(Role::Maker)
    }
}

/// An entry of a list of trades.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed {
    pub(crate) slot: TradeSlot,
    pub(crate) list: usize,
    pub(crate) trade: Trade,
    /// The role of its only row, if it has one.
    pub(crate) role: Option<Role>,
    pub(crate) rows: TradeEntry,
}

/// The list of the other row of a trade, where each list has one row of its trades.
pub(crate) const OTHERS: usize = 100;

/// Entries of `lists` lists without common trades, as a view appends them: with both rows of
/// each trade, or with one, whose other row is in [`OTHERS`].
pub(crate) fn lists_of_trades(lists: usize, most: usize) -> impl Strategy<Value = Vec<Listed>> {
    let lots = || prop_oneof![1..100_u64, 1..=MOST_LOTS.0];
    let given = (
        0..lists,
        any::<bool>(),
        lots(),
        0..=10_000_u16,
        0..70_u32,
        parties(),
        place_in_trade(),
    );
    let trades = prop::collection::vec(given, 0..most);
    (trades, any::<bool>()).prop_map(|(trades, both)| {
        let entries = (0..).zip(trades).flat_map(|(slot, given)| {
            let (list, takes, lots, price, market, parties, place) = given;
            let trade = fill_of(trade(lots, price, market, parties), place);
            let listed = |list, role| Listed {
                slot: TradeSlot(slot),
                list,
                trade,
                role,
                rows: match role {
                    None => TradeEntry::of_both(&trade),
                    Some(role) => TradeEntry::of_both(&trade).only(role),
                },
            };
            let (taker, maker) = if takes {
                (list, OTHERS)
            } else {
                (OTHERS, list)
            };
            if both {
                vec![listed(list, None)]
            } else {
                vec![
                    listed(taker, Some(Role::Taker)),
                    listed(maker, Some(Role::Maker)),
                ]
            }
        });
        entries.collect()
    })
}

/// One or both rows of trades of all kinds.
pub(crate) fn rows_of_trades() -> impl Strategy<Value = TradeEntry> {
    let lots = prop_oneof![1..100_u64, 1..(1_u64 << 40)];
    let given = (
        lots,
        0..=10_000_u16,
        0..70_u32,
        parties(),
        place_in_trade(),
        0..3_u8,
    );
    given.prop_map(|(lots, price, market, parties, place, which)| {
        let trade = fill_of(trade(lots, price, market, parties), place);
        match which {
            0 => TradeEntry::of_both(&trade),
            1 => TradeEntry::of_taker(&trade),
            _ => TradeEntry::of_maker(&trade),
        }
    })
}

proptest! {
    #[test]
    fn rows_are_what_the_parties_did(
        lots in prop_oneof![1..100_u64, 1..=MOST_LOTS.0],
        price in 0..=10_000_u16,
        parties in parties(),
    ) {
        let trade = trade(lots, price, 7, parties);
        let row = |role, (side, outcome)| TradeRow {
            role,
            side,
            price: own_price(outcome, Price(price)),
        };
        let (taker, maker) = (row(Role::Taker, parties[0]), row(Role::Maker, parties[1]));
        let listed = |rows: TradeEntry| rows.rows().collect::<Vec<_>>();
        prop_assert_eq!(listed(TradeEntry::of_both(&trade)), [taker, maker]);
        prop_assert_eq!(listed(TradeEntry::of_taker(&trade)), [taker]);
        prop_assert_eq!(listed(TradeEntry::of_maker(&trade)), [maker]);
        let rows = TradeEntry::of_both(&trade);
        prop_assert_eq!((rows.lots(), rows.market()), (Lots(lots), MarketNumber(7)));
        prop_assert_eq!(rows.value(&maker), Lots(lots).value_at(maker.price));
        let whole = |entry: TradeEntry| entry.whole().map(|(side, _)| side);
        let side = Some(parties[0].0);
        prop_assert_eq!([whole(rows), whole(TradeEntry::of_taker(&trade))], [side; 2]);
        prop_assert_eq!(whole(TradeEntry::of_maker(&trade)), None);
        let later = fill_of(trade, (1, 5));
        prop_assert_eq!(whole(TradeEntry::of_both(&later)), None);
    }
}
