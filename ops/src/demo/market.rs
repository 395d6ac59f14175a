//! A market as the bots know it.

use foretell_model::TokenId;

use crate::demo::sample::{Sample, SampleEvent, SampleMarket};
use crate::failure::Failure;

/// Data of a market that the bots need.
pub(super) struct BotMarket {
    pub(super) condition: String,
    pub(super) tokens: [TokenId; 2],
    pub(super) texts: [String; 2],
    /// Neg-risk event and index of the question.
    pub(super) question: Option<(u64, u32)>,
    /// Tick in price units of 0.0001.
    pub(super) tick: u16,
    /// Center of the quotes in price units; it drifts.
    pub(super) fair: u16,
}

impl BotMarket {
    /// The sample market at an index in its event.
    pub(super) fn of(
        event: &SampleEvent,
        place: u32,
        market: &SampleMarket,
    ) -> Result<Self, Failure> {
        Ok(Self {
            condition: market.condition_id(),
            tokens: market.tokens()?,
            texts: market.token_ids(),
            question: event.neg_risk.then_some((event.id, place)),
            tick: market.tick_units(),
            fair: market.price_units(),
        })
    }

    /// The markets of the sample.
    pub(super) fn of_sample() -> Result<Vec<Self>, Failure> {
        let sample = Sample::open()?;
        let placed = sample
            .events
            .iter()
            .flat_map(|event| (0..).zip(&event.markets).map(move |it| (event, it)));
        placed
            .map(|(event, (place, market))| Self::of(event, place, market))
            .collect()
    }

    /// Whether its orders are signed in the neg-risk domain.
    pub(super) const fn is_neg_risk(&self) -> bool {
        self.question.is_some()
    }
}
