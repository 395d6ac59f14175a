//! Account actions: split, merge, redeem, convert (docs/verify/rules.md §10, §11).

use foretell_model::command::{self, Convert, Merge, Redeem};
use foretell_model::event::{self, Converted, Merged, Redeemed};
use foretell_model::limits::MAX_ORDER_LOTS;
use foretell_model::{
    AccountNumber, CommandKind, CommandOutcome, Event, Lots, MarketNumber, MarketState, Micros,
    QuestionSet, Rejection, RejectionReason, SystemMode,
};

use crate::exchange::{Exchange, Stamp};
use crate::handler_result::{HandlerResult, NotApplied, ensure};
use crate::references::Content;

const YES: usize = 0;
const NO: usize = 1;

impl Exchange {
    pub(crate) fn split(
        &mut self,
        &command::Split {
            account,
            market,
            lots,
            reference,
        }: &command::Split,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let kind = CommandKind::Split;
        let content = Content {
            kind,
            account,
            object: market.0,
            amount: lots.0,
            questions: QuestionSet::default(),
        };
        self.check_reference(Some(account), reference, Some(content), at)?;
        let owner = self.account(account)?;
        let state = self.market(market)?.state;
        check_amount(lots)?;
        self.check_mode_for_new_sets()?;
        match state {
            MarketState::Active => {}
            MarketState::Registered => ensure(false, RejectionReason::MarketNotReady)?,
            MarketState::Paused => ensure(false, RejectionReason::MarketPaused)?,
            MarketState::Closed | MarketState::Resolved => {
                ensure(false, RejectionReason::MarketClosed)?;
            }
        }
        ensure(!owner.closed_only, RejectionReason::ClosedOnlyAccount)?;
        let cost = lots.full_value();
        ensure(
            cost <= owner.free,
            Rejection::with(RejectionReason::NotEnoughCollateral, cost.0, owner.free.0),
        )?;

        self.account_mut(account).free -= cost;
        for outcome in [YES, NO] {
            self.shares(account, market)[outcome] += lots;
            self.market_mut(market).supply[outcome] += lots;
        }
        events.push(Event::Split(event::Split {
            account,
            market,
            lots,
        }));
        let outcome = CommandOutcome::Collateral(cost);
        self.remember_reference(Some(account), reference, content, outcome, at);
        Ok(outcome)
    }

    pub(crate) fn merge(
        &mut self,
        &Merge {
            account,
            market,
            lots,
            reference,
        }: &Merge,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let kind = CommandKind::Merge;
        let content = Content {
            kind,
            account,
            object: market.0,
            amount: lots.0,
            questions: QuestionSet::default(),
        };
        self.check_reference(Some(account), reference, Some(content), at)?;
        self.account(account)?;
        let state = self.market(market)?.state;
        check_amount(lots)?;
        match state {
            MarketState::Active | MarketState::Paused | MarketState::Closed => {}
            MarketState::Registered => ensure(false, RejectionReason::MarketNotReady)?,
            MarketState::Resolved => ensure(false, RejectionReason::MarketClosed)?,
        }
        let [yes, no] = self.free_shares_of(account, market);
        let sets = yes.min(no);
        ensure(
            lots <= sets,
            Rejection::with(RejectionReason::NotEnoughShares, lots.0, sets.0),
        )?;

        let received = lots.full_value();
        self.account_mut(account).free += received;
        for outcome in [YES, NO] {
            self.shares(account, market)[outcome] -= lots;
            self.market_mut(market).supply[outcome] -= lots;
        }
        events.push(Event::Merged(Merged {
            account,
            market,
            lots,
        }));
        let outcome = CommandOutcome::Collateral(received);
        self.remember_reference(Some(account), reference, content, outcome, at);
        Ok(outcome)
    }

    pub(crate) fn redeem(
        &mut self,
        &Redeem {
            account,
            market,
            reference,
        }: &Redeem,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let kind = CommandKind::Redeem;
        let content = Content {
            kind,
            account,
            object: market.0,
            amount: 0,
            questions: QuestionSet::default(),
        };
        self.check_reference(Some(account), reference, Some(content), at)?;
        self.account(account)?;
        let redeemed = self.markets.get(market.0 as usize);
        let redeemed = redeemed.ok_or(RejectionReason::UnknownMarket)?;
        let is_resolved = redeemed.payout.is_some();
        ensure(is_resolved, RejectionReason::NotResolved)?;
        let burned = self.free_shares_of(account, market);
        ensure(burned != [Lots::ZERO; 2], RejectionReason::NothingToRedeem)?;

        let payout = self.burn_and_pay(account, market, events);
        let outcome = CommandOutcome::Collateral(payout);
        self.remember_reference(Some(account), reference, content, outcome, at);
        Ok(outcome)
    }

    /// Burns all shares of an account in a resolved market and pays them.
    pub(crate) fn burn_and_pay(
        &mut self,
        account: AccountNumber,
        market: MarketNumber,
        events: &mut Vec<Event>,
    ) -> Micros {
        let payout = self.markets[market.0 as usize].payout;
        let [yes, no] = payout.expect("the market is resolved").price_units();
        let burned = self.free_shares_of(account, market);
        let payout = Micros(burned[YES].0 * u64::from(yes) + burned[NO].0 * u64::from(no));
        self.account_mut(account).free += payout;
        for outcome in [YES, NO] {
            self.shares(account, market)[outcome] -= burned[outcome];
            self.market_mut(market).supply[outcome] -= burned[outcome];
        }
        events.push(Event::Redeemed(Redeemed {
            account,
            market,
            lots: burned,
            payout,
        }));
        payout
    }

    /// Converts n No of each given question into n × (k − 1) collateral and n Yes of each other open
    /// one and of the outside question.
    #[allow(
        clippy::too_many_arguments,
        reason = "the fields of the command, in its order"
    )]
    pub(crate) fn convert(
        &mut self,
        &Convert {
            account,
            event,
            questions,
            lots,
            reference,
        }: &Convert,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let kind = CommandKind::Convert;
        let content = Content {
            kind,
            account,
            object: event.0,
            amount: lots.0,
            questions,
        };
        self.check_reference(Some(account), reference, Some(content), at)?;
        let closed_only = self.account(account)?.closed_only;
        let frozen = self.event(event)?.frozen;
        check_amount(lots)?;
        self.check_mode_for_new_sets()?;
        let markets = self.questions_of(event);
        ensure(
            questions.count() >= 1 && questions.end() as usize <= markets.len(),
            RejectionReason::InvalidQuestions,
        )?;
        ensure(
            frozen && self.may_convert(&markets, questions),
            RejectionReason::EventNotActive,
        )?;
        ensure(!closed_only, RejectionReason::ClosedOnlyAccount)?;
        for (question, market) in (0..).zip(&markets) {
            let free = self.free_shares_of(account, *market)[NO];
            ensure(
                !questions.contains(question) || lots <= free,
                Rejection::with(RejectionReason::NotEnoughShares, lots.0, free.0),
            )?;
        }

        for (question, market) in (0..).zip(markets) {
            if questions.contains(question) {
                self.shares(account, market)[NO] -= lots;
                self.market_mut(market).supply[NO] -= lots;
            } else if self.markets[market.0 as usize].payout.is_none() {
                self.shares(account, market)[YES] += lots;
                self.market_mut(market).supply[YES] += lots;
            }
        }
        let outside = self.event_groups[event.0 as usize].outside;
        self.shares(account, outside)[YES] += lots;
        self.market_mut(outside).supply[YES] += lots;
        let collateral = Micros(lots.full_value().0 * u64::from(questions.count() - 1));
        self.account_mut(account).free += collateral;
        self.event_groups[event.0 as usize].converted += lots;
        events.push(Event::Converted(Converted {
            account,
            event,
            questions,
            lots,
            collateral,
        }));
        let outcome = CommandOutcome::Collateral(collateral);
        self.remember_reference(Some(account), reference, content, outcome, at);
        Ok(outcome)
    }

    /// Each question given is active.
    fn may_convert(&self, markets: &[MarketNumber], given: QuestionSet) -> bool {
        let mut questions = (0..).zip(markets);
        questions.all(|(question, market)| {
            let market = &self.markets[market.0 as usize];
            market.state == MarketState::Active || !given.contains(question)
        })
    }

    fn check_mode_for_new_sets(&self) -> Result<(), NotApplied> {
        ensure(
            self.mode != SystemMode::Paused,
            RejectionReason::SystemPaused,
        )?;
        ensure(
            self.mode != SystemMode::CancelOnly,
            RejectionReason::CancelOnly,
        )
    }
}

fn check_amount(lots: Lots) -> Result<(), NotApplied> {
    ensure(lots > Lots::ZERO, RejectionReason::AmountZero)?;
    ensure(lots <= MAX_ORDER_LOTS, RejectionReason::AmountTooLarge)
}
