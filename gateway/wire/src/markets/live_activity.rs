//! The newest trades of a market: `GET /live-activity/events/{condition}`
//! (docs/api/market-data.md §8).

use std::borrow::Cow;

use serde::Serialize;

use foretell_model::{ConditionId, Lots, Price, Side, TokenId, WalletAddress};

use crate::data::Profile;
use crate::operator::MarketDescription;
use crate::orders::trade::TradeFacts;
use crate::text::decimal::{self, Decimal};
use crate::text::ids;
use crate::text::time::TimeForm;

/// A trade, as its taker made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TradeEvent<'t> {
    event_type: &'static str,
    market: EventMarket<'t>,
    user: EventUser<'t>,
    #[serde(serialize_with = "crate::markets::price::side")]
    side: Side,
    #[serde(serialize_with = "decimal::as_text")]
    size: Lots,
    #[serde(serialize_with = "decimal::as_text")]
    fee_rate_bps: Decimal,
    #[serde(serialize_with = "decimal::as_text")]
    price: Price,
    outcome: &'t str,
    outcome_index: usize,
    #[serde(serialize_with = "ids::hex_as_text")]
    transaction_hash: [u8; 32],
    timestamp: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct EventMarket<'t> {
    #[serde(serialize_with = "ids::shown")]
    condition_id: ConditionId,
    #[serde(serialize_with = "ids::token_as_text")]
    asset_id: TokenId,
    question: &'t str,
    icon: &'t str,
    slug: &'t str,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct EventUser<'t> {
    #[serde(serialize_with = "ids::shown")]
    address: WalletAddress,
    username: &'t str,
    profile_picture: &'t str,
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
            size: trade.lots,
            fee_rate_bps: trade.fee_rate_bps(),
            price: taker.price,
            outcome: &taker.outcome,
            outcome_index: taker.index.index(),
            transaction_hash: trade.receipt,
            timestamp: TimeForm::Unix.text(trade.time),
        }
    }
}
