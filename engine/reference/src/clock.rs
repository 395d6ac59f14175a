//! What falls due, and `AdvanceTime`, which does it (docs/verify/rules.md §14, §21).

use std::collections::BTreeSet;

use foretell_model::limits::MAX_VISITED_ORDERS;
use foretell_model::state::PendingWork;
use foretell_model::{
    AccountNumber, CloseReason, CommandOutcome, Event, MarketNumber, MarketState, OrderNumber,
    RejectionReason, SystemMode, TimeMs, TimeNs, TimeSeconds,
};

use crate::exchange::{Exchange, Stamp};
use crate::handler_result::HandlerResult;
use crate::markets::market_number;
use crate::orders;
use crate::terms::start_of;

/// A thing that falls due. The order of the variants is their rank; within one, the number decides.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Thing {
    /// Expirations of one due time differ where the due time cannot be before 0.
    Expiry(TimeSeconds, OrderNumber),
    /// Of a group of quotes.
    Lease(AccountNumber, u8),
    Open(MarketNumber),
    Clear(MarketNumber),
    Close(MarketNumber),
    Release(OrderNumber),
    Finalise(MarketNumber),
    Rebates,
}

impl Thing {
    /// The market by whose clock it falls due.
    const fn market(self) -> Option<MarketNumber> {
        match self {
            Self::Open(market)
            | Self::Clear(market)
            | Self::Close(market)
            | Self::Finalise(market) => Some(market),
            Self::Expiry(..) | Self::Lease(..) | Self::Release(_) | Self::Rebates => None,
        }
    }
}

impl Exchange {
    /// The first thing that falls due, and when.
    pub(crate) fn first_due(&self) -> Option<(TimeNs, Thing)> {
        let things = [
            self.first_expiry(),
            self.first_lease(),
            self.clocks.first().copied(),
            self.first_release(),
            self.rebates_due().map(|due| (due, Thing::Rebates)),
        ];
        things.into_iter().flatten().min()
    }

    pub(crate) fn is_anything_due(&self, now: TimeNs) -> bool {
        self.first_due().is_some_and(|(due, _)| due <= now)
    }

    fn first_expiry(&self) -> Option<(TimeNs, Thing)> {
        let resting = self.orders.expiring().next();
        let resting = resting.map(|order| (order.expiration, order.number));
        let delayed = self.delayed.first_to_expire();
        let (expiration, number) = resting.into_iter().chain(delayed).min()?;
        let due = orders::due(expiration, &self.settings);
        Some((due, Thing::Expiry(expiration, number)))
    }

    /// A delayed order waits while its market or the system does not trade.
    pub(crate) fn are_released(&self, market: MarketNumber) -> bool {
        let market = &self.markets[market.0 as usize];
        self.mode == SystemMode::Running && market.state == MarketState::Active
    }

    fn first_release(&self) -> Option<(TimeNs, Thing)> {
        let first = self.delayed.first_of_markets();
        first
            .filter(|(market, ..)| self.are_released(*market))
            .map(|(_, due, number)| (due, Thing::Release(number)))
            .min()
    }

    /// Sets the clocks of a market anew, after a change of its state, terms or proposal.
    pub(crate) fn wind_clocks(&mut self, number: MarketNumber) {
        self.clocks
            .retain(|(_, thing)| thing.market() != Some(number));
        let things = self.things_of(number);
        self.clocks.extend(things);
    }

    /// What falls due by the clock of one market.
    fn things_of(&self, number: MarketNumber) -> Vec<(TimeNs, Thing)> {
        use MarketState::{Active, Paused, Registered};
        let market = &self.markets[number.0 as usize];
        let terms = market.terms;
        let may_trade = matches!(market.state, Active | Paused);
        let opens = market.state == Registered;
        let clears = market.clear_armed && may_trade;
        let closes = opens || may_trade;
        let mut things = Vec::new();
        for (at, is_due, thing) in [
            (terms.opens_at, opens, Thing::Open(number)),
            (terms.game_start_time, clears, Thing::Clear(number)),
            (terms.closes_at, closes, Thing::Close(number)),
        ] {
            if is_due && at != TimeMs(0) {
                things.push((start_of(at), thing));
            }
        }
        if let Some(proposal) = &market.proposal
            && proposal.by_time
            && proposal.disputed.is_none()
            && !self.withdrawals_shut
        {
            things.push((
                proposal.challenge_ends(self.reopened),
                Thing::Finalise(number),
            ));
        }
        things
    }

    /// The clocks of all markets, computed anew.
    pub(crate) fn all_clocks(&self) -> BTreeSet<(TimeNs, Thing)> {
        let numbers = (0..self.markets.len()).map(market_number);
        numbers.flat_map(|number| self.things_of(number)).collect()
    }

    /// Does the first thing that is due. Expiries that follow directly are done with it.
    pub(crate) fn advance_time(&mut self, at: Stamp, events: &mut Vec<Event>) -> HandlerResult {
        let first = self.first_due().filter(|(due, _)| *due <= at.time);
        let (_, thing) = first.ok_or(RejectionReason::NothingDue)?;
        match thing {
            Thing::Expiry(..) => Ok(self.expire_orders(at, events)),
            Thing::Lease(account, group) => Ok(self.end_lease((account, group), events)),
            Thing::Open(market) => self.activate_market(market, events),
            Thing::Clear(market) => Ok(self.clear_market(market, at, events)),
            Thing::Close(market) => self.close_market(market, at, events),
            Thing::Release(order) => Ok(self.release_order(order, at, events)),
            Thing::Finalise(market) => Ok(self.finalise_by_time(market, at, events)),
            Thing::Rebates => Ok(self.start_rebates(at, events)),
        }
    }

    /// Closes expired orders while an expiry is the first thing due, at most `MAX_VISITED_ORDERS`.
    fn expire_orders(&mut self, at: Stamp, events: &mut Vec<Event>) -> CommandOutcome {
        let mut orders = 0;
        while let Some((due, Thing::Expiry(_, number))) = self.first_due()
            && due <= at.time
            && (orders as usize) < MAX_VISITED_ORDERS
        {
            self.close_order(number, CloseReason::Expired, events);
            orders += 1;
        }
        CommandOutcome::Cancelled { orders }
    }

    /// The game starts: the book is cleared, once.
    fn clear_market(
        &mut self,
        number: MarketNumber,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> CommandOutcome {
        self.market_mut(number).clear_armed = false;
        self.wind_clocks(number);
        events.push(Event::MarketCleared { market: number });
        let work = PendingWork::ClearMarket { market: number };
        let orders = self.do_work(work, at, events);
        CommandOutcome::Cancelled { orders }
    }
}
