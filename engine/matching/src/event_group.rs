//! Neg-risk event groups: questions of which exactly one resolves Yes, and conversion between them.

use std::ops::{Index, IndexMut};

use foretell_model::command::Convert;
use foretell_model::event::{Converted, EventRegistered};
use foretell_model::limits::MAX_QUESTIONS;
use foretell_model::outside::{OUTSIDE_INDEX, outside_names};
use foretell_model::{
    AccountNumber, CommandOutcome, ContentDigest, Event, EventId, EventNumber, FeeSchedule,
    HoldSet, Lots, MarketNumber, MarketState, Outcome, Payout, QuestionIndex, QuestionSet,
    RejectionReason, RoleSet, SlugDigest, Tick,
};

use crate::command_context::{CommandContext, HandlerResult, NotApplied, ensure};
use crate::exchange::Exchange;
use crate::idempotency::ActionContent;
use crate::ladder::Ladder;
use crate::market::{Market, MarketNames};
use crate::shares::{ensure_amount, ensure_shares};
use crate::table::{KeyHasher, Table};

/// A neg-risk event group.
#[derive(Debug)]
pub(crate) struct EventGroup {
    pub(crate) id: EventId,
    /// Whether the question list is final.
    pub(crate) frozen: bool,
    /// Its questions in order of registration.
    pub(crate) questions: Vec<MarketNumber>,
    /// `c`: supply(Yes) − supply(No) of each unresolved question.
    pub(crate) converted: Lots,
    /// Its outside question.
    pub(crate) outside: MarketNumber,
}

/// All event groups, indexed by dense number.
#[derive(Debug)]
pub(crate) struct EventGroups {
    groups: Vec<EventGroup>,
    by_id: Table,
    hasher: KeyHasher,
}

impl EventGroups {
    pub(crate) fn with_capacity(groups: usize, hasher: KeyHasher) -> Self {
        Self {
            groups: Vec::with_capacity(groups),
            by_id: Table::with_capacity(groups),
            hasher,
        }
    }

    pub(crate) fn get(&self, number: EventNumber) -> Result<&EventGroup, NotApplied> {
        self.groups
            .get(number.0 as usize)
            .ok_or_else(|| RejectionReason::UnknownEvent.into())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (EventNumber, &EventGroup)> {
        (0..)
            .zip(&self.groups)
            .map(|(number, group)| (EventNumber(number), group))
    }

    pub(crate) fn find(&self, id: EventId) -> Option<EventNumber> {
        self.by_id
            .find(self.hasher.number(id.0.into()), |number| {
                self.groups[number as usize].id == id
            })
            .map(EventNumber)
    }

    /// The number of the next event group.
    fn next(&self) -> EventNumber {
        EventNumber(u32::try_from(self.groups.len()).expect("memory ends before 2^32 event groups"))
    }

    pub(crate) fn add(&mut self, id: EventId, outside: MarketNumber) -> EventNumber {
        let number = self.next();
        self.groups.push(EventGroup {
            id,
            frozen: false,
            questions: Vec::new(),
            converted: Lots::ZERO,
            outside,
        });
        self.by_id.insert(self.hasher.number(id.0.into()), number.0);
        number
    }
}

impl Index<EventNumber> for EventGroups {
    type Output = EventGroup;
    fn index(&self, number: EventNumber) -> &EventGroup {
        &self.groups[number.0 as usize]
    }
}

impl IndexMut<EventNumber> for EventGroups {
    fn index_mut(&mut self, number: EventNumber) -> &mut EventGroup {
        &mut self.groups[number.0 as usize]
    }
}

impl Market {
    /// The outside question of an event group: closed from the start, so it has no book and no No.
    fn outside_of(event: EventNumber) -> Self {
        Self {
            ladder: Ladder::new(Tick::Tenth),
            supply: [Lots::ZERO; 2],
            minimum_size: Lots(1),
            fee: FeeSchedule::default(),
            delay_ms: 0,
            rebate_ppm: 0,
            state: MarketState::Closed,
            tick_refines: false,
            question: Some((event, OUTSIDE_INDEX)),
            holds: HoldSet::NONE,
            payout: None,
            archived: false,
        }
    }
}

impl Exchange {
    pub(crate) fn describe_event(
        &self,
        event: EventNumber,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        // Its first question opened: its words say what shares pay.
        if self.event_groups.get(event)?.frozen {
            self.ensure_role(RoleSet::ADMIN_AND_SYNC, context)?;
        }
        context.event(Event::EventDescribed { event });
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn register_event(
        &mut self,
        id: EventId,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        if let Some(known) = self.event_groups.find(id) {
            return Err(NotApplied::already(CommandOutcome::Event(known)));
        }
        let (condition, tokens) = outside_names(id);
        let is_taken = self.markets.find(condition).is_some()
            || tokens.iter().any(|token| self.markets.token_in_use(*token));
        ensure(!is_taken, RejectionReason::MarketDiffers)?;
        let event = self.event_groups.next();
        let names = MarketNames {
            condition,
            tokens,
            index: None,
            slug: SlugDigest::ZERO,
            content: ContentDigest::ZERO,
        };
        let outside = self.markets.add(Market::outside_of(event), names);
        self.event_groups.add(id, outside);
        context.event(Event::EventRegistered(EventRegistered {
            event,
            id,
            outside,
        }));
        Ok(CommandOutcome::Event(event))
    }

    /// Place of the next question of the event group; rejects when the list is frozen or full, or when
    /// the index does not go with those of the others.
    pub(crate) fn next_question(
        &self,
        event: EventNumber,
        index: Option<QuestionIndex>,
    ) -> Result<u32, NotApplied> {
        let event = self.event_groups.get(event)?;
        ensure(!event.frozen, RejectionReason::EventFrozen)?;
        let next = u32::try_from(event.questions.len()).unwrap_or(MAX_QUESTIONS);
        ensure(next < MAX_QUESTIONS, RejectionReason::EventFull)?;
        let mut others = event
            .questions
            .iter()
            .map(|question| self.markets.names(*question).index);
        let goes_with = |other: Option<_>| {
            other.is_some() == index.is_some() && (other != index || index.is_none())
        };
        ensure(others.all(goes_with), RejectionReason::InvalidQuestionIndex)?;
        Ok(next)
    }

    /// Freezes the market's event group when its first question becomes active.
    pub(crate) fn freeze_event_of(
        &mut self,
        market: MarketNumber,
        context: &mut CommandContext<'_>,
    ) {
        if let Some((event, _)) = self.markets[market].question
            && !self.event_groups[event].frozen
        {
            self.event_groups[event].frozen = true;
            context.event(Event::EventFrozen { event });
        }
    }

    /// Rejects a payout after which the event group could not end with exactly one Yes.
    pub(crate) fn ensure_resolvable(
        &self,
        event: EventNumber,
        market: MarketNumber,
        payout: Payout,
    ) -> Result<(), NotApplied> {
        let event = &self.event_groups[event];
        ensure(event.frozen, RejectionReason::EventNotActive)?;
        let mut others = event
            .questions
            .iter()
            .filter(|question| **question != market)
            .map(|question| self.markets[*question].payout);
        match payout {
            Payout::Half => Err(RejectionReason::HalfInNegRisk.into()),
            // After a Yes no question is open.
            Payout::Yes => Ok(()),
            Payout::No => {
                let leaves_none = others.all(|other| other == Some(Payout::No));
                ensure(!leaves_none, RejectionReason::NoWouldLeaveNone)
            }
            Payout::Outside => {
                let is_last = others.all(|other| other == Some(Payout::No));
                ensure(is_last, RejectionReason::OutsideNotLast)
            }
        }
    }

    /// Converts n No of each of k questions into n · (k − 1) collateral, n Yes of each other question that
    /// is not resolved, and n Yes of the outside question.
    pub(crate) fn convert(
        &mut self,
        &Convert {
            account,
            event,
            questions,
            lots,
            reference,
        }: &Convert,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let content = ActionContent {
            account,
            object: event.0,
            amount: lots.0,
            questions,
        };
        self.references
            .ensure_new(Some(account), reference, Some(content), context)?;
        self.references.ensure_room(account, context)?;
        self.ensure_convertible(account, event, (questions, lots))?;

        for (index, market) in (0..).zip(&self.event_groups[event].questions) {
            let market = *market;
            // A resolved question gets nothing.
            if self.markets[market].payout.is_some() {
                continue;
            }
            if questions.contains(index) {
                self.markets[market].supply[Outcome::No.index()] -= lots;
                self.positions.debit(account, market, Outcome::No, lots);
            } else {
                self.markets[market].supply[Outcome::Yes.index()] += lots;
                self.positions.credit(account, market, Outcome::Yes, lots);
            }
        }
        let outside = self.event_groups[event].outside;
        self.markets[outside].supply[Outcome::Yes.index()] += lots;
        self.positions.credit(account, outside, Outcome::Yes, lots);
        self.event_groups[event].converted += lots;
        let sets = Lots(lots.0 * u64::from(questions.count() - 1));
        let collateral = sets.full_value();
        self.accounts[account].free += collateral;
        context.event(Event::Converted(Converted {
            account,
            event,
            questions,
            lots,
            collateral,
        }));
        let outcome = CommandOutcome::Collateral(collateral);
        self.references
            .remember(Some(account), reference, content, outcome, context);
        Ok(outcome)
    }

    fn ensure_convertible(
        &self,
        account: AccountNumber,
        event: EventNumber,
        (questions, lots): (QuestionSet, Lots),
    ) -> Result<(), NotApplied> {
        let who = self.account(account)?;
        let event = self.event_groups.get(event)?;
        ensure_amount(lots)?;
        self.system.ensure_takes_risk()?;
        let is_named = questions.count() > 0 && questions.end() as usize <= event.questions.len();
        ensure(is_named, RejectionReason::InvalidQuestions)?;
        let mut states = (0..).zip(&event.questions).map(|(index, market)| {
            let market = &self.markets[*market];
            (questions.contains(index), market.state)
        });
        let is_active = event.frozen
            && states.all(|(is_given, state)| state == MarketState::Active || !is_given);
        ensure(is_active, RejectionReason::EventNotActive)?;
        ensure(!who.closed_only, RejectionReason::ClosedOnlyAccount)?;
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
