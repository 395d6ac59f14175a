//! Markets: registration, lifecycle, rules, and accounts' free shares
//! (docs/verify/rules.md §3, §12).

use foretell_model::command::{
    ArchiveMarket, DescribeMarket, MarketDetails, PauseMarket, RegisterMarket, ResumeMarket,
    SetFee, SetMinimumSize, SetTick,
};
use foretell_model::event::{
    FeeSet, MarketArchived, MarketRegistered, MarketStateSet, MinimumSizeSet, TermsSet, TickSet,
};
use foretell_model::limits::{MAX_FEE_EXPONENT, MAX_FEE_RATE_PPM, MAX_ORDER_LOTS};
use foretell_model::record::{self, Record as _};
use foretell_model::state::PendingWork;
use foretell_model::{
    AccountNumber, CommandKind, CommandOutcome, ConditionId, ContentDigest, Event, EventNumber,
    FeeSchedule, Hold, HoldSet, Lots, MarketNumber, MarketState, MarketTerms, Opening,
    OperatorRole, Payout, QuestionIndex, Rejection, RejectionReason, ResolutionPolicy, SlugDigest,
    Tick, TimeMs, TokenId,
};

use crate::exchange::{Exchange, Stamp};
use crate::handler_result::{HandlerResult, NotApplied, ensure};
use crate::resolution::Proposal;
use crate::terms::check_terms;

/// Lots of `[Yes, No]`.
pub(crate) type Shares = [Lots; 2];

/// A binary market.
#[derive(Clone, Debug)]
pub(crate) struct Market {
    pub(crate) condition: ConditionId,
    pub(crate) tokens: [TokenId; 2],
    pub(crate) tick: Tick,
    pub(crate) tick_refines: bool,
    pub(crate) minimum_size: Lots,
    pub(crate) fee: FeeSchedule,
    /// Event group and index in its list; `None` = plain market, or an outside question.
    pub(crate) question: Option<(EventNumber, u32)>,
    /// The event group whose outside question it is.
    pub(crate) outside_of: Option<EventNumber>,
    pub(crate) index: Option<QuestionIndex>,
    /// A slug that no other market has.
    pub(crate) slug: Option<SlugDigest>,
    /// What was registered.
    pub(crate) content: ContentDigest,
    pub(crate) held_by_operator: bool,
    pub(crate) held_by_upstream: bool,
    pub(crate) state: MarketState,
    /// The payout, once resolved.
    pub(crate) payout: Option<Payout>,
    pub(crate) archived: bool,
    /// Shares in existence.
    pub(crate) supply: Shares,
    pub(crate) terms: MarketTerms,
    /// Whether the book is cleared at the game's start.
    pub(crate) clear_armed: bool,
    /// Its own policy; `None` = the site's.
    pub(crate) policy: Option<ResolutionPolicy>,
    /// Only while it is closed.
    pub(crate) proposal: Option<Proposal>,
}

impl Exchange {
    /// A market that a command names.
    pub(crate) fn market(&self, number: MarketNumber) -> Result<&Market, NotApplied> {
        match self.markets.get(number.0 as usize) {
            Some(market) if market.outside_of.is_none() => Ok(market),
            _ => Err(RejectionReason::UnknownMarket.into()),
        }
    }

    /// The market with this number, which must exist.
    pub(crate) fn market_mut(&mut self, number: MarketNumber) -> &mut Market {
        &mut self.markets[number.0 as usize]
    }

    /// An account's free shares of a market.
    pub(crate) fn free_shares_of(&self, account: AccountNumber, market: MarketNumber) -> Shares {
        self.free_shares
            .get(&(account, market))
            .copied()
            .unwrap_or_default()
    }

    /// An account's free shares of a market, mutable.
    pub(crate) fn shares(&mut self, account: AccountNumber, market: MarketNumber) -> &mut Shares {
        self.free_shares.entry((account, market)).or_default()
    }

    pub(crate) fn register_market(
        &mut self,
        wanted: &RegisterMarket,
        beside: &[u8],
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let more = read_details(wanted, beside).ok_or(RejectionReason::InvalidTerms)?;
        let known = self.names.conditions.get(&wanted.condition);
        if let Some(number) = known.copied() {
            let market = &self.markets[number.0 as usize];
            let same = market.outside_of.is_none()
                && market.tokens == wanted.tokens
                && market.index == wanted.index
                && market.content == more.content
                && market.question.map(|(event, _)| event) == wanted.event;
            ensure(same, RejectionReason::MarketDiffers)?;
            return Err(NotApplied::already(CommandOutcome::Market(number)));
        }
        let [yes, no] = wanted.tokens;
        let taken = |token| self.names.tokens.contains(&token);
        ensure(
            yes != no && !taken(yes) && !taken(no),
            RejectionReason::TokenTaken,
        )?;
        check_fee(wanted.fee)?;
        check_minimum_size(wanted.minimum_size)?;
        match wanted.event {
            Some(event) => {
                self.check_event_open(event)?;
                self.check_index(event, wanted.index)?;
            }
            None => ensure(
                wanted.index.is_none(),
                RejectionReason::InvalidQuestionIndex,
            )?,
        }
        check_terms(&more.terms, at)?;
        let named = Some(more.slug).filter(|slug| *slug != SlugDigest::ZERO);
        let holder = named.and_then(|slug| self.names.slugs.get(&slug)).copied();
        if let (Some(holder), true) = (holder, more.needs_slug) {
            return Err(slug_taken(holder));
        }
        let slug = named.filter(|_| holder.is_none());

        let market = market_number(self.markets.len());
        let question = wanted.event.map(|event| {
            let questions = &mut self.event_groups[event.0 as usize].questions;
            let place = questions.len();
            questions.push(market);
            (
                event,
                u32::try_from(place).expect("an event has at most 128 questions"),
            )
        });
        self.names.conditions.insert(wanted.condition, market);
        self.names.tokens.extend(wanted.tokens);
        if let Some(slug) = slug {
            self.names.slugs.insert(slug, market);
        }
        self.markets.push(Market {
            condition: wanted.condition,
            tokens: wanted.tokens,
            tick: wanted.tick,
            tick_refines: wanted.tick_refines,
            minimum_size: wanted.minimum_size,
            fee: wanted.fee,
            question,
            outside_of: None,
            index: wanted.index,
            slug,
            content: more.content,
            held_by_operator: false,
            held_by_upstream: false,
            state: MarketState::Registered,
            payout: None,
            archived: false,
            supply: Shares::default(),
            terms: MarketTerms::default(),
            clear_armed: false,
            policy: None,
            proposal: None,
        });
        events.push(Event::MarketRegistered(MarketRegistered {
            market,
            condition: wanted.condition,
            question: question.map_or(0, |(_, place)| place),
            has_slug: slug.is_some(),
        }));
        self.begin(market, &more, events);
        Ok(CommandOutcome::Market(market))
    }

    /// What a registration does beside adding the market: first its terms, then how it opens.
    fn begin(&mut self, number: MarketNumber, more: &MarketDetails, events: &mut Vec<Event>) {
        let terms = more.terms;
        if terms != MarketTerms::default() {
            let market = self.market_mut(number);
            market.terms = terms;
            market.clear_armed = terms.clear_book_on_start && terms.game_start_time != TimeMs(0);
            let clear_armed = market.clear_armed;
            self.wind_clocks(number);
            events.push(Event::TermsSet(TermsSet {
                market: number,
                terms,
                clear_armed,
            }));
        }
        match more.opening {
            Opening::Later => {}
            Opening::Never => self.end_trading(number, events),
            Opening::Now => {
                if let Some((event, _)) = self.markets[number.0 as usize].question {
                    self.freeze(event, events);
                }
                self.set_state(number, MarketState::Active, events);
            }
        }
    }

    pub(crate) fn activate_market(
        &mut self,
        number: MarketNumber,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        self.check_state(number, &[MarketState::Registered])?;
        if let Some((event, _)) = self.market(number)?.question {
            self.freeze(event, events);
        }
        self.set_state(number, MarketState::Active, events);
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn pause_market(
        &mut self,
        &PauseMarket { market, hold }: &PauseMarket,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        self.check_may_hold(hold, CommandKind::PauseMarket, at)?;
        let state = self.market(market)?.state;
        let is_held = *self.held_by(market, hold);
        let may_hold = matches!(state, MarketState::Active | MarketState::Paused) && !is_held;
        ensure(may_hold, invalid_transition(state))?;
        *self.held_by(market, hold) = true;
        self.set_state(market, MarketState::Paused, events);
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn resume_market(
        &mut self,
        &ResumeMarket { market, hold }: &ResumeMarket,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        self.check_may_hold(hold, CommandKind::ResumeMarket, at)?;
        let state = self.market(market)?.state;
        let is_held = state == MarketState::Paused && *self.held_by(market, hold);
        ensure(is_held, invalid_transition(state))?;
        *self.held_by(market, hold) = false;
        let other = &self.markets[market.0 as usize];
        let still_held = other.held_by_operator || other.held_by_upstream;
        let state = if still_held {
            MarketState::Paused
        } else {
            MarketState::Active
        };
        self.set_state(market, state, events);
        Ok(CommandOutcome::Done)
    }

    fn held_by(&mut self, market: MarketNumber, hold: Hold) -> &mut bool {
        let market = self.market_mut(market);
        match hold {
            Hold::Operator => &mut market.held_by_operator,
            Hold::Upstream => &mut market.held_by_upstream,
        }
    }

    /// The sync handles the upstream's hold and no other. Of the other operators an admin may lift it.
    fn check_may_hold(
        &self,
        hold: Hold,
        command: CommandKind,
        at: Stamp,
    ) -> Result<(), NotApplied> {
        use OperatorRole::{Admin, Markets, Sync};
        let allowed: &[OperatorRole] = match (hold, command) {
            (Hold::Operator, _) => &[Admin, Markets],
            (Hold::Upstream, CommandKind::ResumeMarket) => &[Admin, Sync],
            (Hold::Upstream, _) => &[Sync],
        };
        self.check_role(allowed, command, at)
    }

    /// Ends trading and cancels the market's orders.
    pub(crate) fn close_market(
        &mut self,
        number: MarketNumber,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        use MarketState::{Active, Paused, Registered};
        self.check_state(number, &[Registered, Active, Paused])?;
        self.end_trading(number, events);
        let orders = self.do_work(PendingWork::CloseMarket { market: number }, at, events);
        Ok(CommandOutcome::Cancelled { orders })
    }

    pub(crate) fn end_trading(&mut self, number: MarketNumber, events: &mut Vec<Event>) {
        let market = self.market_mut(number);
        (market.held_by_operator, market.held_by_upstream) = (false, false);
        self.set_state(number, MarketState::Closed, events);
    }

    pub(crate) fn archive_market(
        &mut self,
        &ArchiveMarket {
            market: number,
            archived,
        }: &ArchiveMarket,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let already = self.market(number)?.archived == archived;
        ensure(!already, NotApplied::already(CommandOutcome::Done))?;
        self.market_mut(number).archived = archived;
        events.push(Event::MarketArchived(MarketArchived {
            market: number,
            archived,
        }));
        Ok(CommandOutcome::Done)
    }

    /// The words are evidence of the frame.
    pub(crate) fn describe_market(
        &mut self,
        &DescribeMarket {
            market,
            slug: named,
        }: &DescribeMarket,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let before = self.market(market)?.slug;
        self.check_may_move_money(market, CommandKind::DescribeMarket, at)?;
        if let Some(named) = named {
            match self.names.slugs.get(&named) {
                Some(holder) if *holder != market => return Err(slug_taken(*holder)),
                _ => {}
            }
            if let Some(before) = before {
                self.names.slugs.remove(&before);
            }
            let slug = Some(named).filter(|slug| *slug != SlugDigest::ZERO);
            if let Some(slug) = slug {
                self.names.slugs.insert(slug, market);
            }
            self.market_mut(market).slug = slug;
        }
        events.push(Event::MarketDescribed { market });
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn set_tick(
        &mut self,
        &SetTick {
            market: number,
            tick,
        }: &SetTick,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        self.check_not_over(number)?;
        let current = self.market(number)?.tick;
        let divides = current.units() % tick.units() == 0 && tick != current;
        ensure(
            divides,
            Rejection::with(RejectionReason::InvalidTick, current as u64, 0),
        )?;
        self.market_mut(number).tick = tick;
        events.push(Event::TickSet(TickSet {
            market: number,
            tick,
        }));
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn set_minimum_size(
        &mut self,
        &SetMinimumSize {
            market: number,
            minimum_size,
        }: &SetMinimumSize,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        self.check_not_over(number)?;
        check_minimum_size(minimum_size)?;
        let already = self.market(number)?.minimum_size == minimum_size;
        ensure(!already, NotApplied::already(CommandOutcome::Done))?;
        self.market_mut(number).minimum_size = minimum_size;
        events.push(Event::MinimumSizeSet(MinimumSizeSet {
            market: number,
            minimum_size,
        }));
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn set_fee(
        &mut self,
        &SetFee {
            market: number,
            fee,
        }: &SetFee,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        self.check_not_over(number)?;
        check_fee(fee)?;
        let already = self.market(number)?.fee == fee;
        ensure(!already, NotApplied::already(CommandOutcome::Done))?;
        self.check_may_move_money(number, CommandKind::SetFee, at)?;
        self.market_mut(number).fee = fee;
        events.push(Event::FeeSet(FeeSet {
            market: number,
            fee,
        }));
        Ok(CommandOutcome::Done)
    }

    /// Fee, rebate and words of a market that has opened are the admin's and the sync's to change.
    pub(crate) fn check_may_move_money(
        &self,
        number: MarketNumber,
        command: CommandKind,
        at: Stamp,
    ) -> Result<(), NotApplied> {
        if self.market(number)?.state == MarketState::Registered {
            return Ok(());
        }
        self.check_role(&[OperatorRole::Admin, OperatorRole::Sync], command, at)
    }

    pub(crate) fn check_not_over(&self, number: MarketNumber) -> Result<(), NotApplied> {
        use MarketState::{Active, Paused, Registered};
        self.check_state(number, &[Registered, Active, Paused])
    }

    pub(crate) fn check_state(
        &self,
        number: MarketNumber,
        allowed: &[MarketState],
    ) -> Result<(), NotApplied> {
        let state = self.market(number)?.state;
        ensure(allowed.contains(&state), invalid_transition(state))
    }

    fn set_state(&mut self, number: MarketNumber, state: MarketState, events: &mut Vec<Event>) {
        self.market_mut(number).state = state;
        self.wind_clocks(number);
        let holds = self.markets[number.0 as usize].holds();
        events.push(Event::MarketStateSet(MarketStateSet {
            market: number,
            state,
            holds,
        }));
    }
}

impl Market {
    pub(crate) fn holds(&self) -> HoldSet {
        let mut holds = HoldSet::NONE;
        if self.held_by_operator {
            holds = holds.with(Hold::Operator);
        }
        if self.held_by_upstream {
            holds = holds.with(Hold::Upstream);
        }
        holds
    }
}

/// The details of a registration; all zero without any, `None` when the bytes beside it are too few or no
/// details.
fn read_details(wanted: &RegisterMarket, beside: &[u8]) -> Option<MarketDetails> {
    match wanted.has_details {
        true => record::decode(beside.get(..MarketDetails::BYTES)?),
        false => Some(MarketDetails::default()),
    }
}

fn slug_taken(holder: MarketNumber) -> NotApplied {
    Rejection::with(RejectionReason::SlugTaken, holder.0.into(), 0).into()
}

fn invalid_transition(state: MarketState) -> Rejection {
    Rejection::with(
        RejectionReason::InvalidTransition,
        u64::from(state.code()),
        0,
    )
}

fn check_fee(fee: FeeSchedule) -> Result<(), NotApplied> {
    ensure(
        fee.rate_ppm <= MAX_FEE_RATE_PPM && fee.exponent <= MAX_FEE_EXPONENT,
        RejectionReason::InvalidFee,
    )
}

fn check_minimum_size(size: Lots) -> Result<(), NotApplied> {
    ensure(
        (Lots(1)..=MAX_ORDER_LOTS).contains(&size),
        RejectionReason::InvalidMinimumSize,
    )
}

/// The market number of a list index.
pub(crate) fn market_number(index: usize) -> MarketNumber {
    MarketNumber(u32::try_from(index).expect("numbers of markets are u32"))
}
