//! The clock of the exchange (docs/verify/rules.md §21): terms of markets, what falls due, and the
//! command that does it.

use foretell_model::command::SetTerms;
use foretell_model::event::TermsSet;
use foretell_model::limits::MAX_VISITED_ORDERS;
use foretell_model::state::PendingWork;
use foretell_model::{
    CloseReason, CommandOutcome, Event, MarketNumber, MarketState, MarketTerms, Rejection,
    RejectionReason, SystemMode, TimeMs, TimeNs,
};

use crate::command_context::{CommandContext, HandlerResult, NotApplied, ensure};
use crate::exchange::Exchange;
use crate::expiry;
use crate::indexed_heap::IndexedHeap;

/// Kind of a due thing; at equal times a smaller one comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Rank {
    Expiry,
    /// Of a group of quotes.
    Lease,
    Open,
    Clear,
    Close,
    /// A delayed order.
    Release,
    Finalise,
    Rebates,
}

/// A due thing, in the order in which things happen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Due {
    pub(crate) at: TimeNs,
    pub(crate) rank: Rank,
    /// Market or order number, account × 256 + group of a lease; 0 for expiries and rebates.
    pub(crate) number: u64,
}

/// Terms of one market.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct MarketClock {
    pub(crate) terms: MarketTerms,
    /// Whether the book is cleared at the game start.
    pub(crate) clear_armed: bool,
}

/// Terms of all markets, and queues of what falls due.
#[derive(Debug)]
pub(crate) struct Clock {
    /// By market; shorter than the list of markets when the last have no terms.
    markets: Vec<MarketClock>,
    /// By market: open, clear, close or finalise, whichever comes first.
    pub(crate) things: IndexedHeap<Due>,
    /// By market: its first delayed order, while the market is active.
    pub(crate) releases: IndexedHeap<Due>,
    /// When the next thing is due. Read for every command.
    pub(crate) next: Option<TimeNs>,
}

impl Clock {
    pub(crate) fn with_capacity(markets: usize) -> Self {
        Self {
            markets: Vec::with_capacity(markets),
            things: IndexedHeap::with_capacity(markets, markets),
            releases: IndexedHeap::with_capacity(markets, markets),
            next: None,
        }
    }

    pub(crate) fn of(&self, market: MarketNumber) -> MarketClock {
        let known = self.markets.get(market.0 as usize);
        known.copied().unwrap_or_default()
    }

    pub(crate) fn set(&mut self, market: MarketNumber, clock: MarketClock) {
        let index = market.0 as usize;
        if self.markets.len() <= index {
            self.markets.resize(index + 1, MarketClock::default());
        }
        self.markets[index] = clock;
    }

    /// Every market with terms.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (MarketNumber, &MarketClock)> {
        (0..)
            .map(MarketNumber)
            .zip(&self.markets)
            .filter(|(_, clock)| **clock != MarketClock::default())
    }
}

/// Rejects terms that are out of range, contradict themselves, or close a market in the past.
pub(crate) fn ensure_terms(terms: &MarketTerms, now: TimeNs) -> Result<(), NotApplied> {
    ensure(terms.are_in_range(), RejectionReason::InvalidTerms)?;
    let (opens, closes) = (terms.opens_at.0, terms.closes_at.0);
    ensure(
        opens == 0 || closes == 0 || opens < closes,
        Rejection::with(RejectionReason::ClockContradicts, opens, closes),
    )?;
    let now = now.millis().0;
    ensure(
        closes == 0 || closes > now,
        Rejection::with(RejectionReason::ClosesInPast, closes, now),
    )
}

impl Exchange {
    pub(crate) fn set_terms(
        &mut self,
        &SetTerms {
            market,
            terms: ref update,
        }: &SetTerms,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        self.ensure_not_over(market)?;
        let before = self.clock.of(market);
        let terms = update.applied_to(before.terms);
        ensure_terms(&terms, context.now)?;
        ensure(
            before.terms != terms,
            NotApplied::already(CommandOutcome::Done),
        )?;
        if before.terms.rebate_ppm != terms.rebate_ppm {
            self.ensure_may_move_money(market, context)?;
        }
        let clear_armed = if update.names_clear() {
            let now = context.now.millis().0;
            let has_begun = |start: TimeMs| start.0 != 0 && start.0 <= now;
            let is_over = has_begun(before.terms.game_start_time) && !before.clear_armed;
            let is_over = is_over && has_begun(terms.game_start_time);
            terms.clear_book_on_start && terms.game_start_time.0 != 0 && !is_over
        } else {
            before.clear_armed
        };
        self.change_terms(market, MarketClock { terms, clear_armed }, context);
        Ok(CommandOutcome::Done)
    }

    /// Sets the terms of a market that is being registered.
    pub(crate) fn set_first_terms(
        &mut self,
        market: MarketNumber,
        terms: MarketTerms,
        context: &mut CommandContext<'_>,
    ) {
        let clear_armed = terms.clear_book_on_start && terms.game_start_time.0 != 0;
        self.change_terms(market, MarketClock { terms, clear_armed }, context);
    }

    fn change_terms(
        &mut self,
        market: MarketNumber,
        clock: MarketClock,
        context: &mut CommandContext<'_>,
    ) {
        self.put_terms(market, clock);
        context.event(Event::TermsSet(TermsSet {
            market,
            terms: clock.terms,
            clear_armed: clock.clear_armed,
        }));
    }

    /// Stores the terms of a market, and schedules it by them.
    pub(crate) fn put_terms(&mut self, market: MarketNumber, clock: MarketClock) {
        self.clock.set(market, clock);
        self.markets[market].delay_ms = clock.terms.taker_delay_ms;
        self.markets[market].rebate_ppm = clock.terms.rebate_ppm;
        self.reschedule(market);
    }

    /// Does the first due thing; expiries that follow directly are done with it.
    pub(crate) fn advance_clock(&mut self, context: &mut CommandContext<'_>) -> HandlerResult {
        let due = self.first_due().filter(|due| due.at <= context.now);
        let due = due.ok_or(RejectionReason::NothingDue)?;
        let market = MarketNumber(u32::try_from(due.number).unwrap_or(u32::MAX));
        match due.rank {
            Rank::Expiry => {
                let orders = self.expire_first(context);
                Ok(CommandOutcome::Cancelled { orders })
            }
            Rank::Lease => {
                let orders = self.end_lease(context);
                Ok(CommandOutcome::Cancelled { orders })
            }
            Rank::Open => self.activate_market(market, context),
            Rank::Clear => Ok(self.clear_market(market, context)),
            Rank::Close => self.close_market(market, context),
            Rank::Release => {
                let first = self.clock.releases.first();
                let (_, market) = first.ok_or(RejectionReason::NothingDue)?;
                let first = self
                    .delayed
                    .first_due(MarketNumber(market))
                    .map(|delayed| delayed.order);
                Ok(self.release_order(first.ok_or(RejectionReason::NothingDue)?, context))
            }
            Rank::Finalise => Ok(self.finalise_by_time(market, context)),
            Rank::Rebates => Ok(self.start_rebate_payment(context)),
        }
    }

    /// Closes expired orders while nothing else comes first, at most `MAX_VISITED_ORDERS`.
    fn expire_first(&mut self, context: &mut CommandContext<'_>) -> u32 {
        let mut orders = 0;
        while (orders as usize) < MAX_VISITED_ORDERS
            && let Some(due) = self.first_due()
            && (due.rank, due.at <= context.now) == (Rank::Expiry, true)
            && let Some((_, slot)) = self.expiry.first()
        {
            self.close_order(slot, CloseReason::Expired, context);
            orders += 1;
        }
        orders
    }

    fn clear_market(
        &mut self,
        market: MarketNumber,
        context: &mut CommandContext<'_>,
    ) -> CommandOutcome {
        let clock = MarketClock {
            clear_armed: false,
            ..self.clock.of(market)
        };
        self.put_terms(market, clock);
        context.event(Event::MarketCleared { market });
        let orders = self.do_work(PendingWork::ClearMarket { market }, context);
        CommandOutcome::Cancelled { orders }
    }

    /// Whether a thing is due at `now`. The hot path: every command asks.
    #[inline(always)]
    pub(crate) fn is_time_due(&self, now: TimeNs) -> bool {
        self.clock.next.is_some_and(|next| next <= now)
    }

    /// The first thing that falls due.
    fn first_due(&self) -> Option<Due> {
        let safety = self.system.settings.gtd_safety_seconds;
        let expiry = self.expiry.first().map(|((expiration, _), _)| Due {
            at: expiry::due(expiration, safety),
            rank: Rank::Expiry,
            number: 0,
        });
        let thing = self.clock.things.first().map(|(due, _)| due);
        let lease = self.quotes.leases.first().map(|(due, _)| due);
        let releases = self.clock.releases.first();
        let release = releases.filter(|_| self.releases_run());
        let rebates = self.rebates_due().map(|at| Due {
            at,
            rank: Rank::Rebates,
            number: 0,
        });
        let things = [expiry, lease, thing, release.map(|(due, _)| due), rebates];
        things.into_iter().flatten().min()
    }

    /// Brings the time of the next thing up to date.
    pub(crate) fn refresh_clock(&mut self) {
        self.clock.next = self.first_due().map(|due| due.at);
    }

    /// Whether the time of the next thing is up to date.
    pub(crate) fn is_clock_fresh(&self) -> bool {
        self.clock.next == self.first_due().map(|due| due.at)
    }

    /// Brings the queues up to date with state, terms and proposal of a market.
    pub(crate) fn reschedule(&mut self, market: MarketNumber) {
        self.clock.things.set(market.0, self.next_thing(market));
        self.schedule_release(market);
    }

    /// Puts the market's first delayed order into the queue of due things, while the market trades.
    pub(crate) fn schedule_release(&mut self, market: MarketNumber) {
        self.clock.releases.set(market.0, self.next_release(market));
        self.refresh_clock();
    }

    /// Puts a GTD order into the queue of expiries.
    #[cold]
    pub(crate) fn schedule_expiry(&mut self, slot: u32) {
        let order = &self.orders[slot];
        let key = (order.expiration, order.number);
        self.expiry.set(slot, Some(key));
        self.refresh_clock();
    }

    /// Takes an order out of the queue of expiries.
    #[cold]
    pub(crate) fn unschedule_expiry(&mut self, slot: u32) {
        self.expiry.set(slot, None);
        self.refresh_clock();
    }

    /// What falls due first in a market, apart from orders.
    pub(crate) fn next_thing(&self, number: MarketNumber) -> Option<Due> {
        let (market, clock) = (&self.markets[number], self.clock.of(number));
        let MarketTerms {
            opens_at,
            closes_at,
            game_start_time,
            ..
        } = clock.terms;
        let is_registered = market.state == MarketState::Registered;
        let trades = matches!(market.state, MarketState::Active | MarketState::Paused);
        let due = |rank, at| Due {
            at,
            rank,
            number: number.0.into(),
        };
        let things = [
            (opens_at.0 > 0 && is_registered).then(|| due(Rank::Open, opens_at.start())),
            (clock.clear_armed && trades).then(|| due(Rank::Clear, game_start_time.start())),
            (closes_at.0 > 0 && (is_registered || trades))
                .then(|| due(Rank::Close, closes_at.start())),
            self.finalised_at(number).map(|at| due(Rank::Finalise, at)),
        ];
        things.into_iter().flatten().min()
    }

    fn releases_run(&self) -> bool {
        self.system.mode == SystemMode::Running
    }

    /// Whether delayed orders of a market are released when they are due.
    pub(crate) fn releases(&self, market: MarketNumber) -> bool {
        self.releases_run() && self.markets[market].state == MarketState::Active
    }

    /// The market's first delayed order, while the market is active.
    pub(crate) fn next_release(&self, number: MarketNumber) -> Option<Due> {
        let is_active = self.markets[number].state == MarketState::Active;
        let first = self.delayed.first_due(number).filter(|_| is_active)?;
        Some(Due {
            at: first.due,
            rank: Rank::Release,
            number: first.number.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_one_time_the_rank_decides_then_the_number() {
        let due = |at, rank, number| Due {
            at: TimeNs(at),
            rank,
            number,
        };
        let (open, close) = (due(5, Rank::Open, 9), due(5, Rank::Close, 1));
        assert!(open < close && close < due(5, Rank::Close, 2) && due(4, Rank::Close, 3) < open);
    }
}
