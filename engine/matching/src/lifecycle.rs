//! Market lifecycle (registered → active ⇄ paused → closed → resolved) and market rules.

use foretell_model::command::{
    ArchiveMarket, DescribeMarket, MarketDetails, PauseMarket, RegisterMarket, ResolveMarket,
    ResumeMarket, SetFee, SetMinimumSize, SetTick,
};
use foretell_model::event::{
    FeeSet, MarketArchived, MarketRegistered, MarketResolved, MarketStateSet, MinimumSizeSet,
    TickSet,
};
use foretell_model::limits::{MAX_FEE_EXPONENT, MAX_FEE_RATE_PPM, MAX_ORDER_LOTS};
use foretell_model::state::PendingWork;
use foretell_model::{
    CommandOutcome, Event, EventNumber, FeeSchedule, Hold, HoldSet, Lots, MarketNumber,
    MarketState, MarketTerms, Opening, OperatorRole, Payout, Rejection, RejectionReason, RoleSet,
    SlugDigest, Tick,
};

use crate::clock::ensure_terms;
use crate::command_context::{CommandContext, HandlerResult, NotApplied, ensure};
use crate::exchange::Exchange;
use crate::ladder::Ladder;
use crate::market::{Market, MarketNames};

impl Exchange {
    pub(crate) fn register_market(
        &mut self,
        market: &RegisterMarket,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let (details, _) = (market.details(context.beside)).ok_or(RejectionReason::InvalidTerms)?;
        self.ensure_new_market(market, &details)?;
        ensure_fee(market.fee)?;
        ensure_minimum_size(market.minimum_size)?;
        let question = self.question_of(market)?;
        ensure_terms(&details.terms, context.now)?;
        let slug = self.slug_of_new(&details)?;

        let names = MarketNames {
            condition: market.condition,
            tokens: market.tokens,
            index: market.index,
            slug,
            content: details.content,
        };
        let added = Market {
            ladder: Ladder::new(market.tick),
            supply: [Lots::ZERO; 2],
            minimum_size: market.minimum_size,
            fee: market.fee,
            delay_ms: 0,
            rebate_ppm: 0,
            state: MarketState::Registered,
            tick_refines: market.tick_refines,
            question,
            holds: HoldSet::NONE,
            payout: None,
            archived: false,
        };
        let number = self.markets.add(added, names);
        if let Some((event, _)) = question {
            self.event_groups[event].questions.push(number);
        }
        context.event(Event::MarketRegistered(MarketRegistered {
            market: number,
            condition: market.condition,
            question: question.map_or(0, |(_, index)| index),
            has_slug: slug != SlugDigest::ZERO,
        }));
        if details.terms != MarketTerms::default() {
            self.set_first_terms(number, details.terms, context);
        }
        match details.opening {
            Opening::Later => {}
            Opening::Now => self.open(number, context),
            Opening::Never => self.stop_trading(number, context),
        }
        Ok(CommandOutcome::Market(number))
    }

    /// Event group and place of a market that is registered as a question.
    fn question_of(
        &self,
        market: &RegisterMarket,
    ) -> Result<Option<(EventNumber, u32)>, NotApplied> {
        match market.event {
            Some(event) => Ok(Some((event, self.next_question(event, market.index)?))),
            None => {
                let has_index = market.index.is_some();
                ensure(!has_index, RejectionReason::InvalidQuestionIndex)?;
                Ok(None)
            }
        }
    }

    /// The slug that a new market gets: the one that it names, unless another has it.
    fn slug_of_new(&self, details: &MarketDetails) -> Result<SlugDigest, NotApplied> {
        match self.ensure_free_slug(details.slug, None) {
            Ok(()) => Ok(details.slug),
            Err(taken) if details.needs_slug => Err(taken),
            Err(_) => Ok(SlugDigest::ZERO),
        }
    }

    /// Rejects a slug that another market has than this one.
    fn ensure_free_slug(
        &self,
        slug: SlugDigest,
        market: Option<MarketNumber>,
    ) -> Result<(), NotApplied> {
        match self.markets.with_slug(slug) {
            Some(holder) if Some(holder) != market => {
                let number = u64::from(holder.0);
                Err(Rejection::with(RejectionReason::SlugTaken, number, 0).into())
            }
            _ => Ok(()),
        }
    }

    fn ensure_new_market(
        &self,
        market: &RegisterMarket,
        details: &MarketDetails,
    ) -> Result<(), NotApplied> {
        if let Some(known) = self.markets.find(market.condition) {
            let event = self.markets[known].question.map(|(event, _)| event);
            let names = self.markets.names(known);
            let registered = (names.tokens, event, names.index, names.content);
            let repeated = (market.tokens, market.event, market.index, details.content);
            let is_same = registered == repeated;
            ensure(
                is_same && !self.markets[known].is_outside(),
                RejectionReason::MarketDiffers,
            )?;
            return Err(NotApplied::already(CommandOutcome::Market(known)));
        }
        let [yes, no] = market.tokens;
        let is_taken = yes == no || self.markets.token_in_use(yes) || self.markets.token_in_use(no);
        ensure(!is_taken, RejectionReason::TokenTaken)
    }

    pub(crate) fn activate_market(
        &mut self,
        market: MarketNumber,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        self.ensure_state(market, &[MarketState::Registered])?;
        self.open(market, context);
        Ok(CommandOutcome::Done)
    }

    fn open(&mut self, market: MarketNumber, context: &mut CommandContext<'_>) {
        self.freeze_event_of(market, context);
        self.set_state(market, MarketState::Active, context);
    }

    pub(crate) fn pause_market(
        &mut self,
        &PauseMarket { market, hold }: &PauseMarket,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        self.ensure_holder(hold, false, context)?;
        self.ensure_state(market, &[MarketState::Active, MarketState::Paused])?;
        let holds = self.markets[market].holds;
        ensure(!holds.contains(hold), self.invalid_transition(market))?;
        self.markets[market].holds = holds.with(hold);
        self.set_state(market, MarketState::Paused, context);
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn resume_market(
        &mut self,
        &ResumeMarket { market, hold }: &ResumeMarket,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        self.ensure_holder(hold, true, context)?;
        self.ensure_state(market, &[MarketState::Paused])?;
        let holds = self.markets[market].holds;
        ensure(holds.contains(hold), self.invalid_transition(market))?;
        let holds = holds.without(hold);
        self.markets[market].holds = holds;
        let state = match holds {
            HoldSet::NONE => MarketState::Active,
            _ => MarketState::Paused,
        };
        self.set_state(market, state, context);
        Ok(CommandOutcome::Done)
    }

    /// Rejects an operator who may not put a hold, or lift it: the upstream's is the sync's, which an
    /// admin may lift; the operator's is of all others.
    fn ensure_holder(
        &self,
        hold: Hold,
        lifts: bool,
        context: &CommandContext<'_>,
    ) -> Result<(), NotApplied> {
        let holders = match hold {
            Hold::Operator => RoleSet::ADMIN.with(OperatorRole::Markets),
            Hold::Upstream if lifts => RoleSet::ADMIN_AND_SYNC,
            Hold::Upstream => RoleSet::NONE.with(OperatorRole::Sync),
        };
        self.ensure_role(holders, context)
    }

    pub(crate) fn close_market(
        &mut self,
        market: MarketNumber,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        self.ensure_not_over(market)?;
        self.stop_trading(market, context);
        let orders = self.do_work(PendingWork::CloseMarket { market }, context);
        Ok(CommandOutcome::Cancelled { orders })
    }

    fn stop_trading(&mut self, market: MarketNumber, context: &mut CommandContext<'_>) {
        self.markets[market].holds = HoldSet::NONE;
        self.set_state(market, MarketState::Closed, context);
    }

    pub(crate) fn resolve_market(
        &mut self,
        resolve @ &ResolveMarket { market, payout, .. }: &ResolveMarket,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        self.ensure_state(market, &[MarketState::Closed])?;
        let is_empty = self.markets[market].ladder.is_empty();
        ensure(is_empty, RejectionReason::BookNotEmpty)?;
        self.ensure_payout(market, payout)?;
        self.ensure_resolvable_at_once(resolve, context)?;
        self.resolve(market, payout, context);
        Ok(CommandOutcome::Done)
    }

    /// Sets the payout of a closed market for good; its holders are paid. A Yes decides its event group:
    /// the outside question and all others resolve No. The payout outside resolves the market No and the
    /// outside question Yes.
    pub(crate) fn resolve(
        &mut self,
        market: MarketNumber,
        payout: Payout,
        context: &mut CommandContext<'_>,
    ) {
        let (own, of_outside) = match payout {
            Payout::Yes => (Payout::Yes, Some(Payout::No)),
            Payout::Outside => (Payout::No, Some(Payout::Yes)),
            Payout::No | Payout::Half => (payout, None),
        };
        self.set_payout(market, own, context);
        if let (Some((event, _)), Some(payout)) = (self.markets[market].question, of_outside) {
            self.set_payout(self.event_groups[event].outside, payout, context);
            self.resolve_open_questions(event, context);
        }
    }

    /// The event group is decided: what is open of it stops trading at once and resolves No. `Continue`
    /// cancels the orders that this command does not reach.
    fn resolve_open_questions(&mut self, event: EventNumber, context: &mut CommandContext<'_>) {
        for place in 0..self.event_groups[event].questions.len() {
            let question = self.event_groups[event].questions[place];
            if self.markets[question].payout.is_some() {
                continue;
            }
            if self.markets[question].state != MarketState::Closed {
                self.stop_trading(question, context);
            }
            self.set_payout(question, Payout::No, context);
        }
        self.do_work(PendingWork::CloseQuestions { event }, context);
    }

    fn set_payout(
        &mut self,
        market: MarketNumber,
        payout: Payout,
        context: &mut CommandContext<'_>,
    ) {
        let resolved = &mut self.markets[market];
        resolved.state = MarketState::Resolved;
        resolved.payout = Some(payout);
        context.event(Event::MarketResolved(MarketResolved { market, payout }));
        self.resolution.remove_proposal(market);
        self.start_settlement(market, context);
        self.reschedule(market);
    }

    /// Rejects a payout that the event group of the market forbids, and outside in a plain market.
    pub(crate) fn ensure_payout(
        &self,
        market: MarketNumber,
        payout: Payout,
    ) -> Result<(), NotApplied> {
        match self.markets[market].question {
            Some((event, _)) => self.ensure_resolvable(event, market, payout),
            None => ensure(payout != Payout::Outside, RejectionReason::OutsideNotLast),
        }
    }

    pub(crate) fn describe_market(
        &mut self,
        &DescribeMarket { market, slug }: &DescribeMarket,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        self.markets.get(market)?;
        self.ensure_may_move_money(market, context)?;
        if let Some(slug) = slug {
            self.ensure_free_slug(slug, Some(market))?;
            self.markets.set_slug(market, slug);
        }
        context.event(Event::MarketDescribed { market });
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn archive_market(
        &mut self,
        &ArchiveMarket { market, archived }: &ArchiveMarket,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        ensure(
            self.markets.get(market)?.archived != archived,
            NotApplied::already(CommandOutcome::Done),
        )?;
        self.markets[market].archived = archived;
        context.event(Event::MarketArchived(MarketArchived { market, archived }));
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn set_tick(
        &mut self,
        &SetTick { market, tick }: &SetTick,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        self.ensure_not_over(market)?;
        let coarse = self.markets[market].ladder.tick();
        let rejection = Rejection::with(RejectionReason::InvalidTick, coarse as u64, 0);
        ensure(coarse.refines_to(tick), rejection)?;
        self.refine_tick(market, tick, context);
        Ok(CommandOutcome::Done)
    }

    /// Refines a market's tick, by command or after a trade near 0 or 1.
    pub(crate) fn refine_tick(
        &mut self,
        market: MarketNumber,
        tick: Tick,
        context: &mut CommandContext<'_>,
    ) {
        self.markets[market].ladder.refine(tick);
        context.event(Event::TickSet(TickSet { market, tick }));
    }

    pub(crate) fn set_minimum_size(
        &mut self,
        &SetMinimumSize {
            market,
            minimum_size,
        }: &SetMinimumSize,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        self.ensure_not_over(market)?;
        ensure_minimum_size(minimum_size)?;
        ensure(
            self.markets[market].minimum_size != minimum_size,
            NotApplied::already(CommandOutcome::Done),
        )?;
        self.markets[market].minimum_size = minimum_size;
        context.event(Event::MinimumSizeSet(MinimumSizeSet {
            market,
            minimum_size,
        }));
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn set_fee(
        &mut self,
        &SetFee { market, fee }: &SetFee,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        self.ensure_not_over(market)?;
        ensure_fee(fee)?;
        ensure(
            self.markets[market].fee != fee,
            NotApplied::already(CommandOutcome::Done),
        )?;
        self.ensure_may_move_money(market, context)?;
        self.markets[market].fee = fee;
        context.event(Event::FeeSet(FeeSet { market, fee }));
        Ok(CommandOutcome::Done)
    }

    /// Rejects an operator who may not change what traders of a market pay, get and own: once it opened, fee,
    /// rebate and words move money from one to the other.
    pub(crate) fn ensure_may_move_money(
        &self,
        market: MarketNumber,
        context: &CommandContext<'_>,
    ) -> Result<(), NotApplied> {
        match self.markets[market].state {
            MarketState::Registered => Ok(()),
            _ => self.ensure_role(RoleSet::ADMIN_AND_SYNC, context),
        }
    }

    pub(crate) fn ensure_not_over(&self, market: MarketNumber) -> Result<(), NotApplied> {
        let open = [
            MarketState::Registered,
            MarketState::Active,
            MarketState::Paused,
        ];
        self.ensure_state(market, &open)
    }

    pub(crate) fn ensure_state(
        &self,
        market: MarketNumber,
        allowed: &[MarketState],
    ) -> Result<(), NotApplied> {
        let state = self.markets.get(market)?.state;
        ensure(allowed.contains(&state), self.invalid_transition(market))
    }

    fn invalid_transition(&self, market: MarketNumber) -> Rejection {
        let state = self.markets[market].state.code();
        Rejection::with(RejectionReason::InvalidTransition, state.into(), 0)
    }

    fn set_state(
        &mut self,
        market: MarketNumber,
        state: MarketState,
        context: &mut CommandContext<'_>,
    ) {
        self.markets[market].state = state;
        self.reschedule(market);
        let holds = self.markets[market].holds;
        context.event(Event::MarketStateSet(MarketStateSet {
            market,
            state,
            holds,
        }));
    }
}

fn ensure_fee(fee: FeeSchedule) -> Result<(), NotApplied> {
    let is_known = fee.rate_ppm <= MAX_FEE_RATE_PPM && fee.exponent <= MAX_FEE_EXPONENT;
    ensure(is_known, RejectionReason::InvalidFee)
}

fn ensure_minimum_size(minimum_size: Lots) -> Result<(), NotApplied> {
    let is_order = !minimum_size.is_zero() && minimum_size <= MAX_ORDER_LOTS;
    ensure(is_order, RejectionReason::InvalidMinimumSize)
}
