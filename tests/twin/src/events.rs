//! Neg-risk events: the lists of questions whose outcomes exclude each other (protocol 5).

use foretell_model::limits::MAX_QUESTIONS;
use foretell_model::{
    CommandOutcome, Event, EventId, EventNumber, Lots, MarketNumber, MarketState, Payout,
    RefusalReason,
};

use crate::answer::{Answer, Stop, ensure};
use crate::exchange::Exchange;
use crate::markets::market_number;

/// A neg-risk event; its questions are the markets that name it, in order of registration.
#[derive(Clone, Debug)]
pub(crate) struct NegRiskEvent {
    pub(crate) id: EventId,
    /// The list of questions is final.
    pub(crate) frozen: bool,
    /// The total ever converted.
    pub(crate) converted: Lots,
}

impl Exchange {
    pub(crate) fn event(&self, number: EventNumber) -> Result<&NegRiskEvent, Stop> {
        self.events
            .get(number.0 as usize)
            .ok_or_else(|| RefusalReason::UnknownEvent.into())
    }

    /// The markets of an event's questions, in order.
    pub(crate) fn questions_of(&self, event: EventNumber) -> Vec<MarketNumber> {
        (0..self.markets.len())
            .filter(|index| {
                self.markets[*index]
                    .question
                    .is_some_and(|(of, _)| of == event)
            })
            .map(market_number)
            .collect()
    }

    pub(crate) fn register_event(&mut self, id: EventId, events: &mut Vec<Event>) -> Answer {
        if let Some(index) = self.events.iter().position(|known| known.id == id) {
            return Err(Stop::already(CommandOutcome::Event(event_number(index))));
        }
        let event = event_number(self.events.len());
        self.events.push(NegRiskEvent {
            id,
            frozen: false,
            converted: Lots::ZERO,
        });
        events.push(Event::EventRegistered { event, id });
        Ok(CommandOutcome::Event(event))
    }

    /// Whether another question may join the event.
    pub(crate) fn check_event_open(&self, event: EventNumber) -> Result<(), Stop> {
        ensure(!self.event(event)?.frozen, RefusalReason::EventFrozen)?;
        ensure(
            self.questions_of(event).len() < MAX_QUESTIONS as usize,
            RefusalReason::EventFull,
        )
    }

    /// The first question that becomes active makes the list final.
    pub(crate) fn freeze(&mut self, event: EventNumber, events: &mut Vec<Event>) {
        let known = &mut self.events[event.0 as usize];
        if !known.frozen {
            known.frozen = true;
            events.push(Event::EventFrozen { event });
        }
    }

    /// Whether a question may resolve like this: exactly one question of an event resolves Yes.
    pub(crate) fn check_resolution(
        &self,
        event: EventNumber,
        market: MarketNumber,
        payout: Payout,
    ) -> Result<(), Stop> {
        ensure(self.event(event)?.frozen, RefusalReason::EventNotActive)?;
        let others: Vec<_> = self
            .questions_of(event)
            .into_iter()
            .filter(|question| *question != market)
            .map(|question| &self.markets[question.0 as usize])
            .collect();
        let has_yes = others.iter().any(|other| other.payout == Some(Payout::Yes));
        let all_resolved = others
            .iter()
            .all(|other| other.state == MarketState::Resolved);
        match payout {
            Payout::Half => Err(RefusalReason::HalfInNegRisk.into()),
            Payout::Yes => ensure(!has_yes, RefusalReason::SecondYes),
            Payout::No => ensure(has_yes || !all_resolved, RefusalReason::NoWouldLeaveNone),
        }
    }
}

pub(crate) fn event_number(index: usize) -> EventNumber {
    EventNumber(u32::try_from(index).expect("tests register few events"))
}
