//! Markets: names, rules, state and supply.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use foretell_model::codec::{CodecError, Stored, stored};
use foretell_model::command::RegisterMarket;
use foretell_model::quantity::PRICE_ONE;
use foretell_model::{
    ConditionId, EventNumber, FeeSchedule, Lots, MarketNumber, MarketState, MarketTerms, Micros,
    Outcome, Payout, Price, Sequence, Tick, TimeNs, TokenId,
};

use crate::error::Impossible;
use crate::storage::by_number::ByNumber;

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
    /// Its neg-risk event group and question index; `None` = a plain market.
    pub question: Option<(EventNumber, u32)>,
    /// State.
    pub state: MarketState,
    /// Its payout, once resolved.
    pub payout: Option<Payout>,
    /// Whether it is hidden.
    pub archived: bool,
    /// Outstanding shares of `[Yes, No]`.
    pub supply: [Lots; 2],
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

stored!(Market {
    condition: ConditionId,
    tokens: [TokenId; 2],
    tick: Tick,
    tick_refines: bool,
    minimum_size: Lots,
    fee: FeeSchedule,
    terms: MarketTerms,
    clear_armed: bool,
    question: Option<(EventNumber, u32)>,
    state: MarketState,
    payout: Option<Payout>,
    archived: bool,
    supply: [Lots; 2],
    description: Box<[u8]>,
    registered: TimeNs,
    activated: Option<TimeNs>,
    closed: Option<TimeNs>,
    resolved: Option<TimeNs>,
    cleared: Option<TimeNs>,
    settled: Option<TimeNs>,
    settlement_paid: Micros,
    changed: Sequence,
});

impl Market {
    /// Whether it is a question of a neg-risk event group.
    #[must_use]
    pub fn is_neg_risk(&self) -> bool {
        self.question.is_some()
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

impl Market {
    /// The collateral locked by its shares: its open interest. For a question of a neg-risk event
    /// group it is that of its full sets. The event group additionally locks the amounts that
    /// converts moved between questions (`c` of docs/verify/rules.md §11).
    #[must_use]
    pub fn locked(&self) -> Micros {
        let [yes, no] = self.supply;
        let half = |lots: Lots| lots.value_at(Price(PRICE_ONE / 2)).0;
        match self.payout {
            None | Some(Payout::No) => no.full_value(),
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

    /// The market with this condition id.
    #[must_use]
    pub fn by_condition(&self, condition: &ConditionId) -> Option<(MarketNumber, &Market)> {
        let number = *self.by_condition.get(condition)?;
        Some((number, self.get(number)?))
    }

    /// The market and outcome of a token.
    #[must_use]
    pub fn by_token(&self, token: &TokenId) -> Option<(MarketNumber, Outcome)> {
        self.by_token.get(token).copied()
    }

    /// Number of markets.
    #[must_use]
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// All markets, by number.
    pub fn iter(
        &self,
    ) -> impl DoubleEndedIterator<Item = (MarketNumber, &Market)> + ExactSizeIterator {
        self.all.iter()
    }

    pub(crate) fn register(
        &mut self,
        number: MarketNumber,
        command: &RegisterMarket,
        question: u32,
        description: &[u8],
        at: (Sequence, TimeNs),
    ) -> Result<(), Impossible> {
        let market = Market {
            condition: command.condition,
            tokens: command.tokens,
            tick: command.tick,
            tick_refines: command.tick_refines,
            minimum_size: command.minimum_size,
            fee: command.fee,
            terms: MarketTerms::default(),
            clear_armed: false,
            question: command.event.map(|event| (event, question)),
            state: MarketState::Registered,
            payout: None,
            archived: false,
            supply: [Lots::ZERO; 2],
            description: description.into(),
            registered: at.1,
            activated: None,
            closed: None,
            resolved: None,
            cleared: None,
            settled: None,
            settlement_paid: Micros::ZERO,
            changed: at.0,
        };
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
