//! Promises 8 to 11 of `design.md` 11, added up from scratch.
//!
//! Reserved amounts are read off the live orders, so promise 10 is in the sums themselves: what an
//! order reserves must have left the free amounts, or the totals are wrong.

use foretell_model::limits::MAX_BALANCE;
use foretell_model::{EventNumber, Lots, MarketNumber, Micros, Payout};

use crate::events::event_number;
use crate::exchange::Exchange;
use crate::markets::{Market, market_number};

impl Exchange {
    /// Checks that no collateral and no share has come from nowhere or gone nowhere.
    ///
    /// # Errors
    /// What does not add up, in words.
    pub fn conservation(&self) -> Result<(), String> {
        self.check_collateral()?;
        for index in 0..self.markets.len() {
            self.check_supply(market_number(index))?;
            self.check_pairs(market_number(index))?;
            self.check_uncrossed(market_number(index))?;
        }
        Ok(())
    }

    /// 8: free + reserved + locked in sets + fees = deposits − withdrawals. 11: within the bound.
    fn check_collateral(&self) -> Result<(), String> {
        let free: Micros = self.accounts.iter().map(|account| account.free).sum();
        let reserved: Micros = self
            .orders
            .values()
            .map(|order| order.reserved_collateral())
            .sum();
        let locked = self.locked();
        let total = free + reserved + locked + self.fees;
        if total != self.collateral || total > MAX_BALANCE {
            return Err(format!(
                "free {free:?} + reserved {reserved:?} + locked {locked:?} + fees {:?} = {total:?}, \
                 but deposits less withdrawals are {:?}",
                self.fees, self.collateral
            ));
        }
        Ok(())
    }

    /// What the shares in existence are backed by.
    fn locked(&self) -> Micros {
        let plain: Micros = self
            .markets
            .iter()
            .filter(|market| market.question.is_none())
            .map(locked_in_plain)
            .sum();
        let neg_risk: Micros = (0..self.events.len())
            .map(|index| self.locked_in_event(event_number(index)))
            .sum();
        plain + neg_risk
    }

    /// Σ supply(No) + c, until a question resolves Yes; from then on the supply of its Yes and of
    /// the others' No.
    fn locked_in_event(&self, event: EventNumber) -> Micros {
        let questions: Vec<_> = self
            .questions_of(event)
            .into_iter()
            .map(|market| &self.markets[market.0 as usize])
            .collect();
        let winner = questions
            .iter()
            .position(|market| market.payout == Some(Payout::Yes));
        let backed: Lots = match winner {
            None => {
                let no: Lots = questions.iter().map(|market| market.supply[1]).sum();
                no + self.events[event.0 as usize].converted
            }
            Some(winner) => questions
                .iter()
                .enumerate()
                .map(|(index, market)| market.supply[usize::from(index != winner)])
                .sum(),
        };
        backed.full_value()
    }

    /// Every share in existence is somebody's, free or reserved.
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

    /// 9: until it is resolved, supply(Yes) − supply(No) of a market is what its event converted,
    /// and 0 in a plain one.
    fn check_pairs(&self, number: MarketNumber) -> Result<(), String> {
        let market = &self.markets[number.0 as usize];
        let converted = market.question.map_or(Lots::ZERO, |(event, _)| {
            self.events[event.0 as usize].converted
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
        let bids = self.book_side(number, true);
        let asks = self.book_side(number, false);
        if let (Some(bid), Some(ask)) = (bids.first(), asks.first())
            && bid.yes_price() >= ask.yes_price()
        {
            return Err(format!("{number:?} is crossed: {bid:?} and {ask:?}"));
        }
        match bids
            .iter()
            .chain(&asks)
            .find(|order| order.lots == Lots::ZERO)
        {
            Some(empty) => Err(format!("{empty:?} rests with nothing left")),
            None => Ok(()),
        }
    }
}

/// A full set each while unresolved; then what is still to be paid out.
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
