//! Markets: names, rules, state and supply.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use foretell_model::codec::{CodecError, Stored, stored};
use foretell_model::command::RegisterMarket;
use foretell_model::outside::{OUTSIDE_INDEX, outside_names};
use foretell_model::quantity::PRICE_ONE;
use foretell_model::{
    ConditionId, EventId, EventNumber, FeeSchedule, HoldSet, Lots, MarketNumber, MarketState,
    MarketTerms, Micros, Outcome, Payout, Price, QuestionIndex, Sequence, Tick, TimeNs, TokenId,
};

use crate::error::Impossible;
use crate::storage::by_number::ByNumber;

stored! {
    /// One market.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct Market {
        /// Its condition id.
        pub condition: ConditionId,
        /// Tokens of `[Yes, No]`.
        pub tokens: [TokenId; 2],
        /// Tick size of its prices.
        pub tick: Tick,
        /// Whether a trade near 0 or 1 may refine the tick.
        pub tick_refines: bool,
        /// Smallest GTC or GTD order.
        pub minimum_size: Lots,
        /// Taker fee.
        pub fee: FeeSchedule,
        /// Clock, delay and rebate (docs/verify/rules.md §21).
        pub terms: MarketTerms,
        /// Whether its book will be cleared at its game start.
        pub clear_armed: bool,
        /// Its neg-risk event group and its place in the question list, or that of the outside question;
        /// `None` = a plain market.
        pub question: Option<(EventNumber, u32)>,
        /// Its bit in signed conversions, if its event group has its own.
        pub index: Option<QuestionIndex>,
        /// State.
        pub state: MarketState,
        /// Its holds, while it is paused.
        pub holds: HoldSet,
        /// Its payout, once resolved.
        pub payout: Option<Payout>,
        /// Whether it is hidden.
        pub archived: bool,
        /// Outstanding shares of `[Yes, No]`.
        pub supply: [Lots; 2],
        /// Whether its slug is its own: it named one, and no other market has it.
        pub has_slug: bool,
        /// Its words: the evidence of its registration with later edits ([`foretell_model::words`]).
        pub description: Box<[u8]>,
        /// When it was registered.
        pub registered: TimeNs,
        /// When it first became active.
        pub activated: Option<TimeNs>,
        /// When it was closed.
        pub closed: Option<TimeNs>,
        /// When it was resolved.
        pub resolved: Option<TimeNs>,
        /// When its book was last cleared.
        pub cleared: Option<TimeNs>,
        /// When no shares of it were left after its resolution.
        pub settled: Option<TimeNs>,
        /// What the steps of its settlement paid.
        pub settlement_paid: Micros,
        /// The last frame that changed its rules, words, state, proposal, payout or archived flag, but
        /// not its supply.
        pub changed: Sequence,
    }
}

impl Market {
    /// Whether it is a question of a neg-risk event group.
    #[must_use]
    pub fn is_neg_risk(&self) -> bool {
        self.question.is_some()
    }

    /// Its bit in signed conversions: its own, or its place in the question list.
    #[must_use]
    pub fn question_index(&self) -> Option<u8> {
        let place = u8::try_from(self.question?.1).ok();
        self.index.map_or(place, |index| Some(index.0))
    }

    /// Whether it is the outside question of its event group.
    #[must_use]
    pub fn is_outside(&self) -> bool {
        self.question
            .is_some_and(|(_, place)| place == OUTSIDE_INDEX)
    }

    /// Whether surfaces show it: an outside question only when it won.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        !self.is_outside() || self.payout == Some(Payout::Yes)
    }

    /// Whether it is not resolved in any state (docs/verify/rules.md §26).
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.state != MarketState::Resolved
    }

    /// The token of an outcome.
    #[must_use]
    pub fn token(&self, outcome: Outcome) -> TokenId {
        self.tokens[outcome.index()]
    }
}

/// The words of an outside question.
const OUTSIDE_WORDS: &[u8] = br#"{"question":"None of the listed questions"}"#;

impl Market {
    pub(crate) fn registered(
        command: &RegisterMarket,
        place: u32,
        description: &[u8],
        at: (Sequence, TimeNs),
    ) -> Self {
        Self {
            condition: command.condition,
            tokens: command.tokens,
            tick: command.tick,
            tick_refines: command.tick_refines,
            minimum_size: command.minimum_size,
            fee: command.fee,
            terms: MarketTerms::default(),
            clear_armed: false,
            question: command.event.map(|event| (event, place)),
            index: command.index,
            state: MarketState::Registered,
            holds: HoldSet::NONE,
            payout: None,
            archived: false,
            supply: [Lots::ZERO; 2],
            has_slug: false,
            description: description.into(),
            registered: at.1,
            activated: None,
            closed: None,
            resolved: None,
            cleared: None,
            settled: None,
            settlement_paid: Micros::ZERO,
            changed: at.0,
        }
    }

    /// The outside question of a new event group.
    pub(crate) fn outside(event: EventNumber, id: EventId, at: (Sequence, TimeNs)) -> Self {
        let (condition, tokens) = outside_names(id);
        let names = RegisterMarket {
            condition,
            tokens,
            tick: Tick::Tenth,
            tick_refines: false,
            minimum_size: Lots(1),
            fee: FeeSchedule::default(),
            event: Some(event),
            index: None,
            has_details: false,
        };
        Self {
            state: MarketState::Closed,
            ..Self::registered(&names, OUTSIDE_INDEX, OUTSIDE_WORDS, at)
        }
    }

    /// The collateral locked by its shares: its open interest. For a question of a neg-risk event
    /// group it is that of its full sets; an outside question locks one unit for each Yes
    /// (docs/verify/rules.md §11).
    #[must_use]
    pub fn locked(&self) -> Micros {
        let [yes, no] = self.supply;
        let half = |lots: Lots| lots.value_at(Price(PRICE_ONE / 2)).0;
        match self.payout {
            None if self.is_outside() => yes.full_value(),
            None | Some(Payout::No | Payout::Outside) => no.full_value(),
            Some(Payout::Yes) => yes.full_value(),
            Some(Payout::Half) => Micros(half(yes).saturating_add(half(no))),
        }
    }
}

/// All markets.
#[derive(Debug, Default)]
pub struct Markets {
    all: ByNumber<MarketNumber, Market>,
    by_condition: HashMap<ConditionId, MarketNumber, RandomState>,
    by_token: HashMap<TokenId, (MarketNumber, Outcome), RandomState>,
}

impl Markets {
    /// The market with this number.
    #[must_use]
    pub fn get(&self, number: MarketNumber) -> Option<&Market> {
        self.all.get(number)
    }

    /// The market with this condition id, if it is shown.
    #[must_use]
    pub fn by_condition(&self, condition: &ConditionId) -> Option<(MarketNumber, &Market)> {
        let number = *self.by_condition.get(condition)?;
        Some((number, self.get(number).filter(|market| market.is_shown())?))
    }

    /// The number of the market with this condition id, if it is shown.
    #[must_use]
    pub fn number_of(&self, condition: &ConditionId) -> Option<MarketNumber> {
        Some(self.by_condition(condition)?.0)
    }

    /// The market and outcome of a token, if the market is shown.
    #[must_use]
    pub fn by_token(&self, token: &TokenId) -> Option<(MarketNumber, Outcome)> {
        let (number, outcome) = *self.by_token.get(token)?;
        let is_shown = self.get(number)?.is_shown();
        is_shown.then_some((number, outcome))
    }

    /// One more than the highest number of a market. Outside questions have numbers, too.
    #[must_use]
    pub fn end(&self) -> usize {
        self.all.len()
    }

    /// All markets without the outside questions, by number.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (MarketNumber, &Market)> {
        self.all.iter().filter(|(_, market)| !market.is_outside())
    }

    /// The markets before one without the outside questions, all without one; the newest first.
    pub fn before(
        &self,
        end: Option<MarketNumber>,
    ) -> impl Iterator<Item = (MarketNumber, &Market)> {
        (self.all.before(end)).filter(|(_, market)| !market.is_outside())
    }

    pub(crate) fn add(&mut self, number: MarketNumber, market: Market) -> Result<(), Impossible> {
        self.name(number, &market)?;
        self.all.push(number, market)
    }

    /// Indexes the market by its condition and tokens.
    fn name(&mut self, number: MarketNumber, market: &Market) -> Result<(), Impossible> {
        let condition = self.by_condition.insert(market.condition, number);
        let mut taken = condition.is_some();
        for (token, &outcome) in market.tokens.into_iter().zip(Outcome::ALL) {
            taken |= self.by_token.insert(token, (number, outcome)).is_some();
        }
        if taken {
            return Err(Impossible::DuplicateName);
        }
        Ok(())
    }

    pub(crate) fn get_mut(&mut self, number: MarketNumber) -> Result<&mut Market, Impossible> {
        (self.all.get_mut(number)).ok_or(Impossible::UnknownMarket(number))
    }

    /// A market whose rules, state, payout or archived flag the frame at `sequence` changes.
    pub(crate) fn change(
        &mut self,
        number: MarketNumber,
        sequence: Sequence,
    ) -> Result<&mut Market, Impossible> {
        let market = self.get_mut(number)?;
        market.changed = sequence;
        Ok(market)
    }
}

impl Stored for Markets {
    fn put(&self, out: &mut Vec<u8>) {
        self.all.put(out);
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        let all = ByNumber::<MarketNumber, Market>::take(from)?;
        let mut markets = Self::default();
        for (number, market) in all.iter() {
            let named = markets.name(number, market);
            named.map_err(|_| CodecError::Inconsistent("markets"))?;
        }
        Ok(Self { all, ..markets })
    }
}
