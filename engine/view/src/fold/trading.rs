//! One fill: both orders, money and shares of their accounts, the book, the supply.

use foretell_model::{
    AccountNumber, Fill, Lots, MarketNumber, MatchKind, Micros, Outcome, Side, TimeNs, TradeIndex,
};

use super::FoldStep;
use crate::error::Impossible;
use crate::rows::accounts::add;
use crate::rows::balance::{lower, raise};
use crate::rows::books::QueuePlace;
use crate::rows::builders::BuilderSlot;
use crate::rows::holdings::HoldingSlot;
use crate::rows::order::{Order, OrderState, own_price};
use crate::rows::standings::Day;
use crate::rows::trade::{Party, Trade, TradeSum};
use crate::rows::trade_id::TradeId;
use crate::view::View;

/// One side of a trade during the fold.
pub(super) struct Leg {
    pub(super) account: AccountNumber,
    pub(super) holding: HoldingSlot,
    pub(super) market: MarketNumber,
    pub(super) outcome: Outcome,
    pub(super) side: Side,
    /// Value at that price, without the fee.
    pub(super) value: Micros,
    /// Paid in addition to the value (BUY) or out of it (SELL): 0 of a maker.
    pub(super) fee: Micros,
    builder: Option<BuilderSlot>,
}

impl View {
    /// Folds one trade of the frame's order with a resting one.
    pub(super) fn fill(
        &mut self,
        step: &FoldStep<'_>,
        taker: &mut Order,
        fill: &Fill,
    ) -> Result<(), Impossible> {
        let branch = *self.branch();
        let maker = self.orders.live_mut(fill.maker_order)?;
        if !fits(fill, taker, maker) {
            return Err(Impossible::OrderDiffers(fill.maker_order));
        }
        let market = taker.market;
        let took = self.holdings.slot_of(taker.account, market)?;
        let made = self.holdings.slot_of(maker.account, market)?;
        let index = TradeIndex(taker.taken);
        taker.taken += 1;
        taker.fee = (taker.fee.checked_add(fill.fee)).ok_or(Impossible::AmountOutOfRange)?;
        let sum = match index.0 {
            0 => TradeSum::of(taker.outcome, step.fills()),
            _ => self.trades.newest_sum(),
        };
        let trade = Trade {
            id: TradeId::new(&branch, step.frame.sequence),
            links: Default::default(),
            index,
            sum: sum.ok_or(Impossible::AmountOutOfRange)?,
            sequence: step.frame.sequence,
            time: step.now,
            place: step.frame.place,
            market,
            kind: fill.kind,
            yes_price: fill.yes_price,
            lots: fill.lots,
            fee: fill.fee,
            taker: Party::of(taker),
            maker: Party::of(maker),
            made_before: maker.last_made.replace(self.trades.next_slot()),
        };
        self.trades.push(trade, &mut self.holdings, [took, made])?;
        let took = traded(taker, took, (fill, fill.fee), step.now)?;
        let made = traded(maker, made, (fill, Micros::ZERO), step.now)?;
        lower(&mut maker.left, fill.lots)?;
        let (left, stands) = (maker.left, QueuePlace::of(maker));

        self.settle_taker(&took, fill)?;
        self.settle_maker(&made, fill)?;
        self.accrue(step, &made, fill)?;
        for leg in [&took, &made] {
            self.trade_position(step, leg, fill.lots)?;
            let (account, fill) = (leg.account, (fill.lots, leg.value));
            self.standings.trade(account, step.now, fill)?;
            (self.builder_standings).trade(leg.builder, account, step.now, fill)?;
        }
        self.volume.trade(took.market, took.value)?;
        self.move_supply(took.market, fill)?;
        let book = self.books.touch(took.market, step.at())?;
        match left.is_zero() {
            true => book.leave(stands, fill.lots)?,
            false => book.lower(stands.level, fill.lots)?,
        }
        book.trade(fill.yes_price, took.outcome, took.side, step.now);

        if left != fill.maker_left {
            return Err(Impossible::OrderDiffers(fill.maker_order));
        }
        if left.is_zero() {
            let maker = self.orders.remove_live(fill.maker_order)?;
            let state = OrderState::Completed;
            self.orders.finish(maker, state, step.frame.sequence)?;
        }
        Ok(())
    }

    /// The taker pays and delivers from free balances, and alone pays the fee.
    fn settle_taker(&mut self, leg: &Leg, fill: &Fill) -> Result<(), Impossible> {
        let account = self.accounts.get_mut(leg.account)?;
        let balance = &mut self.holdings.at(leg.holding).shares_mut().balance;
        match leg.side {
            Side::Buy => {
                account.debit(leg.value)?;
                account.debit(leg.fee)?;
                balance.give(leg.outcome, fill.lots)?;
            }
            Side::Sell => {
                balance.take(leg.outcome, fill.lots)?;
                account.credit(leg.value)?;
                account.debit(leg.fee)?;
            }
        }
        let kept = fill.fee.checked_sub(fill.rebate);
        let kept = kept.ok_or(Impossible::AmountOutOfRange)?;
        add(&mut self.system.fees, kept)
    }

    /// The maker accrues its rebate.
    fn accrue(&mut self, step: &FoldStep<'_>, leg: &Leg, fill: &Fill) -> Result<(), Impossible> {
        if fill.rebate == Micros::ZERO {
            return Ok(());
        }
        add(&mut self.system.accrued, fill.rebate)?;
        add(
            &mut self.accounts.get_mut(leg.account)?.accrued,
            fill.rebate,
        )?;
        (self.rebates).accrue(leg.account, leg.market, Day::of(step.now), fill.rebate)
    }

    /// The maker pays and delivers from its order's reservation.
    fn settle_maker(&mut self, leg: &Leg, fill: &Fill) -> Result<(), Impossible> {
        let account = self.accounts.get_mut(leg.account)?;
        let balance = &mut self.holdings.at(leg.holding).shares_mut().balance;
        match leg.side {
            Side::Buy => {
                account.spend_reserved(leg.value)?;
                balance.give(leg.outcome, fill.lots)
            }
            Side::Sell => {
                balance.take_reserved(leg.outcome, fill.lots)?;
                account.credit(leg.value)
            }
        }
    }

    /// A mint creates full sets, a merge burns them.
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

/// Whether a fill can be between these two orders.
fn fits(fill: &Fill, taker: &Order, maker: &Order) -> bool {
    let met = match fill.kind {
        MatchKind::Complementary => true,
        MatchKind::Mint => taker.side == Side::Buy,
        MatchKind::Merge => taker.side == Side::Sell,
    };
    met && maker.state == OrderState::Live
        && maker.account == fill.maker
        && maker.account != taker.account
        && maker.market == taker.market
        && maker.outcome == fill.kind.maker_outcome(taker.outcome)
        && maker.side == fill.kind.maker_side(taker.side)
        && maker.price == own_price(maker.outcome, fill.yes_price)
}

/// Records a trade in an order, which pays a fee.
fn traded(
    order: &mut Order,
    holding: HoldingSlot,
    (fill, fee): (&Fill, Micros),
    now: TimeNs,
) -> Result<Leg, Impossible> {
    let price = own_price(order.outcome, fill.yes_price);
    let value = fill.lots.value_at(price);
    raise(&mut order.matched, fill.lots)?;
    add(&mut order.value, value)?;
    order.updated = now;
    Ok(Leg {
        account: order.account,
        holding,
        market: order.market,
        outcome: order.outcome,
        side: order.side,
        value,
        fee,
        builder: order.builder,
    })
}
