//! One trade: transfer of shares and collateral (docs/verify/rules.md §5).

use foretell_model::{Event, Fill, Lots, MatchKind, Micros, OrderNumber, Side};

use crate::exchange::{Exchange, Stamp};
use crate::orders::in_outcome;
use crate::plan::Taker;

impl Exchange {
    /// Fills `lots` of a resting order at its limit. The maker's amount left its free amounts when
    /// the order came to rest; the taker's is deducted now.
    pub(crate) fn settle(
        &mut self,
        taker: &Taker,
        maker: OrderNumber,
        lots: Lots,
        fee: Micros,
        at: Stamp,
        events: &mut Vec<Event>,
    ) {
        let resting = self.orders.reduce(maker, lots);
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
        let rebate = self.rebate_of(taker, resting.account, fee);
        self.fees += fee - rebate;
        self.accrued.add(resting.account, rebate);

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
            rebate,
        }));
        self.note_fill_of_quote(&resting, lots, at, events);
        if resting.lots == Lots::ZERO {
            self.end_order(maker);
        }
    }
}
