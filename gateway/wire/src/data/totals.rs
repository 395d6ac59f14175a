//! `GET /value`, `/traded`, `/oi` and `/live-volume` (docs/api/data.md §2).

use foretell_model::{ConditionId, Micros, WalletAddress};

use crate::data::figures::rounded;
use crate::data::read::market_selection::{EVENT, MARKET, MarketRef, MarketSelection};
use crate::data::rows::{RowWriter, field};
use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::limits::MAX_MARKETS;
use crate::parameters;
use crate::read::family::Family;
use crate::read::parameters::{ParameterSet, Parameters, Reader};
use crate::read::text_form::WALLET;

parameters! {
    /// Parameters of `GET /value` and `GET /v2/value`.
    pub struct ValueQuery: Data {
        /// Wallet address.
        pub user: WalletAddress = required(WALLET),
        /// Markets: condition ids, assets or decimal token ids; all without one.
        pub condition_id: Vec<MarketRef> = list(MARKET, MAX_MARKETS) as "market",
    }

    /// Parameters of `GET /traded`.
    #[derive(Copy)]
    pub struct UserQuery: Data {
        /// Wallet address.
        pub user: WalletAddress = required(WALLET),
    }

    /// Parameters of `GET /oi` and `GET /v2/oi`.
    pub struct OpenInterestQuery: Data {
        /// Markets: condition ids, assets or decimal token ids; all and their sum without one.
        pub condition_id: Vec<MarketRef> = list(MARKET, MAX_MARKETS) as "market",
    }

    /// Parameters of `GET /v2/live-volume`.
    pub struct EventVolumeQuery: Data {
        /// Catalog events.
        pub event_id: Vec<u64> = required_list(EVENT, MAX_MARKETS),
    }

    struct NamedVolumes: Data {
        /// Markets: condition ids, assets or decimal token ids.
        market: Vec<MarketRef> = list(MARKET, MAX_MARKETS),
        /// Catalog events in place of `market`.
        id: Vec<u64> = list(EVENT, MAX_MARKETS),
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

/// `[{user, value}]`; `value` is the sum of [`crate::data::PositionFigures::current_half_micros`].
#[must_use]
pub fn value_text(user: &WalletAddress, half_micros: i128) -> String {
    let mut rows = RowWriter::with_capacity(1);
    rows.row(|row| {
        row.wallet(field!("user"), user);
        row.millionths(field!("value"), rounded(half_micros, 2));
    });
    rows.finish()
}

/// `{user, traded}`: the number of markets that the wallet has traded in.
#[must_use]
pub fn traded_text(user: &WalletAddress, markets: u64) -> String {
    format!(r#"{{"user":"{user}","traded":{markets}}}"#)
}

/// `[{market, value}]`: the collateral locked in each market; `with_sum` adds the sum as the market
/// `GLOBAL`, first.
#[must_use]
pub fn open_interest_text(markets: &[(ConditionId, Micros)], with_sum: bool) -> String {
    let mut rows = RowWriter::with_capacity(0);
    if with_sum {
        rows.row(|row| {
            row.text(field!("market"), "GLOBAL");
            row.millionths(field!("value"), sum(markets));
        });
    }
    market_rows(&mut rows, markets);
    rows.finish()
}

/// `[{total, markets: [{market, value}]}]`: the traded volume of each market.
#[must_use]
pub fn live_volume_text(markets: &[(ConditionId, Micros)]) -> String {
    let mut rows = RowWriter::with_capacity(0);
    rows.row(|row| {
        row.millionths(field!("total"), sum(markets));
        row.array(field!("markets"), |rows| market_rows(rows, markets));
    });
    rows.finish()
}

fn sum(markets: &[(ConditionId, Micros)]) -> i128 {
    markets.iter().map(|(_, value)| i128::from(value.0)).sum()
}

fn market_rows(rows: &mut RowWriter, markets: &[(ConditionId, Micros)]) {
    for (condition, value) in markets {
        rows.row(|row| {
            row.shown(field!("market"), condition);
            row.millionths(field!("value"), value.0.into());
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn parsed(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn totals_are_numbers_rounded_once() {
        let user = WalletAddress([7; 20]);
        let shown = format!("0x{}", "07".repeat(20));
        for (half_micros, value) in [(0, "0"), (1, "0.000001"), (3, "0.000002"), (2_000_000, "1")] {
            let expected = format!(r#"[{{"user":"{shown}","value":{value}}}]"#);
            assert_eq!(value_text(&user, half_micros), expected);
        }
        assert_eq!(
            traded_text(&user, 3),
            format!(r#"{{"user":"{shown}","traded":3}}"#)
        );
    }

    #[test]
    fn markets_are_listed_with_their_sums() {
        let of = |byte: u8| format!("0x{}", hex::encode([byte; 32]));
        let markets = [
            (ConditionId([1; 32]), Micros(1_500_000)),
            (ConditionId([2; 32]), Micros(0)),
        ];
        let rows = json!([{ "market": of(1), "value": 1.5 }, { "market": of(2), "value": 0 }]);
        assert_eq!(parsed(&open_interest_text(&markets, false)), rows);
        assert_eq!(
            parsed(&live_volume_text(&markets)),
            json!([{ "total": 1.5, "markets": rows }])
        );
        assert_eq!(open_interest_text(&[], false), "[]");
        let all = parsed(&open_interest_text(&markets, true));
        assert_eq!(all[0], json!({ "market": "GLOBAL", "value": 1.5 }));
        assert_eq!(all.as_array().unwrap()[1..], rows.as_array().unwrap()[..]);
    }
}
