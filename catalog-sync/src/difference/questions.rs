//! The questions of a neg-risk event: one list, final when its first question opens (protocol 5, 13).

use foretell_catalog::record::TradingTerms;
use foretell_model::Payout;
use foretell_model::limits::MAX_QUESTIONS;

use super::{Finding, Listed, Plan, registration};
use crate::exchange::{Command, EventRegistration, Registered, Status};

type Question<'a> = (&'a Listed, &'a TradingTerms, Option<&'a Registered>);

/// Registers the open questions that are missing, all before one opens, and then opens them.
pub(super) fn list(
    plan: &mut Plan,
    event: Option<&EventRegistration>,
    mut questions: Vec<Question<'_>>,
) {
    // Everybody who reads the same records makes the same list.
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
    let is_final = questions
        .iter()
        .any(|(_, _, here)| here.is_some_and(|here| here.event_frozen));
    if !is_final && let Some(obstacle) = obstacle(&questions, missing.len()) {
        return note_all(plan, &missing, &obstacle);
    }
    let mut steps = Vec::new();
    if is_final {
        note_all(plan, &missing, &Finding::Late);
    } else {
        if !missing.is_empty() {
            steps.push(Command::RegisterEvent(event.clone()));
        }
        let register =
            |(market, terms, _): &Question<'_>| registration(market, terms, Some(event.id), false);
        steps.extend(missing.iter().map(register));
    }
    let opens = |(market, terms, here): &&Question<'_>| {
        let waits = match here {
            Some(here) => here.status == Status::Registered && here.event == Some(event.id),
            None => !is_final,
        };
        waits && market.opens(terms)
    };
    let open = questions.iter().filter(opens);
    steps.extend(open.map(|(_, terms, _)| Command::Activate(terms.condition)));
    plan.push(steps);
}

/// Why a list cannot be made: none of its questions would resolve rightly.
fn obstacle(questions: &[Question<'_>], missing: usize) -> Option<Finding> {
    let known = questions.iter().filter(|(_, _, here)| here.is_some());
    let all = known.count() + missing;
    if u32::try_from(all).is_ok_and(|all| all > MAX_QUESTIONS) {
        return Some(Finding::TooManyQuestions(all));
    }
    // The answer Yes is left out of the list, so every question of it would have to be No.
    let decided = questions
        .iter()
        .any(|(_, terms, here)| here.is_none() && terms.payout == Some(Payout::Yes));
    decided.then_some(Finding::Decided)
}

fn note_all(plan: &mut Plan, questions: &[Question<'_>], finding: &Finding) {
    for (market, _, _) in questions {
        plan.note(market, finding.clone());
    }
}
