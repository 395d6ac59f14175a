//! Order admission: every check before the book is consulted, in the order that [`PlaceOrder`]
//! documents.

use foretell_model::limits::{
    EVICTED_PER_COMMAND, MAX_BALANCE, MAX_ORDER_LOTS, ORDER_ID_SHARES, RESERVED_ORDER_IDS,
};
use foretell_model::quantity::{MICROS_PER_LOT, PRICE_ONE};
use foretell_model::{
    AccountNumber, CommandOutcome, KeyNumber, Lots, Micros, OrderId, OrderNumber, OrderType,
    PlaceOrder, Price, Rejection, RejectionReason, Side, SystemMode, Tick, TimeMs, Verdict,
};

use crate::accounts::Account;
use crate::command_context::{CommandContext, NotApplied, ensure};
use crate::exchange::Exchange;
use crate::expiry::is_expired;
use crate::funds::ensure_collateral;
use crate::id_memory::OrderTerms;
use crate::market::Market;
use crate::placement::plan::{Demand, Incoming};
use crate::shares::ensure_shares;
use crate::slab::NONE;

/// Largest signed amount on either side: 10^9 shares, or the same number of units of collateral.
const MAX_AMOUNT: u64 = MAX_ORDER_LOTS.micro_shares();
const _: () = assert!(MAX_AMOUNT == MAX_BALANCE.0);

impl Exchange {
    /// Remembers the id of a checked order.
    #[inline(always)]
    pub(super) fn admit(
        &mut self,
        order: &PlaceOrder,
        id: (u32, OrderId),
        (limit, demand, position): (Price, Demand, u32),
        context: &CommandContext<'_>,
    ) -> Incoming {
        if self.is_id_due(context) {
            self.evict_ids(context);
        }
        let number = OrderNumber::of(context.sequence, 0);
        let terms = terms(order);
        let id_slot = self.ids.remember(id, number, order.timestamp, terms);
        // Checked: the key is one of the account's owner.
        let owner = self.accounts[order.account].owner;
        self.accounts[owner].order_ids += 1;
        let market = &self.markets[order.market];
        Incoming {
            number,
            account: order.account,
            market: order.market,
            outcome: order.outcome,
            side: order.side,
            order_type: order.order_type,
            limit,
            demand,
            expiration: order.expiration,
            fee: market.fee,
            rebate_ppm: market.rebate_ppm,
            position,
            id_slot,
        }
    }

    fn is_id_due(&self, context: &CommandContext<'_>) -> bool {
        let window = self.system.settings.timestamp_past_ms;
        let earliest = self.system.earliest_clock(context.now);
        self.ids.is_front_due(earliest, window)
    }

    /// Forgets ids that are due, at most `EVICTED_PER_COMMAND`, except those of live orders.
    #[inline(never)]
    fn evict_ids(&mut self, context: &CommandContext<'_>) {
        for _ in 0..EVICTED_PER_COMMAND {
            if !self.is_id_due(context) {
                return;
            }
            let key = self.ids.expire_front();
            if let Some(owner) = key.and_then(|key| self.keys.owner_of(key)) {
                self.accounts[owner].order_ids -= 1;
            }
        }
    }

    /// The answer to an order whose id is known, as [`Self::apply`] gives it. `None` for a new id, and
    /// for an order of an unknown market, account or key.
    #[must_use]
    pub fn known_order(&self, order: &PlaceOrder) -> Option<Verdict> {
        self.markets.get(order.market).ok()?;
        let account = self.account(order.account).ok()?;
        self.ensure_key(order.key, account).ok()?;
        let known = self.ensure_new_id(order, self.ids.hash(&order.order));
        known.err().map(Verdict::from)
    }

    /// Checks an order against everything except the book. Returns its limit, its demand, and the
    /// slot of a seller's position.
    #[inline(never)]
    pub(super) fn check(
        &self,
        order: &PlaceOrder,
        id_hash: u32,
        context: &CommandContext<'_>,
    ) -> Result<(Price, Demand, u32), NotApplied> {
        let market = self.markets.get(order.market)?;
        let account = self.account(order.account)?;
        self.ensure_key(order.key, account)?;
        self.ensure_new_id(order, id_hash)?;
        self.ensure_timestamp(order.timestamp, context)?;
        self.ensure_room_for_id(account.owner, context)?;
        self.ensure_open(order, market, account)?;
        self.ensure_terms(order, context)?;
        let (limit, demand) = read_amounts(order, market.ladder.tick(), account)?;
        self.ensure_size(order, market, demand)?;
        let position = self.ensure_funds(order, (market, account), limit, demand)?;
        Ok((limit, demand, position))
    }

    /// Rejects unless a key is live, may trade, and belongs to the owner of an account.
    pub(crate) fn ensure_key(&self, key: KeyNumber, account: &Account) -> Result<(), NotApplied> {
        let Some(key) = self.keys.get(key) else {
            return Err(RejectionReason::UnknownKey.into());
        };
        ensure(key.live && !key.read_only, RejectionReason::UnknownKey)?;
        ensure(
            key.owner == account.owner,
            RejectionReason::KeyOfAnotherOwner,
        )
    }

    #[inline(always)]
    fn ensure_new_id(&self, order: &PlaceOrder, id_hash: u32) -> Result<(), NotApplied> {
        let Some(first) = self.ids.find(id_hash, &order.order) else {
            return Ok(());
        };
        ensure(first.terms == terms(order), RejectionReason::Duplicate)?;
        Err(match first.killed {
            Some(reason) if !first.minimum().is_zero() => {
                Rejection::with(reason, order.maker_amount, first.minimum().0).into()
            }
            Some(reason) => reason.into(),
            None => NotApplied::Repeated {
                first: first.number.sequence(),
                last: first.number.sequence(),
                outcome: CommandOutcome::Done,
            },
        })
    }

    pub(crate) fn ensure_timestamp(
        &self,
        timestamp: TimeMs,
        context: &CommandContext<'_>,
    ) -> Result<(), NotApplied> {
        let (system, now) = (&self.system, context.now.millis().0);
        let settings = &system.settings;
        let from = now
            .saturating_sub(settings.timestamp_past_ms)
            .max(system.timestamp_floor.0);
        let to = now + settings.timestamp_future_ms;
        ensure(
            (from..=to).contains(&timestamp.0) || self.is_right_by_wall(timestamp, context),
            Rejection::with(RejectionReason::TimestampOutOfWindow, from, to),
        )
    }

    /// Whether a timestamp is in the window of wall time, in a sandbox (docs/verify/rules.md §33). While its clock stands,
    /// the engine knows only when that began.
    #[cold]
    fn is_right_by_wall(&self, timestamp: TimeMs, context: &CommandContext<'_>) -> bool {
        let (system, clock) = (&self.system, self.system.clock);
        let settings = &system.settings;
        let wall = clock.known_wall_time(context.now).millis().0;
        let from = wall
            .saturating_sub(settings.timestamp_past_ms)
            .max(system.timestamp_floor.0);
        let to = match clock.frozen {
            true => u64::MAX,
            false => wall.saturating_add(settings.timestamp_future_ms),
        };
        system.beginning.sandbox && (from..=to).contains(&timestamp.0)
    }

    /// Rejects the order when the id memory, or the owner's share of it, is full and no id is due
    /// for eviction.
    fn ensure_room_for_id(
        &self,
        owner: AccountNumber,
        context: &CommandContext<'_>,
    ) -> Result<(), NotApplied> {
        let limit = self.system.settings.remembered_order_ids;
        let is_full = self.ids.len() >= limit as usize;
        let (held, share) = (
            self.accounts[owner].order_ids,
            (limit / ORDER_ID_SHARES).max(1),
        );
        if !is_full && held < share || self.is_id_due(context) {
            return Ok(());
        }
        let has_reserve = held < RESERVED_ORDER_IDS.min(share);
        ensure(!is_full || has_reserve, RejectionReason::Busy)?;
        let too_many = RejectionReason::TooManyOrderIds;
        ensure(
            held < share,
            Rejection::with(too_many, held.into(), share.into()),
        )
    }

    #[inline(always)]
    fn ensure_open(
        &self,
        order: &PlaceOrder,
        market: &Market,
        account: &Account,
    ) -> Result<(), NotApplied> {
        if self.system.mode != SystemMode::Running {
            self.system.ensure_takes_risk()?;
            ensure(order.post_only, RejectionReason::PostOnlyMode)?;
        }
        market.ensure_trading()?;
        ensure(
            !account.closed_only || order.side == Side::Sell,
            RejectionReason::ClosedOnlyAccount,
        )
    }

    fn ensure_terms(
        &self,
        order: &PlaceOrder,
        context: &CommandContext<'_>,
    ) -> Result<(), NotApplied> {
        ensure(
            !order.post_only || order.order_type.may_rest(),
            RejectionReason::PostOnlyNeedsResting,
        )?;
        let safety = self.system.settings.gtd_safety_seconds;
        let is_valid = if order.order_type == OrderType::Gtd {
            order.expiration.0 != 0 && !is_expired(order.expiration, context.now, safety)
        } else {
            order.expiration.0 == 0
        };
        ensure(is_valid, RejectionReason::InvalidExpiration)
    }

    fn ensure_size(
        &self,
        order: &PlaceOrder,
        market: &Market,
        demand: Demand,
    ) -> Result<(), NotApplied> {
        if order.order_type.may_rest() {
            let (lots, minimum) = (demand.lots(), market.minimum_size);
            let rejection = Rejection::with(RejectionReason::SizeBelowMinimum, lots.0, minimum.0);
            return ensure(lots >= minimum, rejection);
        }
        let minimum = self.system.settings.marketable_minimum.0;
        let small = RejectionReason::MarketableBelowMinimum;
        ensure(
            order.side == Side::Sell || order.maker_amount >= minimum,
            Rejection::with(small, order.maker_amount, minimum),
        )
    }

    /// Checks that the account can cover the order; returns the slot of a seller's position, and
    /// `NONE` for a buyer.
    #[inline(always)]
    fn ensure_funds(
        &self,
        order: &PlaceOrder,
        (market, account): (&Market, &Account),
        limit: Price,
        demand: Demand,
    ) -> Result<u32, NotApplied> {
        let (live, cap) = (
            account.live_orders,
            self.system.settings.live_orders_per_account,
        );
        let may_live = order.order_type.may_rest() || market.delay_ms > 0;
        let too_many = RejectionReason::TooManyLiveOrders;
        ensure(
            !may_live || live < cap,
            Rejection::with(too_many, live.into(), cap.into()),
        )?;
        if order.side == Side::Buy {
            // A value is at most the full value, and so is a fee.
            let covers = |lots: Lots| account.free.0 / 2 >= lots.full_value().0;
            if !matches!(demand, Demand::Shares(lots) if covers(lots)) {
                let needed = demand.needs(order.side, limit, market.fee);
                ensure_collateral(Micros(needed), account.free)?;
            }
            return Ok(NONE);
        }
        let position = self.positions.find(order.account, order.market);
        let free = position.map_or(Lots::ZERO, |slot| {
            self.positions[slot].free[order.outcome.index()]
        });
        ensure_shares(demand.lots(), free)?;
        Ok(position.unwrap_or(NONE))
    }
}

const fn terms(order: &PlaceOrder) -> OrderTerms {
    OrderTerms {
        expiration: order.expiration,
        key: order.key,
        order_type: order.order_type,
        post_only: order.post_only,
    }
}

/// Limit price and demand of the signed amounts.
#[inline(always)]
fn read_amounts(
    order: &PlaceOrder,
    tick: Tick,
    account: &Account,
) -> Result<(Price, Demand), NotApplied> {
    let (collateral, shares) = match order.side {
        Side::Buy => (order.maker_amount, order.taker_amount),
        Side::Sell => (order.taker_amount, order.maker_amount),
    };
    ensure(collateral > 0 && shares > 0, RejectionReason::AmountZero)?;
    ensure(
        collateral <= MAX_AMOUNT && shares <= MAX_AMOUNT,
        RejectionReason::AmountTooLarge,
    )?;
    let rests = order.order_type.may_rest();
    let demand = if order.side == Side::Buy && !rests {
        Demand::Budget {
            amount: Micros(collateral),
            free: account.free,
            minimum: match order.order_type {
                OrderType::Fok => Lots(shares / MICROS_PER_LOT),
                _ => Lots::ZERO,
            },
        }
    } else {
        let not_lots = Rejection::with(RejectionReason::SizeNotLots, shares, 0);
        Demand::Shares(Lots::from_micro_shares(shares).ok_or(not_lots)?)
    };
    let price = if rests {
        exact_price(collateral, demand.lots())
    } else {
        price_in_favour(order.side, collateral, shares, tick)
    };
    match price.map(u16::try_from) {
        Some(Ok(price)) if Price(price).fits(tick) => Ok((Price(price), demand)),
        _ => Err(Rejection::with(RejectionReason::PriceOffTick, tick.units().into(), 0).into()),
    }
}

/// The price that the amounts state exactly; `None` when it is not a whole price unit.
const fn exact_price(collateral: u64, lots: Lots) -> Option<u64> {
    match collateral.checked_div(lots.0) {
        Some(price) if price * lots.0 == collateral => Some(price),
        _ => None,
    }
}

/// The ratio of the amounts, rounded once to a tick in the signer's favour: a BUY down, a SELL up.
/// Amounts are at most 10^15, so no product exceeds 10^19.
const fn price_in_favour(side: Side, collateral: u64, shares: u64, tick: Tick) -> Option<u64> {
    let context = tick.units() as u64;
    let scaled = collateral * PRICE_ONE as u64;
    let steps = match side {
        Side::Buy => scaled / (shares * context),
        Side::Sell => scaled.div_ceil(shares * context),
    };
    steps.checked_mul(context)
}
