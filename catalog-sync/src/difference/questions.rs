//! Questions of a neg-risk event: one list, final when its first question opens
//! (docs/verify/rules.md §11, docs/api/catalog.md §5).

use foretell_catalog::record::TradingTerms;
use foretell_model::limits::MAX_QUESTIONS;
use foretell_model::{MarketState, Payout};
use foretell_wire::operator::{EventRegistration, MarketName, OperatorCommand as Command};

use super::{CatalogMarket, ExchangeState, Finding, Plan, registration};
use crate::exchange::RegisteredMarket;

type Question<'a> = (
    &'a CatalogMarket,
    &'a TradingTerms,
    Option<&'a RegisteredMarket>,
);

/// Registers all missing open questions, then opens the questions. A list opens only when each question
/// of the upstream's event is in it or was answered No before: a winner outside of it would leave holders
/// with shares that nobody can pay.
pub(super) fn list(
    plan: &mut Plan,
    event: Option<&EventRegistration>,
    state: &ExchangeState,
    mut questions: Vec<Question<'_>>,
    untradable: &[&CatalogMarket],
) {
    // Deterministic: equal records give an equal list in every process.
    questions.sort_by_key(|(market, terms, _)| (terms.question_order, market.id));
    let missing: Vec<_> = questions
        .iter()
        .filter(|(market, _, here)| here.is_none() && !market.is_over())
        .copied()
        .collect();
    for (market, _, here) in &questions {
        if here.is_none() && market.is_over() {
            plan.note(market, Finding::OverBefore);
        }
    }
    let Some(event) = event else {
        return note_all(plan, &missing, &Finding::NoEvent);
    };
    let known = state.questions(event.event_id);
    if known.has_own {
        return note_all(plan, &missing, &Finding::OwnEvent(event.event_id));
    }
    let is_final = known.is_final;
    if !is_final {
        if let Some(obstacle) = obstacle(&questions, known.count + missing.len()) {
            return note_all(plan, &missing, &obstacle);
        }
        if let Some(outside) = outside(&questions, untradable) {
            let waiting = questions.iter().filter(|(market, ..)| !market.is_over());
            let waiting: Vec<_> = waiting.copied().collect();
            return note_all(plan, &waiting, &Finding::Incomplete(outside));
        }
    }
    let mut steps = Vec::new();
    if is_final {
        note_all(plan, &missing, &Finding::Late);
    } else {
        if !missing.is_empty() {
            steps.push(Command::RegisterEvent(event.clone()));
        }
        let register = |(market, terms, _): &Question<'_>| {
            registration(market, terms, Some(event.event_id), false)
        };
        steps.extend(missing.iter().map(register));
    }
    let opens = |(market, terms, here): &&Question<'_>| {
        let waits = match here {
            Some(here) => {
                here.status == MarketState::Registered && here.event == Some(event.event_id)
            }
            None => !is_final,
        };
        waits && market.opens(terms)
    };
    let open = questions.iter().filter(opens);
    steps.extend(open.map(|(_, terms, _)| {
        Command::Activate(MarketName {
            condition_id: terms.condition,
        })
    }));
    plan.push(steps);
}

/// Why a list of these questions cannot be made without wrong resolutions.
fn obstacle(questions: &[Question<'_>], all: usize) -> Option<Finding> {
    if u32::try_from(all).is_ok_and(|all| all > MAX_QUESTIONS) {
        return Some(Finding::TooManyQuestions(all));
    }
    // The ended question with the answer Yes would be missing, and all listed ones resolve to No.
    let decided = questions
        .iter()
        .any(|(market, _, here)| here.is_none() && market.payout == Some(Payout::Yes));
    decided.then_some(Finding::Decided)
}

/// A question of the event that is neither in the list nor answered No, by its name in URLs.
fn outside(questions: &[Question<'_>], untradable: &[&CatalogMarket]) -> Option<String> {
    let over = questions
        .iter()
        .filter(|(market, _, here)| here.is_none() && market.is_over())
        .map(|(market, ..)| market);
    let mut missing = over.chain(untradable);
    let open = missing.find(|market| market.payout != Some(Payout::No));
    open.map(|market| market.slug.clone())
}

fn note_all(plan: &mut Plan, questions: &[Question<'_>], finding: &Finding) {
    for (market, _, _) in questions {
        plan.note(market, finding.clone());
    }
}
