//! Proposals of payouts: propose, dispute, withdraw, finalise (docs/verify/rules.md §24).

use std::collections::BTreeMap;

use foretell_model::command::{Dispute, Finalise, Propose, ResolveMarket, WithdrawProposal};
use foretell_model::event::{Disputed, Proposed};
use foretell_model::limits::{MAX_WINDOW_SECONDS, MIN_DISPUTE_SECONDS};
use foretell_model::state::Proposal;
use foretell_model::{
    AccountNumber, CommandOutcome, Event, MarketNumber, MarketState, OperatorNumber, OperatorRole,
    Payout, QuestionSet, Rejection, RejectionReason, Sequence, TimeNs,
};

use crate::command_context::{CommandContext, HandlerResult, NotApplied, ensure};
use crate::exchange::Exchange;
use crate::idempotency::ActionContent;
use crate::operators::ensure_named;
use crate::policies::Actor;

/// Who proposes: an operator, a wallet, or both.
type Person = (OperatorNumber, Option<AccountNumber>);

/// Whether one of both proposed it, too.
fn is_of(proposal: &Proposal, (operator, wallet): Person) -> bool {
    let is_operator = operator != OperatorNumber::NONE && operator == proposal.operator;
    is_operator || (wallet.is_some() && wallet == proposal.by)
}

/// Not by the end of its window, which disputes a payout that its event group forbids.
const fn is_disputed_by_somebody(proposal: &Proposal) -> bool {
    proposal.disputed && !proposal.disputed_by_time
}

const fn after_seconds(time: TimeNs, seconds: u32) -> TimeNs {
    TimeNs(time.0.saturating_add(seconds as u64 * 1_000_000_000))
}

/// The proposals of all markets, at most one each. Few markets have one at a time.
#[derive(Default, Debug)]
pub(crate) struct Resolution {
    proposals: BTreeMap<MarketNumber, Proposal>,
}

impl Resolution {
    pub(crate) fn get(&self, market: MarketNumber) -> Option<&Proposal> {
        self.proposals.get(&market)
    }

    pub(crate) fn put(&mut self, proposal: Proposal) {
        self.proposals.insert(proposal.market, proposal);
    }

    pub(crate) fn remove_proposal(&mut self, market: MarketNumber) {
        self.proposals.remove(&market);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Proposal> {
        self.proposals.values()
    }

    /// The first market with a proposal from this one on.
    pub(crate) fn next_market(&self, from: MarketNumber) -> Option<MarketNumber> {
        let mut later = self.proposals.range(from..);
        later.next().map(|(market, _)| *market)
    }
}

impl Exchange {
    /// When the challenge window of a proposal ends: after its length, but no earlier than some time after
    /// somebody could dispute again.
    fn challenge_ends(&self, proposal: &Proposal) -> TimeNs {
        let window = proposal.window_seconds;
        let least = after_seconds(self.system.reopened, window.min(MIN_DISPUTE_SECONDS));
        after_seconds(proposal.time, window).max(least)
    }

    /// When time finalises the proposal of a market, if it does. Nobody sees a dispute that a restored
    /// journal lacks.
    pub(crate) fn finalised_at(&self, market: MarketNumber) -> Option<TimeNs> {
        let proposal = self.resolution.get(market)?;
        let runs = proposal.by_time && !proposal.disputed && !self.system.withdrawals_shut;
        runs.then(|| self.challenge_ends(proposal))
    }

    pub(crate) fn propose(
        &mut self,
        propose: &Propose,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let market = propose.market;
        let actor = self.actor(propose.by, context)?;
        let content = content_of(propose);
        let reference = propose.reference;
        self.references
            .ensure_new(None, reference, Some(content), context)?;
        self.ensure_state(market, &[MarketState::Closed])?;
        let own = self.policies.of(market);
        ensure(own.lets_propose(actor), RejectionReason::NotPermitted)?;
        let policy = own.policy;
        let (shortest, longest) = (policy.minimum_window_seconds, MAX_WINDOW_SECONDS);
        let window_seconds = propose.window_seconds.unwrap_or(shortest);
        ensure(
            (shortest..=longest).contains(&window_seconds),
            Rejection::with(
                RejectionReason::InvalidWindow,
                shortest.into(),
                longest.into(),
            ),
        )?;
        self.ensure_may_replace(
            market,
            propose.payout,
            propose.replaces,
            (context.operator, propose.by),
        )?;
        self.ensure_payout(market, propose.payout)?;

        let proposal = Proposal {
            market,
            proposal: context.sequence,
            time: context.now,
            payout: propose.payout,
            operator: context.operator,
            by: propose.by,
            window_seconds,
            evidence: propose.evidence,
            by_time: policy.by_time,
            second_person: policy.second_person,
            disputed: false,
            disputed_by_time: false,
            counter: None,
        };
        self.resolution.put(proposal);
        self.reschedule(market);
        context.event(Event::Proposed(Proposed {
            market,
            payout: propose.payout,
            challenge_ends: self.challenge_ends(&proposal),
            by_time: policy.by_time,
            second_person: policy.second_person,
        }));
        let outcome = CommandOutcome::Done;
        self.references
            .remember(None, reference, content, outcome, context);
        Ok(outcome)
    }

    pub(crate) fn dispute(
        &mut self,
        &Dispute {
            market,
            counter,
            by,
        }: &Dispute,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let actor = self.actor(by, context)?;
        let proposal = self.proposal(market)?;
        let is_permitted = self.policies.of(market).lets_dispute(actor);
        ensure(is_permitted, RejectionReason::NotPermitted)?;
        ensure(!proposal.disputed, RejectionReason::ProposalDisputed)?;
        self.mark_disputed(proposal, counter, context);
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn withdraw_proposal(
        &mut self,
        &WithdrawProposal { market, by }: &WithdrawProposal,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let actor = self.actor(by, context)?;
        let proposal = self.proposal(market)?;
        let is_admin = actor.role == Some(OperatorRole::Admin);
        let is_own = (proposal.operator, proposal.by) == (context.operator, by);
        ensure(is_admin || is_own, RejectionReason::NotPermitted)?;
        let is_another =
            !is_disputed_by_somebody(&proposal) || !is_of(&proposal, (context.operator, by));
        ensure(is_another, RejectionReason::SamePerson)?;
        self.resolution.remove_proposal(market);
        self.reschedule(market);
        context.event(Event::ProposalWithdrawn { market });
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn finalise(
        &mut self,
        &Finalise {
            market,
            proposal: number,
        }: &Finalise,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        ensure_named(context)?;
        let proposal = self.proposal(market)?;
        ensure(proposal.proposal == number, RejectionReason::NoProposal)?;
        ensure(!proposal.disputed, RejectionReason::ProposalDisputed)?;
        let (ends, now) = (self.challenge_ends(&proposal), context.now);
        let open = RejectionReason::ChallengeOpen;
        ensure(
            now >= ends,
            Rejection::with(open, ends.millis().0, now.millis().0),
        )?;
        if proposal.second_person {
            self.ensure_two_persons(proposal.operator, context)?;
        }
        self.ensure_payout(market, proposal.payout)?;
        self.resolve(market, proposal.payout, context);
        Ok(CommandOutcome::Done)
    }

    /// The window of an undisputed proposal has ended: finalises it, or disputes a payout that its
    /// event group forbids by now.
    pub(crate) fn finalise_by_time(
        &mut self,
        market: MarketNumber,
        context: &mut CommandContext<'_>,
    ) -> CommandOutcome {
        if let Some(proposal) = self.resolution.get(market).copied() {
            if self.ensure_payout(market, proposal.payout).is_ok() {
                self.resolve(market, proposal.payout, context);
            } else {
                let forbidden = Proposal {
                    disputed_by_time: true,
                    ..proposal
                };
                self.mark_disputed(forbidden, None, context);
            }
        }
        CommandOutcome::Done
    }

    /// Rejects a resolution without a proposal where the policy asks for more.
    pub(crate) fn ensure_resolvable_at_once(
        &self,
        &ResolveMarket {
            market,
            payout,
            replaces,
        }: &ResolveMarket,
        context: &CommandContext<'_>,
    ) -> Result<(), NotApplied> {
        self.ensure_may_replace(market, payout, replaces, (context.operator, None))?;
        let policy = self.policies.of(market).policy;
        ensure(!policy.second_person, RejectionReason::SecondPersonRequired)?;
        let (shortest, longest) = (policy.minimum_window_seconds, MAX_WINDOW_SECONDS);
        ensure(
            shortest == 0,
            Rejection::with(
                RejectionReason::InvalidWindow,
                shortest.into(),
                longest.into(),
            ),
        )
    }

    /// Rejects a payout over an undisputed proposal, and over one that somebody disputed unless the
    /// command names it and comes from another person or pays otherwise.
    fn ensure_may_replace(
        &self,
        market: MarketNumber,
        payout: Payout,
        replaces: Option<Sequence>,
        person: Person,
    ) -> Result<(), NotApplied> {
        let Some(proposal) = self.resolution.get(market) else {
            return ensure(replaces.is_none(), RejectionReason::NoProposal);
        };
        ensure(proposal.disputed, RejectionReason::AlreadyProposed)?;
        let is_named = replaces == Some(proposal.proposal);
        ensure(replaces.is_none() || is_named, RejectionReason::NoProposal)?;
        if is_disputed_by_somebody(proposal) {
            ensure(is_named, RejectionReason::ProposalDisputed)?;
            let is_new = payout != proposal.payout || !is_of(proposal, person);
            ensure(is_new, RejectionReason::SamePerson)?;
        }
        Ok(())
    }

    fn proposal(&self, market: MarketNumber) -> Result<Proposal, NotApplied> {
        self.markets.get(market)?;
        let proposal = self.resolution.get(market).copied();
        proposal.ok_or_else(|| RejectionReason::NoProposal.into())
    }

    /// Who acts: the wallet if one is named, otherwise the operator of the frame.
    fn actor(
        &self,
        by: Option<AccountNumber>,
        context: &CommandContext<'_>,
    ) -> Result<Actor, NotApplied> {
        if let Some(account) = by {
            self.account(account)?;
        }
        let role = self.operators.role(context.operator);
        let is_somebody = role.is_some() || by.is_some();
        ensure(is_somebody, RejectionReason::OperatorRequired)?;
        Ok(Actor { role, wallet: by })
    }

    fn mark_disputed(
        &mut self,
        proposal: Proposal,
        counter: Option<Payout>,
        context: &mut CommandContext<'_>,
    ) {
        let disputed = Proposal {
            disputed: true,
            counter,
            ..proposal
        };
        self.resolution.put(disputed);
        let market = proposal.market;
        self.reschedule(market);
        context.event(Event::Disputed(Disputed { market, counter }));
    }
}

/// What a repeat of a proposal must share.
fn content_of(propose: &Propose) -> ActionContent {
    let (halves, _) = propose.evidence.as_chunks::<8>();
    let [low, high] = [halves[0], halves[1]].map(u64::from_le_bytes);
    let window = propose.window_seconds.map_or(0, |it| u64::from(it) + 1);
    ActionContent {
        account: propose.by.unwrap_or_default(),
        object: propose.market.0,
        amount: window * 4 + u64::from(propose.payout.code()),
        questions: QuestionSet { low, high },
    }
}
