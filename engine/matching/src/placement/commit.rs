//! The commit of a plan: its steps, the settlement of the order, and its rest.

use foretell_model::event::{OrderClosed, OrderRested};
use foretell_model::{
    CloseReason, CommandOutcome, Event, Fill, Lots, MatchKind, Micros, OrderResult, OrderStatus,
    OrderType, Side, Tick,
};

use crate::command_context::CommandContext;
use crate::exchange::Exchange;
use crate::order_pool::Order;
use crate::placement::plan::{Incoming, Plan, Step, Stop, Totals};
use crate::slab::NONE;

impl Exchange {
    /// Executes the steps, settles the order, then completes, closes or rests it. With `cancel`, the
    /// reason of a cancel that was asked for, nothing rests.
    #[inline(always)]
    pub(super) fn commit(
        &mut self,
        incoming: &Incoming,
        plan: &Plan,
        cancel: Option<CloseReason>,
        context: &mut CommandContext<'_>,
    ) -> CommandOutcome {
        let totals = &plan.totals;
        self.execute_steps(incoming, totals, context);
        let may_rest = plan.stop == Stop::NoMaker && incoming.order_type.may_rest();
        let rests = may_rest && cancel.is_none();
        if rests {
            self.rest(incoming, plan.left.lots(), context);
        } else {
            context.event(end_of(incoming, plan, cancel.filter(|_| may_rest)));
        }
        if totals.is_extreme {
            let market = &self.markets[incoming.market];
            if market.tick_refines && market.ladder.tick() == Tick::Hundredth {
                self.refine_tick(incoming.market, Tick::Thousandth, context);
            }
        }
        self.leave_frozen_quotes(context);
        let status = match totals.fills {
            0 if rests => OrderStatus::Live,
            0 => OrderStatus::Unmatched,
            _ => OrderStatus::Matched,
        };
        result(status, totals)
    }

    #[inline(always)]
    fn execute_steps(
        &mut self,
        incoming: &Incoming,
        totals: &Totals,
        context: &mut CommandContext<'_>,
    ) {
        let mut rebate = Micros::ZERO;
        for at in 0..self.steps.len() {
            match self.steps[at] {
                Step::Fill { slot, lots, fee } => {
                    rebate += self.fill(incoming, slot, (lots, fee), context);
                }
                Step::Close { slot, reason } => self.close_order(slot, reason, context),
            }
        }
        if totals.fills > 0 {
            self.settle(incoming, totals, rebate);
        }
    }

    /// Executes a trade with a resting order at its limit and settles the maker. Returns what the
    /// maker accrues of the fee.
    #[inline(always)]
    fn fill(
        &mut self,
        incoming: &Incoming,
        slot: u32,
        (lots, fee): (Lots, Micros),
        context: &mut CommandContext<'_>,
    ) -> Micros {
        let Self {
            accounts,
            positions,
            orders,
            ..
        } = self;
        let maker = &mut orders[slot];
        maker.lots -= lots;
        let value = lots.value_at(maker.own_price());
        match maker.side {
            Side::Buy => {
                accounts[maker.account].reserved -= value;
                positions.credit(maker.account, maker.market, maker.outcome, lots);
            }
            Side::Sell => {
                accounts[maker.account].free += value;
                positions[maker.position].reserved[maker.outcome.index()] -= lots;
                positions.close_if_idle(maker.position);
            }
        }
        let is_quote = maker.group != NONE;
        let mut fill = Fill {
            maker_order: maker.number,
            maker: maker.account,
            kind: match_kind(incoming, maker),
            yes_price: maker.yes_price,
            lots,
            maker_left: maker.lots,
            fee,
            rebate: Micros::ZERO,
        };
        if incoming.rebate_ppm > 0 {
            fill.rebate = self.accrue_rebate(incoming, fill.maker, fee, context);
        }
        context.event(Event::Fill(fill));
        if is_quote {
            self.note_quote_fill(slot, &fill, context);
        }
        if fill.maker_left.is_zero() {
            self.remove_order(slot);
        }
        fill.rebate
    }

    #[inline(always)]
    fn settle(&mut self, incoming: &Incoming, totals: &Totals, rebate: Micros) {
        let account = &mut self.accounts[incoming.account];
        let market = &mut self.markets[incoming.market];
        match incoming.side {
            Side::Buy => {
                account.free -= totals.value + totals.fee;
                market.mint(totals.sets);
                let Incoming {
                    account,
                    market,
                    outcome,
                    ..
                } = *incoming;
                self.positions.credit(account, market, outcome, totals.lots);
            }
            Side::Sell => {
                account.free += totals.value - totals.fee;
                market.burn(totals.sets);
                self.positions[incoming.position].free[incoming.outcome.index()] -= totals.lots;
                self.positions.close_if_idle(incoming.position);
            }
        }
        self.system.fees += totals.fee - rebate;
    }

    /// Puts the rest of an order into the book.
    #[inline(always)]
    pub(super) fn rest(
        &mut self,
        incoming: &Incoming,
        lots: Lots,
        context: &mut CommandContext<'_>,
    ) {
        self.enter_book(incoming.entry(lots), context);
        context.event(Event::OrderRested(OrderRested {
            lots,
            price: incoming.limit,
        }));
    }

    /// Reserves what an order needs, and puts it into the book. Returns its slot.
    #[inline(always)]
    pub(crate) fn enter_book(&mut self, order: Order, context: &CommandContext<'_>) -> u32 {
        let Self {
            markets,
            accounts,
            positions,
            orders,
            ids,
            ..
        } = self;
        match order.side {
            Side::Buy => accounts[order.account].reserve(order.reserved_value()),
            Side::Sell => positions[order.position].reserve(order.outcome, order.lots),
        }
        let slot = orders.insert(order);
        markets[order.market].ladder.append(slot, orders);
        if order.number.sequence() == context.sequence {
            accounts.append_order(slot, orders);
        } else {
            accounts.insert_order(slot, orders);
        }
        ids.rests(order.id_slot, slot);
        if order.expiration.0 != 0 {
            self.schedule_expiry(slot);
        }
        slot
    }
}

const fn match_kind(incoming: &Incoming, maker: &Order) -> MatchKind {
    if incoming.outcome as u8 == maker.outcome as u8 {
        MatchKind::Complementary
    } else {
        match incoming.side {
            Side::Buy => MatchKind::Mint,
            Side::Sell => MatchKind::Merge,
        }
    }
}

/// The last event of an order that does not rest; `cancel` is the reason why it could but does not.
fn end_of(incoming: &Incoming, plan: &Plan, cancel: Option<CloseReason>) -> Event {
    let reason = match plan.stop {
        Stop::Full => return Event::OrderCompleted,
        // A fee-stopped FOK is only executed when it counts as filled.
        Stop::FeeStopped if incoming.order_type == OrderType::Fok => return Event::OrderCompleted,
        Stop::FeeStopped => CloseReason::FeeStopped,
        Stop::TooManyVisited => CloseReason::TooManyFills,
        // An order that could trade and may wait has no end here.
        Stop::NoMaker | Stop::CouldTrade => cancel.unwrap_or(CloseReason::FakRest),
    };
    closed(incoming, plan.left.lots(), reason)
}

/// The event of an order that ends with so many lots.
pub(super) const fn closed(incoming: &Incoming, lots: Lots, reason: CloseReason) -> Event {
    Event::OrderClosed(OrderClosed {
        order: incoming.number,
        account: incoming.account,
        lots,
        reason,
    })
}

/// The immediate result of an order.
pub(super) const fn result(status: OrderStatus, totals: &Totals) -> CommandOutcome {
    CommandOutcome::Order(OrderResult {
        status,
        lots: totals.lots,
        value: totals.value,
        fee: totals.fee,
        fills: totals.fills,
    })
}
