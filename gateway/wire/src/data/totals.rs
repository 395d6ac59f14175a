//! `GET /value`, `/traded`, `/oi` and `/live-volume` (docs/api/data.md §2).

use foretell_model::{ConditionId, Micros, WalletAddress};
use serde::Serialize;

use crate::data::read::market_selection::{Event, MarketName, MarketRef, MarketSelection};
use crate::data::rows::figures::rounded;
use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::limits::MAX_MARKETS;
use crate::parameters;
use crate::read::query::family::Family;
use crate::read::query::parameters::{ParameterSet, Parameters};
use crate::read::query::reader::Reader;
use crate::schema::JsonSchema;
use crate::text::decimal::Millionths;
use crate::values::{self, Wallet};

parameters! {
    /// Parameters of `GET /value` and `GET /v2/value`.
    pub struct ValueQuery: Data {
        /// Wallet address.
        pub user: WalletAddress = required(Wallet),
        /// Markets: condition ids, assets or decimal token ids; all without one.
        pub condition_id: Vec<MarketRef> = list(MarketName, MAX_MARKETS) as "market" v2 "condition",
    }

    /// Parameters of `GET /traded`.
    #[derive(Copy)]
    pub struct UserQuery: Data {
        /// Wallet address.
        pub user: WalletAddress = required(Wallet),
    }

    /// Parameters of `GET /oi` and `GET /v2/oi`.
    pub struct OpenInterestQuery: Data {
        /// Markets: condition ids, assets or decimal token ids; all and their sum without one.
        pub condition_id: Vec<MarketRef> = list(MarketName, MAX_MARKETS) as "market" v2 "condition",
    }

    /// Parameters of `GET /v2/live-volume`.
    pub struct EventVolumeQuery: Data {
        /// Catalog events.
        pub event_id: Vec<u64> = required_list(Event, MAX_MARKETS),
    }

    struct NamedVolumes: Data {
        /// Markets: condition ids, assets or decimal token ids.
        market: Vec<MarketRef> = list(MarketName, MAX_MARKETS),
        /// Catalog events in place of `market`.
        id: Vec<u64> = list(Event, MAX_MARKETS),
    }
}

/// Parameters of `GET /live-volume`: `market`, or event ids as `id`; never all markets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LiveVolumeQuery(pub MarketSelection);

impl Parameters for LiveVolumeQuery {
    const FAMILY: Family = Family::Data;
    const SET: &'static ParameterSet = NamedVolumes::SET;

    fn take(reader: &Reader<'_>) -> Result<Self, ApiError> {
        let named = NamedVolumes::take(reader)?;
        match MarketSelection::of(named.market, ("id", named.id))? {
            MarketSelection::All => Err(ErrorCode::MissingParameter.with([&"id or market"])),
            markets => Ok(Self(markets)),
        }
    }
}

/// Row of `GET /value`: the value of a wallet's positions.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct ValueV1 {
    #[serde(with = "values::Address")]
    user: WalletAddress,
    value: Millionths,
}

/// Answer of `GET /v2/value`.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct ValueV2 {
    #[serde(with = "values::Address")]
    proxy_wallet: WalletAddress,
    value: Millionths,
}

impl ValueV1 {
    /// A wallet's value; `half_micros` is the sum of
    /// [`crate::data::PositionFigures::current_half_micros`] of its positions.
    #[must_use]
    pub fn new(user: WalletAddress, half_micros: i128) -> Self {
        Self {
            user,
            value: Millionths(rounded(half_micros, 2)),
        }
    }
}

impl From<ValueV1> for ValueV2 {
    fn from(ValueV1 { user, value }: ValueV1) -> Self {
        Self {
            proxy_wallet: user,
            value,
        }
    }
}

/// Answer of `GET /traded`: the number of markets that a wallet has traded in.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct TradedAnswer {
    /// The wallet.
    #[serde(with = "values::Address")]
    pub user: WalletAddress,
    /// The number.
    pub traded: usize,
}

/// An amount of each of some markets.
pub type MarketAmounts = [(ConditionId, Micros)];

/// Row of `GET /oi`: the collateral locked in a market, or in all as `GLOBAL`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AmountV1 {
    market: String,
    value: Millionths,
}

/// Row of `GET /v2/oi`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AmountV2 {
    condition_id: String,
    value: Millionths,
}

impl AmountV1 {
    /// A row for each market, after the sum of all if `with_sum`.
    #[must_use]
    pub fn rows(amounts: &MarketAmounts, with_sum: bool) -> Vec<Self> {
        let sum = with_sum.then(|| Self {
            market: "GLOBAL".to_owned(),
            value: sum(amounts),
        });
        let rows = amounts.iter().map(|(condition, amount)| Self {
            market: condition.to_string(),
            value: Millionths(amount.0.into()),
        });
        sum.into_iter().chain(rows).collect()
    }
}

impl From<AmountV1> for AmountV2 {
    fn from(AmountV1 { market, value }: AmountV1) -> Self {
        Self {
            condition_id: market,
            value,
        }
    }
}

/// Row of `GET /live-volume`: the traded volume of markets.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VolumesV1 {
    total: Millionths,
    markets: Vec<AmountV1>,
}

/// Answer of `GET /v2/live-volume`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VolumesV2 {
    taker_volume_total: Millionths,
    conditions: Vec<VolumeV2>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct VolumeV2 {
    condition_id: String,
    taker_volume: Millionths,
}

impl VolumesV1 {
    /// Of some markets.
    #[must_use]
    pub fn new(amounts: &MarketAmounts) -> Self {
        Self {
            total: sum(amounts),
            markets: AmountV1::rows(amounts, false),
        }
    }
}

impl From<VolumesV1> for VolumesV2 {
    fn from(VolumesV1 { total, markets }: VolumesV1) -> Self {
        let markets = markets.into_iter();
        let conditions = markets.map(|AmountV1 { market, value }| VolumeV2 {
            condition_id: market,
            taker_volume: value,
        });
        Self {
            taker_volume_total: total,
            conditions: conditions.collect(),
        }
    }
}

fn sum(amounts: &MarketAmounts) -> Millionths {
    Millionths(amounts.iter().map(|(_, value)| i128::from(value.0)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_text;
    use serde_json::{Value, json};

    #[test]
    fn a_value_is_rounded_once() {
        let user = WalletAddress([7; 20]);
        let shown = format!("0x{}", "07".repeat(20));
        for (half_micros, value) in [(0, "0"), (1, "0.000001"), (3, "0.000002"), (2_000_000, "1")] {
            let row = ValueV1::new(user, half_micros);
            let expected = format!(r#"{{"user":"{shown}","value":{value}}}"#);
            assert_eq!(json_text(&row), expected);
            let expected = format!(r#"{{"proxy_wallet":"{shown}","value":{value}}}"#);
            assert_eq!(json_text(&ValueV2::from(row)), expected);
        }
        assert_eq!(
            json_text(&TradedAnswer { user, traded: 3 }),
            format!(r#"{{"user":"{shown}","traded":3}}"#)
        );
    }

    #[test]
    fn markets_are_listed_with_their_sums() {
        fn parsed(answer: &impl Serialize) -> Value {
            serde_json::from_str(&json_text(answer)).unwrap()
        }
        let of = |byte: u8| format!("0x{}", hex::encode([byte; 32]));
        let amounts = [
            (ConditionId([1; 32]), Micros(1_500_000)),
            (ConditionId([2; 32]), Micros(0)),
        ];
        let rows = json!([{ "market": of(1), "value": 1.5 }, { "market": of(2), "value": 0 }]);
        assert_eq!(parsed(&AmountV1::rows(&amounts, false)), rows);
        let volumes = VolumesV1::new(&amounts);
        assert_eq!(parsed(&volumes), json!({ "total": 1.5, "markets": rows }));
        assert_eq!(
            parsed(&VolumesV2::from(volumes)),
            json!({ "taker_volume_total": 1.5, "conditions": [
                { "condition_id": of(1), "taker_volume": 1.5 },
                { "condition_id": of(2), "taker_volume": 0 },
            ] })
        );
        let all = AmountV1::rows(&amounts, true);
        assert_eq!(parsed(&all[0]), json!({ "market": "GLOBAL", "value": 1.5 }));
        assert_eq!(
            parsed(&AmountV2::from(all[1].clone())),
            json!({ "condition_id": of(1), "value": 1.5 })
        );
    }
}
