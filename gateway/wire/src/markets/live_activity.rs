//! The newest trades of a market: `GET /live-activity/events/{condition_id}`
//! (docs/api/market-data.md §8).

use std::borrow::Cow;

use serde::Serialize;

use foretell_model::{ConditionId, Lots, Side, TokenId, WalletAddress};

use crate::data::Profile;
use crate::operator::MarketDescription;
use crate::orders::trade::TradeFacts;
use crate::schema::JsonSchema;
use crate::text::decimal::Decimal;
use crate::text::time::TimeForm;
use crate::values;

/// A trade, as its taker made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TradeEvent<'t> {
    #[schemars(extend("const" = "trade"))]
    event_type: &'static str,
    /// The market that traded.
    market: EventMarket<'t>,
    /// The taker.
    user: EventUser<'t>,
    #[serde(with = "values::Side")]
    side: Side,
    /// Shares.
    #[serde(with = "values::Amount")]
    size: Lots,
    /// Fee divided by value, times 10,000, rounded.
    #[serde(with = "values::Amount")]
    fee_rate_bps: Decimal,
    /// Average price.
    #[serde(with = "values::Amount")]
    price: Decimal,
    /// Label of the outcome.
    outcome: &'t str,
    #[schemars(extend("enum" = [0, 1]))]
    outcome_index: usize,
    /// Receipt of its journal frame.
    #[serde(with = "values::Bytes")]
    transaction_hash: [u8; 32],
    /// Unix seconds.
    #[schemars(with = "values::Digits")]
    timestamp: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
struct EventMarket<'t> {
    #[serde(with = "values::Hash")]
    condition_id: ConditionId,
    #[serde(with = "values::Token")]
    asset_id: TokenId,
    question: &'t str,
    /// URL.
    icon: &'t str,
    slug: &'t str,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
struct EventUser<'t> {
    #[serde(with = "values::Address")]
    address: WalletAddress,
    /// Name; empty unless public.
    username: &'t str,
    /// URL.
    profile_picture: &'t str,
    /// URL.
    optimized_profile_picture: &'t str,
    pseudonym: Cow<'t, str>,
}

impl<'t> TradeEvent<'t> {
    /// The JSON of a trade of the described market; `profile` is that of the taker's wallet.
    #[must_use]
    pub fn new(
        trade: &'t TradeFacts,
        market: &'t MarketDescription,
        profile: &'t Profile<'_>,
    ) -> Self {
        let taker = &trade.taker;
        Self {
            event_type: "trade",
            market: EventMarket {
                condition_id: trade.market,
                asset_id: taker.token,
                question: &market.question,
                icon: &market.icon,
                slug: &market.slug,
            },
            user: EventUser {
                address: taker.wallet,
                username: profile.name,
                profile_picture: profile.image,
                optimized_profile_picture: profile.image_optimized,
                pseudonym: profile.pseudonym_of(&taker.wallet),
            },
            side: taker.side,
            size: trade.lots(),
            fee_rate_bps: trade.fee_rate_bps(),
            price: trade.price(),
            outcome: &taker.outcome,
            outcome_index: taker.index.index(),
            transaction_hash: trade.receipt,
            timestamp: TimeForm::Unix.text(trade.time),
        }
    }
}
