//! Parameters of the trading surface.

use foretell_model::{ConditionId, Side, TimeSeconds, WalletAddress, WalletKind};
use serde_json::json;

use crate::errors::api_error::{ApiError, FieldError};
use crate::errors::error_code::ErrorCode;
use crate::limits::{MAX_BATCH, MAX_SUMMARY_MARKETS};
use crate::markets::batch::{BatchToken, merge_tokens, side_of};
use crate::parameters;
use crate::read::page::Cursor;
use crate::read::query::family::Family;
use crate::read::query::fields::{Field, Required};
use crate::read::query::parameter::Parameter;
use crate::read::query::parameters::{ParameterSet, Parameters};
use crate::read::query::reader::Reader;
use crate::read::query::text_form::{TextForm, Words};
use crate::text::ids::{self, TokenRef};
use crate::values::{
    AnySide, Bytes, Condition, IdText, PageStart, QueryToken, UnixTime, Wallet, values,
};

values! {
    Metadata { reads bool: str, "true", |text| Some(matches!(text, "true" | "True")); }
    Conditions { reads ConditionId: str as Condition, "1 to 100 condition ids", ids::condition_id; }
    Kind { reads Option<WalletKind>: str { "type": "integer", "minimum": -1, "maximum": 3 }, "-1 to 3", kind; }
}

parameters! {
    /// A token.
    pub struct OneToken: Trading {
        /// Token id, decimal or `<condition id>:<outcome index>`.
        pub token_id: TokenRef = required(QueryToken),
    }

    /// Parameters of `GET /price`.
    #[derive(Copy)]
    pub struct PriceQuery: Trading {
        /// Token id, decimal or `<condition id>:<outcome index>`.
        pub token_id: TokenRef = required(QueryToken),
        /// BUY is the best ask, SELL the best bid; any case.
        pub side: Side = required(AnySide),
    }

    /// A page.
    #[derive(Copy)]
    pub struct PageQuery: Trading {
        /// The `next_cursor` of the page before; absent for the first page.
        pub next_cursor: Cursor = or(PageStart, "MA=="),
    }

    /// Parameters of `GET /auth/api-keys`.
    #[derive(Copy)]
    pub struct KeysQuery: Trading {
        /// `true` adds revoked keys among the newest 1,000; any other text is ignored.
        pub metadata: Option<bool> = optional(Metadata),
    }

    /// Parameters of `GET /ui/api/markets/summary`.
    pub struct SummaryQuery: Trading {
        /// The markets.
        pub condition_ids: Vec<ConditionId> = required_list(Conditions, MAX_SUMMARY_MARKETS),
    }

    /// Parameters of `GET /data/trades` and `GET /builder/trades`.
    #[derive(Default)]
    pub struct TradesQuery: Trading check check_times {
        /// A trade's id.
        pub id: Option<String> = optional(IdText),
        /// The taker's wallet.
        pub taker: Option<WalletAddress> = optional(Wallet),
        /// The counterparty maker's wallet.
        pub maker: Option<WalletAddress> = optional(Wallet),
        /// A wallet that is taker or maker.
        pub maker_address: Option<WalletAddress> = optional(Wallet),
        /// A market.
        pub market: Option<ConditionId> = optional(Condition),
        /// The taker's or maker's token.
        pub asset: Option<TokenRef> = optional(QueryToken) as "asset_id",
        /// Only trades before this time, unix seconds.
        pub before: Option<TimeSeconds> = optional(UnixTime),
        /// Only trades after this time, unix seconds.
        pub after: Option<TimeSeconds> = optional(UnixTime),
        /// A builder; `GET /builder/trades` only.
        pub builder: Option<[u8; 32]> = optional(Bytes) as "builder_code",
        /// The `next_cursor` of the page before; absent for the first page.
        pub cursor: Cursor = or(PageStart, "MA==") as "next_cursor",
    }

    /// Parameters of `GET /data/orders`.
    #[derive(Default)]
    pub struct OrdersQuery: Trading {
        /// An order id.
        pub id: Option<String> = optional(IdText),
        /// A market.
        pub market: Option<ConditionId> = optional(Condition),
        /// A token.
        pub asset: Option<TokenRef> = optional(QueryToken) as "asset_id",
        /// The `next_cursor` of the page before; absent for the first page.
        pub cursor: Cursor = or(PageStart, "MA==") as "next_cursor",
    }

    /// Parameters of `GET /balance-allowance`.
    #[derive(Copy)]
    pub struct BalanceQuery: Trading {
        /// The asset.
        pub asset: BalanceAsset = group(),
        /// Signature type of the wallet; -1 or absent: the owner's only bound wallet, else the owner.
        pub kind: Option<WalletKind> = or(Kind, "-1") as "signature_type",
    }
}

fn kind(text: &str) -> Option<Option<WalletKind>> {
    match text {
        "-1" => Some(None),
        "0" => Some(Some(WalletKind::Eoa)),
        "1" => Some(Some(WalletKind::Proxy)),
        "2" => Some(Some(WalletKind::Safe)),
        "3" => Some(Some(WalletKind::Deposit)),
        _ => None,
    }
}

impl TradesQuery {
    fn check_times(&self) -> Result<(), ApiError> {
        match (self.before, self.after) {
            (Some(TimeSeconds(before)), Some(TimeSeconds(after))) if before < after => {
                let problem = format!("before is {before}, allowed: not below after ({after})");
                Err(ErrorCode::InvalidTimeRange.with([&problem]))
            }
            _ => Ok(()),
        }
    }
}

/// The asset of `GET /balance-allowance`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BalanceAsset {
    /// Collateral.
    Collateral,
    /// Shares of a token.
    Conditional(TokenRef),
}

impl BalanceAsset {
    const TYPES: Words<bool> = Words(&[("COLLATERAL", false), ("CONDITIONAL", true)]);
    const TYPE: Parameter = Parameter {
        is_required: true,
        #[cfg(feature = "documents")]
        schema: || Self::TYPES.schema(),
        ..Parameter::new("asset_type", "Collateral, or shares of `token_id`.")
    };
    const TOKEN: Parameter = Parameter {
        #[cfg(feature = "documents")]
        schema: || QueryToken.schema(),
        codes: || vec![ErrorCode::InvalidTokenId],
        ..Parameter::new(
            "token_id",
            "The token; required with `asset_type=CONDITIONAL`.",
        )
    };
}

impl Parameters for BalanceAsset {
    const FAMILY: Family = Family::Trading;
    const SET: &'static ParameterSet = &ParameterSet::of(&[&[Self::TYPE, Self::TOKEN]]);

    /// Collateral has no token: then the parameter may be anything.
    fn take(reader: &Reader<'_>) -> Result<Self, ApiError> {
        Ok(match Required(Self::TYPES).take(reader, &Self::TYPE)? {
            true => Self::Conditional(Required(QueryToken).take(reader, &Self::TOKEN)?),
            false => Self::Collateral,
        })
    }
}

/// `token_ids` and `sides` of a batch read with GET: lists, with a side for each token or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokensQuery(pub Vec<BatchToken>);

impl TokensQuery {
    const TOKENS: Parameter = Parameter {
        #[cfg(feature = "documents")]
        schema: || json!({ "type": "string" }),
        codes: || vec![ErrorCode::InvalidTokenId],
        ..Parameter::new(
            "token_ids",
            "Token ids, with commas between them or repeated; required without a body.",
        )
    };
    const SIDES: Parameter = Parameter {
        #[cfg(feature = "documents")]
        schema: || json!({ "type": "string", "pattern": "^(,*([bB][uU][yY]|[sS][eE][lL][lL]))*,*$" }),
        codes: || vec![ErrorCode::InvalidSide],
        ..Parameter::new(
            "sides",
            "A side for each token, in their order; both sides when absent.",
        )
    };
}

impl Parameters for TokensQuery {
    const FAMILY: Family = Family::Trading;
    const SET: &'static ParameterSet = &ParameterSet::of(&[&[Self::TOKENS, Self::SIDES]]);

    fn take(reader: &Reader<'_>) -> Result<Self, ApiError> {
        let (texts, sides) = (reader.entries(&Self::TOKENS), reader.entries(&Self::SIDES));
        for (name, entries, allowed) in [
            ("token_ids", &texts, "up to 500 tokens"),
            ("sides", &sides, "up to 500 sides"),
        ] {
            if entries.len() > MAX_BATCH {
                return Err(ErrorCode::TooManyEntries.with([&name, &entries.len(), &allowed]));
            }
        }
        if texts.is_empty() {
            let allowed = "token ids with commas between them";
            return Err(FieldError::missing("token_ids", allowed).into());
        }
        if sides.is_empty() {
            return merge_tokens(texts.into_iter().map(|text| (text, None))).map(Self);
        }
        if sides.len() != texts.len() {
            let count = format!("{} for {} tokens", sides.len(), texts.len());
            return Err(FieldError::wrong("sides", &count, "one for each token").into());
        }
        let sides: Result<Vec<_>, _> = sides.into_iter().map(side_of).collect();
        merge_tokens(texts.into_iter().zip(sides?)).map(Self)
    }
}
