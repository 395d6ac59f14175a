//! The markets that a request names (docs/api/data.md §1).

use foretell_model::{ConditionId, TokenId};

use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::limits::MAX_MARKETS;
use crate::parameters;
use crate::read::query::family::Family;
use crate::read::query::parameters::{ParameterSet, Parameters};
use crate::read::query::reader::Reader;
use crate::read::query::text_form::digits;
use crate::text::ids::{self, TokenRef};
use crate::values::{hex32, values};

/// A market as a request names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MarketRef {
    /// By its condition, or by the asset `<condition id>:<outcome index>`.
    Condition(ConditionId),
    /// By one of its token ids.
    Token(TokenId),
}

impl MarketRef {
    /// Reads a condition id or an asset in either form; `None` when it is neither.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(condition) = ids::condition_id(text) {
            return Some(Self::Condition(condition));
        }
        Some(match TokenRef::parse(text)? {
            TokenRef::Asset(condition, _) => Self::Condition(condition),
            TokenRef::Token(token) => Self::Token(token),
        })
    }
}

values! {
    pub(crate) MarketName {
        reads MarketRef: str { "pattern": concat!("^(", hex32!(any), "(:[01])?|[0-9]{1,78})$") },
            concat!("a condition id, ", hex32!(words), ", or an asset of the market, <condition id>:<0 or 1> or a decimal token id"), MarketRef::parse;
    }
    pub(crate) Event {
        reads u64: str { "type": "integer", "minimum": 0, "maximum": i64::MAX }, "an event id, an integer", |text| digits(text).filter(|id| *id <= i64::MAX.unsigned_abs());
    }
}

/// A filter by market.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MarketSelection {
    /// Every market.
    All,
    /// The named markets, without duplicates.
    Markets(Vec<MarketRef>),
    /// The markets of these catalog events.
    Events(Vec<u64>),
}

parameters! {
    struct NamedMarkets: Data {
        /// Markets: condition ids, assets or decimal token ids.
        condition_id: Vec<MarketRef> = list(MarketName, MAX_MARKETS) as "market" v2 "condition",
        /// Catalog events in place of markets.
        event_id: Vec<u64> = list(Event, MAX_MARKETS) as "eventId",
    }
}

impl Parameters for MarketSelection {
    const FAMILY: Family = Family::Data;
    const SET: &'static ParameterSet = NamedMarkets::SET;

    fn take(reader: &Reader<'_>) -> Result<Self, ApiError> {
        let named = NamedMarkets::take(reader)?;
        let event = reader.named(&NamedMarkets::PARAMETERS[1]).name;
        Self::of(named.condition_id, (event, named.event_id))
    }
}

impl MarketSelection {
    /// Markets, or the events that a parameter names, but not both.
    pub(crate) fn of(
        markets: Vec<MarketRef>,
        (parameter, events): (&str, Vec<u64>),
    ) -> Result<Self, ApiError> {
        match (markets.is_empty(), events.is_empty()) {
            (true, true) => Ok(Self::All),
            (false, true) => Ok(Self::Markets(markets)),
            (true, false) => Ok(Self::Events(events)),
            (false, false) => {
                let why = "market is given too, allowed: one of the two";
                Err(ErrorCode::InvalidParameter.with([&parameter, &why]))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_market_has_three_names() {
        let condition = format!("0x{}", "ab".repeat(32));
        let by_condition = Some(MarketRef::Condition(ConditionId([0xAB; 32])));
        let mut token = [0; 32];
        token[30..].copy_from_slice(&[1, 0]);
        for (text, market) in [
            (condition.clone(), by_condition),
            (format!("{condition}:0"), by_condition),
            (format!("{condition}:1"), by_condition),
            ("256".to_owned(), Some(MarketRef::Token(TokenId(token)))),
            (format!("{condition}:2"), None),
            ("0x12".to_owned(), None),
            ("-1".to_owned(), None),
            ("1e3".to_owned(), None),
            ("9".repeat(79), None),
        ] {
            assert_eq!(MarketRef::parse(&text), market, "{text}");
        }
    }
}
