//! Checks of a market's life: clock, delayed orders, rebates, proposals, background work, operators.

use std::collections::BTreeMap;
use std::ops::Range;

use foretell_model::state::BackgroundWork;
use foretell_model::{AccountNumber, MarketNumber, MarketState, Payout};

use crate::exchange::Exchange;
use crate::invariants::{Check, holds};

impl Exchange {
    pub(super) fn check_market_life(&self) -> Check {
        self.check_delayed()?;
        self.check_clock()?;
        self.check_rebates()?;
        self.check_proposals()?;
        self.check_background()
    }

    /// Checks that delayed orders and their entries in the order pool refer to each other.
    fn check_delayed(&self) -> Check {
        self.delayed.check()?;
        for (at, delayed) in self.delayed.iter() {
            let order = &self.orders[delayed.order];
            let stated = (order.number, order.market, order.delayed());
            let is_linked = stated == (delayed.number, delayed.market, Some(at));
            holds(is_linked && self.may_have_orders(delayed.market), || {
                format!(
                    "delayed order {} is not linked, or its market is over",
                    delayed.number
                )
            })?;
        }
        let marked = self
            .orders
            .iter()
            .filter(|(_, order)| order.delayed().is_some());
        let (marked, delayed) = (marked.count(), self.delayed.len());
        holds(marked == delayed, || {
            format!("{marked} orders are marked as delayed, {delayed} are")
        })
    }

    /// Checks that the queues have exactly what falls due.
    fn check_clock(&self) -> Check {
        self.clock.things.check()?;
        self.clock.releases.check()?;
        let (mut things, mut releases) = (0, 0);
        for (number, market, _) in self.markets.iter() {
            let (thing, release) = (self.next_thing(number), self.next_release(number));
            let is_queued = self.clock.things.get(number.0) == thing
                && self.clock.releases.get(number.0) == release;
            holds(is_queued, || {
                format!(
                    "market {number} has another due thing than its queue: {thing:?}, {release:?}"
                )
            })?;
            let terms = self.clock.of(number).terms;
            let is_copied =
                (market.delay_ms, market.rebate_ppm) == (terms.taker_delay_ms, terms.rebate_ppm);
            holds(is_copied, || {
                format!("market {number} differs from its terms")
            })?;
            things += usize::from(thing.is_some());
            releases += usize::from(release.is_some());
        }
        let queued = (self.clock.things.len(), self.clock.releases.len());
        holds(
            queued == (things, releases) && self.is_clock_fresh(),
            || format!("queues of {queued:?} due things, {things} and {releases} are due"),
        )
    }

    fn check_rebates(&self) -> Check {
        let accrued: u128 = self
            .rebates
            .iter()
            .map(|(_, amount)| u128::from(amount.0))
            .sum();
        let total = self.rebates.total();
        let has_since = self.rebates.since.0 > 0;
        let is_timed = total.is_zero() != has_since || self.system.time.0 == 0;
        holds(accrued == u128::from(total.0) && is_timed, || {
            format!(
                "accrued {accrued}, stated {total:?} since {:?}",
                self.rebates.since
            )
        })
    }

    fn check_proposals(&self) -> Check {
        for proposal in self.resolution.iter() {
            let market = proposal.market;
            let closed = &self.markets[market];
            let is_half = closed.question.is_some() && proposal.payout == Payout::Half;
            holds(closed.state == MarketState::Closed && !is_half, || {
                format!(
                    "market {market}: a proposal of {:?} in {:?}",
                    proposal.payout, closed.state
                )
            })?;
        }
        Ok(())
    }

    /// Checks that what steps pay is not behind them already.
    fn check_background(&self) -> Check {
        let mut payments = 0;
        let mut ahead = BTreeMap::new();
        for work in self.background.iter() {
            let BackgroundWork::Settlement { market } = work.work else {
                payments += 1;
                continue;
            };
            let is_resolved = self.markets[market].state == MarketState::Resolved;
            holds(is_resolved, || {
                format!("market {market} is settled before its end")
            })?;
            ahead.insert(market, work.next..work.end);
        }
        let runs = self.background.pays_rebates();
        holds(payments == usize::from(runs), || {
            format!("{payments} payments of rebates run, stated {runs}")
        })?;
        self.check_holders(&ahead)
    }

    /// Checks that all holders of settling markets are among the accounts that steps will look at.
    fn check_holders(&self, ahead: &BTreeMap<MarketNumber, Range<AccountNumber>>) -> Check {
        for (_, position) in self.positions.iter() {
            let (account, market) = (position.account, position.market);
            let is_ahead = ahead
                .get(&market)
                .is_none_or(|accounts| accounts.contains(&account));
            holds(is_ahead, || {
                format!("account {account} is missed by the settlement of {market}")
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_model::Micros;

    #[test]
    fn an_empty_exchange_has_nothing_due() {
        let exchange = Exchange::new(crate::Capacity::NONE, 1);
        assert_eq!(exchange.check_market_life(), Ok(()));
        assert_eq!(exchange.next_due(), None);
        assert_eq!(exchange.rebates.total(), Micros::ZERO);
    }
}
