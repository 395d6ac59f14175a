//! Checks of a placed order before it reaches the book (docs/verify/rules.md §2).

use foretell_model::limits::MAX_ORDER_LOTS;
use foretell_model::quantity::{MICROS_PER_LOT, PRICE_ONE};
use foretell_model::state::OrderIdState;
use foretell_model::{
    AccountNumber, CommandOutcome, KeyNumber, Lots, MarketState, Micros, OrderNumber, OrderType,
    PlaceOrder, Price, Rejection, RejectionReason, Side, SystemMode, Tick, TimeMs, TimeNs,
    TimeSeconds,
};

use crate::exchange::{Exchange, Stamp};
use crate::handler_result::{NotApplied, ensure};
use crate::orders;
use crate::plan::{Demand, Taker};

impl Exchange {
    /// The checks of [`PlaceOrder`], in its order.
    pub(crate) fn admit(&self, placed: &PlaceOrder, at: Stamp) -> Result<Taker, NotApplied> {
        self.check_names(placed)?;
        self.check_repeat(placed)?;
        self.check_timestamp(placed, at.time)?;
        self.check_states(placed)?;
        self.check_type(placed, at.time)?;

        let market = self.market(placed.market)?;
        check_amounts(placed)?;
        let limit = limit_price(placed, market.tick).ok_or(Rejection::with(
            RejectionReason::PriceOffTick,
            u64::from(market.tick.units()),
            0,
        ))?;
        let taker = Taker {
            number: OrderNumber::of(at.sequence, 0),
            id: placed.order,
            account: placed.account,
            market: placed.market,
            outcome: placed.outcome,
            side: placed.side,
            order_type: placed.order_type,
            limit,
            demand: self.demand(placed)?,
            expiration: placed.expiration,
            fee: market.fee,
            rebate_ppm: market.terms.rebate_ppm,
        };
        self.check_minimum(&taker)?;
        self.check_cap(&taker)?;
        self.check_means(&taker)?;
        Ok(taker)
    }

    fn check_names(&self, placed: &PlaceOrder) -> Result<(), NotApplied> {
        self.market(placed.market)?;
        self.check_maker(placed.account, placed.key)
    }

    /// The account exists, and this key trades for it.
    pub(crate) fn check_maker(
        &self,
        account: AccountNumber,
        key: KeyNumber,
    ) -> Result<(), NotApplied> {
        let account = self.account(account)?;
        let key = self.trading_key(key)?;
        ensure(
            key.owner == account.owner,
            RejectionReason::KeyOfAnotherOwner,
        )
    }

    fn check_repeat(&self, placed: &PlaceOrder) -> Result<(), NotApplied> {
        let Some(seen) = self.order_ids.get(placed.order) else {
            return Ok(());
        };
        ensure(seen.has_terms_of(placed), RejectionReason::Duplicate)?;
        Err(match seen.state {
            OrderIdState::Killed { reason, minimum } => {
                killed_below(reason, placed, minimum).into()
            }
            OrderIdState::Live | OrderIdState::Done => NotApplied::Repeated {
                first: seen.number.sequence(),
                last: seen.number.sequence(),
                outcome: CommandOutcome::Done,
            },
        })
    }

    fn check_timestamp(&self, placed: &PlaceOrder, now: TimeNs) -> Result<(), NotApplied> {
        self.check_window(placed.timestamp, now)?;
        self.check_room_for_an_id(placed.key, now)
    }

    pub(crate) fn check_window(&self, timestamp: TimeMs, now: TimeNs) -> Result<(), NotApplied> {
        let now_ms = now.millis().0;
        let from = now_ms
            .saturating_sub(self.settings.timestamp_past_ms)
            .max(self.timestamp_floor.0);
        let to = now_ms.saturating_add(self.settings.timestamp_future_ms);
        let by_wall = self.beginning.sandbox && {
            let wall_ms = self.wall_clock(now).millis().0;
            let ahead = timestamp.0.saturating_sub(wall_ms);
            let behind = wall_ms.saturating_sub(timestamp.0);
            timestamp >= self.timestamp_floor
                && behind <= self.settings.timestamp_past_ms
                && (self.clock.frozen || ahead <= self.settings.timestamp_future_ms)
        };
        ensure(
            by_wall || (from..=to).contains(&timestamp.0),
            Rejection::with(RejectionReason::TimestampOutOfWindow, from, to),
        )
    }

    fn check_states(&self, placed: &PlaceOrder) -> Result<(), NotApplied> {
        match self.mode {
            SystemMode::Running => {}
            SystemMode::PostOnly => ensure(placed.post_only, RejectionReason::PostOnlyMode)?,
            SystemMode::CancelOnly => ensure(false, RejectionReason::CancelOnly)?,
            SystemMode::Paused => ensure(false, RejectionReason::SystemPaused)?,
        }
        if let Some(reason) = not_trading(self.market(placed.market)?.state) {
            return Err(reason.into());
        }
        let reduces = placed.side == Side::Sell;
        ensure(
            reduces || !self.account(placed.account)?.closed_only,
            RejectionReason::ClosedOnlyAccount,
        )
    }

    fn check_type(&self, placed: &PlaceOrder, now: TimeNs) -> Result<(), NotApplied> {
        ensure(
            !placed.post_only || placed.order_type.may_rest(),
            RejectionReason::PostOnlyNeedsResting,
        )?;
        let valid = match placed.order_type {
            OrderType::Gtd => orders::due(placed.expiration, &self.settings) > now,
            _ => placed.expiration == TimeSeconds(0),
        };
        ensure(valid, RejectionReason::InvalidExpiration)
    }

    fn demand(&self, placed: &PlaceOrder) -> Result<Demand, NotApplied> {
        Ok(if spends_budget(placed) {
            Demand::Budget {
                budget: Micros(placed.maker_amount),
                free: self.account(placed.account)?.free,
                minimum: match placed.order_type {
                    OrderType::Fok => Lots(placed.taker_amount / MICROS_PER_LOT),
                    _ => Lots::ZERO,
                },
            }
        } else {
            Demand::Shares(
                Lots::from_micro_shares(shares_side(placed)).expect("checked: whole lots"),
            )
        })
    }

    fn check_minimum(&self, taker: &Taker) -> Result<(), NotApplied> {
        match taker.demand {
            Demand::Budget { budget, .. } => self.check_marketable_minimum(budget),
            Demand::Shares(lots) if taker.order_type.may_rest() => {
                let minimum = self.market(taker.market)?.minimum_size;
                ensure(
                    lots >= minimum,
                    Rejection::with(RejectionReason::SizeBelowMinimum, lots.0, minimum.0),
                )
            }
            Demand::Shares(_) => Ok(()),
        }
    }

    fn check_marketable_minimum(&self, value: Micros) -> Result<(), NotApplied> {
        let minimum = self.settings.marketable_minimum;
        ensure(
            value >= minimum,
            Rejection::with(RejectionReason::MarketableBelowMinimum, value.0, minimum.0),
        )
    }

    /// In a market with a delay every order may have to wait, so each counts.
    fn check_cap(&self, taker: &Taker) -> Result<(), NotApplied> {
        let live = self.live_orders(taker.account);
        let cap = self.settings.live_orders_per_account;
        let is_delaying = self.market(taker.market)?.terms.taker_delay_ms > 0;
        let may_stay = taker.order_type.may_rest() || is_delaying;
        ensure(
            !may_stay || live < cap,
            Rejection::with(
                RejectionReason::TooManyLiveOrders,
                u64::from(live),
                u64::from(cap),
            ),
        )
    }

    fn check_means(&self, taker: &Taker) -> Result<(), NotApplied> {
        let needed = taker.needs();
        let (free, reason) = match taker.side {
            Side::Sell => {
                let free = self.free_shares_of(taker.account, taker.market);
                let free = free[taker.outcome.index()];
                (free.0, RejectionReason::NotEnoughShares)
            }
            Side::Buy => {
                let free = self.account(taker.account)?.free;
                (free.0, RejectionReason::NotEnoughCollateral)
            }
        };
        ensure(needed <= free, Rejection::with(reason, needed, free))
    }
}

/// Why nothing is placed in a market in this state.
pub(crate) const fn not_trading(state: MarketState) -> Option<RejectionReason> {
    match state {
        MarketState::Active => None,
        MarketState::Registered => Some(RejectionReason::MarketNotReady),
        MarketState::Paused => Some(RejectionReason::MarketPaused),
        MarketState::Closed | MarketState::Resolved => Some(RejectionReason::MarketClosed),
    }
}

/// The kill reason with its details: amount and minimum, when the order was below the minimum.
pub(crate) fn killed_below(
    reason: RejectionReason,
    placed: &PlaceOrder,
    minimum: Micros,
) -> Rejection {
    if minimum == Micros::ZERO {
        return reason.into();
    }
    Rejection::with(reason, placed.maker_amount, minimum.0)
}

/// Whether the order spends its makerAmount; its takerAmount then only sets the price.
fn spends_budget(placed: &PlaceOrder) -> bool {
    placed.side == Side::Buy && !placed.order_type.may_rest()
}

/// The signed amount of shares, in micro-shares.
fn shares_side(placed: &PlaceOrder) -> u64 {
    match placed.side {
        Side::Buy => placed.taker_amount,
        Side::Sell => placed.maker_amount,
    }
}

/// The signed amount of collateral, in micros.
fn collateral_side(placed: &PlaceOrder) -> u64 {
    match placed.side {
        Side::Buy => placed.maker_amount,
        Side::Sell => placed.taker_amount,
    }
}

fn check_amounts(placed: &PlaceOrder) -> Result<(), NotApplied> {
    let amounts = [placed.maker_amount, placed.taker_amount];
    let largest = MAX_ORDER_LOTS.micro_shares();
    ensure(!amounts.contains(&0), RejectionReason::AmountZero)?;
    ensure(
        amounts.iter().all(|amount| *amount <= largest),
        RejectionReason::AmountTooLarge,
    )?;
    let shares = shares_side(placed);
    ensure(
        spends_budget(placed) || Lots::from_micro_shares(shares).is_some(),
        Rejection::with(RejectionReason::SizeNotLots, shares, 0),
    )
}

/// The limit in the price of the order's own token. GTC and GTD: the exact ratio, which must be on
/// the grid. FOK and FAK: the ratio rounded to a tick in the signer's favour.
fn limit_price(placed: &PlaceOrder, tick: Tick) -> Option<Price> {
    let collateral = u128::from(collateral_side(placed)) * u128::from(PRICE_ONE);
    let shares = u128::from(shares_side(placed));
    let step = u128::from(tick.units());
    let units = match (placed.order_type.may_rest(), placed.side) {
        (true, _) if collateral.is_multiple_of(shares) => collateral / shares,
        (true, _) => return None,
        (false, Side::Buy) => collateral / (shares * step) * step,
        (false, Side::Sell) => collateral.div_ceil(shares * step) * step,
    };
    let price = Price(u16::try_from(units).ok()?);
    price.fits(tick).then_some(price)
}

#[cfg(test)]
mod tests {
    use foretell_model::{MarketNumber, OrderId, Outcome};

    use super::*;

    fn limit(side: Side, order_type: OrderType, maker: u64, taker: u64, tick: Tick) -> Option<u16> {
        let placed = PlaceOrder {
            order: OrderId::ZERO,
            account: AccountNumber(0),
            key: KeyNumber(0),
            market: MarketNumber(0),
            outcome: Outcome::Yes,
            side,
            order_type,
            post_only: false,
            maker_amount: maker,
            taker_amount: taker,
            expiration: TimeSeconds(0),
            timestamp: TimeMs(0),
        };
        limit_price(&placed, tick).map(|price| price.0)
    }

    #[test]
    fn a_resting_order_signs_its_price_exactly() {
        use OrderType::Gtc;
        let tick = Tick::Hundredth;
        assert_eq!(
            limit(Side::Buy, Gtc, 62_000_000, 100_000_000, tick),
            Some(6_200)
        );
        assert_eq!(
            limit(Side::Sell, Gtc, 100_000_000, 62_000_000, tick),
            Some(6_200)
        );
        assert_eq!(limit(Side::Buy, Gtc, 62_000_001, 100_000_000, tick), None);
        assert_eq!(limit(Side::Buy, Gtc, 62_500_000, 100_000_000, tick), None);
        assert_eq!(limit(Side::Buy, Gtc, 100_000_000, 100_000_000, tick), None);
    }

    #[test]
    fn a_market_order_is_rounded_in_the_signers_favour() {
        use OrderType::Fak;
        let tick = Tick::Hundredth;
        assert_eq!(limit(Side::Buy, Fak, 349_999, 1_000_000, tick), Some(3_400));
        assert_eq!(
            limit(Side::Sell, Fak, 1_000_000, 340_001, tick),
            Some(3_500)
        );
        assert_eq!(limit(Side::Buy, Fak, 9_999, 1_000_000, tick), None);
        assert_eq!(limit(Side::Sell, Fak, 1_000_000, 990_001, tick), None);
    }
}
