//! Restores what waits: accrued rebates, delayed orders, held withdrawals, background work.

use foretell_model::limits::{MAX_BALANCE, MAX_ORDER_LOTS, MAX_REBATE_PPM};
use foretell_model::state::BackgroundWork;
use foretell_model::{
    AccountNumber, CloseReason, Lots, MarketNumber, Micros, OrderId, OrderType, Price, Side,
};

use crate::background::Background;
use crate::delayed_queue::DelayedOrder;
use crate::held_withdrawals::HeldWithdrawal;
use crate::lifecycle::ensure_fee;
use crate::order_pool::{Order, in_yes};
use crate::restore::holdings::seller_position;
use crate::restore::{Checked, Restorer, check};

impl Restorer {
    pub(super) fn put_accrued(&mut self, account: AccountNumber, amount: Micros) -> Checked {
        self.check_account(account)?;
        let is_amount = !amount.is_zero() && amount <= MAX_BALANCE;
        check(is_amount, "accrued rebates out of range")?;
        let rebates = &mut self.exchange.rebates;
        let total = rebates.total().checked_add(amount);
        check(
            total.is_some_and(|total| total <= MAX_BALANCE),
            "accrued rebates out of range",
        )?;
        rebates.add(account, amount);
        Ok(())
    }

    /// Adds a delayed order to every structure except the list of its account.
    pub(super) fn put_delayed(
        &mut self,
        id: OrderId,
        price: Price,
        mut entry: Order,
        delayed: DelayedOrder,
    ) -> Checked {
        self.check_pair(entry.account, entry.market)?;
        self.check_delayed(price, &entry, &delayed)?;
        let (number, id_slot) = self
            .awaiting_delayed
            .pop_front()
            .ok_or("no live id is left")?;
        let exchange = &mut self.exchange;
        let known = exchange.ids.at(id_slot);
        let is_linked = number == entry.number
            && known.id == id
            && known.terms.order_type == delayed.order_type
            && known.terms.expiration == entry.expiration;
        check(is_linked, "no live id belongs to it")?;
        entry.yes_price = in_yes(price, entry.outcome);
        entry.id_slot = id_slot;
        entry.position = seller_position(exchange, &entry)?;
        let slot = exchange.add_delayed(entry, delayed);
        exchange.ids.rests(id_slot, slot);
        self.live.push((number, slot));
        Ok(())
    }

    fn check_delayed(&self, price: Price, entry: &Order, delayed: &DelayedOrder) -> Checked {
        let market = &self.exchange.markets[entry.market];
        check(
            price.fits(market.ladder.tick()),
            "price is off the tick grid",
        )?;
        check(ensure_fee(delayed.fee).is_ok(), "fee out of range")?;
        check(delayed.rebate_ppm <= MAX_REBATE_PPM, "rebate out of range")?;
        let has_budget = entry.side == Side::Buy && !delayed.order_type.may_rest();
        let is_fok = delayed.order_type == OrderType::Fok;
        let is_sized = entry.lots <= MAX_ORDER_LOTS
            && entry.lots.is_zero() == has_budget
            && delayed.budget <= MAX_BALANCE
            && delayed.budget.is_zero() != has_budget
            && delayed.minimum_lots <= MAX_ORDER_LOTS
            && (delayed.minimum_lots.is_zero() || (has_budget && is_fok));
        check(is_sized, "size out of range")?;
        let is_reserved = match entry.side {
            Side::Sell => Lots(delayed.reserved) == entry.lots,
            Side::Buy => {
                let value = entry.lots.value_at(price) + delayed.budget;
                (value.0..=MAX_BALANCE.0).contains(&delayed.reserved)
            }
        };
        check(is_reserved, "reservation out of range")?;
        let is_asked = matches!(
            delayed.cancel,
            None | Some(CloseReason::User | CloseReason::Heartbeat)
        );
        check(is_asked, "a cancel has an invalid reason")
    }

    pub(super) fn put_held(&mut self, held: HeldWithdrawal) -> Checked {
        self.check_sequence(held.sequence.0)?;
        self.check_account(held.account)?;
        let operator = self.exchange.operators.get(held.operator);
        check(operator.is_some(), "unknown operator")?;
        let is_amount = !held.amount.is_zero() && held.amount <= MAX_BALANCE;
        check(is_amount, "held amount out of range")?;
        let queue = &mut self.exchange.held;
        check(!queue.is_full(), "too many held withdrawals")?;
        let is_new = queue.iter().all(|other| other.reference != held.reference);
        check(is_new, "duplicate reference")?;
        queue.add(held);
        Ok(())
    }

    pub(super) fn put_background(&mut self, work: Background) -> Checked {
        self.check_sequence(work.first.0)?;
        let exchange = &self.exchange;
        let accounts = exchange.accounts.len();
        let is_in_range = work.next <= work.end && work.end.0 as usize <= accounts;
        check(is_in_range, "accounts of background work out of range")?;
        check(work.paid <= MAX_BALANCE, "paid amount out of range")?;
        match work.work {
            BackgroundWork::Settlement { market } => self.check_settlement(market)?,
            BackgroundWork::Rebates => check(
                !exchange.background.pays_rebates(),
                "two payments of rebates",
            )?,
        }
        self.exchange.background.push(work);
        Ok(())
    }

    fn check_settlement(&self, market: MarketNumber) -> Checked {
        let exchange = &self.exchange;
        let settled = exchange.markets.get_any(market);
        let is_resolved = settled.is_some_and(|market| market.payout.is_some());
        check(is_resolved, "a settlement of a market that is not resolved")?;
        let settlement = BackgroundWork::Settlement { market };
        let is_new = exchange
            .background
            .iter()
            .all(|other| other.work != settlement);
        check(is_new, "two settlements of one market")
    }

    /// Schedules what falls due, from all records.
    pub(super) fn start_clock(&mut self) {
        let markets = u32::try_from(self.exchange.markets.len()).unwrap_or(u32::MAX);
        for market in (0..markets).map(MarketNumber) {
            self.exchange.reschedule(market);
        }
    }
}
