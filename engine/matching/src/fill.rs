//! Fills, and settlement of the taker after the match loop.

use foretell_model::event::OrderRested;
use foretell_model::{
    CloseReason, CommandOutcome, Event, Fill, MatchKind, Micros, OrderResult, OrderStatus,
    OrderType, Side, Tick,
};

use crate::command_context::CommandContext;
use crate::exchange::Exchange;
use crate::order_pool::{Order, in_yes};
use crate::slab::NONE;
use crate::taker::{StopReason, Taker, TakerFill};

impl Exchange {
    /// Executes a trade with a resting order at its limit. The maker is settled at once. The
    /// taker's sums accumulate in `taker` and are settled when the match loop ends.
    #[inline(always)]
    pub(crate) fn fill(
        &mut self,
        taker: &mut Taker,
        slot: u32,
        take: TakerFill,
        context: &mut CommandContext<'_>,
    ) {
        let lots = take.lots;
        let maker = &mut self.orders[slot];
        maker.lots -= lots;
        let (account, left, yes_price) = (maker.account, maker.lots, maker.yes_price);
        let value = lots.value_at(maker.own_price());
        let kind = match_kind(taker, maker);
        match maker.side {
            Side::Buy => {
                self.accounts[account].reserved -= value;
                self.positions
                    .credit(account, taker.market, maker.outcome, lots);
            }
            Side::Sell => {
                self.accounts[account].free += value;
                self.positions[maker.position].reserved[maker.outcome.index()] -= lots;
                self.positions.close_if_idle(maker.position);
            }
        }
        match kind {
            MatchKind::Complementary => {}
            MatchKind::Mint => taker.done.minted += lots,
            MatchKind::Merge => taker.done.merged += lots,
        }
        let maker_order = maker.number;
        let rebate = if taker.rebate_ppm == 0 {
            Micros::ZERO
        } else {
            self.accrue_rebate(taker, account, take.fee, context)
        };
        context.event(Event::Fill(Fill {
            maker_order,
            maker: account,
            kind,
            yes_price,
            lots,
            maker_left: left,
            fee: take.fee,
            rebate,
        }));
        if left.is_zero() {
            self.remove_order(slot);
        }
    }

    /// Settles the taker after the match loop, completes, closes or rests it, and returns its
    /// result. `id_slot` is its slot in the id memory.
    #[inline(always)]
    pub(crate) fn finish(
        &mut self,
        taker: &Taker,
        stop: StopReason,
        id_slot: u32,
        context: &mut CommandContext<'_>,
    ) -> CommandOutcome {
        // Orders skipped after the last fill stay in the book.
        self.scratch.clear();
        if taker.done.fills > 0 {
            self.settle(taker);
        }
        let may_rest = taker.order_type.may_rest() && taker.cancel.is_none();
        let rests = may_rest && stop == StopReason::NoMaker;
        if rests {
            self.rest(taker, id_slot, context);
        } else {
            context.event(end_of(taker, stop));
        }
        if taker.done.is_extreme {
            let market = &self.markets[taker.market];
            if market.tick_refines && market.ladder.tick() == Tick::Hundredth {
                self.refine_tick(taker.market, Tick::Thousandth, context);
            }
        }
        let status = if taker.done.fills > 0 {
            OrderStatus::Matched
        } else if rests {
            OrderStatus::Live
        } else {
            OrderStatus::Unmatched
        };
        result(status, taker)
    }

    #[inline(always)]
    fn settle(&mut self, taker: &Taker) {
        let done = &taker.done;
        let account = &mut self.accounts[taker.account];
        match taker.side {
            Side::Buy => {
                account.free -= done.value + done.fee;
                self.positions
                    .credit(taker.account, taker.market, taker.outcome, done.lots);
            }
            Side::Sell => {
                account.free += done.value - done.fee;
                self.positions[taker.position].free[taker.outcome.index()] -= done.lots;
                self.positions.close_if_idle(taker.position);
            }
        }
        self.system.fees += done.fee - done.rebate;
        let market = &mut self.markets[taker.market];
        market.mint(done.minted);
        market.burn(done.merged);
    }

    #[inline(always)]
    fn rest(&mut self, taker: &Taker, id_slot: u32, context: &mut CommandContext<'_>) {
        let lots = taker.lots_left;
        match taker.side {
            Side::Buy => self.accounts[taker.account].reserve(lots.value_at(taker.limit)),
            Side::Sell => self.positions[taker.position].reserve(taker.outcome, lots),
        }
        let slot = self.orders.insert(Order {
            lots,
            number: taker.number,
            expiration: taker.expiration,
            account: taker.account,
            market: taker.market,
            position: taker.position,
            id_slot,
            next: NONE,
            previous: NONE,
            account_next: NONE,
            account_previous: NONE,
            heap: NONE,
            yes_price: in_yes(taker.limit, taker.outcome),
            outcome: taker.outcome,
            side: taker.side,
        });
        let ladder = &mut self.markets[taker.market].ladder;
        ladder.append(slot, &mut self.orders);
        if taker.number.0 == context.sequence.0 {
            self.accounts.append_order(slot, &mut self.orders);
        } else {
            self.accounts.insert_order(slot, &mut self.orders);
        }
        if taker.order_type == OrderType::Gtd {
            self.expiry.insert(slot, &mut self.orders);
        }
        self.ids.rests(id_slot, slot);
        context.event(Event::OrderRested(OrderRested {
            lots,
            price: taker.limit,
        }));
    }
}

const fn match_kind(taker: &Taker, maker: &Order) -> MatchKind {
    if taker.outcome as u8 == maker.outcome as u8 {
        MatchKind::Complementary
    } else {
        match taker.side {
            Side::Buy => MatchKind::Mint,
            Side::Sell => MatchKind::Merge,
        }
    }
}

/// The last event of an order that does not rest.
fn end_of(taker: &Taker, stop: StopReason) -> Event {
    let reason = match stop {
        StopReason::Full => return Event::OrderCompleted,
        // A fee-stopped FOK was checked for its minimum before it traded.
        StopReason::FeeStopped if taker.order_type == OrderType::Fok => {
            return Event::OrderCompleted;
        }
        StopReason::FeeStopped => CloseReason::FeeStopped,
        StopReason::TooManyVisited => CloseReason::TooManyFills,
        StopReason::NoMaker => {
            let cancel = taker.cancel.filter(|_| taker.order_type.may_rest());
            cancel.unwrap_or(CloseReason::FakRest)
        }
    };
    taker.closed(reason)
}

/// The immediate result of an order.
pub(crate) const fn result(status: OrderStatus, taker: &Taker) -> CommandOutcome {
    CommandOutcome::Order(OrderResult {
        status,
        lots: taker.done.lots,
        value: taker.done.value,
        fee: taker.done.fee,
        fills: taker.done.fills,
    })
}
