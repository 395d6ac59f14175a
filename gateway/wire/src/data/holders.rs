//! `GET /holders`: the largest holders of each token of each requested market.

use std::borrow::Cow;

use foretell_model::{Lots, Outcome, WalletAddress};
use serde::Serialize;

use crate::data::profile::Profile;
use crate::data::read::market_selection::{MarketName, MarketRef};
use crate::data::rows::figures::RoundedFigures;
use crate::data::rows::view::view;
use crate::limits::{MAX_HOLDERS, MAX_MARKETS};
use crate::parameters;
use crate::read::query::text_form::{Rows, Whole};
use crate::schema::JsonSchema;
use crate::text::decimal::Number;
use crate::values::{self, MicrosText};

parameters! {
    /// Parameters of `GET /holders`.
    pub struct HoldersQuery: Data {
        /// Markets: condition ids, assets or decimal token ids.
        pub markets: Vec<MarketRef> = required_list(MarketName, MAX_MARKETS) as "market",
        /// Most holders per token.
        pub limit: usize = or(Rows(Whole(0, MAX_HOLDERS)), "100"),
        /// Smallest balance to include, in shares.
        pub least: u64 = or(MicrosText, "1") as "minBalance",
    }
}

/// A holder of a token.
#[derive(Clone, Copy, Debug)]
pub struct HolderRow<'a> {
    /// The token's text.
    pub token: &'a str,
    /// The token's outcome.
    pub outcome: Outcome,
    /// The wallet.
    pub wallet: WalletAddress,
    /// Its balance, reserved shares included.
    pub lots: Lots,
    /// Its profile.
    pub profile: Profile<'a>,
    /// Its position, in version 2 on request.
    pub figures: Option<RoundedFigures>,
}

/// The holders of one token, largest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HolderGroup<T> {
    /// The token.
    #[schemars(with = "values::ConfiguredToken")]
    pub token: String,
    /// Its holders.
    pub holders: Vec<T>,
}

view! {
    /// A holder of `GET /holders`.
    HolderV1 of HolderRow<'a>, row, "camelCase" {
        #[serde(with = "values::Address")]
        proxy_wallet: WalletAddress = row.wallet,
        bio: &'a str = row.profile.bio,
        #[schemars(with = "values::ConfiguredToken")]
        asset: &'a str = row.token,
        pseudonym: Cow<'a, str> = row.profile.pseudonym_of(&row.wallet),
        /// Shares.
        amount: Number = row.lots.into(),
        display_username_public: bool = row.profile.is_public,
        #[serde(with = "values::OutcomeIndex")]
        outcome_index: Outcome = row.outcome,
        name: &'a str = row.profile.name,
        profile_image: &'a str = row.profile.image,
        profile_image_optimized: &'a str = row.profile.image_optimized,
    }
}
