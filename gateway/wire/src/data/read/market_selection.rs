//! The markets that a request names (docs/api/data.md §1).

use foretell_model::{ConditionId, Outcome, TokenId};

use crate::text::ids::{self, TokenRef};

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

/// A filter by market.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MarketSelection {
    /// Every market.
    All,
    /// These, without duplicates.
    Markets(Vec<MarketRef>),
    /// Those of these catalog events.
    Events(Vec<u64>),
}

/// The form of `asset`, `oppositeAsset` and `token` in answers.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum AssetIds {
    /// `<condition id>:<outcome index>`.
    #[default]
    ConditionIndex,
    /// The decimal token id. `endDate` of rows is then a date without time.
    Token,
}

impl AssetIds {
    /// The text of an outcome of a market.
    #[must_use]
    pub fn text(self, condition: ConditionId, tokens: &[TokenId; 2], outcome: Outcome) -> String {
        match self {
            Self::ConditionIndex => TokenRef::Asset(condition, outcome).to_string(),
            Self::Token => ids::token_text(&tokens[outcome.index()]),
        }
    }

    /// The text of an end date in ISO 8601.
    #[must_use]
    pub fn end_date(self, date: &str) -> &str {
        match self {
            Self::ConditionIndex => date,
            Self::Token => date.split_once('T').map_or(date, |(day, _)| day),
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

    #[test]
    fn a_date_loses_its_time_in_the_token_form() {
        for (date, day) in [
            ("2026-11-23T22:54:07Z", "2026-11-23"),
            ("2026-11-23", "2026-11-23"),
            ("", ""),
        ] {
            assert_eq!(AssetIds::Token.end_date(date), day);
            assert_eq!(AssetIds::ConditionIndex.end_date(date), date);
        }
    }
}
