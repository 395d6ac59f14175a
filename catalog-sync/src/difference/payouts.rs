//! Payouts of a neg-risk event group: one after the other, the Yes first (docs/operate/catalog.md).

use foretell_model::Payout;
use foretell_wire::operator::{OperatorCommand as Command, Resolution};

use super::questions::Question;
use super::{Allowance, CatalogMarket, Finding, Plan, Steps, close_steps};
use crate::exchange::RegisteredMarket;

/// A registered question that is closed, or will be by these steps.
struct Ended<'a> {
    market: &'a CatalogMarket,
    here: &'a RegisteredMarket,
    is_other: bool,
    /// By the upstream, and by the winner that the list does not have.
    payout: Option<Payout>,
}

/// Closes and pays the registered questions of an event.
pub(super) fn pay(
    plan: &mut Plan,
    questions: &[Question<'_>],
    untradable: &[&CatalogMarket],
    allowance: &mut Allowance,
) {
    let mut steps = Steps::new();
    let unlisted = Unlisted::of(questions, untradable);
    let mut ended = Vec::new();
    let mut has_yes = false;
    for (market, terms, here) in questions {
        let Some(here) = here.filter(|here| here.event.is_some()) else {
            continue;
        };
        has_yes |= here.payout == Some(Payout::Yes);
        if !here.is_over() && !market.flags.closed {
            continue;
        }
        if !market.flags.closed {
            plan.note(market, Finding::Reopened);
            continue;
        }
        let Some(closing) = close_steps(plan, market, here, allowance) else {
            continue;
        };
        steps.extend(closing);
        // A list that is not final pays nothing (docs/verify/rules.md §11).
        if here.event_frozen {
            ended.push(Ended {
                market,
                here,
                is_other: terms.is_other,
                payout: unlisted.payout(market, terms.is_other),
            });
        }
    }
    let due = due(plan, ended, questions, has_yes);
    for (market, payout, finding) in due {
        let Ended { market, here, .. } = market;
        let command = Command::Resolve(Resolution::new(here.condition, payout));
        match (finding, allowance.policy.resolve) {
            (None, true) => steps.push(command),
            (None, false) => plan.hold_back(market, Finding::ResolutionDue(payout), command),
            (Some(finding), _) => plan.hold_back(market, finding, command),
        }
    }
    plan.push(steps);
}

/// The answers of an event that its list does not have.
struct Unlisted {
    /// One of them won.
    won: bool,
    /// One of them may still win.
    is_open: bool,
}

impl Unlisted {
    fn of(questions: &[Question<'_>], untradable: &[&CatalogMarket]) -> Self {
        let late = questions.iter().filter(|(.., here)| here.is_none());
        let late = late.map(|(market, ..)| *market);
        let answers: Vec<_> = late
            .chain(untradable.iter().copied())
            .map(|it| it.payout)
            .collect();
        Self {
            won: answers.contains(&Some(Payout::Yes)),
            is_open: answers.contains(&None),
        }
    }

    /// The payout of a listed question. A winner that is not listed pays the listed Other, whatever the
    /// upstream says of it; while one may still win, Other waits.
    fn payout(&self, market: &CatalogMarket, is_other: bool) -> Option<Payout> {
        match (is_other, market.payout) {
            (true, _) if self.won => Some(Payout::Yes),
            (true, Some(Payout::No)) if self.is_open => None,
            (_, payout) => payout,
        }
    }
}

type Due<'a> = (Ended<'a>, Payout, Option<Finding>);

/// The payouts that are due, in their order, and what waits for consent. The last No of a list without a
/// Yes is refused: then Other wins where there is one, else the outside question.
fn due<'a>(
    plan: &mut Plan,
    ended: Vec<Ended<'a>>,
    questions: &[Question<'_>],
    mut has_yes: bool,
) -> Vec<Due<'a>> {
    let mut due = Vec::new();
    for ended in ended {
        match (ended.here.payout, ended.payout) {
            (Some(here), Some(upstream)) if here != upstream => {
                plan.note(ended.market, Finding::PayoutDiffers { here, upstream });
            }
            (Some(_), _) | (None, None) => {}
            (None, Some(Payout::Half)) => plan.note(ended.market, Finding::HalfOfQuestion),
            (None, Some(payout)) => {
                has_yes |= payout == Payout::Yes;
                due.push((ended, payout, None));
            }
        }
    }
    due.sort_by_key(|(ended, payout, _)| (*payout != Payout::Yes, ended.is_other));
    let unpaid = |here: &RegisteredMarket| here.event.is_some() && here.payout.is_none();
    let open = questions
        .iter()
        .filter(|(.., here)| here.is_some_and(unpaid));
    if !has_yes
        && open.count() == due.len()
        && let Some((last, payout, finding)) = due.last_mut()
    {
        *payout = match last.is_other {
            true => Payout::Yes,
            false => Payout::Outside,
        };
        *finding = Some(Finding::NoneOfListed(*payout));
    }
    due
}
