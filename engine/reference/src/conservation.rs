//! Promises 8 to 11 of `docs/verify/guarantees.md`, computed from scratch.
//!
//! Reserved amounts are computed from the live orders, so the sums cover promise 10: an amount that
//! an order reserves must be missing from the free amounts, or the totals differ.

use foretell_model::limits::MAX_BALANCE;
use foretell_model::{EventNumber, Lots, MarketNumber, Micros, Payout};

use crate::event_groups::event_number;
use crate::exchange::Exchange;
use crate::markets::{Market, market_number};

impl Exchange {
    /// Checks that collateral and shares are conserved, and that the maps agree with the lists.
    ///
    /// # Errors
    /// A description of the sum that does not match.
    pub fn conservation(&self) -> Result<(), String> {
        self.check_maps()?;
        self.check_collateral()?;
        for index in 0..self.markets.len() {
            self.check_supply(market_number(index))?;
            self.check_pairs(market_number(index))?;
            self.check_uncrossed(market_number(index))?;
        }
        Ok(())
    }

    /// 8: free + reserved + accrued + locked in sets + fees = deposits − withdrawals. 11: within the
    /// bound.
    fn check_collateral(&self) -> Result<(), String> {
        let free: Micros = self.accounts.iter().map(|account| account.free).sum();
        let reserved: Micros = self
            .orders
            .values()
            .map(|order| order.reserved_collateral())
            .sum();
        let delayed = self.delayed.values();
        let delayed: Micros = delayed.map(|order| order.reserved_collateral()).sum();
        let waiting: Micros = self.withdrawals.values().map(|it| it.amount).sum();
        let reserved = reserved + delayed + waiting;
        let accrued: Micros = self.accrued.values().map(|(_, amount)| amount).sum();
        let locked = self.locked();
        let total = free + reserved + accrued + locked + self.fees;
        if total != self.collateral || total > MAX_BALANCE {
            return Err(format!(
                "free {free:?} + reserved {reserved:?} + accrued {accrued:?} + locked {locked:?} \
                 + fees {:?} = {total:?}, \
                 but deposits less withdrawals are {:?}",
                self.fees, self.collateral
            ));
        }
        Ok(())
    }

    /// Collateral that backs the shares in existence.
    fn locked(&self) -> Micros {
        let plain: Micros = self
            .markets
            .iter()
            .filter(|market| market.question.is_none() && market.outside_of.is_none())
            .map(locked_in_plain)
            .sum();
        let neg_risk: Micros = (0..self.event_groups.len())
            .map(|index| self.locked_in_event(event_number(index)))
            .sum();
        plain + neg_risk
    }

    /// Σ supply(No) + supply(Yes of outside) until a question resolves Yes; then the supply of its Yes
    /// and of the others' No. Outside is one of the questions here.
    fn locked_in_event(&self, event: EventNumber) -> Micros {
        let outside = self.event_groups[event.0 as usize].outside;
        let questions: Vec<_> = self
            .questions_of(event)
            .into_iter()
            .chain([outside])
            .map(|market| &self.markets[market.0 as usize])
            .collect();
        let winner = questions
            .iter()
            .position(|market| market.payout == Some(Payout::Yes));
        let backed: Lots = match winner {
            None => {
                let no: Lots = questions.iter().map(|market| market.supply[1]).sum();
                no + self.markets[outside.0 as usize].supply[0]
            }
            Some(winner) => questions
                .iter()
                .enumerate()
                .map(|(index, market)| market.supply[usize::from(index != winner)])
                .sum(),
        };
        backed.full_value()
    }

    /// Every share in existence belongs to an account, free or reserved.
    fn check_supply(&self, number: MarketNumber) -> Result<(), String> {
        for outcome in [0, 1] {
            let free: Lots = self
                .free_shares
                .iter()
                .filter(|((_, market), _)| *market == number)
                .map(|(_, shares)| shares[outcome])
                .sum();
            let reserved: Lots = self
                .orders
                .values()
                .filter(|order| order.market == number && order.outcome.index() == outcome)
                .map(|order| order.reserved_shares())
                .sum();
            let delayed = self.delayed.values().filter(|delayed| {
                delayed.order.market == number && delayed.order.outcome.index() == outcome
            });
            let delayed: Lots = delayed.map(|delayed| delayed.reserved_shares()).sum();
            let reserved = reserved + delayed;
            let supply = self.markets[number.0 as usize].supply[outcome];
            if free + reserved != supply {
                return Err(format!(
                    "{number:?} outcome {outcome}: free {free:?} + reserved {reserved:?}, \
                     but {supply:?} exist"
                ));
            }
        }
        Ok(())
    }

    /// 9: until a market is resolved, its supply(Yes) − supply(No) equals the converted lots of its
    /// event group, and 0 in a plain market.
    fn check_pairs(&self, number: MarketNumber) -> Result<(), String> {
        let market = &self.markets[number.0 as usize];
        let listed = market.question.map(|(event, _)| event);
        let event = listed.or(market.outside_of);
        let converted = event.map_or(Lots::ZERO, |event| {
            self.event_groups[event.0 as usize].converted
        });
        let [yes, no] = market.supply;
        if market.payout.is_none() && yes != no + converted {
            return Err(format!(
                "{number:?}: supplies {yes:?} and {no:?} do not differ by {converted:?}"
            ));
        }
        Ok(())
    }

    /// After every command the book is uncrossed, and no resting order is empty.
    fn check_uncrossed(&self, number: MarketNumber) -> Result<(), String> {
        let mut bids = self.book_side(number, true);
        let mut asks = self.book_side(number, false);
        if let (Some(bid), Some(ask)) = (bids.next(), asks.next())
            && bid.yes_price() >= ask.yes_price()
        {
            return Err(format!("{number:?} is crossed: {bid:?} and {ask:?}"));
        }
        match self.orders.values().find(|order| order.lots == Lots::ZERO) {
            Some(empty) => Err(format!("{empty:?} rests with nothing left")),
            None => Ok(()),
        }
    }
}

/// One unit per full set while unresolved; then the unpaid payouts.
fn locked_in_plain(market: &Market) -> Micros {
    let [yes, no] = market.supply;
    match market.payout {
        None => yes.full_value(),
        Some(payout) => {
            let [pays_yes, pays_no] = payout.price_units();
            Micros(yes.0 * u64::from(pays_yes) + no.0 * u64::from(pays_no))
        }
    }
}
