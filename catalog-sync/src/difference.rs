//! Computes the commands that make the exchange agree with the catalog. Pure: records in, commands
//! and findings out. Callers read both sides again each time, so nothing must survive a crash.

mod finding;
mod holds;
mod meaning;
mod payouts;
mod policy;
mod questions;

use std::collections::HashMap;

use foretell_catalog::record::{Answer, Flags, NotTradable, TradingTerms};
use foretell_model::{ConditionId, Hold, MarketState, Payout, QuestionIndex};
use foretell_wire::operator::{
    EventRegistration, FeeChange, MarketDescription, MarketName, MarketRegistration, MarketTerms,
    MinimumChange, OperatorCommand as Command, TermsChange, TickChange,
};

use crate::exchange::RegisteredMarket;

pub use finding::{Finding, FindingKind, Note};
pub use policy::{Allowance, Policy, Stops};

/// A market of the catalog.
#[derive(Clone, Debug)]
pub struct CatalogMarket {
    /// Its id.
    pub id: u64,
    /// Its name in URLs.
    pub slug: String,
    /// Its condition, also when it cannot trade.
    pub condition: Option<ConditionId>,
    /// Its lifecycle flags at the upstream.
    pub flags: Flags,
    /// How far the upstream is with its answer.
    pub answer: Answer,
    /// Its payout at the upstream, if this exchange supports it.
    pub payout: Option<Payout>,
    /// How it trades, or why it cannot.
    pub terms: Result<TradingTerms, NotTradable>,
    /// Its texts for the journal.
    pub description: MarketDescription,
}

/// Markets that are compared together: those of one event group, or a single market without one.
#[derive(Clone, Debug)]
pub struct MarketGroup {
    /// The neg-risk event group, if there is one.
    pub event: Option<EventRegistration>,
    /// Whether the markets are all those of the upstream's event.
    pub is_whole: bool,
    /// The markets, in any order.
    pub markets: Vec<CatalogMarket>,
}

/// The state of the exchange.
#[derive(Clone, Debug, Default)]
pub struct ExchangeState {
    markets: HashMap<ConditionId, RegisteredMarket>,
    events: HashMap<u64, QuestionList>,
}

/// The questions of a neg-risk event group of the exchange.
#[derive(Clone, Copy, Debug, Default)]
struct QuestionList {
    count: usize,
    /// Whether its questions have indexes of their own.
    has_indexes: bool,
    is_final: bool,
    /// Whether a question is the operator's own.
    has_own: bool,
    /// Questions without a payout.
    unpaid: usize,
    /// Whether a question paid Yes.
    has_yes: bool,
}

impl ExchangeState {
    /// The state of these markets, which may contain duplicates.
    pub fn of(markets: impl IntoIterator<Item = RegisteredMarket>) -> Self {
        let mut state = Self::default();
        for market in markets {
            if state.markets.contains_key(&market.condition) {
                continue;
            }
            if let Some(event) = market.event {
                let questions = state.events.entry(event).or_default();
                questions.count += 1;
                questions.has_indexes |= market.index.is_some();
                questions.is_final |= market.event_frozen;
                questions.has_own |= market.own;
                questions.unpaid += usize::from(market.payout.is_none());
                questions.has_yes |= market.payout == Some(Payout::Yes);
            }
            state.markets.insert(market.condition, market);
        }
        state
    }

    fn market(&self, condition: &ConditionId) -> Option<&RegisteredMarket> {
        self.markets.get(condition)
    }

    /// Number of markets that have not ended.
    #[must_use]
    pub fn live(&self) -> u64 {
        let live = self.markets.values().filter(|market| !market.is_over());
        u64::try_from(live.count()).unwrap_or(u64::MAX)
    }

    /// Markets that the upstream holds.
    pub fn held(&self) -> impl Iterator<Item = ConditionId> {
        let held = self.markets.values();
        let held = held.filter(|market| !market.is_over() && market.holds.contains(Hold::Upstream));
        held.map(|market| market.condition)
    }

    /// Whether a market trades: it is open and nobody holds it.
    #[must_use]
    pub fn trades(&self, condition: &ConditionId) -> bool {
        let market = self.markets.get(condition);
        market.is_some_and(|market| market.status == MarketState::Active)
    }

    fn questions(&self, event: u64) -> QuestionList {
        self.events.get(&event).copied().unwrap_or_default()
    }
}

/// Commands in order: each requires that the earlier ones succeeded.
pub type Steps = Vec<Command>;

/// The commands and findings of a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Independent of each other.
    pub steps: Vec<Steps>,
    /// Findings.
    pub notes: Vec<Note>,
}

impl Plan {
    fn note(&mut self, market: &CatalogMarket, finding: Finding) {
        self.notes.push(Note {
            market: market.id,
            slug: market.slug.clone(),
            finding,
            consent: None,
        });
    }

    /// Leaves a command to the operator's decision.
    fn hold_back(&mut self, market: &CatalogMarket, finding: Finding, command: Command) {
        self.note(market, finding);
        if let Some(note) = self.notes.last_mut() {
            note.consent = Some(command);
        }
    }

    fn push(&mut self, steps: Steps) {
        if !steps.is_empty() {
            self.steps.push(steps);
        }
    }
}

/// Compares a group with the exchange. Subtracts registrations and closings from `allowance`.
#[must_use]
pub fn difference(group: &MarketGroup, state: &ExchangeState, allowance: &mut Allowance) -> Plan {
    let mut plan = Plan::default();
    let (mut questions, mut untradable) = (Vec::new(), Vec::new());
    for market in &group.markets {
        let here = market.condition.and_then(|known| state.market(&known));
        if let Some(here) = here.filter(|here| here.is_over()) {
            allowance.stops.forget(&here.condition);
        }
        if here.is_some_and(|here| here.own) {
            plan.note(market, Finding::Own);
            untradable.push(market);
            continue;
        }
        if here.is_some_and(|here| here.slug_taken) {
            plan.note(market, Finding::SlugTaken);
        }
        let terms = match &market.terms {
            Ok(terms) => terms,
            Err(reason) => {
                let holder = match reason {
                    NotTradable::Taken(holder) => Some(*holder),
                    _ => None,
                };
                let here = here.filter(|_| holder.is_none());
                close_untradable(&mut plan, market, reason, here, allowance);
                if here.is_none() && !holder.is_some_and(|holder| group.lists(holder)) {
                    untradable.push(market);
                }
                continue;
            }
        };
        let event = group.event_of(terms);
        let here = here.map(|here| Registered::of(market, terms, here, event));
        match &here {
            Some(here) => here.update(&mut plan, allowance),
            None => note_obstacle(&mut plan, market, terms),
        }
        if terms.neg_risk {
            questions.push((market, terms, here));
        } else if here.is_none() {
            register_plain(&mut plan, market, terms);
        }
    }
    if !questions.is_empty() {
        // Deterministic: equal records give an equal list in every process.
        questions.sort_by_key(|(market, terms, _)| (terms.question_order, market.id));
        let event = group.event.as_ref();
        let list = payouts::List::of(event, state, &questions, &untradable);
        list.pay(&mut plan, &questions, allowance);
        // Once one of them won, none opens.
        let may_open = !list.has_yes;
        questions::list(&mut plan, group, state, (&questions, may_open), &untradable);
    }
    plan
}

fn note_obstacle(plan: &mut Plan, market: &CatalogMarket, terms: &TradingTerms) {
    if let Some(reason) = &terms.obstacle {
        plan.note(market, Finding::NotTradable(reason.clone()));
    }
}

impl MarketGroup {
    /// Names of the exchange's markets to compare with: conditions and the neg-risk event group.
    pub fn names(&self) -> (impl Iterator<Item = ConditionId>, Option<u64>) {
        let conditions = self.markets.iter().filter_map(|market| market.condition);
        (conditions, self.event.as_ref().map(|event| event.event_id))
    }

    /// Whether the market of this id can be registered.
    fn lists(&self, id: u64) -> bool {
        let mut markets = self.markets.iter();
        markets.any(|market| market.id == id && market.terms.is_ok())
    }

    fn event_of(&self, terms: &TradingTerms) -> Option<u64> {
        let event = self.event.as_ref().filter(|_| terms.neg_risk);
        event.map(|event| event.event_id)
    }
}

impl CatalogMarket {
    const fn is_over(&self) -> bool {
        self.flags.closed || self.flags.archived
    }

    /// Whether it is resolved, but not to a payout.
    fn names_no_winner(&self) -> bool {
        self.flags.closed && self.answer == Answer::Known && self.payout.is_none()
    }

    /// Whether it may trade now; upstreams list questions before they open.
    fn opens(&self, terms: &TradingTerms) -> bool {
        !self.is_over() && !self.is_stopped(terms)
    }

    /// Whether nobody may trade it now, although it is not closed: the upstream stopped it, or its rules
    /// are not those of this exchange.
    fn is_stopped(&self, terms: &TradingTerms) -> bool {
        let trades = self.flags.active && terms.accepting_orders && !self.flags.archived;
        !trades || self.answer != Answer::Open || terms.obstacle.is_some()
    }
}

/// Handles a market whose record no longer fits this exchange. If it is registered here, only its
/// close is still applied.
fn close_untradable(
    plan: &mut Plan,
    market: &CatalogMarket,
    reason: &NotTradable,
    here: Option<&RegisteredMarket>,
    allowance: &mut Allowance,
) {
    let Some(here) = here else {
        return plan.note(market, Finding::NotTradable(reason.clone()));
    };
    plan.note(market, Finding::NoLongerTradable(reason.clone()));
    if market.flags.closed {
        let steps = close_steps(plan, market, here, allowance);
        plan.push(steps.unwrap_or_default());
    }
}

/// The steps that close a market which is closed upstream; `None` when the operator must decide.
fn close_steps(
    plan: &mut Plan,
    market: &CatalogMarket,
    here: &RegisteredMarket,
    allowance: &mut Allowance,
) -> Option<Steps> {
    let command = Command::CloseMarket(MarketName {
        condition_id: here.condition,
    });
    if here.is_over() {
        Some(Vec::new())
    } else if allowance.closes(here) {
        allowance.stops.forget(&here.condition);
        Some(vec![command])
    } else {
        plan.hold_back(market, Finding::ClosesEarly, command);
        holds::hold(plan, market, here, allowance);
        None
    }
}

/// Registers a market without a neg-risk event group.
fn register_plain(plan: &mut Plan, market: &CatalogMarket, terms: &TradingTerms) {
    if market.is_over() {
        plan.note(market, Finding::OverBefore);
    } else if terms.obstacle.is_none() {
        let command = registration(market, terms, None, market.opens(terms));
        plan.push(vec![command]);
    }
}

fn registration(
    market: &CatalogMarket,
    terms: &TradingTerms,
    question: Option<(u64, Option<QuestionIndex>)>,
    activate: bool,
) -> Command {
    Command::RegisterMarket(Box::new(MarketRegistration {
        terms: MarketTerms {
            tick_size: Some(terms.tick),
            minimum_order_size: Some(terms.minimum_size),
            fee: Some(terms.fee),
            event_id: question.map(|(event, _)| event),
            question_index: question.and_then(|(_, index)| index),
            activate: Some(activate),
            clear_book_on_start: terms.clock.clear_book_on_start.then_some(true),
            taker_delay_ms: Some(terms.clock.taker_delay_ms).filter(|delay| *delay > 0),
            rebate_ppm: Some(terms.clock.rebate_ppm).filter(|rebate| *rebate > 0),
            // Upstreams trade past the date when an answer comes late.
            past_end: Some(true),
            ..MarketTerms::new(terms.condition, terms.tokens)
        },
        description: market.description.clone(),
    }))
}

/// A registered market with the terms of its record.
struct Registered<'a> {
    market: &'a CatalogMarket,
    terms: &'a TradingTerms,
    here: &'a RegisteredMarket,
    /// How its record contradicts the registration.
    contradiction: Option<Finding>,
    /// Its record contradicts the registration or gives its shares another meaning: its payout waits for
    /// consent.
    is_doubtful: bool,
}

impl<'a> Registered<'a> {
    fn of(
        market: &'a CatalogMarket,
        terms: &'a TradingTerms,
        here: &'a RegisteredMarket,
        event: Option<u64>,
    ) -> Self {
        let contradiction = contradiction(terms, here, event);
        let is_doubtful = contradiction.is_some() || meaning::differs(market, here);
        Self {
            market,
            terms,
            here,
            contradiction,
            is_doubtful,
        }
    }

    /// Whether it is closed and paid in the order of its event group.
    const fn is_question(&self) -> bool {
        self.terms.neg_risk && self.here.event.is_some()
    }

    /// Follows its record. Changeable fields are updated; after a difference in a fixed field only its hold
    /// and its close are still applied.
    fn update(&self, plan: &mut Plan, allowance: &mut Allowance) {
        let (market, terms, here) = (self.market, self.terms, self.here);
        let follows = self.contradiction.is_none() && terms.obstacle.is_none();
        match (&self.contradiction, &terms.obstacle) {
            (Some(contradiction), _) => plan.note(market, contradiction.clone()),
            (None, Some(reason)) => plan.note(market, self.obstacle(reason)),
            (None, None) => {}
        }
        if here.payout.is_none() {
            meaning::compare(plan, market, here);
        }
        if here.is_over() || market.flags.closed {
            if !self.is_question() {
                self.close_and_resolve(plan, allowance);
            }
            return;
        }
        holds::follow(plan, (market, terms, here), allowance);
        if !follows {
            return;
        }
        update_rules(plan, market, terms, here, &allowance.policy);
        // Questions of an event group open together, after their list is complete.
        if here.status == MarketState::Registered && here.event.is_none() && market.opens(terms) {
            plan.push(vec![Command::ActivateMarket(MarketName {
                condition_id: terms.condition,
            })]);
        }
    }

    /// The finding of an obstacle. A question that never opened is registered so by design.
    fn obstacle(&self, reason: &NotTradable) -> Finding {
        let trades = matches!(self.here.status, MarketState::Active | MarketState::Paused);
        match self.is_question() && !trades {
            true => Finding::NotTradable(reason.clone()),
            false => Finding::NoLongerTradable(reason.clone()),
        }
    }

    /// Closes and pays a market that has ended here or upstream.
    fn close_and_resolve(&self, plan: &mut Plan, allowance: &mut Allowance) {
        let (market, here) = (self.market, self.here);
        if !market.flags.closed {
            return plan.note(market, Finding::Reopened);
        }
        let Some(mut steps) = close_steps(plan, market, here, allowance) else {
            return;
        };
        match (here.payout, market.payout) {
            (Some(here), Some(upstream)) if here != upstream => {
                plan.note(market, Finding::PayoutDiffers { here, upstream });
            }
            (None, None) if market.names_no_winner() => plan.note(market, Finding::NoWinner),
            (Some(_), _) | (None, None) => {}
            (None, Some(Payout::Half)) if here.event.is_some() => {
                plan.note(market, Finding::HalfOfQuestion);
            }
            (None, Some(payout)) => {
                let command = payouts::resolution(here, payout);
                match allowance.policy.resolve && !self.is_doubtful {
                    true => steps.push(command),
                    false => plan.hold_back(market, Finding::ResolutionDue(payout), command),
                }
            }
        }
        plan.push(steps);
    }
}

/// A difference in a field that is fixed with the registration.
fn contradiction(
    terms: &TradingTerms,
    here: &RegisteredMarket,
    event: Option<u64>,
) -> Option<Finding> {
    if here.tokens != terms.tokens {
        Some(Finding::TokensDiffer)
    } else if here.event != event {
        let (here, upstream) = (here.event, event);
        Some(Finding::EventDiffers { here, upstream })
    } else {
        None
    }
}

/// Updates tick, minimum order and fee of a market that still trades.
fn update_rules(
    plan: &mut Plan,
    market: &CatalogMarket,
    terms: &TradingTerms,
    here: &RegisteredMarket,
    policy: &Policy,
) {
    let mut steps = Vec::new();
    let mut change = |command, is_allowed: bool, finding| match is_allowed {
        true => steps.push(command),
        false => plan.hold_back(market, finding, command),
    };
    if here.tick.refines_to(terms.tick) {
        let is_allowed = policy.allows_tick(terms.tick);
        let command = Command::SetTick(TickChange {
            condition_id: terms.condition,
            tick_size: terms.tick,
        });
        change(command, is_allowed, Finding::TickTooFine(terms.tick));
    }
    if terms.minimum_size != here.minimum_size {
        let is_allowed = policy.allows_minimum(here.minimum_size, terms.minimum_size);
        let command = Command::SetMinimumSize(MinimumChange {
            condition_id: terms.condition,
            minimum_order_size: terms.minimum_size,
        });
        change(command, is_allowed, Finding::MinimumTooLarge);
    }
    if terms.fee != here.fee {
        let is_allowed = policy.allows_fee(here.fee, terms.fee);
        let command = Command::SetFee(FeeChange {
            condition_id: terms.condition,
            rate_ppm: terms.fee.rate_ppm,
            exponent: terms.fee.exponent,
        });
        change(command, is_allowed, Finding::FeeTooHigh(terms.fee));
    }
    for (clock, finding) in clock_changes(terms, here, policy) {
        let command = Command::SetTerms(clock);
        match finding {
            None => steps.push(command),
            Some(finding) => plan.hold_back(market, finding, command),
        }
    }
    plan.push(steps);
    if terms.tick != here.tick && !here.tick.refines_to(terms.tick) {
        // A trade near 0 or 1 refines the tick here, and each price keeps its place.
        let (here, upstream) = (here.tick, terms.tick);
        plan.note(market, Finding::TickDiffers { here, upstream });
    }
}

/// Changes to the upstream's game start, delay and rebate where they differ, each with the finding that
/// waits for consent. The book is cleared as registered. Opening and closing times are the operator's: the
/// upstream opens and closes by its flags.
fn clock_changes(
    terms: &TradingTerms,
    here: &RegisteredMarket,
    policy: &Policy,
) -> impl Iterator<Item = (TermsChange, Option<Finding>)> {
    let (new, old) = (terms.clock, here.clock);
    let change = || TermsChange::new(terms.condition);
    let mut free = change();
    if new.game_start_time != old.game_start_time {
        free.game_start_time = Some(new.game_start_time);
    }
    let mut bounded = Vec::new();
    if new.clear_book_on_start != old.clear_book_on_start {
        let clears = Some(new.clear_book_on_start);
        let clear = TermsChange {
            clear_book_on_start: clears,
            ..change()
        };
        bounded.push((clear, Some(Finding::Clearing(new.clear_book_on_start))));
    }
    if new.taker_delay_ms != old.taker_delay_ms {
        let is_allowed = new.taker_delay_ms <= policy.max_taker_delay_ms.max(old.taker_delay_ms);
        let delay = TermsChange {
            taker_delay_ms: Some(new.taker_delay_ms),
            ..change()
        };
        let finding = (!is_allowed).then_some(Finding::DelayTooLong(new.taker_delay_ms));
        bounded.push((delay, finding));
    }
    if new.rebate_ppm != old.rebate_ppm {
        let is_allowed = new.rebate_ppm <= policy.max_rebate_ppm.max(old.rebate_ppm);
        let rebate = TermsChange {
            rebate_ppm: Some(new.rebate_ppm),
            ..change()
        };
        let finding = (!is_allowed).then_some(Finding::RebateTooHigh(new.rebate_ppm));
        bounded.push((rebate, finding));
    }
    let free = (!free.is_empty()).then_some((free, None));
    free.into_iter().chain(bounded)
}

#[cfg(test)]
mod tests;
