//! Messages of the extension about a frame: `market_status`, `system_status`.

use serde::Serialize;

use foretell_model::{ConditionId, MarketState, Payout, SystemMode, TimeMs};

use crate::ids;
use crate::operator::{mode_word, payout_word};
use crate::rejection::state_word;
use crate::streams::{Stamp, message};

/// A stage of a market's life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MarketStage {
    /// Its state was set.
    State(MarketState),
    /// Its book was cleared; the state is as before.
    Cleared(MarketState),
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
    #[serde(serialize_with = "ids::shown")]
    market: ConditionId,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cleared: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payout: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    challenge_ends: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counter: Option<&'static str>,
    timestamp: String,
}

impl MarketStage {
    const fn word(self) -> &'static str {
        match self {
            Self::State(state) | Self::Cleared(state) => state_word(state),
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
            payout: None,
            challenge_ends: None,
            counter: None,
            timestamp: self.time.0.to_string(),
        };
        match self.stage {
            MarketStage::State(_) | MarketStage::Settled => {}
            MarketStage::Cleared(_) => body.cleared = Some(true),
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

#[derive(Serialize)]
struct SystemStatusJson {
    state: &'static str,
}

/// `system_status` after a change of the mode.
#[must_use]
pub fn mode_json(mode: SystemMode, stamp: &Stamp<'_>) -> String {
    let state = mode_word(mode);
    message("system_status", &SystemStatusJson { state }, stamp)
}
