//! Terms of a market: its clock, delay and rebate (docs/verify/rules.md §21).

use foretell_model::command::SetTerms;
use foretell_model::event::TermsSet;
use foretell_model::{
    CommandKind, CommandOutcome, Event, MarketTerms, Rejection, RejectionReason, TimeMs, TimeNs,
};

use crate::exchange::{Exchange, Stamp};
use crate::handler_result::{HandlerResult, NotApplied, ensure};

const NONE: TimeMs = TimeMs(0);

impl Exchange {
    /// Changes the named terms of a market. A change of the clear arms it for a game start after now.
    pub(crate) fn set_terms(
        &mut self,
        &SetTerms {
            market: number,
            terms: changes,
        }: &SetTerms,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        self.check_not_over(number)?;
        let current = self.market(number)?.terms;
        let (start, clear) = (changes.game_start_time, changes.clear_book_on_start);
        let terms = MarketTerms {
            opens_at: changes.opens_at.unwrap_or(current.opens_at),
            closes_at: changes.closes_at.unwrap_or(current.closes_at),
            game_start_time: start.unwrap_or(current.game_start_time),
            clear_book_on_start: clear.unwrap_or(current.clear_book_on_start),
            taker_delay_ms: changes.taker_delay_ms.unwrap_or(current.taker_delay_ms),
            rebate_ppm: changes.rebate_ppm.unwrap_or(current.rebate_ppm),
        };
        check_terms(&terms, at)?;
        ensure(current != terms, NotApplied::already(CommandOutcome::Done))?;
        if terms.rebate_ppm != current.rebate_ppm {
            self.check_may_move_money(number, CommandKind::SetTerms, at)?;
        }

        let market = self.market_mut(number);
        market.terms = terms;
        if start.is_some() || clear.is_some() {
            // Neither a start ahead, nor a first start, nor one whose clear is still to come has begun.
            let is_to_come = |start: TimeMs| start == NONE || start_of(start) > at.time;
            let goes_on = is_to_come(current.game_start_time)
                || is_to_come(terms.game_start_time)
                || market.clear_armed;
            let has_start = terms.game_start_time != NONE;
            market.clear_armed = terms.clear_book_on_start && has_start && goes_on;
        }
        let clear_armed = market.clear_armed;
        self.wind_clocks(number);
        events.push(Event::TermsSet(TermsSet {
            market: number,
            terms,
            clear_armed,
        }));
        Ok(CommandOutcome::Done)
    }
}

/// Terms that are in range, and do not end before they begin or before now.
pub(crate) fn check_terms(terms: &MarketTerms, at: Stamp) -> Result<(), NotApplied> {
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
    )
}

/// The first nanosecond of a millisecond; terms are bounded so that it exists.
pub(crate) fn start_of(time: TimeMs) -> TimeNs {
    let start = time.0.checked_mul(1_000_000);
    TimeNs(start.expect("a term is at most MAX_CLOCK_MS"))
}
