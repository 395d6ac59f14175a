//! Resolution of a closed market: proposed, disputed, finalised (docs/verify/rules.md §24).

use foretell_model::command::{Dispute, Finalise, Propose, ResolveMarket, WithdrawProposal};
use foretell_model::event::{Disputed, MarketResolved, MarketSettled, Proposed, SettlementStarted};
use foretell_model::limits::{MAX_WINDOW_SECONDS, MIN_DISPUTE_SECONDS};
use foretell_model::state::{BackgroundWork, PendingWork};
use foretell_model::{
    AccountNumber, CommandKind, CommandOutcome, Event, MarketNumber, MarketState, Micros,
    OperatorNumber, OperatorRole, Payout, QuestionSet, Rejection, RejectionReason, RoleSet,
    Sequence, TimeNs,
};

use crate::exchange::{Exchange, Stamp};
use crate::handler_result::{HandlerResult, NotApplied, ensure};
use crate::references::Content;

const SECOND: u64 = 1_000_000_000;

/// The proposal of a closed market.
#[derive(Clone, Debug)]
pub(crate) struct Proposal {
    /// Its number: the sequence of its command.
    pub(crate) number: Sequence,
    pub(crate) time: TimeNs,
    pub(crate) payout: Payout,
    pub(crate) actor: Actor,
    pub(crate) window_seconds: u32,
    pub(crate) evidence: [u8; 32],
    /// Of the policy under which it was made.
    pub(crate) by_time: bool,
    /// Of the policy under which it was made.
    pub(crate) second_person: bool,
    pub(crate) disputed: Option<DisputedBy>,
}

impl Proposal {
    /// The window lasts as long as it says, and at least an hour, or all of it, from when somebody could
    /// dispute again.
    pub(crate) fn challenge_ends(&self, reopened: TimeNs) -> TimeNs {
        let end = |from: TimeNs, seconds: u32| {
            let lasting = u64::from(seconds) * SECOND;
            TimeNs(from.0.saturating_add(lasting))
        };
        let at_least = self.window_seconds.min(MIN_DISPUTE_SECONDS);
        end(self.time, self.window_seconds).max(end(reopened, at_least))
    }

    const fn is_disputed_by_somebody(&self) -> bool {
        matches!(self.disputed, Some(DisputedBy::Somebody { .. }))
    }
}

/// How a proposal was disputed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DisputedBy {
    /// With the payout that the disputer holds right.
    Somebody { counter: Option<Payout> },
    /// Its event group forbade the payout at the end of the window.
    Time,
}

impl DisputedBy {
    pub(crate) const fn counter(self) -> Option<Payout> {
        match self {
            Self::Somebody { counter } => counter,
            Self::Time => None,
        }
    }
}

/// Who proposes, disputes or withdraws: the operator who sends the command, the wallet that it names,
/// or both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Actor {
    pub(crate) operator: OperatorNumber,
    pub(crate) wallet: Option<AccountNumber>,
}

impl Actor {
    /// Whether both have the same operator or the same wallet.
    fn shares(self, other: Self) -> bool {
        let same_operator = self.operator == other.operator;
        let same_wallet = self.wallet == other.wallet;
        (same_operator && self.operator != OperatorNumber::NONE)
            || (same_wallet && self.wallet.is_some())
    }
}

impl Exchange {
    fn actor(&self, by: Option<AccountNumber>, at: Stamp) -> Result<Actor, NotApplied> {
        if let Some(account) = by {
            self.account(account)?;
        } else {
            let has_operator = at.operator != OperatorNumber::NONE;
            ensure(has_operator, RejectionReason::OperatorRequired)?;
        }
        Ok(Actor {
            operator: at.operator,
            wallet: by,
        })
    }

    /// Whether the operator of an actor, if there is one, has one of these roles.
    fn has_role(&self, actor: Actor, roles: RoleSet) -> bool {
        actor.operator == OperatorNumber::NONE || roles.contains(self.role_of(actor.operator))
    }

    pub(crate) fn propose(
        &mut self,
        proposed: &Propose,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let actor = self.actor(proposed.by, at)?;
        let content = content_of(proposed);
        self.check_reference(None, proposed.reference, Some(content), at)?;
        let market = proposed.market;
        self.check_state(market, &[MarketState::Closed])?;
        let policy = self.policy_of(market);
        if let Some(account) = actor.wallet {
            let is_listed = self.permissions_of(market, account).propose;
            ensure(is_listed, RejectionReason::NotPermitted)?;
        }
        let has_role = self.has_role(actor, policy.proposers);
        ensure(has_role, RejectionReason::NotPermitted)?;
        let (shortest, longest) = (policy.minimum_window_seconds, MAX_WINDOW_SECONDS);
        let window_seconds = proposed.window_seconds.unwrap_or(shortest);
        let in_range = (shortest..=longest).contains(&window_seconds);
        ensure(in_range, invalid_window(shortest))?;
        self.check_replaced(market, proposed.payout, proposed.replaces, actor)?;
        self.check_payout(market, proposed.payout)?;

        let proposal = Proposal {
            number: at.sequence,
            time: at.time,
            payout: proposed.payout,
            actor,
            window_seconds,
            evidence: proposed.evidence,
            by_time: policy.by_time,
            second_person: policy.second_person,
            disputed: None,
        };
        events.push(Event::Proposed(Proposed {
            market,
            payout: proposal.payout,
            challenge_ends: proposal.challenge_ends(self.reopened),
            by_time: proposal.by_time,
            second_person: proposal.second_person,
        }));
        self.set_proposal(market, Some(proposal));
        let outcome = CommandOutcome::Done;
        self.remember_reference(None, proposed.reference, content, outcome, at);
        Ok(outcome)
    }

    pub(crate) fn dispute(
        &mut self,
        &Dispute {
            market,
            counter,
            by,
        }: &Dispute,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let actor = self.actor(by, at)?;
        let disputed = self.proposal(market)?.disputed.is_some();
        if let Some(account) = actor.wallet {
            let is_listed = self.permissions_of(market, account).dispute;
            ensure(is_listed, RejectionReason::NotPermitted)?;
        }
        let has_role = self.has_role(actor, self.policy_of(market).disputers);
        ensure(has_role, RejectionReason::NotPermitted)?;
        ensure(!disputed, RejectionReason::ProposalDisputed)?;
        self.dispute_proposal(market, DisputedBy::Somebody { counter }, events);
        Ok(CommandOutcome::Done)
    }

    fn dispute_proposal(
        &mut self,
        market: MarketNumber,
        disputed: DisputedBy,
        events: &mut Vec<Event>,
    ) {
        let mut proposal = self.market_mut(market).proposal.take();
        if let Some(proposal) = &mut proposal {
            proposal.disputed = Some(disputed);
        }
        self.set_proposal(market, proposal);
        let counter = disputed.counter();
        events.push(Event::Disputed(Disputed { market, counter }));
    }

    pub(crate) fn withdraw_proposal(
        &mut self,
        &WithdrawProposal { market, by }: &WithdrawProposal,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let actor = self.actor(by, at)?;
        let proposal = self.proposal(market)?;
        let is_admin = actor.operator != OperatorNumber::NONE
            && self.role_of(actor.operator) == OperatorRole::Admin;
        ensure(
            is_admin || proposal.actor == actor,
            RejectionReason::NotPermitted,
        )?;
        ensure(
            !proposal.is_disputed_by_somebody() || !proposal.actor.shares(actor),
            RejectionReason::SamePerson,
        )?;
        self.set_proposal(market, None);
        events.push(Event::ProposalWithdrawn { market });
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn finalise(
        &mut self,
        &Finalise {
            market,
            proposal: number,
        }: &Finalise,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let has_operator = at.operator != OperatorNumber::NONE;
        ensure(has_operator, RejectionReason::OperatorRequired)?;
        let proposal = self.proposal(market)?;
        ensure(proposal.number == number, RejectionReason::NoProposal)?;
        ensure(
            proposal.disputed.is_none(),
            RejectionReason::ProposalDisputed,
        )?;
        let (ends, now) = (proposal.challenge_ends(self.reopened), at.time);
        let still_open = Rejection::with(
            RejectionReason::ChallengeOpen,
            ends.millis().0,
            now.millis().0,
        );
        ensure(ends <= now, still_open)?;
        if proposal.second_person {
            self.check_two_persons(proposal.actor.operator, at)?;
        }
        let payout = proposal.payout;
        self.check_payout(market, payout)?;
        self.set_payout(market, payout, at, events);
        Ok(CommandOutcome::Done)
    }

    /// The window ended. A proposal that its event group forbids by now is disputed by nobody.
    pub(crate) fn finalise_by_time(
        &mut self,
        market: MarketNumber,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> CommandOutcome {
        let proposal = self.proposal(market);
        let payout = proposal.expect("its clock is set").payout;
        match self.check_payout(market, payout) {
            Ok(()) => self.set_payout(market, payout, at, events),
            Err(_) => self.dispute_proposal(market, DisputedBy::Time, events),
        }
        CommandOutcome::Done
    }

    /// Propose and finalise in one.
    pub(crate) fn resolve_market(
        &mut self,
        &ResolveMarket {
            market,
            payout,
            replaces,
        }: &ResolveMarket,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        self.check_state(market, &[MarketState::Closed])?;
        let is_empty = |bids| self.book_side(market, bids).next().is_none();
        let no_delayed = self.delayed.of_market(market).is_empty();
        ensure(
            is_empty(true) && is_empty(false) && no_delayed,
            RejectionReason::BookNotEmpty,
        )?;
        self.check_payout(market, payout)?;
        let actor = Actor {
            operator: at.operator,
            wallet: None,
        };
        self.check_replaced(market, payout, replaces, actor)?;
        let policy = self.policy_of(market);
        ensure(!policy.second_person, RejectionReason::SecondPersonRequired)?;
        let shortest = policy.minimum_window_seconds;
        ensure(shortest == 0, invalid_window(shortest))?;
        self.set_payout(market, payout, at, events);
        Ok(CommandOutcome::Done)
    }

    /// Resolves a market for ever. When a listed question is Yes, the outside question of its event
    /// group is No; outside is Yes when the last listed question says so.
    fn set_payout(
        &mut self,
        number: MarketNumber,
        payout: Payout,
        at: Stamp,
        events: &mut Vec<Event>,
    ) {
        let event = self.markets[number.0 as usize]
            .question
            .map(|(event, _)| event);
        let outside = event.map(|event| self.event_groups[event.0 as usize].outside);
        match (payout, outside) {
            (Payout::Yes, Some(outside)) => {
                self.pay_holders(number, Payout::Yes, at, events);
                self.pay_holders(outside, Payout::No, at, events);
                self.lose_open_questions(number, at, events);
            }
            (Payout::Outside, Some(outside)) => {
                self.pay_holders(number, Payout::No, at, events);
                self.pay_holders(outside, Payout::Yes, at, events);
            }
            _ => self.pay_holders(number, payout, at, events),
        }
    }

    /// One question won, so the others have lost: each is closed unless it is already, and is No. Then
    /// their orders are cancelled.
    fn lose_open_questions(&mut self, won: MarketNumber, at: Stamp, events: &mut Vec<Event>) {
        let Some((event, _)) = self.markets[won.0 as usize].question else {
            return;
        };
        for question in self.questions_of(event) {
            match self.markets[question.0 as usize].state {
                MarketState::Resolved => continue,
                MarketState::Closed => {}
                _ => self.end_trading(question, events),
            }
            self.pay_holders(question, Payout::No, at, events);
        }
        self.do_work(PendingWork::CloseQuestions { event }, at, events);
    }

    /// Sets what a market pays and starts to pay its holders, unless each of them redeems.
    fn pay_holders(
        &mut self,
        number: MarketNumber,
        payout: Payout,
        at: Stamp,
        events: &mut Vec<Event>,
    ) {
        let market = self.market_mut(number);
        market.state = MarketState::Resolved;
        market.payout = Some(payout);
        self.set_proposal(number, None);
        events.push(Event::MarketResolved(MarketResolved {
            market: number,
            payout,
        }));
        if self.beginning.pays_on_redeem {
            return;
        }
        if self.has_shares(number) {
            let work = BackgroundWork::Settlement { market: number };
            let accounts = self.start_work(work, at);
            events.push(Event::SettlementStarted(SettlementStarted {
                market: number,
                accounts,
            }));
        } else {
            events.push(Event::MarketSettled(MarketSettled {
                market: number,
                paid: Micros::ZERO,
            }));
        }
    }

    fn proposal(&self, market: MarketNumber) -> Result<&Proposal, NotApplied> {
        let proposal = &self.market(market)?.proposal;
        let found = proposal.as_ref();
        found.ok_or_else(|| RejectionReason::NoProposal.into())
    }

    fn set_proposal(&mut self, market: MarketNumber, proposal: Option<Proposal>) {
        self.market_mut(market).proposal = proposal;
        self.wind_clocks(market);
    }

    /// A disputed proposal gives way to one that names it. The proposer does not win a dispute by
    /// proposing the same again; a proposal that nobody disputed gives way to anyone.
    fn check_replaced(
        &self,
        market: MarketNumber,
        payout: Payout,
        replaces: Option<Sequence>,
        actor: Actor,
    ) -> Result<(), NotApplied> {
        let Some(proposal) = &self.market(market)?.proposal else {
            return match replaces {
                Some(_) => Err(RejectionReason::NoProposal.into()),
                None => Ok(()),
            };
        };
        let repeats = proposal.actor.shares(actor) && proposal.payout == payout;
        let refused = match (proposal.disputed, replaces) {
            (None, _) => RejectionReason::AlreadyProposed,
            (Some(_), Some(other)) if other != proposal.number => RejectionReason::NoProposal,
            (Some(DisputedBy::Somebody { .. }), None) => RejectionReason::ProposalDisputed,
            (Some(DisputedBy::Somebody { .. }), Some(_)) if repeats => RejectionReason::SamePerson,
            (Some(_), _) => return Ok(()),
        };
        Err(refused.into())
    }

    /// Rejects a payout that the market's event group forbids.
    fn check_payout(&self, market: MarketNumber, payout: Payout) -> Result<(), NotApplied> {
        match self.market(market)?.question {
            Some((event, _)) => self.check_resolution(event, market, payout),
            None => ensure(payout != Payout::Outside, RejectionReason::OutsideNotLast),
        }
    }
}

fn invalid_window(shortest: u32) -> Rejection {
    Rejection::with(
        RejectionReason::InvalidWindow,
        shortest.into(),
        MAX_WINDOW_SECONDS.into(),
    )
}

/// What a repeated proposal must share.
fn content_of(proposed: &Propose) -> Content {
    let half = |from: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&proposed.evidence[from..from + 8]);
        u64::from_le_bytes(bytes)
    };
    let asked_window = match proposed.window_seconds {
        None => 0,
        Some(seconds) => u64::from(seconds) + 1,
    };
    Content {
        kind: CommandKind::Propose,
        account: proposed.by.unwrap_or(AccountNumber(0)),
        object: proposed.market.0,
        // One more than the window, 0 for none.
        amount: asked_window * 4 + u64::from(proposed.payout.code()),
        questions: QuestionSet {
            low: half(0),
            high: half(8),
        },
    }
}
