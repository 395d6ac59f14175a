//! Terms of a market: its clock, delay and rebate (docs/verify/rules.md §21).

use foretell_model::{
    CommandOutcome, Event, MarketNumber, MarketTerms, Rejection, RejectionReason, TimeMs, TimeNs,
};

use crate::exchange::{Exchange, Stamp};
use crate::handler_result::{HandlerResult, NotApplied, ensure};

const NONE: TimeMs = TimeMs(0);

impl Exchange {
    /// Replaces all terms of a market. A game start after now arms its clear.
    pub(crate) fn set_terms(
        &mut self,
        number: MarketNumber,
        terms: MarketTerms,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        self.check_not_over(number)?;
        ensure(terms.are_in_range(), RejectionReason::InvalidTerms)?;
        let (opens, closes) = (terms.opens_at, terms.closes_at);
        ensure(
            opens == NONE || closes == NONE || opens < closes,
            Rejection::with(RejectionReason::ClockContradicts, opens.0, closes.0),
        )?;
        let now = at.time.millis().0;
        ensure(
            closes == NONE || start_of(closes) > at.time,
            Rejection::with(RejectionReason::ClosesInPast, closes.0, now),
        )?;
        let already = self.market(number)?.terms == terms;
        ensure(!already, NotApplied::already(CommandOutcome::Done))?;

        let market = self.market_mut(number);
        market.terms = terms;
        market.clear_armed = terms.clear_book_on_start && start_of(terms.game_start_time) > at.time;
        self.wind_clocks(number);
        events.push(Event::TermsSet {
            market: number,
            terms,
        });
        Ok(CommandOutcome::Done)
    }
}

/// The first nanosecond of a millisecond; terms are bounded so that it exists.
pub(crate) fn start_of(time: TimeMs) -> TimeNs {
    let start = time.0.checked_mul(1_000_000);
    TimeNs(start.expect("a term is at most MAX_CLOCK_MS"))
}
