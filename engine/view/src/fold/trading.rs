//! One trade: the two orders, the money and shares of their accounts, the book, the supply.

use foretell_model::{
    AccountNumber, Fill, Lots, MarketNumber, MatchKind, Micros, Outcome, Price, Side, TradeIndex,
};

use super::Step;
use crate::accounts::add;
use crate::books::LadderPlace;
use crate::error::Impossible;
use crate::holding::{lower, raise};
use crate::order::{OrderState, own_price};
use crate::orders::OrderSlot;
use crate::trade::Trade;
use crate::trade_id::TradeId;
use crate::trades::Parties;
use crate::view::View;

/// One side of a trade, while it is folded.
struct Leg {
    account: AccountNumber,
    market: MarketNumber,
    outcome: Outcome,
    side: Side,
    /// Of the trade, in this side's token.
    price: Price,
    /// At that price, without the fee.
    value: Micros,
}

impl View {
    /// One trade of the frame's order with a resting one.
    pub(super) fn fill(
        &mut self,
        step: &Step<'_>,
        taker: OrderSlot,
        fill: &Fill,
    ) -> Result<(), Impossible> {
        let maker = self.orders.live_slot(fill.maker_order)?;
        self.record_trade(step, taker, maker, fill)?;
        let took = self.traded(taker, fill, step)?;
        let made = self.traded(maker, fill, step)?;
        self.settle_taker(&took, fill)?;
        self.settle_maker(&made, fill)?;
        self.move_supply(took.market, fill)?;

        let book = self.books.touch(took.market, step.at())?;
        let place = LadderPlace::of(made.outcome, made.side, made.price);
        book.remove(place, fill.lots)?;
        book.trade(fill.yes_price, took.outcome, took.side, step.now);

        let order = self.orders.at_mut(maker);
        lower(&mut order.left, fill.lots)?;
        if order.left != fill.maker_left {
            return Err(Impossible::OrderDiffers(fill.maker_order));
        }
        if order.left.is_zero() {
            self.orders
                .finish(maker, OrderState::Completed, step.frame.sequence);
        }
        Ok(())
    }

    /// Adds the trade, after checking that it fits both orders.
    fn record_trade(
        &mut self,
        step: &Step<'_>,
        taker_slot: OrderSlot,
        maker_slot: OrderSlot,
        fill: &Fill,
    ) -> Result<(), Impossible> {
        let slot = self.trades.next_slot()?;
        let taker = self.orders.at_mut(taker_slot);
        let (outcome, side, market) = (taker.outcome, taker.side, taker.market);
        let index = TradeIndex(taker.taken);
        let (account, builder) = (taker.account, taker.builder);
        taker.taken += 1;
        taker.fee = (taker.fee.checked_add(fill.fee)).ok_or(Impossible::AmountOutOfRange)?;

        let maker = self.orders.at_mut(maker_slot);
        let met = match fill.kind {
            MatchKind::Complementary => true,
            MatchKind::Mint => side == Side::Buy,
            MatchKind::Merge => side == Side::Sell,
        };
        let fits = met
            && maker.account == fill.maker
            && maker.market == market
            && maker.outcome == fill.kind.maker_outcome(outcome)
            && maker.side == fill.kind.maker_side(side)
            && maker.price == own_price(maker.outcome, fill.yes_price);
        if !fits {
            return Err(Impossible::OrderDiffers(fill.maker_order));
        }
        let made_before = maker.last_made.replace(slot);
        let parties = Parties {
            id: TradeId::new(&self.genesis, step.frame.sequence, index),
            market,
            accounts: [account, maker.account],
            outcomes: [outcome, maker.outcome],
            builders: [builder, maker.builder],
        };
        let trade = Trade {
            lots: fill.lots,
            fee: fill.fee,
            taker: taker_slot,
            maker: maker_slot,
            made_before,
            yes_price: fill.yes_price,
            kind: fill.kind,
        };
        self.trades.push(trade, &parties)
    }

    /// Notes on an order that it traded.
    fn traded(&mut self, slot: OrderSlot, fill: &Fill, step: &Step<'_>) -> Result<Leg, Impossible> {
        let order = self.orders.at_mut(slot);
        let price = own_price(order.outcome, fill.yes_price);
        let value = fill.lots.value_at(price);
        raise(&mut order.matched, fill.lots)?;
        add(&mut order.value, value)?;
        order.updated = step.now;
        Ok(Leg {
            account: order.account,
            market: order.market,
            outcome: order.outcome,
            side: order.side,
            price,
            value,
        })
    }

    /// The taker pays and gives out of what is free, and alone bears the fee.
    fn settle_taker(&mut self, leg: &Leg, fill: &Fill) -> Result<(), Impossible> {
        let account = self.accounts.get_mut(leg.account)?;
        match leg.side {
            Side::Buy => {
                account.debit(leg.value)?;
                account.debit(fill.fee)?;
                account.hold(leg.market, |held| held.give(leg.outcome, fill.lots))?;
            }
            Side::Sell => {
                account.hold(leg.market, |held| held.take(leg.outcome, fill.lots))?;
                account.credit(leg.value)?;
                account.debit(fill.fee)?;
            }
        }
        add(&mut self.system.fees, fill.fee)
    }

    /// The maker pays and gives out of what its order had reserved.
    fn settle_maker(&mut self, leg: &Leg, fill: &Fill) -> Result<(), Impossible> {
        let account = self.accounts.get_mut(leg.account)?;
        match leg.side {
            Side::Buy => {
                account.spend_reserved(leg.value)?;
                account.hold(leg.market, |held| held.give(leg.outcome, fill.lots))
            }
            Side::Sell => {
                account.hold(leg.market, |held| {
                    held.take_reserved(leg.outcome, fill.lots)
                })?;
                account.credit(leg.value)
            }
        }
    }

    /// A mint makes full sets, a merge unmakes them.
    fn move_supply(&mut self, market: MarketNumber, fill: &Fill) -> Result<(), Impossible> {
        let change: fn(&mut Lots, Lots) -> Result<(), Impossible> = match fill.kind {
            MatchKind::Complementary => return Ok(()),
            MatchKind::Mint => raise,
            MatchKind::Merge => lower,
        };
        let supply = &mut self.markets.get_mut(market)?.supply;
        supply
            .iter_mut()
            .try_for_each(|lots| change(lots, fill.lots))
    }
}
