//! Neg-risk event groups: lists of mutually exclusive questions (docs/verify/rules.md §11).

use foretell_model::event::EventRegistered;
use foretell_model::limits::MAX_QUESTIONS;
use foretell_model::outside::outside_names;
use foretell_model::{
    CommandKind, CommandOutcome, ContentDigest, Event, EventId, EventNumber, FeeSchedule, Lots,
    MarketNumber, MarketState, MarketTerms, OperatorRole, Payout, QuestionIndex, RejectionReason,
    Tick,
};

use crate::exchange::{Exchange, Stamp};
use crate::handler_result::{HandlerResult, NotApplied, ensure};
use crate::markets::{Market, Shares, market_number};

/// A neg-risk event group.
#[derive(Clone, Debug)]
pub(crate) struct EventGroup {
    pub(crate) id: EventId,
    /// Its markets, in order of registration.
    pub(crate) questions: Vec<MarketNumber>,
    /// Whether the question list is final.
    pub(crate) frozen: bool,
    /// Lots ever converted.
    pub(crate) converted: Lots,
    /// Its outside question, a market without a place in the list.
    pub(crate) outside: MarketNumber,
}

impl Exchange {
    pub(crate) fn event(&self, number: EventNumber) -> Result<&EventGroup, NotApplied> {
        self.event_groups
            .get(number.0 as usize)
            .ok_or_else(|| RejectionReason::UnknownEvent.into())
    }

    /// The markets of an event group, in order.
    pub(crate) fn questions_of(&self, event: EventNumber) -> Vec<MarketNumber> {
        self.event_groups[event.0 as usize].questions.clone()
    }

    pub(crate) fn register_event(&mut self, id: EventId, events: &mut Vec<Event>) -> HandlerResult {
        if let Some(event) = self.names.events.get(&id) {
            return Err(NotApplied::already(CommandOutcome::Event(*event)));
        }
        let event = event_number(self.event_groups.len());
        let outside = self.add_outside(event, id)?;
        self.event_groups.push(EventGroup {
            id,
            questions: Vec::new(),
            frozen: false,
            converted: Lots::ZERO,
            outside,
        });
        self.names.events.insert(id, event);
        events.push(Event::EventRegistered(EventRegistered {
            event,
            id,
            outside,
        }));
        Ok(CommandOutcome::Event(event))
    }

    /// Adds the outside question of an event group; its names must be free.
    fn add_outside(&mut self, event: EventNumber, id: EventId) -> Result<MarketNumber, NotApplied> {
        let (condition, tokens) = outside_names(id);
        let names = &mut self.names;
        let is_free = !names.conditions.contains_key(&condition)
            && tokens.iter().all(|token| !names.tokens.contains(token));
        ensure(is_free, RejectionReason::MarketDiffers)?;
        let number = market_number(self.markets.len());
        names.conditions.insert(condition, number);
        names.tokens.extend(tokens);
        self.markets.push(Market {
            condition,
            tokens,
            tick: Tick::Tenth,
            tick_refines: false,
            minimum_size: Lots(1),
            fee: FeeSchedule::default(),
            question: None,
            outside_of: Some(event),
            index: None,
            slug: None,
            content: ContentDigest::ZERO,
            held_by_operator: false,
            held_by_upstream: false,
            state: MarketState::Closed,
            payout: None,
            archived: false,
            supply: Shares::default(),
            terms: MarketTerms::default(),
            clear_armed: false,
            policy: None,
            proposal: None,
        });
        Ok(number)
    }

    /// Either every question of an event group has an index of its own, or none has one.
    pub(crate) fn check_index(
        &self,
        event: EventNumber,
        index: Option<QuestionIndex>,
    ) -> Result<(), NotApplied> {
        for question in self.questions_of(event) {
            let other = self.markets[question.0 as usize].index;
            let fits = match (other, index) {
                (Some(other), Some(index)) => other != index,
                (None, None) => true,
                _ => false,
            };
            ensure(fits, RejectionReason::InvalidQuestionIndex)?;
        }
        Ok(())
    }

    /// The words are evidence of the frame.
    pub(crate) fn describe_event(
        &self,
        event: EventNumber,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        if self.event(event)?.frozen {
            let may = [OperatorRole::Admin, OperatorRole::Sync];
            self.check_role(&may, CommandKind::DescribeEvent, at)?;
        }
        events.push(Event::EventDescribed { event });
        Ok(CommandOutcome::Done)
    }

    /// Rejects when the event group takes no more questions.
    pub(crate) fn check_event_open(&self, event: EventNumber) -> Result<(), NotApplied> {
        ensure(!self.event(event)?.frozen, RejectionReason::EventFrozen)?;
        ensure(
            self.questions_of(event).len() < MAX_QUESTIONS as usize,
            RejectionReason::EventFull,
        )
    }

    /// The first question that becomes active freezes the list.
    pub(crate) fn freeze(&mut self, event: EventNumber, events: &mut Vec<Event>) {
        let known = &mut self.event_groups[event.0 as usize];
        if !known.frozen {
            known.frozen = true;
            events.push(Event::EventFrozen { event });
        }
    }

    /// Rejects a resolution that contradicts exactly one Yes per event group.
    pub(crate) fn check_resolution(
        &self,
        event: EventNumber,
        market: MarketNumber,
        payout: Payout,
    ) -> Result<(), NotApplied> {
        ensure(self.event(event)?.frozen, RejectionReason::EventNotActive)?;
        let others: Vec<_> = self
            .questions_of(event)
            .into_iter()
            .filter(|question| *question != market)
            .map(|question| &self.markets[question.0 as usize])
            .collect();
        let all_resolved = others
            .iter()
            .all(|other| other.state == MarketState::Resolved);
        match payout {
            Payout::Half => Err(RejectionReason::HalfInNegRisk.into()),
            Payout::Yes => Ok(()),
            Payout::No => ensure(!all_resolved, RejectionReason::NoWouldLeaveNone),
            Payout::Outside => ensure(all_resolved, RejectionReason::OutsideNotLast),
        }
    }
}

pub(crate) fn event_number(index: usize) -> EventNumber {
    EventNumber(u32::try_from(index).expect("numbers of events are u32"))
}
