//! Messages of the extension about a frame: `market_status`, `system_status`.

use serde::Serialize;

use foretell_model::{ConditionId, MarketState, SystemMode, TimeMs};

use crate::ids;
use crate::operator::mode_word;
use crate::rejection::state_word;
use crate::streams::{Stamp, message};

/// A market's state was set.
#[derive(Clone, Copy, Debug)]
pub struct MarketStatus {
    /// The market.
    pub market: ConditionId,
    /// Its state now.
    pub state: MarketState,
    /// When.
    pub time: TimeMs,
}

#[derive(Serialize)]
struct MarketStatusJson {
    #[serde(serialize_with = "ids::shown")]
    market: ConditionId,
    state: &'static str,
    timestamp: String,
}

impl MarketStatus {
    /// The message.
    #[must_use]
    pub fn json(&self, stamp: &Stamp<'_>) -> String {
        let body = MarketStatusJson {
            market: self.market,
            state: state_word(self.state),
            timestamp: self.time.0.to_string(),
        };
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
