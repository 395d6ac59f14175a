//! The texts of a market in rows.

use std::sync::Arc;

use foretell_model::{ConditionId, Outcome, TokenId};

use crate::operator::MarketDescription;
use crate::text::ids::{self, TokenRef};

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

/// A market as rows show it.
#[derive(Clone, PartialEq, Debug)]
pub struct MarketText {
    /// Its condition id.
    pub condition: ConditionId,
    /// Its words.
    pub description: Arc<MarketDescription>,
    /// Its tokens `[Yes, No]` in their form.
    assets: [String; 2],
    form: AssetIds,
}

impl MarketText {
    /// The texts of a market, with its tokens `[Yes, No]` in a form.
    #[must_use]
    pub fn new(
        condition: ConditionId,
        tokens: &[TokenId; 2],
        description: Arc<MarketDescription>,
        form: AssetIds,
    ) -> Self {
        Self {
            condition,
            description,
            assets: [Outcome::Yes, Outcome::No]
                .map(|outcome| form.text(condition, tokens, outcome)),
            form,
        }
    }

    /// The token of an outcome.
    #[must_use]
    pub fn asset(&self, outcome: Outcome) -> &str {
        &self.assets[outcome.index()]
    }

    /// The label of an outcome.
    #[must_use]
    pub fn label(&self, outcome: Outcome) -> &str {
        &self.description.outcomes[outcome.index()]
    }

    /// The expected end in ISO 8601; empty when unknown.
    #[must_use]
    pub fn end_date(&self) -> &str {
        let date = self.description.end_date.as_deref();
        self.form.end_date(date.unwrap_or(""))
    }
}

impl MarketDescription {
    /// Slug of its event; empty without one.
    #[must_use]
    pub fn event_slug(&self) -> &str {
        self.event.as_ref().map_or("", |event| &event.slug)
    }

    /// The catalog's id of its event.
    #[must_use]
    pub fn event_id(&self) -> Option<u64> {
        self.event.as_ref().and_then(|event| event.id)
    }

    /// Whether its question contains a text, ignoring case.
    #[must_use]
    pub fn question_contains(&self, text: &str) -> bool {
        let question = self.question.to_lowercase();
        question.contains(&text.to_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_question_is_found_in_any_case() {
        let description = MarketDescription {
            question: "Über 3 °C in ÅRHUS?".to_owned(),
            ..MarketDescription::default()
        };
        for (part, is_found) in [
            ("über", true),
            ("århus", true),
            ("°c IN", true),
            ("uber", false),
        ] {
            assert_eq!(description.question_contains(part), is_found, "{part}");
        }
    }
}
