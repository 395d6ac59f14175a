//! A naive fold of books: all resting orders in one table, summed for every query.

use std::collections::BTreeMap;

use foretell_model::event::{MarketRegistered, OrderClosed, OrderDecreased, OrderRested};
use foretell_model::{
    Command, Event, FrameRef, Lots, MarketNumber, OrderNumber, Outcome, Price, Side, TokenId,
};

/// Lots by price of a token: bids, then asks.
pub(crate) type Levels = [BTreeMap<u16, u64>; 2];

#[derive(Default)]
pub(crate) struct Books {
    tokens: BTreeMap<MarketNumber, [TokenId; 2]>,
    resting: BTreeMap<OrderNumber, Resting>,
}

struct Resting {
    market: MarketNumber,
    outcome: Outcome,
    side: Side,
    price: Price,
    lots: Lots,
}

impl Books {
    /// Applies the next frame.
    pub(crate) fn fold(&mut self, frame: &FrameRef<'_>) {
        let own = OrderNumber(frame.sequence.0);
        for event in frame.events {
            match (event, frame.command) {
                (
                    Event::MarketRegistered(MarketRegistered { market, .. }),
                    Command::RegisterMarket(registered),
                ) => {
                    let known = self.tokens.insert(*market, registered.tokens);
                    assert_eq!(known, None);
                }
                (Event::OrderRested(OrderRested { lots, price }), Command::PlaceOrder(order)) => {
                    let resting = Resting {
                        market: order.market,
                        outcome: order.outcome,
                        side: order.side,
                        price: *price,
                        lots: *lots,
                    };
                    self.resting.insert(own, resting);
                }
                (Event::Fill(fill), _) if fill.maker_left.is_zero() => {
                    self.resting.remove(&fill.maker_order);
                }
                (Event::Fill(fill), _) => {
                    let maker = self.resting.get_mut(&fill.maker_order);
                    maker.expect("the maker rests").lots = fill.maker_left;
                }
                (Event::OrderDecreased(OrderDecreased { order, lots, .. }), _) => {
                    self.resting.get_mut(order).expect("it rests").lots = *lots;
                }
                (Event::OrderClosed(OrderClosed { order, .. }), _) => {
                    self.resting.remove(order);
                }
                _ => {}
            }
        }
    }

    /// The levels of a token: a buy of the other outcome is a sell at the complement.
    pub(crate) fn levels(&self, token: TokenId) -> Levels {
        let mut levels = Levels::default();
        for order in self.resting.values() {
            let [yes, no] = self.tokens[&order.market];
            let (own, other) = match order.outcome {
                Outcome::Yes => (yes, no),
                Outcome::No => (no, yes),
            };
            let (is_bid, price) = match order.side {
                side if token == own => (side == Side::Buy, order.price),
                side if token == other => (side == Side::Sell, order.price.complement()),
                _ => continue,
            };
            *levels[usize::from(!is_bid)].entry(price.0).or_default() += order.lots.0;
        }
        levels
    }
}
