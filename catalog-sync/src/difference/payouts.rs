//! Payouts of a neg-risk event group: one after the other, the Yes first (docs/operate/catalog.md).

use foretell_model::Payout;
use foretell_wire::operator::{
    EventRegistration, OperatorCommand as Command, PayoutName, Resolution,
};

use super::questions::{Question, absent};
use super::{
    Allowance, CatalogMarket, ExchangeState, Finding, Plan, Registered, Steps, close_steps,
};
use crate::exchange::RegisteredMarket;

/// What decides the payouts of an event group.
pub(super) struct List<'a> {
    /// A listed question is paid Yes here, so all others are paid No (docs/verify/rules.md §11).
    is_decided: bool,
    /// Registered questions without a payout, also those whose record has changed.
    unpaid: usize,
    /// A listed question won, here or upstream.
    pub(super) has_yes: bool,
    /// A listed question won upstream.
    upstream_has_yes: bool,
    /// A listed question without an answer upstream.
    may_win: bool,
    /// An answer that is not listed won.
    unlisted_won: bool,
    /// An answer that is not listed and may still win.
    unlisted_open: Option<&'a CatalogMarket>,
}

/// A payout, and why it waits for consent.
struct Due<'q, 'a> {
    question: &'q Registered<'a>,
    payout: Payout,
    finding: Option<Finding>,
}

impl<'a> List<'a> {
    pub(super) fn of(
        event: Option<&EventRegistration>,
        state: &ExchangeState,
        questions: &[Question<'a>],
        untradable: &[&'a CatalogMarket],
    ) -> Self {
        let known = event
            .map(|event| state.questions(event.event_id))
            .unwrap_or_default();
        let unlisted = || absent(questions, untradable);
        let mut list = Self {
            is_decided: known.has_yes,
            unpaid: known.unpaid,
            has_yes: known.has_yes,
            upstream_has_yes: registered(questions).any(|it| it.market.payout == Some(Payout::Yes)),
            may_win: false,
            unlisted_won: unlisted().any(|it| it.payout == Some(Payout::Yes)),
            unlisted_open: unlisted().find(|it| it.payout.is_none()),
        };
        let listed = registered(questions);
        for question in listed.filter(|it| !it.is_doubtful && it.here.payout.is_none()) {
            list.has_yes |= question.market.payout == Some(Payout::Yes);
            list.may_win |= question.market.payout.is_none();
        }
        list
    }

    /// Closes and pays the registered questions.
    pub(super) fn pay(
        &self,
        plan: &mut Plan,
        questions: &[Question<'a>],
        allowance: &mut Allowance,
    ) {
        let mut steps = Steps::new();
        let mut due = Vec::new();
        for question in registered(questions) {
            let (market, here) = (question.market, question.here);
            if !market.flags.closed {
                // What lost here by the Yes of another question ends at the upstream somewhat later.
                let lost = self.is_decided && here.payout == Some(Payout::No);
                if here.is_over() && !lost {
                    plan.note(market, Finding::Reopened);
                }
                continue;
            }
            let Some(closing) = close_steps(plan, market, here, allowance) else {
                continue;
            };
            steps.extend(closing);
            // A list that is not final pays nothing (docs/verify/rules.md §11).
            if here.event_frozen {
                due.extend(self.due(plan, question));
            }
        }
        due.sort_by_key(|it| (it.payout != Payout::Yes, it.question.terms.is_other));
        self.hold_last(&mut due);
        // The Yes pays the others, too.
        let is_paid = |it: &Due<'_, '_>| it.payout == Payout::Yes && it.finding.is_none();
        if allowance.policy.resolve && due.iter().any(is_paid) {
            due.retain(is_paid);
        }
        for Due {
            question,
            payout,
            finding,
        } in due
        {
            let command = resolution(question.here, payout);
            let finding = match allowance.policy.resolve {
                true => finding,
                false => finding.or(Some(Finding::ResolutionDue(payout))),
            };
            match finding {
                None => steps.push(command),
                Some(finding) => plan.hold_back(question.market, finding, command),
            }
        }
        plan.push(steps);
    }

    /// The payout of a closed question, if it is due.
    fn due<'q>(&self, plan: &mut Plan, question: &'q Registered<'a>) -> Option<Due<'q, 'a>> {
        let market = question.market;
        if question.here.payout.is_none() && market.names_no_winner() {
            plan.note(market, Finding::NoWinner);
        }
        match (question.here.payout, self.payout(plan, question)?) {
            (Some(here), upstream) if here != upstream => {
                plan.note(market, Finding::PayoutDiffers { here, upstream });
                None
            }
            (Some(_), _) => None,
            (None, Payout::Half) => {
                plan.note(market, Finding::HalfOfQuestion);
                None
            }
            (None, payout) => Some(Due {
                question,
                payout,
                finding: question
                    .is_doubtful
                    .then_some(Finding::ResolutionDue(payout)),
            }),
        }
    }

    /// The payout of a listed question. A winner that is not listed pays the listed Other, whatever the
    /// upstream says of it; while one may still win, Other waits. Where the upstream has no listed winner,
    /// Other may have been paid.
    fn payout(&self, plan: &mut Plan, question: &Registered<'a>) -> Option<Payout> {
        let market = question.market;
        let waits = self.unlisted_open.filter(|_| !self.has_yes);
        match (question.terms.is_other, market.payout, waits) {
            (true, ..) if self.unlisted_won && !self.has_yes => Some(Payout::Yes),
            (true, Some(Payout::No), _)
                if question.here.payout == Some(Payout::Yes) && !self.upstream_has_yes =>
            {
                None
            }
            (true, Some(Payout::No), Some(open)) => {
                if question.here.payout.is_none() {
                    plan.note(market, Finding::OtherWaits(open.slug.clone()));
                }
                None
            }
            (_, payout, _) => payout,
        }
    }

    /// Leaves the last No to the operator where no listed question has or may get a Yes: then Other wins
    /// where there is one, else the outside question. With a doubtful question nobody can tell.
    fn hold_last(&self, due: &mut [Due<'_, 'a>]) {
        let has_yes = |it: &Due<'_, '_>| it.payout == Payout::Yes && it.finding.is_none();
        if self.has_yes || due.iter().any(has_yes) {
            return;
        }
        let is_certain = |it: &Due<'_, '_>| it.finding.is_none();
        let certain = due.iter().filter(|it| is_certain(it)).count();
        let Some(last) = due.iter_mut().rfind(|it| is_certain(it)) else {
            return;
        };
        let is_other = last.question.terms.is_other;
        if certain == self.unpaid {
            last.payout = match is_other {
                true => Payout::Yes,
                false => Payout::Outside,
            };
            last.finding = Some(Finding::NoneOfListed(last.payout));
        } else if is_other && !self.may_win {
            last.finding = Some(Finding::ResolutionDue(last.payout));
        }
    }
}

/// The registered questions.
fn registered<'q, 'a>(questions: &'q [Question<'a>]) -> impl Iterator<Item = &'q Registered<'a>> {
    let registered = questions.iter().filter_map(|(.., here)| here.as_ref());
    registered.filter(|it| it.is_question())
}

/// Pays a registered market. Its labels may contradict the words for places, such as Second and First.
pub(super) fn resolution(here: &RegisteredMarket, payout: Payout) -> Command {
    let mut resolution = Resolution::new(here.condition, payout);
    let names = |name: &PayoutName| name.among("payout", &here.outcomes) == Ok(payout);
    if !names(&resolution.payout) {
        let words = ["yes", "no"].map(|word| PayoutName::new(word.to_owned()));
        resolution.payout = words.into_iter().find(names).unwrap_or(resolution.payout);
    }
    Command::ResolveMarket(resolution)
}
