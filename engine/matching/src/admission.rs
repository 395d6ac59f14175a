//! Placing an order: everything that is checked before the book is asked, in the order that
//! [`PlaceOrder`] documents.

use foretell_model::limits::{MAX_BALANCE, MAX_ORDER_LOTS, ORDER_ID_SHARES, RESERVED_ORDER_IDS};
use foretell_model::quantity::{MICROS_PER_LOT, PRICE_ONE};
use foretell_model::{
    AccountNumber, CommandOutcome, Event, Lots, Micros, OrderNumber, OrderStatus, OrderType,
    PlaceOrder, Price, Refusal, RefusalReason, Sequence, Side, SystemMode, Tick, TimeMs,
};

use crate::accounts::Account;
use crate::exchange::Exchange;
use crate::expiry::is_expired;
use crate::fees;
use crate::fill::result;
use crate::funds::ensure_collateral;
use crate::market::Market;
use crate::order_index::Terms;
use crate::rules::Rules;
use crate::shares::ensure_shares;
use crate::step::{Answer, NotApplied, Step, ensure};
use crate::taker::{Taker, Traded};

/// The largest signed amount on either side: 10^9 shares, or as much collateral.
const MAX_AMOUNT: u64 = MAX_ORDER_LOTS.micro_shares();
const _: () = assert!(MAX_AMOUNT == MAX_BALANCE.0);

impl Exchange {
    pub(crate) fn place_order(&mut self, order: &PlaceOrder, step: &mut Step<'_>) -> Answer {
        let id = (self.index.hash(&order.order), order.order);
        let mut taker = self.admit(order, id.0, step)?;
        let window = self.system.settings.timestamp_past_ms;
        self.index.forget_some(step.now, window, &self.keys);
        let memory =
            self.index
                .remember(id, taker.number, order.timestamp, terms(order), &self.keys);

        if let Some(refusal) = self.book_refusal(order, &taker, step) {
            return Ok(self.kill(&taker, memory, refusal, step));
        }
        let stop = self.walk(&mut taker, step);
        if order.order_type == OrderType::Fak && taker.done.fills == 0 {
            self.scratch.clear();
            return Ok(self.kill(&taker, memory, RefusalReason::FakNoMatch.into(), step));
        }
        Ok(self.finish(&taker, stop, memory, step))
    }

    fn kill(
        &mut self,
        taker: &Taker,
        memory: u32,
        refusal: Refusal,
        step: &mut Step<'_>,
    ) -> CommandOutcome {
        let Refusal { reason, details } = refusal;
        // An order is killed for a minimum or for something without numbers.
        let [_, minimum] = details;
        self.index.killed(memory, reason, Micros(minimum));
        step.event(Event::OrderKilled { reason, details });
        result(OrderStatus::Killed(refusal), taker)
    }

    /// Checks an order against everything but the book.
    fn admit(
        &self,
        order: &PlaceOrder,
        id_hash: u32,
        step: &Step<'_>,
    ) -> Result<Taker, NotApplied> {
        let market = self.markets.get(order.market)?;
        let account = self.account(order.account)?;
        self.ensure_key(order, account)?;
        self.ensure_new_id(order, id_hash)?;
        self.ensure_timestamp(order.timestamp, step)?;
        self.ensure_room_for_id(account.owner, step)?;
        self.ensure_open(order, market, account)?;
        self.ensure_terms(order, step)?;
        let (limit, lots) = read_amounts(order, market.ladder.tick())?;
        self.ensure_size(order, market, lots)?;
        let position = self.ensure_funds(order, (market, account), limit, lots)?;
        Ok(Taker {
            number: OrderNumber(step.sequence.0),
            account: order.account,
            market: order.market,
            outcome: order.outcome,
            side: order.side,
            order_type: order.order_type,
            limit,
            expiration: order.expiration,
            fee: market.fee,
            lots_left: lots,
            budget_left: Micros(order.maker_amount),
            purse_left: account.free,
            enough: Lots(order.taker_amount / MICROS_PER_LOT),
            position,
            touched: 0,
            done: Traded::default(),
        })
    }

    fn ensure_key(&self, order: &PlaceOrder, account: &Account) -> Result<(), NotApplied> {
        let key = self
            .keys
            .get(order.key)
            .filter(|key| key.live && !key.read_only)
            .ok_or(RefusalReason::UnknownKey)?;
        ensure(key.owner == account.owner, RefusalReason::KeyOfAnotherOwner)
    }

    fn ensure_new_id(&self, order: &PlaceOrder, id_hash: u32) -> Result<(), NotApplied> {
        let Some(first) = self.index.find(id_hash, &order.order) else {
            return Ok(());
        };
        ensure(first.terms == terms(order), RefusalReason::Duplicate)?;
        Err(match first.killed {
            Some(reason) if !first.minimum().is_zero() => {
                Refusal::with(reason, order.maker_amount, first.minimum().0).into()
            }
            Some(reason) => reason.into(),
            None => NotApplied::Repeated {
                first: Sequence(first.number.0),
                last: Sequence(first.number.0),
                outcome: CommandOutcome::Done,
            },
        })
    }

    fn ensure_timestamp(&self, timestamp: TimeMs, step: &Step<'_>) -> Result<(), NotApplied> {
        let (system, now) = (&self.system, step.now.millis().0);
        let settings = &system.settings;
        let from = now
            .saturating_sub(settings.timestamp_past_ms)
            .max(system.timestamp_floor.0);
        let to = now + settings.timestamp_future_ms;
        ensure(
            (from..=to).contains(&timestamp.0),
            Refusal::with(RefusalReason::TimestampOutOfWindow, from, to),
        )
    }

    /// Passes while the id memory, and the owner's share of it, has room, or something in it is about
    /// to be forgotten.
    fn ensure_room_for_id(&self, owner: AccountNumber, step: &Step<'_>) -> Result<(), NotApplied> {
        let settings = &self.system.settings;
        if self
            .index
            .is_front_due(step.now, settings.timestamp_past_ms)
        {
            return Ok(());
        }
        let limit = settings.remembered_order_ids;
        let is_full = self.index.len() >= limit as usize;
        if step.rules == Rules::One {
            return ensure(!is_full, RefusalReason::Busy);
        }
        let (held, share) = (self.index.held_by(owner), (limit / ORDER_ID_SHARES).max(1));
        let has_reserve = held < RESERVED_ORDER_IDS.min(share);
        ensure(!is_full || has_reserve, RefusalReason::Busy)?;
        let too_many = RefusalReason::TooManyOrderIds;
        ensure(
            held < share,
            Refusal::with(too_many, held.into(), share.into()),
        )
    }

    fn ensure_open(
        &self,
        order: &PlaceOrder,
        market: &Market,
        account: &Account,
    ) -> Result<(), NotApplied> {
        self.system.ensure_takes_risk()?;
        ensure(
            self.system.mode != SystemMode::PostOnly || order.post_only,
            RefusalReason::PostOnlyMode,
        )?;
        market.ensure_trading()?;
        ensure(
            !account.closed_only || order.side == Side::Sell,
            RefusalReason::ClosedOnlyAccount,
        )
    }

    fn ensure_terms(&self, order: &PlaceOrder, step: &Step<'_>) -> Result<(), NotApplied> {
        ensure(
            !order.post_only || order.order_type.may_rest(),
            RefusalReason::PostOnlyNeedsResting,
        )?;
        let safety = self.system.settings.gtd_safety_seconds;
        let is_valid = if order.order_type == OrderType::Gtd {
            order.expiration.0 != 0 && !is_expired(order.expiration, step.now, safety)
        } else {
            order.expiration.0 == 0
        };
        ensure(is_valid, RefusalReason::InvalidExpiration)
    }

    fn ensure_size(
        &self,
        order: &PlaceOrder,
        market: &Market,
        lots: Lots,
    ) -> Result<(), NotApplied> {
        if order.order_type.may_rest() {
            let minimum = market.minimum_size;
            let refusal = Refusal::with(RefusalReason::SizeBelowMinimum, lots.0, minimum.0);
            return ensure(lots >= minimum, refusal);
        }
        let minimum = self.system.settings.marketable_minimum.0;
        let small = RefusalReason::MarketableBelowMinimum;
        ensure(
            order.side == Side::Sell || order.maker_amount >= minimum,
            Refusal::with(small, order.maker_amount, minimum),
        )
    }

    /// Passes an order whose account has what it needs; the place of a seller's position.
    #[inline(always)]
    fn ensure_funds(
        &self,
        order: &PlaceOrder,
        (market, account): (&Market, &Account),
        limit: Price,
        lots: Lots,
    ) -> Result<Option<u32>, NotApplied> {
        let rests = order.order_type.may_rest();
        let (live, cap) = (
            account.live_orders,
            self.system.settings.live_orders_per_account,
        );
        let too_many = RefusalReason::TooManyLiveOrders;
        ensure(
            !rests || live < cap,
            Refusal::with(too_many, live.into(), cap.into()),
        )?;
        let needed = match order.side {
            Side::Sell => {
                let position = self.positions.find(order.account, order.market);
                let free = position.map_or(Lots::ZERO, |place| {
                    self.positions[place].free[order.outcome.index()]
                });
                ensure_shares(lots, free)?;
                return Ok(position);
            }
            Side::Buy if rests => lots.value_at(limit) + fees::fee_bound(market.fee, lots, limit),
            Side::Buy => {
                let lots = Lots(order.maker_amount / u64::from(limit.0));
                Micros(order.maker_amount) + fees::fee(market.fee, lots, limit)
            }
        };
        ensure_collateral(needed, account.free)?;
        Ok(None)
    }
}

const fn terms(order: &PlaceOrder) -> Terms {
    Terms {
        expiration: order.expiration,
        key: order.key,
        order_type: order.order_type,
        post_only: order.post_only,
    }
}

/// Limit price and shares of the signed amounts; a budget BUY has no number of shares (0).
#[inline(always)]
fn read_amounts(order: &PlaceOrder, tick: Tick) -> Result<(Price, Lots), NotApplied> {
    let (collateral, shares) = match order.side {
        Side::Buy => (order.maker_amount, order.taker_amount),
        Side::Sell => (order.taker_amount, order.maker_amount),
    };
    ensure(collateral > 0 && shares > 0, RefusalReason::AmountZero)?;
    ensure(
        collateral <= MAX_AMOUNT && shares <= MAX_AMOUNT,
        RefusalReason::AmountTooLarge,
    )?;
    let has_budget = order.side == Side::Buy && !order.order_type.may_rest();
    let lots = match Lots::from_micro_shares(shares) {
        Some(lots) if !has_budget => lots,
        None if !has_budget => {
            return Err(Refusal::with(RefusalReason::SizeNotLots, shares, 0).into());
        }
        _ => Lots::ZERO,
    };
    let price = if order.order_type.may_rest() {
        exact_price(collateral, lots)
    } else {
        price_in_favour(order.side, collateral, shares, tick)
    };
    let off_tick = Refusal::with(RefusalReason::PriceOffTick, tick.units().into(), 0);
    let price = price
        .and_then(|price| u16::try_from(price).ok())
        .map(Price)
        .filter(|price| price.fits(tick))
        .ok_or(off_tick)?;
    Ok((price, lots))
}

/// The price the amounts state exactly.
const fn exact_price(collateral: u64, lots: Lots) -> Option<u64> {
    if collateral.is_multiple_of(lots.0) {
        Some(collateral / lots.0)
    } else {
        None
    }
}

/// The ratio of the amounts, rounded once to a tick in the signer's favour: a BUY down, a SELL up.
/// Amounts are at most 10^15, so nothing here passes 10^19.
const fn price_in_favour(side: Side, collateral: u64, shares: u64, tick: Tick) -> Option<u64> {
    let step = tick.units() as u64;
    let scaled = collateral * PRICE_ONE as u64;
    let steps = match side {
        Side::Buy => scaled / (shares * step),
        Side::Sell => scaled.div_ceil(shares * step),
    };
    steps.checked_mul(step)
}
