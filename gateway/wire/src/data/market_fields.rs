//! Market fields of data rows, rendered to JSON once.

use foretell_model::{ConditionId, Outcome, TokenId};

use crate::data::read::market_selection::AssetIds;
use crate::data::rows::json_fields;

/// The names of a market; unknown ones are empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct MarketNames<'a> {
    /// Its question.
    pub title: &'a str,
    /// Its slug.
    pub slug: &'a str,
    /// URL of its image.
    pub icon: &'a str,
    /// Slug of its event.
    pub event_slug: &'a str,
    /// Labels of `[Yes, No]`.
    pub outcomes: [&'a str; 2],
    /// Expected end, ISO 8601.
    pub end_date: &'a str,
}

/// The rendered fields that all rows of a market share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MarketText {
    condition: ConditionId,
    title: Box<str>,
    end_date: Box<str>,
    /// `asset` and `conditionId`, by outcome.
    ids: [Box<str>; 2],
    /// `title`, `slug`, `icon`, `eventSlug`.
    names: Box<str>,
    /// `outcome`, by outcome.
    labels: [Box<str>; 2],
    /// `outcome`, `oppositeOutcome`, `oppositeAsset`, by outcome.
    both: [Box<str>; 2],
    /// `endDate`.
    end: Box<str>,
}

impl MarketText {
    /// Renders the fields of a market, with its tokens `[Yes, No]` in a form.
    #[must_use]
    pub fn new(
        condition: ConditionId,
        tokens: &[TokenId; 2],
        names: &MarketNames<'_>,
        form: AssetIds,
    ) -> Self {
        let asset = |outcome: Outcome| form.text(condition, tokens, outcome);
        let of_each = |fields: &dyn Fn(Outcome) -> Vec<(&'static str, String)>| {
            [Outcome::Yes, Outcome::No].map(|outcome| {
                let fields = fields(outcome);
                let fields = fields.iter().map(|(name, value)| (*name, value.as_str()));
                json_fields(fields)
            })
        };
        let label = |outcome: Outcome| names.outcomes[outcome.index()].to_owned();
        let ids = |outcome| {
            vec![
                ("asset", asset(outcome)),
                ("conditionId", condition.to_string()),
            ]
        };
        let both = |outcome: Outcome| {
            let other = outcome.opposite();
            vec![
                ("outcome", label(outcome)),
                ("oppositeOutcome", label(other)),
                ("oppositeAsset", asset(other)),
            ]
        };
        let shared = [
            ("title", names.title),
            ("slug", names.slug),
            ("icon", names.icon),
            ("eventSlug", names.event_slug),
        ];
        Self {
            condition,
            title: names.title.into(),
            end_date: names.end_date.into(),
            ids: of_each(&ids),
            names: json_fields(shared.into_iter()),
            labels: of_each(&|outcome| vec![("outcome", label(outcome))]),
            both: of_each(&both),
            end: json_fields([("endDate", form.end_date(names.end_date))].into_iter()),
        }
    }

    /// Its condition id.
    #[must_use]
    pub const fn condition(&self) -> ConditionId {
        self.condition
    }

    /// Its title, as sort key.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Its expected end, as sort key.
    #[must_use]
    pub fn end_date(&self) -> &str {
        &self.end_date
    }

    /// Whether its title contains a text, ignoring case.
    #[must_use]
    pub fn title_contains(&self, text: &str) -> bool {
        self.title.to_lowercase().contains(&text.to_lowercase())
    }

    /// `asset`, `conditionId`.
    pub(crate) fn ids(&self, outcome: Outcome) -> &str {
        &self.ids[outcome.index()]
    }

    /// `title`, `slug`, `icon`, `eventSlug`.
    pub(crate) fn names(&self) -> &str {
        &self.names
    }

    /// `outcome`.
    pub(crate) fn label(&self, outcome: Outcome) -> &str {
        &self.labels[outcome.index()]
    }

    /// `outcome`, `oppositeOutcome`, `oppositeAsset`.
    pub(crate) fn both(&self, outcome: Outcome) -> &str {
        &self.both[outcome.index()]
    }

    /// `endDate`.
    pub(crate) fn end(&self) -> &str {
        &self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn default_form(condition: ConditionId, names: &MarketNames<'_>) -> MarketText {
        let tokens = [TokenId([1; 32]), TokenId([2; 32])];
        MarketText::new(condition, &tokens, names, AssetIds::ConditionIndex)
    }

    #[test]
    fn what_rows_share_is_json_already() {
        let names = MarketNames {
            title: "Say \"yes\"?",
            slug: "s",
            outcomes: ["Yes", "No"],
            ..MarketNames::default()
        };
        let text = default_form(ConditionId([2; 32]), &names);
        let condition = format!("0x{}", "02".repeat(32));
        assert_eq!(
            text.names(),
            r#""title":"Say \"yes\"?","slug":"s","icon":"","eventSlug":"""#
        );
        assert_eq!(
            text.ids(Outcome::No),
            format!(r#""asset":"{condition}:1","conditionId":"{condition}""#)
        );
        assert_eq!(
            text.both(Outcome::No),
            format!(r#""outcome":"No","oppositeOutcome":"Yes","oppositeAsset":"{condition}:0""#)
        );
        assert_eq!(
            (text.label(Outcome::Yes), text.end()),
            (r#""outcome":"Yes""#, r#""endDate":"""#)
        );
    }

    #[test]
    fn a_title_is_found_in_any_case() {
        let names = MarketNames {
            title: "Über 3 °C in ÅRHUS?",
            ..MarketNames::default()
        };
        let text = default_form(ConditionId([0; 32]), &names);
        for (part, found) in [
            ("über", true),
            ("århus", true),
            ("°c IN", true),
            ("uber", false),
        ] {
            assert_eq!(text.title_contains(part), found, "{part}");
        }
    }
}
