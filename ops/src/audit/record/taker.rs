//! An incoming order by its signed amounts: its limit, and what it must take of each maker.

use foretell_model::limits::{MAX_ORDER_LOTS, MAX_TOUCHED};
use foretell_model::quantity::{MICROS_PER_LOT, PRICE_ONE};
use foretell_model::{
    CloseReason, FeeSchedule, Lots, Micros, OrderNumber, OrderType, PlaceOrder, Price, Side, Tick,
    TimeNs, TimeSeconds,
};

use super::books::{Books, Resting, in_yes, is_bid};
use super::broken::{Checked, must};
use super::fees::{affordable, fee};
use super::ledger::Party;

/// An order while its frame is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taker<'a> {
    pub(crate) number: OrderNumber,
    pub(crate) order: &'a PlaceOrder,
    /// Its limit in its own token.
    pub(crate) limit: Price,
    pub(crate) fee: FeeSchedule,
    /// When it came, and how long before their expiration orders end.
    pub(crate) now: TimeNs,
    pub(crate) safety_seconds: u64,
    /// Shares left; of a budget BUY nothing.
    pub(crate) lots_left: u64,
    /// Signed collateral left, and what the account had free; of a budget BUY.
    pub(crate) budget_left: u64,
    purse_left: u64,
    /// Traded.
    pub(crate) filled: u64,
    pub(crate) fills: usize,
    /// Whether a budget BUY got less of a maker than it could have bought without the fee.
    pub(crate) fee_stopped: bool,
}

/// What a taker takes of a maker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Take {
    pub(crate) lots: Lots,
    pub(crate) fee: Micros,
    /// What it would take if there were no fee.
    pub(crate) wanted: Lots,
}

impl<'a> Taker<'a> {
    /// Reads the signed amounts: a limit on the market's grid, whole lots, within the bounds.
    pub(crate) fn new(
        number: OrderNumber,
        order: &'a PlaceOrder,
        (tick, fee): (Tick, FeeSchedule),
        (now, safety_seconds): (TimeNs, u64),
        purse: u64,
    ) -> Checked<Self> {
        let (limit, lots) = read_amounts(order, tick)?;
        Ok(Self {
            number,
            order,
            limit,
            fee,
            now,
            safety_seconds,
            lots_left: lots,
            budget_left: order.maker_amount,
            purse_left: purse,
            filled: 0,
            fills: 0,
            fee_stopped: false,
        })
    }

    pub(crate) const fn party(&self) -> Party {
        Party {
            account: self.order.account,
            market: self.order.market,
            outcome: self.order.outcome,
            side: self.order.side,
        }
    }

    pub(crate) const fn is_bid(&self) -> bool {
        is_bid(self.order.outcome, self.order.side)
    }

    /// Whether it spends a budget instead of moving a number of shares.
    pub(crate) fn has_budget(&self) -> bool {
        has_budget(self.order)
    }

    /// Whether a resting order's price is within its limit.
    pub(crate) const fn reaches(&self, maker: &Resting) -> bool {
        let (limit, price) = (in_yes(self.limit, self.order.outcome), maker.yes_price());
        if self.is_bid() {
            price.0 <= limit.0
        } else {
            price.0 >= limit.0
        }
    }

    /// Why a resting order is not filled by this one, if it is not.
    pub(crate) fn steps_over(&self, maker: &Resting) -> Option<CloseReason> {
        if is_expired(maker.expiration, self.now, self.safety_seconds) {
            Some(CloseReason::Expired)
        } else if maker.account == self.order.account {
            Some(CloseReason::SelfTrade)
        } else {
            None
        }
    }

    /// Orders of the other side within the limit, best first.
    pub(crate) fn reachable<'b>(
        self,
        books: &'b Books,
    ) -> impl Iterator<Item = (OrderNumber, &'b Resting)> + use<'a, 'b> {
        let others = books.side(self.order.market, !self.is_bid());
        others.take_while(move |(_, maker)| self.reaches(maker))
    }

    /// The first of them that it may trade with, among as many as it may touch.
    pub(crate) fn next_maker(&self, books: &Books, touched: usize) -> Option<Resting> {
        let left = MAX_TOUCHED.saturating_sub(touched);
        self.reachable(books)
            .take(left)
            .find(|(_, maker)| self.steps_over(maker).is_none())
            .map(|(_, maker)| *maker)
    }

    /// What it takes of a maker now.
    pub(crate) fn take_of(&self, maker: &Resting) -> Take {
        let price = in_yes(maker.yes_price(), self.order.outcome);
        if self.has_budget() {
            let wanted = maker.lots.min(Lots(self.budget_left / u64::from(price.0)));
            let lots = affordable(self.fee, wanted, price, self.purse_left);
            let fee = fee(self.fee, lots, price);
            return Take { lots, fee, wanted };
        }
        let lots = maker.lots.min(Lots(self.lots_left));
        let fee = fee(self.fee, lots, price);
        let fee = match self.order.side {
            Side::Buy => fee,
            Side::Sell => fee.min(lots.value_at(price)),
        };
        let wanted = lots;
        Take { lots, fee, wanted }
    }

    /// Takes it.
    pub(crate) fn took(&mut self, take: Take, maker: &Resting) {
        let value = take
            .lots
            .value_at(in_yes(maker.yes_price(), self.order.outcome));
        if self.has_budget() {
            self.budget_left -= value.0;
            self.purse_left -= value.0 + take.fee.0;
            self.fee_stopped |= take.lots < take.wanted;
        } else {
            self.lots_left -= take.lots.0;
        }
        self.filled += take.lots.0;
        self.fills += 1;
    }

    /// Whether it wants nothing more, with or without a maker that could still be met.
    pub(crate) fn is_full(&self, next: Option<&Resting>) -> bool {
        if !self.has_budget() {
            return self.lots_left == 0;
        }
        let price = next.map_or(self.limit, |maker| {
            in_yes(maker.yes_price(), self.order.outcome)
        });
        self.budget_left < u64::from(price.0)
    }

    /// Whether the fee stops it, here or at the maker it would meet next.
    pub(crate) fn is_fee_stopped(&self, next: Option<&Resting>) -> bool {
        let at_next = || {
            next.is_some_and(|maker| {
                let take = self.take_of(maker);
                take.lots < take.wanted
            })
        };
        self.has_budget() && (self.fee_stopped || at_next())
    }

    /// Whether what it got makes a fee-stopped FOK a filled one.
    pub(crate) fn has_enough(&self) -> bool {
        self.filled >= (self.order.taker_amount / MICROS_PER_LOT).max(1)
    }

    /// Whether the book as it stands fills it whole: what decides a FOK.
    pub(crate) fn fills_whole(mut self, books: &Books) -> bool {
        let makers = self.reachable(books);
        for (met, (_, maker)) in makers.enumerate() {
            if met >= MAX_TOUCHED {
                return self.is_full(None) && self.filled > 0;
            }
            if self.steps_over(maker).is_some() {
                continue;
            }
            let take = self.take_of(maker);
            if take.wanted.is_zero() {
                return self.filled > 0;
            }
            if !take.lots.is_zero() {
                self.took(take, maker);
            }
            if take.lots < take.wanted {
                return self.has_enough();
            }
            if !self.has_budget() && self.lots_left == 0 {
                return true;
            }
        }
        self.is_full(None) && self.filled > 0
    }
}

/// Whether an order is over: `safety` seconds before its expiration. 0 never is.
pub(crate) const fn is_expired(expiration: TimeSeconds, now: TimeNs, safety: u64) -> bool {
    let end = TimeSeconds(expiration.0.saturating_sub(safety)).start();
    expiration.0 != 0 && now.0 >= end.0
}

fn has_budget(order: &PlaceOrder) -> bool {
    order.side == Side::Buy && !order.order_type.may_rest()
}

/// The limit and the shares that the signed amounts state.
fn read_amounts(order: &PlaceOrder, tick: Tick) -> Checked<(Price, u64)> {
    let (collateral, shares) = match order.side {
        Side::Buy => (order.maker_amount, order.taker_amount),
        Side::Sell => (order.taker_amount, order.maker_amount),
    };
    let amounts = 1..=MAX_ORDER_LOTS.micro_shares();
    must(
        amounts.contains(&collateral) && amounts.contains(&shares),
        || format!("amounts {collateral} and {shares} are out of bounds"),
    )?;
    let is_budget = has_budget(order);
    must(is_budget || shares % MICROS_PER_LOT == 0, || {
        format!("{shares} micro-shares are no whole lots")
    })?;
    let (scaled, step) = (collateral * u64::from(PRICE_ONE), u64::from(tick.units()));
    let price = match (order.order_type, order.side) {
        (OrderType::Gtc | OrderType::Gtd, _) => {
            must(scaled % shares == 0, || {
                "the amounts state no exact price".to_owned()
            })?;
            scaled / shares
        }
        (_, Side::Buy) => scaled / (shares * step) * step,
        (_, Side::Sell) => scaled.div_ceil(shares * step).saturating_mul(step),
    };
    let price = u16::try_from(price).map_or(Price(0), Price);
    must(price.fits(tick), || {
        format!("the limit is off the tick {}", tick.text())
    })?;
    Ok((
        price,
        if is_budget {
            0
        } else {
            shares / MICROS_PER_LOT
        },
    ))
}
