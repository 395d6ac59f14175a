//! Questions of a neg-risk event: one list, final when its first question opens
//! (docs/verify/rules.md §11, docs/api/catalog.md §5).

use std::collections::BTreeSet;

use foretell_catalog::record::{NotTradable, TradingTerms};
use foretell_model::limits::MAX_QUESTIONS;
use foretell_model::{MarketState, Payout};
use foretell_wire::operator::{MarketName, OperatorCommand as Command};

use super::{CatalogMarket, ExchangeState, Finding, MarketGroup, Plan, Registered, registration};

/// A question of an event: its record, its terms, and how it is registered.
pub(super) type Question<'a> = (&'a CatalogMarket, &'a TradingTerms, Option<Registered<'a>>);

/// Registers the missing questions, then opens those that trade. A list opens only when the upstream's
/// own record of the event was read and each question of it is in the list, was answered No before, or has
/// no ids: whom the list does not have, the outside question pays. What can be registered but not traded is
/// registered and never opens.
pub(super) fn list(
    plan: &mut Plan,
    group: &MarketGroup,
    state: &ExchangeState,
    (questions, may_open): (&[Question<'_>], bool),
    untradable: &[&CatalogMarket],
) {
    let is_decided = |market: &CatalogMarket| market.payout == Some(Payout::No);
    let missing: Vec<_> = questions
        .iter()
        .filter(|(market, _, here)| here.is_none() && !is_decided(market))
        .collect();
    for (market, _, here) in questions {
        if here.is_none() && market.is_over() {
            plan.note(market, Finding::OverBefore);
        }
    }
    let Some(event) = &group.event else {
        return note_all(plan, &missing, &Finding::NoEvent);
    };
    let known = state.questions(event.event_id);
    if known.has_own {
        return note_all(plan, &missing, &Finding::OwnEvent(event.event_id));
    }
    if known.is_final {
        let late = missing.iter().filter(|(market, ..)| !market.is_over());
        let late: Vec<_> = late.copied().collect();
        note_all(plan, &late, &Finding::Late);
    } else if !group.is_whole {
        return note_all(plan, &missing, &Finding::EventUnread(event.event_id));
    } else if let Some(obstacle) = obstacle(questions, untradable, known.count + missing.len()) {
        return note_all(plan, &missing, &obstacle);
    }
    let opens = |(market, terms, here): &&Question<'_>| {
        let waits = match here {
            Some(it) => it.here.status == MarketState::Registered && it.contradiction.is_none(),
            None => !known.is_final,
        };
        may_open && waits && market.opens(terms)
    };
    let open: Vec<_> = questions.iter().filter(opens).collect();
    let mut steps = Vec::new();
    // A list that nobody can trade is not registered.
    if !known.is_final && (known.count > 0 || !open.is_empty()) {
        if known.count == 0 {
            steps.push(Command::RegisterEvent(event.clone()));
        }
        let has_indexes = match known.count {
            0 => have_indexes(&missing),
            _ => known.has_indexes,
        };
        steps.extend(missing.iter().map(|(market, terms, _)| {
            let index = terms.index.filter(|_| has_indexes);
            registration(market, terms, Some((event.event_id, index)), false)
        }));
        let closed = missing.iter().filter(|(market, ..)| market.flags.closed);
        steps.extend(closed.map(|(_, terms, _)| {
            Command::CloseMarket(MarketName {
                condition_id: terms.condition,
            })
        }));
    }
    steps.extend(open.iter().map(|(_, terms, _)| {
        Command::ActivateMarket(MarketName {
            condition_id: terms.condition,
        })
    }));
    plan.push(steps);
}

/// Whether each of the questions has an index of its own.
fn have_indexes(questions: &[&Question<'_>]) -> bool {
    let indexes = questions.iter().map(|(_, terms, _)| terms.index);
    let distinct: Option<BTreeSet<_>> = indexes.collect();
    distinct.is_some_and(|distinct| distinct.len() == questions.len())
}

/// Why a list of these questions cannot be made without wrong resolutions.
fn obstacle(
    questions: &[Question<'_>],
    untradable: &[&CatalogMarket],
    all: usize,
) -> Option<Finding> {
    if u32::try_from(all).is_ok_and(|all| all > MAX_QUESTIONS) {
        return Some(Finding::TooManyQuestions(all));
    }
    // The ended question with the answer Yes would be missing, and all listed ones resolve to No.
    if absent(questions, untradable).any(|market| market.payout == Some(Payout::Yes)) {
        return Some(Finding::Decided);
    }
    // With a listed Other nobody could tell which of the two such a winner pays; what the operator or
    // another record owns is no part of the list.
    let has_other = questions.iter().any(|(_, terms, _)| terms.is_other);
    let mut outside = untradable.iter().filter(|market| market.payout.is_none());
    let outside = outside.find(|market| has_other || !is_outside(market));
    outside.map(|market| Finding::Incomplete(market.slug.clone()))
}

/// The markets of the event that its list here does not have.
pub(super) fn absent<'a, 'q>(
    questions: &'q [Question<'a>],
    untradable: &'q [&'a CatalogMarket],
) -> impl Iterator<Item = &'a CatalogMarket> + use<'a, 'q> {
    let unregistered = questions.iter().filter(|(.., here)| here.is_none());
    let unregistered = unregistered.map(|(market, ..)| *market);
    unregistered.chain(untradable.iter().copied())
}

/// Whether it cannot be registered at all, so that the outside question stands for it.
const fn is_outside(market: &CatalogMarket) -> bool {
    matches!(
        market.terms,
        Err(NotTradable::Condition(_) | NotTradable::Tokens | NotTradable::Outcomes(_))
    )
}

fn note_all(plan: &mut Plan, questions: &[&Question<'_>], finding: &Finding) {
    for (market, _, _) in questions {
        plan.note(market, finding.clone());
    }
}
