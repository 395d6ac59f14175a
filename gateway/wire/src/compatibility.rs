//! Whose forms requests and answers have, where the interface and the API family differ
//! (docs/api/compatibility.md).

use serde::{Deserialize, Serialize};

use crate::data::AssetIds;

/// Whose forms an exchange has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compatibility {
    /// Those of the interface.
    #[default]
    Interface,
    /// Those of Polymarket, for bots that are written for it.
    Polymarket,
}

impl Compatibility {
    /// Whether it is that of the family.
    #[must_use]
    pub const fn is_family(self) -> bool {
        matches!(self, Self::Polymarket)
    }

    /// Whether a taker has one row a trade in lists of trades, else one a fill.
    #[must_use]
    pub const fn has_whole_trades(self) -> bool {
        self.is_family()
    }

    /// The form of tokens and end dates on the data surface.
    #[must_use]
    pub const fn asset_ids(self) -> AssetIds {
        match self {
            Self::Interface => AssetIds::ConditionIndex,
            Self::Polymarket => AssetIds::Token,
        }
    }
}
