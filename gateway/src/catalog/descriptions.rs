//! Market descriptions: the catalog's texts if present, else those of the registration. Built once
//! for each market, and again when the catalog changes.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use foretell_catalog::{Lookup, MarketTexts};
use foretell_model::{ConditionId, Outcome, Payout, Sequence, TokenId};
use foretell_view::Market;
use foretell_wire::operator::{MarketDescription, payout_label};
use parking_lot::RwLock;

use crate::catalog::own_catalog::identity::identify_question;
use crate::catalog::own_catalog::{identity, is_own};

/// The question of an outside question, which nobody registers.
const OUTSIDE_QUESTION: &str = "None of the listed questions";

/// A description, and [`Market::changed`] when it was built: later words may differ.
type Described = (Sequence, Arc<MarketDescription>);

/// The descriptions built so far, one for each market shown.
#[derive(Default)]
pub(crate) struct Descriptions {
    catalog: RwLock<Arc<Lookup>>,
    made: RwLock<HashMap<ConditionId, Described, RandomState>>,
}

impl Descriptions {
    /// The description of a market; empty when its registration carries none.
    pub(crate) fn of(&self, market: &Market) -> Arc<MarketDescription> {
        if let Some((changed, known)) = self.made.read().get(&market.condition)
            && *changed == market.changed
        {
            return Arc::clone(known);
        }
        // The catalog is read under the lock that `refresh` takes: a description built from texts
        // that are being replaced is removed afterwards.
        let mut made = self.made.write();
        let registered = registered(market);
        let catalog = Arc::clone(&self.catalog.read());
        let mut description = match catalog.market(&market.condition) {
            // A record of another source than the registration's describes another market.
            Some(words) if words.own == is_own(market) => {
                described(registered, words, &market.tokens)
            }
            _ => registered,
        };
        let event = description.event.as_ref().and_then(|event| event.id);
        if let Some(event) = event.filter(|_| market.question.is_some() && is_own(market)) {
            identify_question(&mut description, event);
        }
        let description = Arc::new(description);
        let built = (market.changed, Arc::clone(&description));
        made.insert(market.condition, built);
        description
    }

    pub(crate) fn label(&self, market: &Market, outcome: Outcome) -> String {
        self.of(market).outcomes[outcome.index()].clone()
    }

    /// What people call a payout: the label of the outcome, or `half`.
    pub(crate) fn payout_label(&self, market: &Market, payout: Payout) -> String {
        payout_label(payout, &self.of(market).outcomes).to_owned()
    }

    /// Whether the catalog's record of a market is archived.
    pub(crate) fn is_archived(&self, market: &Market) -> bool {
        let catalog = Arc::clone(&self.catalog.read());
        let words = catalog.market(&market.condition);
        words.is_some_and(|words| {
            words.archived && *words.tokens == market.tokens && words.own == is_own(market)
        })
    }

    /// Replaces the catalog's texts; `changed` lists the markets whose texts differ.
    pub(crate) fn refresh(&self, catalog: Arc<Lookup>, changed: &[ConditionId]) {
        *self.catalog.write() = catalog;
        let mut made = self.made.write();
        for condition in changed {
            made.remove(condition);
        }
    }
}

/// The words of a registration; an own question gets its event from the catalog's record.
fn registered(market: &Market) -> MarketDescription {
    if market.is_outside() {
        return MarketDescription {
            question: OUTSIDE_QUESTION.to_owned(),
            ..MarketDescription::default()
        };
    }
    let words = &market.description;
    if market.question.is_none() || !is_own(market) {
        return identity::described(words, &market.condition, None);
    }
    let mut question = MarketDescription::from_words(words).unwrap_or_default();
    identity::identify(&mut question, &market.condition);
    question
}

/// A registration with the catalog's texts. What a share means, the question and the labels, stays as
/// journaled; so do rules, and fields that the catalog leaves empty. A catalog record with other tokens
/// describes another market and is ignored.
fn described(
    mut market: MarketDescription,
    words: &MarketTexts,
    tokens: &[TokenId; 2],
) -> MarketDescription {
    if *words.tokens != *tokens {
        return market;
    }
    market.market_id = words.id;
    for (text, word) in [
        (&mut market.slug, &words.slug),
        (&mut market.icon, &words.icon),
        (&mut market.image, &words.image),
    ] {
        take(text, word);
    }
    if market.question.is_empty() {
        words.title.as_ref().clone_into(&mut market.question);
    }
    if let Some(date) = &words.end_date {
        market.end_date = Some(date.to_string());
    }
    if let Some(words) = &words.event {
        let event = market.event.get_or_insert_default();
        if event.id != Some(words.id) {
            event.id = Some(words.id);
            event.description.clear();
        }
        take(&mut event.slug, &words.slug);
        take(&mut event.title, &words.title);
        take(&mut event.ticker, &words.ticker);
        if !words.tags.is_empty() {
            market.tags = words.tags.iter().map(ToString::to_string).collect();
        }
    }
    market
}

fn take(text: &mut String, word: &str) {
    if !word.is_empty() {
        word.clone_into(text);
    }
}

#[cfg(test)]
mod tests {
    use foretell_catalog::EventTexts;
    use foretell_wire::operator::EventSummary;

    use super::*;

    const TOKENS: [TokenId; 2] = [TokenId([1; 32]), TokenId([2; 32])];

    fn registered() -> MarketDescription {
        MarketDescription {
            question: "Old?".into(),
            description: "Rules".into(),
            slug: "old".into(),
            icon: "https://old".into(),
            tags: vec!["Old".into()],
            event: Some(EventSummary {
                id: Some(5),
                title: "Old event".into(),
                description: "About".into(),
                ..EventSummary::default()
            }),
            ..MarketDescription::default()
        }
    }

    fn words() -> MarketTexts {
        MarketTexts {
            id: 9,
            condition: ConditionId([3; 32]),
            title: "New?".into(),
            slug: "new".into(),
            icon: "".into(),
            image: "https://new".into(),
            outcomes: ["Up".into(), "Down".into()].into(),
            tokens: TOKENS.into(),
            end_date: Some("2026-02-01T12:00:00Z".into()),
            archived: false,
            own: false,
            event: Some(Arc::new(EventTexts {
                id: 5,
                slug: "event".into(),
                title: "New event".into(),
                tags: ["New".into()].into(),
                ..EventTexts::default()
            })),
        }
    }

    #[test]
    fn the_catalog_describes_a_market_and_its_meaning_and_rules_stay() {
        let market = described(registered(), &words(), &TOKENS);
        assert_eq!(
            (market.question.as_str(), market.slug.as_str()),
            ("Old?", "new")
        );
        assert_eq!(
            (market.icon.as_str(), market.image.as_str()),
            ("https://old", "https://new")
        );
        assert_eq!(
            (market.outcomes, market.tags),
            (["Yes".into(), "No".into()], vec!["New".into()])
        );
        assert_eq!(
            (market.market_id, market.description.as_str()),
            (9, "Rules")
        );
        assert_eq!(market.end_date.as_deref(), Some("2026-02-01T12:00:00Z"));
        let event = market.event.unwrap();
        assert_eq!(
            (event.title.as_str(), event.description.as_str()),
            ("New event", "About")
        );
    }

    #[test]
    fn another_event_brings_its_own_words() {
        let mut words = words();
        let event = EventTexts {
            id: 6,
            title: "Another".into(),
            ..EventTexts::default()
        };
        words.event = Some(Arc::new(event));
        let market = described(registered(), &words, &TOKENS);
        let event = market.event.unwrap();
        assert_eq!((event.id, event.title.as_str()), (Some(6), "Another"));
        assert_eq!(
            (event.description.as_str(), market.tags),
            ("", vec!["Old".into()])
        );
    }

    #[test]
    fn a_record_with_other_tokens_names_nothing() {
        let mut words = words();
        words.tokens = TOKENS.into_iter().rev().collect();
        assert_eq!(described(registered(), &words, &TOKENS), registered());
    }
}
