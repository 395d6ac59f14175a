//! One trade: shares and collateral change hands (protocol 3).

use foretell_model::{Event, Fill, Lots, MatchKind, Micros, OrderNumber, Side};

use crate::exchange::Exchange;
use crate::orders::in_outcome;
use crate::walk::Taker;

impl Exchange {
    /// Fills `lots` of a resting order at its own limit. What the resting order gives was taken out
    /// of the free amounts when it came to rest; what the taker gives is taken now.
    pub(crate) fn settle(
        &mut self,
        taker: &Taker,
        maker: OrderNumber,
        lots: Lots,
        fee: Micros,
        events: &mut Vec<Event>,
    ) {
        let resting = self
            .orders
            .get_mut(&maker)
            .expect("a plan names live orders");
        resting.lots -= lots;
        let resting = resting.clone();

        match resting.side {
            Side::Buy => {
                self.shares(resting.account, resting.market)[resting.outcome.index()] += lots;
            }
            Side::Sell => {
                self.account_mut(resting.account).free += lots.value_at(resting.price);
            }
        }

        let value = lots.value_at(in_outcome(resting.price, resting.outcome, taker.outcome));
        let account = self.account_mut(taker.account);
        match taker.side {
            Side::Buy => {
                account.free -= value + fee;
                self.shares(taker.account, taker.market)[taker.outcome.index()] += lots;
            }
            Side::Sell => {
                account.free += value - fee;
                self.shares(taker.account, taker.market)[taker.outcome.index()] -= lots;
            }
        }
        self.fees += fee;

        let kind = match (taker.side, resting.side) {
            (Side::Buy, Side::Buy) => MatchKind::Mint,
            (Side::Sell, Side::Sell) => MatchKind::Merge,
            _ => MatchKind::Complementary,
        };
        for supply in &mut self.market_mut(taker.market).supply {
            match kind {
                MatchKind::Mint => *supply += lots,
                MatchKind::Merge => *supply -= lots,
                MatchKind::Complementary => {}
            }
        }

        events.push(Event::Fill(Fill {
            maker_order: maker,
            maker: resting.account,
            kind,
            yes_price: resting.yes_price(),
            lots,
            maker_left: resting.lots,
            fee,
        }));
        if resting.lots == Lots::ZERO {
            self.end_order(maker);
        }
    }
}
