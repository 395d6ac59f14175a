//! The questions of a neg-risk event: one list, final when its first question opens (protocol 5, 13).

use foretell_catalog::record::TradingTerms;
use foretell_model::Payout;
use foretell_model::limits::MAX_QUESTIONS;

use super::{Finding, Listed, Plan, Present, registration};
use crate::exchange::{Command, EventRegistration, Registered, Status};

type Question<'a> = (&'a Listed, &'a TradingTerms, Option<&'a Registered>);

/// Registers the open questions that are missing, all before one opens, and then opens them.
pub(super) fn list(
    plan: &mut Plan,
    event: Option<&EventRegistration>,
    present: &Present,
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
    let known = present.questions(event.id);
    let is_final = known.is_final;
    if !is_final && let Some(obstacle) = obstacle(&questions, known.count + missing.len()) {
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

/// Why a list of so many questions cannot be made: none of them would resolve rightly.
fn obstacle(questions: &[Question<'_>], all: usize) -> Option<Finding> {
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
