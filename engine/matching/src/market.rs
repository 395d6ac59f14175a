//! Markets: rules, state, book and supply, indexed by dense number.

use std::ops::{Index, IndexMut};

use foretell_model::outside::OUTSIDE_INDEX;
use foretell_model::{
    ConditionId, ContentDigest, EventNumber, FeeSchedule, HoldSet, Lots, MarketNumber, MarketState,
    Payout, QuestionIndex, RejectionReason, SlugDigest, TokenId,
};

use crate::command_context::{NotApplied, ensure};
use crate::ladder::Ladder;
use crate::table::{KeyHasher, Table};

/// The hot fields of a market: trading uses them.
#[derive(Debug)]
pub(crate) struct Market {
    /// The book; it stores the tick.
    pub(crate) ladder: Ladder,
    /// Shares in existence, of `[Yes, No]`.
    pub(crate) supply: [Lots; 2],
    pub(crate) minimum_size: Lots,
    pub(crate) fee: FeeSchedule,
    /// Delay of an order that could trade on arrival; 0 = none.
    pub(crate) delay_ms: u32,
    /// Maker's share of the fee.
    pub(crate) rebate_ppm: u32,
    pub(crate) state: MarketState,
    pub(crate) tick_refines: bool,
    /// Its neg-risk event group and its place in the group's question list, or `OUTSIDE_INDEX`.
    pub(crate) question: Option<(EventNumber, u32)>,
    /// Not empty while the market is paused, and only then.
    pub(crate) holds: HoldSet,
    /// The payout, once resolved.
    pub(crate) payout: Option<Payout>,
    pub(crate) archived: bool,
}

impl Market {
    /// Whether it is the outside question of its event group.
    pub(crate) fn is_outside(&self) -> bool {
        self.question
            .is_some_and(|(_, place)| place == OUTSIDE_INDEX)
    }

    /// Rejects unless the market accepts orders, splits and conversions.
    pub(crate) fn ensure_trading(&self) -> Result<(), NotApplied> {
        match self.state {
            MarketState::Active => Ok(()),
            MarketState::Registered => Err(RejectionReason::MarketNotReady.into()),
            MarketState::Paused => Err(RejectionReason::MarketPaused.into()),
            MarketState::Closed | MarketState::Resolved => {
                Err(RejectionReason::MarketClosed.into())
            }
        }
    }

    /// Rejects unless full sets can be merged.
    pub(crate) fn ensure_mergeable(&self) -> Result<(), NotApplied> {
        ensure(
            self.state != MarketState::Registered,
            RejectionReason::MarketNotReady,
        )?;
        ensure(
            self.state != MarketState::Resolved,
            RejectionReason::MarketClosed,
        )
    }

    /// Adds full sets to the supply.
    pub(crate) fn mint(&mut self, lots: Lots) {
        self.supply = self.supply.map(|supply| supply + lots);
    }

    /// Removes full sets from the supply.
    pub(crate) fn burn(&mut self, lots: Lots) {
        self.supply = self.supply.map(|supply| supply - lots);
    }
}

/// The cold fields of a market: only registration and listings use them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarketNames {
    pub(crate) condition: ConditionId,
    /// Tokens of `[Yes, No]`.
    pub(crate) tokens: [TokenId; 2],
    /// Its bit in signed conversions, if its event group has its own.
    pub(crate) index: Option<QuestionIndex>,
    /// Its slug, which no other market has; zeros without.
    pub(crate) slug: SlugDigest,
    /// What was registered.
    pub(crate) content: ContentDigest,
}

/// All markets.
#[derive(Debug)]
pub(crate) struct Markets {
    markets: Vec<Market>,
    names: Vec<MarketNames>,
    by_condition: Table,
    by_token: Table,
    by_slug: Table,
    hasher: KeyHasher,
}

impl Markets {
    pub(crate) fn with_capacity(markets: usize, hasher: KeyHasher) -> Self {
        Self {
            markets: Vec::with_capacity(markets),
            names: Vec::with_capacity(markets),
            by_condition: Table::with_capacity(markets),
            by_token: Table::with_capacity(markets * 2),
            by_slug: Table::with_capacity(markets),
            hasher,
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.markets.len()
    }

    /// A market that commands may name: not an outside question, which can only be redeemed.
    #[inline]
    pub(crate) fn get(&self, number: MarketNumber) -> Result<&Market, NotApplied> {
        let named = self.get_any(number).filter(|market| !market.is_outside());
        named.ok_or_else(|| RejectionReason::UnknownMarket.into())
    }

    /// A market or an outside question.
    #[inline]
    pub(crate) fn get_any(&self, number: MarketNumber) -> Option<&Market> {
        self.markets.get(number.0 as usize)
    }

    pub(crate) fn names(&self, number: MarketNumber) -> &MarketNames {
        &self.names[number.0 as usize]
    }

    pub(crate) fn find(&self, condition: ConditionId) -> Option<MarketNumber> {
        self.by_condition
            .find(self.hasher.name(&condition.0), |number| {
                self.names[number as usize].condition == condition
            })
            .map(MarketNumber)
    }

    pub(crate) fn token_in_use(&self, token: TokenId) -> bool {
        self.by_token
            .find(self.hasher.name(&token.0), |number| {
                self.names[number as usize].tokens.contains(&token)
            })
            .is_some()
    }

    /// The market that has a slug; of none without one.
    pub(crate) fn with_slug(&self, slug: SlugDigest) -> Option<MarketNumber> {
        if slug == SlugDigest::ZERO {
            return None;
        }
        let has_it = |number: u32| self.names[number as usize].slug == slug;
        let found = self.by_slug.find(self.hash_of_slug(slug), has_it);
        found.map(MarketNumber)
    }

    /// Gives a market another slug, which no other has.
    pub(crate) fn set_slug(&mut self, market: MarketNumber, slug: SlugDigest) {
        let before = std::mem::replace(&mut self.names[market.0 as usize].slug, slug);
        if before != SlugDigest::ZERO {
            let hash = self.hash_of_slug(before);
            self.by_slug.remove(hash, market.0);
        }
        self.index_slug(market.0);
    }

    fn index_slug(&mut self, number: u32) {
        let slug = self.names[number as usize].slug;
        if slug != SlugDigest::ZERO {
            let hash = self.hash_of_slug(slug);
            self.by_slug.insert(hash, number);
        }
    }

    fn hash_of_slug(&self, slug: SlugDigest) -> u32 {
        self.hasher.number(u128::from_le_bytes(slug.0))
    }

    /// Adds a market. The caller has checked that its names are new.
    pub(crate) fn add(&mut self, market: Market, names: MarketNames) -> MarketNumber {
        let number = u32::try_from(self.markets.len()).expect("memory ends before 2^32 markets");
        self.markets.push(market);
        self.names.push(names);
        self.by_condition
            .insert(self.hasher.name(&names.condition.0), number);
        for token in names.tokens {
            self.by_token.insert(self.hasher.name(&token.0), number);
        }
        self.index_slug(number);
        MarketNumber(number)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (MarketNumber, &Market, &MarketNames)> {
        (0..)
            .zip(&self.markets)
            .zip(&self.names)
            .map(|((number, market), names)| (MarketNumber(number), market, names))
    }
}

impl Index<MarketNumber> for Markets {
    type Output = Market;
    fn index(&self, number: MarketNumber) -> &Market {
        &self.markets[number.0 as usize]
    }
}

impl IndexMut<MarketNumber> for Markets {
    fn index_mut(&mut self, number: MarketNumber) -> &mut Market {
        &mut self.markets[number.0 as usize]
    }
}
