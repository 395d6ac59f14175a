//! What the exchange has to be told so that it agrees with the catalog. Pure: records in, commands
//! and findings out; whoever calls it reads both sides afresh, so that nothing has to be remembered
//! across a crash of either.

mod finding;
mod policy;
mod questions;

use std::collections::HashMap;

use foretell_catalog::record::{Flags, NotTradable, TradingTerms};
use foretell_model::{ConditionId, Payout};
use foretell_wire::operator::MarketDescription;

use crate::exchange::{Command, EventRegistration, MarketRegistration, Registered, Status};

pub use finding::{Finding, Kind, Note};
pub use policy::{Allowance, Policy};

/// A market of the catalog.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its number.
    pub id: u64,
    /// Its name in URLs.
    pub slug: String,
    /// Its condition, also when it cannot trade.
    pub condition: Option<ConditionId>,
    /// Its lifecycle, as the upstream says.
    pub flags: Flags,
    /// How it trades, or why it cannot.
    pub terms: Result<TradingTerms, NotTradable>,
    /// Its words for the journal.
    pub words: MarketDescription,
}

/// Markets that are looked at together: those of one event, or a market that has none.
#[derive(Clone, Debug)]
pub struct Group {
    /// The neg-risk event, when their outcomes exclude each other.
    pub event: Option<EventRegistration>,
    /// The markets, in any order.
    pub markets: Vec<Listed>,
}

/// What the exchange has.
#[derive(Clone, Debug, Default)]
pub struct Present {
    markets: HashMap<ConditionId, Registered>,
    events: HashMap<u64, Questions>,
}

/// The questions of a neg-risk event of the exchange.
#[derive(Clone, Copy, Debug, Default)]
struct Questions {
    count: usize,
    is_final: bool,
}

impl Present {
    /// Of its markets, of which some may come twice.
    pub fn of(markets: impl IntoIterator<Item = Registered>) -> Self {
        let mut present = Self::default();
        for market in markets {
            if present.markets.contains_key(&market.condition) {
                continue;
            }
            if let Some(event) = market.event {
                let questions = present.events.entry(event).or_default();
                questions.count += 1;
                questions.is_final |= market.event_frozen;
            }
            present.markets.insert(market.condition, market);
        }
        present
    }

    fn market(&self, condition: &ConditionId) -> Option<&Registered> {
        self.markets.get(condition)
    }

    /// Markets that have not ended.
    #[must_use]
    pub fn live(&self) -> u64 {
        let live = self
            .markets
            .values()
            .filter(|market| !market.status.is_over());
        u64::try_from(live.count()).unwrap_or(u64::MAX)
    }

    fn questions(&self, event: u64) -> Questions {
        self.events.get(&event).copied().unwrap_or_default()
    }
}

/// Commands whose order matters, because a later one is right only when the earlier were done.
pub type Steps = Vec<Command>;

/// What is to be done about a group, and what is to be known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Independent of each other.
    pub steps: Vec<Steps>,
    /// Findings.
    pub notes: Vec<Note>,
}

impl Plan {
    fn note(&mut self, market: &Listed, finding: Finding) {
        self.notes.push(Note {
            market: market.id,
            slug: market.slug.clone(),
            finding,
            consent: None,
        });
    }

    /// Leaves a command to the operator.
    fn hold(&mut self, market: &Listed, finding: Finding, command: Command) {
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

/// Compares a group with what the exchange has. What it takes over of `allowance` is gone from it.
#[must_use]
pub fn difference(group: &Group, present: &Present, allowance: &mut Allowance) -> Plan {
    let mut plan = Plan::default();
    let mut questions = Vec::new();
    for market in &group.markets {
        let terms = match &market.terms {
            Ok(terms) => terms,
            Err(reason) => {
                let here = market.condition.and_then(|known| present.market(&known));
                unusable(&mut plan, market, reason, here, allowance);
                continue;
            }
        };
        let here = present.market(&terms.condition);
        if let Some(here) = here {
            known(
                &mut plan,
                market,
                terms,
                here,
                group.event_of(terms),
                allowance,
            );
        }
        if terms.neg_risk {
            questions.push((market, terms, here));
        } else if here.is_none() {
            new_plain(&mut plan, market, terms);
        }
    }
    if !questions.is_empty() {
        questions::list(&mut plan, group.event.as_ref(), present, questions);
    }
    plan
}

impl Group {
    /// What of the exchange it is compared with: its conditions, and its neg-risk event.
    pub fn names(&self) -> (impl Iterator<Item = ConditionId>, Option<u64>) {
        let conditions = self.markets.iter().filter_map(|market| market.condition);
        (conditions, self.event.as_ref().map(|event| event.id))
    }

    fn event_of(&self, terms: &TradingTerms) -> Option<u64> {
        let event = self.event.as_ref().filter(|_| terms.neg_risk);
        event.map(|event| event.id)
    }
}

impl Listed {
    const fn is_over(&self) -> bool {
        self.flags.closed || self.flags.archived
    }

    /// Whether it may trade now: an upstream lists questions before they open.
    const fn opens(&self, terms: &TradingTerms) -> bool {
        !self.is_over() && self.flags.active && terms.accepting_orders
    }
}

/// A market whose record no longer describes one of this exchange: if it trades here, only its end
/// is still taken over.
fn unusable(
    plan: &mut Plan,
    market: &Listed,
    reason: &NotTradable,
    here: Option<&Registered>,
    allowance: &mut Allowance,
) {
    let Some(here) = here else {
        return plan.note(market, Finding::NotTradable(reason.clone()));
    };
    plan.note(market, Finding::NoLongerTradable(reason.clone()));
    if market.flags.closed {
        let steps = close(plan, market, here, allowance);
        plan.push(steps.unwrap_or_default());
    }
}

/// What closes a market that is closed upstream; `None` when that is left to the operator.
fn close(
    plan: &mut Plan,
    market: &Listed,
    here: &Registered,
    allowance: &mut Allowance,
) -> Option<Steps> {
    let command = Command::Close(here.condition);
    if here.status.is_over() {
        Some(Vec::new())
    } else if allowance.closes(here) {
        Some(vec![command])
    } else {
        plan.hold(market, Finding::ClosesEarly, command);
        None
    }
}

/// A market that belongs to no neg-risk event and is not registered.
fn new_plain(plan: &mut Plan, market: &Listed, terms: &TradingTerms) {
    if market.is_over() {
        plan.note(market, Finding::OverBefore);
    } else {
        let command = registration(market, terms, None, market.opens(terms));
        plan.push(vec![command]);
    }
}

fn registration(
    market: &Listed,
    terms: &TradingTerms,
    event: Option<u64>,
    activate: bool,
) -> Command {
    Command::RegisterMarket(Box::new(MarketRegistration {
        condition: terms.condition,
        tokens: terms.tokens,
        tick: terms.tick,
        minimum_size: terms.minimum_size,
        fee: terms.fee,
        event,
        activate,
        description: market.words.clone(),
    }))
}

/// A market that is registered: what may change is changed, what must not differ is reported, and
/// then nothing is done about the market at all.
fn known(
    plan: &mut Plan,
    market: &Listed,
    terms: &TradingTerms,
    here: &Registered,
    event: Option<u64>,
    allowance: &mut Allowance,
) {
    if here.tokens != terms.tokens {
        return plan.note(market, Finding::TokensDiffer);
    }
    if here.event != event {
        let (here, upstream) = (here.event, event);
        return plan.note(market, Finding::EventDiffers { here, upstream });
    }
    if here.status.is_over() || market.flags.closed {
        return ending(plan, market, terms, here, allowance);
    }
    rules(plan, market, terms, here, &allowance.policy);
    // A question of an event opens with the list of all of them.
    if here.status == Status::Registered && event.is_none() && market.opens(terms) {
        plan.push(vec![Command::Activate(terms.condition)]);
    }
}

/// Tick, smallest order and fee of a market that still trades.
fn rules(
    plan: &mut Plan,
    market: &Listed,
    terms: &TradingTerms,
    here: &Registered,
    policy: &Policy,
) {
    let mut steps = Vec::new();
    let mut change = |command, is_allowed: bool, finding| match is_allowed {
        true => steps.push(command),
        false => plan.hold(market, finding, command),
    };
    if terms.tick.units() < here.tick.units() {
        let is_allowed = policy.allows_tick(terms.tick);
        let command = Command::SetTick(terms.condition, terms.tick);
        change(command, is_allowed, Finding::TickTooFine(terms.tick));
    }
    if terms.minimum_size != here.minimum_size {
        let is_allowed = policy.allows_minimum(here.minimum_size, terms.minimum_size);
        let command = Command::SetMinimumSize(terms.condition, terms.minimum_size);
        change(command, is_allowed, Finding::MinimumTooLarge);
    }
    if terms.fee != here.fee {
        let is_allowed = policy.allows_fee(here.fee, terms.fee);
        let command = Command::SetFee(terms.condition, terms.fee);
        change(command, is_allowed, Finding::FeeTooHigh(terms.fee));
    }
    plan.push(steps);
    if terms.tick.units() > here.tick.units() {
        // A trade near 0 or 1 makes the tick finer here, and a tick never becomes coarser.
        let (here, upstream) = (here.tick, terms.tick);
        plan.note(market, Finding::TickCoarser { here, upstream });
    }
}

/// A market that is over here or upstream.
fn ending(
    plan: &mut Plan,
    market: &Listed,
    terms: &TradingTerms,
    here: &Registered,
    allowance: &mut Allowance,
) {
    if !market.flags.closed {
        return plan.note(market, Finding::Reopened);
    }
    let Some(mut steps) = close(plan, market, here, allowance) else {
        return;
    };
    match (here.payout, terms.payout) {
        (Some(here), Some(upstream)) if here != upstream => {
            plan.note(market, Finding::PayoutDiffers { here, upstream });
        }
        (Some(_), _) | (None, None) => {}
        (None, Some(Payout::Half)) if here.event.is_some() => {
            plan.note(market, Finding::HalfOfQuestion);
        }
        (None, Some(payout)) => {
            let command = Command::Resolve(terms.condition, payout);
            match allowance.policy.resolve {
                true => steps.push(command),
                false => plan.hold(market, Finding::ResolutionDue(payout), command),
            }
        }
    }
    plan.push(steps);
}

#[cfg(test)]
#[path = "difference_tests.rs"]
mod tests;
