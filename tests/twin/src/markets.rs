//! Markets: registration, life, rules, and the shares of them that accounts hold (protocol 1, 5).

use foretell_model::command::RegisterMarket;
use foretell_model::digest::PendingWork;
use foretell_model::limits::{MAX_FEE_EXPONENT, MAX_FEE_RATE_PPM, MAX_ORDER_LOTS};
use foretell_model::{
    AccountNumber, CommandOutcome, ConditionId, Event, EventNumber, FeeSchedule, Lots,
    MarketNumber, MarketState, Payout, Refusal, RefusalReason, Tick, TokenId,
};

use crate::answer::{Answer, Stop, ensure};
use crate::exchange::{At, Exchange};

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
    /// Event and place in its list; `None` = plain.
    pub(crate) question: Option<(EventNumber, u32)>,
    pub(crate) state: MarketState,
    /// Once resolved.
    pub(crate) payout: Option<Payout>,
    pub(crate) archived: bool,
    /// Shares in existence.
    pub(crate) supply: Shares,
}

impl Exchange {
    pub(crate) fn market(&self, number: MarketNumber) -> Result<&Market, Stop> {
        self.markets
            .get(number.0 as usize)
            .ok_or_else(|| RefusalReason::UnknownMarket.into())
    }

    /// The market with a number that is known to exist.
    pub(crate) fn market_mut(&mut self, number: MarketNumber) -> &mut Market {
        &mut self.markets[number.0 as usize]
    }

    /// What an account holds of a market and no order reserves.
    pub(crate) fn free_shares_of(&self, account: AccountNumber, market: MarketNumber) -> Shares {
        self.free_shares
            .get(&(account, market))
            .copied()
            .unwrap_or_default()
    }

    /// The same, to be changed.
    pub(crate) fn shares(&mut self, account: AccountNumber, market: MarketNumber) -> &mut Shares {
        self.free_shares.entry((account, market)).or_default()
    }

    pub(crate) fn register_market(
        &mut self,
        wanted: &RegisterMarket,
        events: &mut Vec<Event>,
    ) -> Answer {
        let known = self
            .markets
            .iter()
            .position(|market| market.condition == wanted.condition);
        if let Some(index) = known {
            let market = &self.markets[index];
            let same = market.tokens == wanted.tokens
                && market.question.map(|(event, _)| event) == wanted.event;
            ensure(same, RefusalReason::MarketDiffers)?;
            return Err(Stop::already(CommandOutcome::Market(market_number(index))));
        }
        let [yes, no] = wanted.tokens;
        let taken = |token| {
            self.markets
                .iter()
                .any(|market| market.tokens.contains(&token))
        };
        ensure(
            yes != no && !taken(yes) && !taken(no),
            RefusalReason::TokenTaken,
        )?;
        check_fee(wanted.fee)?;
        check_minimum_size(wanted.minimum_size)?;
        if let Some(event) = wanted.event {
            self.check_event_open(event)?;
        }

        let market = market_number(self.markets.len());
        let question = wanted.event.map(|event| {
            let place = self.questions_of(event).len();
            (
                event,
                u32::try_from(place).expect("an event has at most 128 questions"),
            )
        });
        self.markets.push(Market {
            condition: wanted.condition,
            tokens: wanted.tokens,
            tick: wanted.tick,
            tick_refines: wanted.tick_refines,
            minimum_size: wanted.minimum_size,
            fee: wanted.fee,
            question,
            state: MarketState::Registered,
            payout: None,
            archived: false,
            supply: Shares::default(),
        });
        events.push(Event::MarketRegistered {
            market,
            condition: wanted.condition,
            question: question.map_or(0, |(_, place)| place),
        });
        Ok(CommandOutcome::Market(market))
    }

    pub(crate) fn activate_market(
        &mut self,
        number: MarketNumber,
        events: &mut Vec<Event>,
    ) -> Answer {
        self.check_state(number, &[MarketState::Registered])?;
        if let Some((event, _)) = self.market(number)?.question {
            self.freeze(event, events);
        }
        self.set_state(number, MarketState::Active, events);
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn pause_market(&mut self, number: MarketNumber, events: &mut Vec<Event>) -> Answer {
        self.check_state(number, &[MarketState::Active])?;
        self.set_state(number, MarketState::Paused, events);
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn resume_market(
        &mut self,
        number: MarketNumber,
        events: &mut Vec<Event>,
    ) -> Answer {
        self.check_state(number, &[MarketState::Paused])?;
        self.set_state(number, MarketState::Active, events);
        Ok(CommandOutcome::Done)
    }

    /// Ends trading and cancels the market's orders.
    pub(crate) fn close_market(
        &mut self,
        number: MarketNumber,
        at: At,
        events: &mut Vec<Event>,
    ) -> Answer {
        use MarketState::{Active, Paused, Registered};
        self.check_state(number, &[Registered, Active, Paused])?;
        self.set_state(number, MarketState::Closed, events);
        let orders = self.work_on(PendingWork::CloseMarket { market: number }, at, events);
        Ok(CommandOutcome::Cancelled { orders })
    }

    pub(crate) fn resolve_market(
        &mut self,
        number: MarketNumber,
        payout: Payout,
        events: &mut Vec<Event>,
    ) -> Answer {
        self.check_state(number, &[MarketState::Closed])?;
        let empty = !self.orders.values().any(|order| order.market == number);
        ensure(empty, RefusalReason::BookNotEmpty)?;
        if let Some((event, _)) = self.market(number)?.question {
            self.check_resolution(event, number, payout)?;
        }

        let market = self.market_mut(number);
        market.state = MarketState::Resolved;
        market.payout = Some(payout);
        events.push(Event::MarketResolved {
            market: number,
            payout,
        });
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn archive_market(
        &mut self,
        number: MarketNumber,
        archived: bool,
        events: &mut Vec<Event>,
    ) -> Answer {
        let already = self.market(number)?.archived == archived;
        ensure(!already, Stop::already(CommandOutcome::Done))?;
        self.market_mut(number).archived = archived;
        events.push(Event::MarketArchived {
            market: number,
            archived,
        });
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn set_tick(
        &mut self,
        number: MarketNumber,
        tick: Tick,
        events: &mut Vec<Event>,
    ) -> Answer {
        self.check_not_over(number)?;
        let current = self.market(number)?.tick;
        ensure(
            tick.units() < current.units(),
            Refusal::with(RefusalReason::InvalidTick, current as u64, 0),
        )?;
        self.market_mut(number).tick = tick;
        events.push(Event::TickSet {
            market: number,
            tick,
        });
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn set_minimum_size(
        &mut self,
        number: MarketNumber,
        minimum_size: Lots,
        events: &mut Vec<Event>,
    ) -> Answer {
        self.check_not_over(number)?;
        check_minimum_size(minimum_size)?;
        let already = self.market(number)?.minimum_size == minimum_size;
        ensure(!already, Stop::already(CommandOutcome::Done))?;
        self.market_mut(number).minimum_size = minimum_size;
        events.push(Event::MinimumSizeSet {
            market: number,
            minimum_size,
        });
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn set_fee(
        &mut self,
        number: MarketNumber,
        fee: FeeSchedule,
        events: &mut Vec<Event>,
    ) -> Answer {
        self.check_not_over(number)?;
        check_fee(fee)?;
        let already = self.market(number)?.fee == fee;
        ensure(!already, Stop::already(CommandOutcome::Done))?;
        self.market_mut(number).fee = fee;
        events.push(Event::FeeSet {
            market: number,
            fee,
        });
        Ok(CommandOutcome::Done)
    }

    fn check_not_over(&self, number: MarketNumber) -> Result<(), Stop> {
        use MarketState::{Active, Paused, Registered};
        self.check_state(number, &[Registered, Active, Paused])
    }

    fn check_state(&self, number: MarketNumber, allowed: &[MarketState]) -> Result<(), Stop> {
        let state = self.market(number)?.state;
        ensure(
            allowed.contains(&state),
            Refusal::with(RefusalReason::InvalidTransition, u64::from(state.code()), 0),
        )
    }

    fn set_state(&mut self, number: MarketNumber, state: MarketState, events: &mut Vec<Event>) {
        self.market_mut(number).state = state;
        events.push(Event::MarketStateSet {
            market: number,
            state,
        });
    }
}

fn check_fee(fee: FeeSchedule) -> Result<(), Stop> {
    ensure(
        fee.rate_ppm <= MAX_FEE_RATE_PPM && fee.exponent <= MAX_FEE_EXPONENT,
        RefusalReason::InvalidFee,
    )
}

fn check_minimum_size(size: Lots) -> Result<(), Stop> {
    ensure(
        (Lots(1)..=MAX_ORDER_LOTS).contains(&size),
        RefusalReason::InvalidMinimumSize,
    )
}

/// The number of the market at an index of the list.
pub(crate) fn market_number(index: usize) -> MarketNumber {
    MarketNumber(u32::try_from(index).expect("tests register few markets"))
}
