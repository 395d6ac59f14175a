//! Neg-risk events: questions of which exactly one resolves Yes, and the conversion between them.

use std::ops::{Index, IndexMut};

use foretell_model::limits::MAX_QUESTIONS;
use foretell_model::{
    AccountNumber, CommandOutcome, Event, EventId, EventNumber, Lots, MarketNumber, MarketState,
    Outcome, Payout, QuestionSet, Reference, RefusalReason,
};

use crate::exchange::Exchange;
use crate::references::Content;
use crate::shares::{ensure_amount, ensure_shares};
use crate::step::{Answer, NotApplied, Step, ensure};
use crate::table::{KeyHasher, Table};

/// A neg-risk event.
#[derive(Debug)]
pub(crate) struct NegRisk {
    pub(crate) id: EventId,
    /// The list is final.
    pub(crate) frozen: bool,
    /// Its questions in order.
    pub(crate) questions: Vec<MarketNumber>,
    /// `c`: per unresolved question supply(Yes) − supply(No).
    pub(crate) converted: Lots,
}

/// All events, by dense number.
#[derive(Debug)]
pub(crate) struct Events {
    events: Vec<NegRisk>,
    by_id: Table,
    hasher: KeyHasher,
}

impl Events {
    pub(crate) fn with_capacity(events: usize, hasher: KeyHasher) -> Self {
        Self {
            events: Vec::with_capacity(events),
            by_id: Table::with_capacity(events),
            hasher,
        }
    }

    pub(crate) fn get(&self, number: EventNumber) -> Result<&NegRisk, NotApplied> {
        self.events
            .get(number.0 as usize)
            .ok_or_else(|| RefusalReason::UnknownEvent.into())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (EventNumber, &NegRisk)> {
        (0..)
            .zip(&self.events)
            .map(|(number, event)| (EventNumber(number), event))
    }

    pub(crate) fn find(&self, id: EventId) -> Option<EventNumber> {
        self.by_id
            .find(self.hasher.number(id.0.into()), |number| {
                self.events[number as usize].id == id
            })
            .map(EventNumber)
    }

    pub(crate) fn add(&mut self, id: EventId) -> EventNumber {
        let number = u32::try_from(self.events.len()).expect("memory ends before 2^32 events");
        self.events.push(NegRisk {
            id,
            frozen: false,
            questions: Vec::new(),
            converted: Lots::ZERO,
        });
        self.by_id.insert(self.hasher.number(id.0.into()), number);
        EventNumber(number)
    }
}

impl Index<EventNumber> for Events {
    type Output = NegRisk;
    fn index(&self, number: EventNumber) -> &NegRisk {
        &self.events[number.0 as usize]
    }
}

impl IndexMut<EventNumber> for Events {
    fn index_mut(&mut self, number: EventNumber) -> &mut NegRisk {
        &mut self.events[number.0 as usize]
    }
}

impl Exchange {
    pub(crate) fn register_event(&mut self, id: EventId, step: &mut Step<'_>) -> Answer {
        if let Some(known) = self.events.find(id) {
            return Err(NotApplied::already(CommandOutcome::Event(known)));
        }
        let event = self.events.add(id);
        step.event(Event::EventRegistered { event, id });
        Ok(CommandOutcome::Event(event))
    }

    /// Passes an event that takes another question; its index.
    pub(crate) fn next_question(&self, event: EventNumber) -> Result<u32, NotApplied> {
        let event = self.events.get(event)?;
        ensure(!event.frozen, RefusalReason::EventFrozen)?;
        let next = u32::try_from(event.questions.len()).unwrap_or(MAX_QUESTIONS);
        ensure(next < MAX_QUESTIONS, RefusalReason::EventFull)?;
        Ok(next)
    }

    /// Makes the list of a question's event final, as its first question becomes active.
    pub(crate) fn freeze_event_of(&mut self, market: MarketNumber, step: &mut Step<'_>) {
        if let Some((event, _)) = self.markets[market].question
            && !self.events[event].frozen
        {
            self.events[event].frozen = true;
            step.event(Event::EventFrozen { event });
        }
    }

    /// Passes a payout that leaves the event with exactly one Yes in the end.
    pub(crate) fn ensure_resolvable(
        &self,
        event: EventNumber,
        market: MarketNumber,
        payout: Payout,
    ) -> Result<(), NotApplied> {
        let event = &self.events[event];
        ensure(event.frozen, RefusalReason::EventNotActive)?;
        let mut others = event
            .questions
            .iter()
            .filter(|question| **question != market)
            .map(|question| self.markets[*question].payout);
        match payout {
            Payout::Half => Err(RefusalReason::HalfInNegRisk.into()),
            Payout::Yes => {
                let has_yes = others.any(|other| other == Some(Payout::Yes));
                ensure(!has_yes, RefusalReason::SecondYes)
            }
            Payout::No => {
                let leaves_none = others.all(|other| other == Some(Payout::No));
                ensure(!leaves_none, RefusalReason::NoWouldLeaveNone)
            }
        }
    }

    /// Gives n No of each of k questions for n · (k − 1) collateral and n Yes of every other.
    pub(crate) fn convert(
        &mut self,
        account: AccountNumber,
        event: EventNumber,
        (questions, lots): (QuestionSet, Lots),
        reference: Reference,
        step: &mut Step<'_>,
    ) -> Answer {
        let content = Content {
            account,
            object: event.0,
            amount: lots.0,
            questions,
        };
        self.references
            .ensure_new(Some(account), reference, Some(content), step)?;
        self.references.ensure_room(account, step)?;
        self.ensure_convertible(account, event, questions, lots)?;

        for (index, market) in (0..).zip(&self.events[event].questions) {
            let market = *market;
            if questions.contains(index) {
                self.markets[market].supply[Outcome::No.index()] -= lots;
                self.positions.debit(account, market, Outcome::No, lots);
            } else {
                self.markets[market].supply[Outcome::Yes.index()] += lots;
                self.positions.credit(account, market, Outcome::Yes, lots);
            }
        }
        self.events[event].converted += lots;
        let sets = Lots(lots.0 * u64::from(questions.count() - 1));
        let collateral = sets.full_value();
        self.accounts[account].free += collateral;
        step.event(Event::Converted {
            account,
            event,
            questions,
            lots,
            collateral,
        });
        let outcome = CommandOutcome::Collateral(collateral);
        self.references
            .remember(Some(account), reference, content, outcome, step);
        Ok(outcome)
    }

    fn ensure_convertible(
        &self,
        account: AccountNumber,
        event: EventNumber,
        questions: QuestionSet,
        lots: Lots,
    ) -> Result<(), NotApplied> {
        let who = self.account(account)?;
        let event = self.events.get(event)?;
        ensure_amount(lots)?;
        self.system.ensure_takes_risk()?;
        let is_named = questions.count() > 0 && questions.end() as usize <= event.questions.len();
        ensure(is_named, RefusalReason::InvalidQuestions)?;
        let mut states = event
            .questions
            .iter()
            .map(|market| self.markets[*market].state);
        let is_active = event.frozen && states.all(|state| state == MarketState::Active);
        ensure(is_active, RefusalReason::EventNotActive)?;
        ensure(!who.closed_only, RefusalReason::ClosedOnlyAccount)?;
        for (_, market) in (0..)
            .zip(&event.questions)
            .filter(|(index, _)| questions.contains(*index))
        {
            let [_, free] = self.positions.free(account, *market);
            ensure_shares(lots, free)?;
        }
        Ok(())
    }
}
