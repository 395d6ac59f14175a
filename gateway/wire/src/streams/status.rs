//! The message of the extension about a market's life: `market_status`.

use serde::Serialize;

use foretell_model::{ConditionId, FeeSchedule, MarketState, MarketTerms, Payout, TimeMs};

use crate::operator::payout_word;
use crate::streams::{Stamp, message};
use crate::text::words::state_word;
use crate::values;

/// A stage of a market's life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MarketStage {
    /// Its state was set.
    State(MarketState),
    /// Its book was cleared; the state is as before.
    Cleared(MarketState),
    /// Clock, delay, fee or rebate changed; the state is as before.
    Terms {
        /// The state.
        state: MarketState,
        /// Clock, delay and rebate in force.
        terms: MarketTerms,
        /// The fee in force.
        fee: FeeSchedule,
    },
    /// A payout was proposed.
    Proposed {
        /// The payout.
        payout: Payout,
        /// End of the challenge window.
        challenge_ends: TimeMs,
    },
    /// The proposal is disputed.
    Disputed {
        /// The payout that the disputer holds right.
        counter: Option<Payout>,
    },
    /// The payout is final.
    Resolved {
        /// The payout.
        payout: Payout,
    },
    /// All holders are paid.
    Settled,
}

/// A stage of a market's life began.
#[derive(Clone, Copy, Debug)]
pub struct MarketStatus {
    /// The market.
    pub market: ConditionId,
    /// The stage.
    pub stage: MarketStage,
    /// When.
    pub time: TimeMs,
}

#[derive(Serialize)]
struct MarketStatusJson {
    #[serde(with = "values::Hash")]
    market: ConditionId,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cleared: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    terms: Option<TermsJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payout: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    challenge_ends: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counter: Option<&'static str>,
    timestamp: String,
}

/// The terms in force; times that are not set are absent.
#[derive(Serialize)]
struct TermsJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    opens_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    closes_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    game_start_time: Option<String>,
    clear_book_on_start: bool,
    taker_delay_ms: String,
    rebate_ppm: String,
    fee_rate_ppm: String,
    fee_exponent: String,
}

fn terms_json(terms: &MarketTerms, fee: FeeSchedule) -> TermsJson {
    let time = |time: TimeMs| (time.0 > 0).then(|| time.0.to_string());
    TermsJson {
        opens_at: time(terms.opens_at),
        closes_at: time(terms.closes_at),
        game_start_time: time(terms.game_start_time),
        clear_book_on_start: terms.clear_book_on_start,
        taker_delay_ms: terms.taker_delay_ms.to_string(),
        rebate_ppm: terms.rebate_ppm.to_string(),
        fee_rate_ppm: fee.rate_ppm.to_string(),
        fee_exponent: fee.exponent.to_string(),
    }
}

impl MarketStage {
    const fn word(self) -> &'static str {
        match self {
            Self::State(state) | Self::Cleared(state) | Self::Terms { state, .. } => {
                state_word(state)
            }
            Self::Proposed { .. } => "proposed",
            Self::Disputed { .. } => "disputed",
            Self::Resolved { .. } => "resolved",
            Self::Settled => "settled",
        }
    }
}

impl MarketStatus {
    /// The message.
    #[must_use]
    pub fn json(&self, stamp: &Stamp<'_>) -> String {
        let mut body = MarketStatusJson {
            market: self.market,
            state: self.stage.word(),
            cleared: None,
            terms: None,
            payout: None,
            challenge_ends: None,
            counter: None,
            timestamp: self.time.0.to_string(),
        };
        match self.stage {
            MarketStage::State(_) | MarketStage::Settled => {}
            MarketStage::Cleared(_) => body.cleared = Some(true),
            MarketStage::Terms { terms, fee, .. } => body.terms = Some(terms_json(&terms, fee)),
            MarketStage::Proposed {
                payout,
                challenge_ends,
            } => {
                body.payout = Some(payout_word(payout));
                body.challenge_ends = Some(challenge_ends.0.to_string());
            }
            MarketStage::Disputed { counter } => body.counter = counter.map(payout_word),
            MarketStage::Resolved { payout } => body.payout = Some(payout_word(payout)),
        }
        message("market_status", &body, stamp)
    }
}
