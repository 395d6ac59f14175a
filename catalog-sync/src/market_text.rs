//! Converts units of change of the catalog to groups for the comparison, with the texts that a
//! registration journals.

use foretell_catalog::Unit;
use foretell_catalog::record::{Answer, EventRecord, MarketRecord};
use foretell_model::ConditionId;
use foretell_model::limits::MAX_EVIDENCE_BYTES;
use foretell_wire::operator::{EventRegistration, EventSummary, MarketDescription};
use foretell_wire::text::ids;
use foretell_wire::text::printable::is_hidden;

use crate::difference::{CatalogMarket, MarketGroup};

/// Most bytes of a title, label or URL in a registration.
const MAX_TEXT_BYTES: usize = 2_048;
/// Most bytes of a description in a registration.
const MAX_DESCRIPTION_BYTES: usize = 32 * 1024;
/// Most tags of a market in a registration.
const MAX_TAGS: usize = 64;
/// Most bytes of a description as JSON; leaves 16 KiB of the evidence for the other fields.
const MAX_DESCRIPTION_JSON_BYTES: usize = MAX_EVIDENCE_BYTES - 16 * 1024;

/// The markets of a unit in the form for the comparison.
#[must_use]
pub fn group(unit: &Unit) -> MarketGroup {
    let tags: Vec<String> = unit
        .tags()
        .iter()
        .map(|tag| cut(&tag.label, MAX_TEXT_BYTES))
        .filter(|label| !label.is_empty())
        .take(MAX_TAGS)
        .collect();
    let listed = |market: &MarketRecord| CatalogMarket {
        id: market.id,
        slug: market.slug.clone(),
        condition: condition(market),
        flags: market.flags,
        answer: Answer::of(&market.uma_status),
        payout: market.payout,
        terms: market.terms.clone(),
        description: fit_evidence(description(market, unit.event.as_ref(), &tags)),
    };
    let event = unit.event.as_ref().filter(|event| event.neg_risk);
    MarketGroup {
        event: event.map(registration),
        is_whole: unit.is_whole,
        markets: unit.markets.iter().map(listed).collect(),
    }
}

fn condition(market: &MarketRecord) -> Option<ConditionId> {
    match &market.terms {
        Ok(terms) => Some(terms.condition),
        Err(_) => ids::condition_id(&market.condition_id),
    }
}

fn registration(event: &EventRecord) -> EventRegistration {
    EventRegistration {
        event_id: event.id,
        title: first_of(&[&event.title, &event.slug]),
        slug: cut(&event.slug, MAX_TEXT_BYTES),
        ticker: cut(&event.ticker, MAX_TEXT_BYTES),
        description: String::new(),
        tags: Vec::new(),
    }
}

fn description(
    market: &MarketRecord,
    event: Option<&EventRecord>,
    tags: &[String],
) -> MarketDescription {
    let outcomes = match &market.terms {
        Ok(terms) => terms
            .outcomes
            .each_ref()
            .map(|label| first_of(&[label, "?"])),
        Err(_) => MarketDescription::default().outcomes,
    };
    let date = |date: Option<jiff::Timestamp>| date.map(|date| date.to_string());
    MarketDescription {
        question: first_of(&[&market.question, &market.slug]),
        description: cut_description(&market.description),
        slug: cut(&market.slug, MAX_TEXT_BYTES),
        outcomes,
        icon: whole_or_empty(&market.icon),
        image: whole_or_empty(&market.image),
        category: cut(&market.category, MAX_TEXT_BYTES),
        tags: tags.to_vec(),
        end_date: date(market.end_date),
        game_start_time: date(market.game_start_time),
        resolution_source: whole_or_empty(&market.resolution_source),
        question_id: whole_or_empty(&market.question_id),
        market_id: market.id,
        neg_risk_market_id: whole_or_empty(&market.neg_risk_market_id),
        neg_risk_request_id: whole_or_empty(&market.neg_risk_request_id),
        event: event.map(summary),
        // It stays in the catalog, because it changes and the journal cannot forget it.
        raw_metadata: serde_json::Map::new(),
    }
}

/// Reduces texts to fit a journal frame. Only attacks reach the reduced form.
fn fit_evidence(description: MarketDescription) -> MarketDescription {
    if description.to_evidence().is_ok() {
        return description;
    }
    MarketDescription {
        question: description.question,
        slug: description.slug,
        outcomes: description.outcomes,
        market_id: description.market_id,
        ..MarketDescription::default()
    }
}

fn summary(event: &EventRecord) -> EventSummary {
    EventSummary {
        id: Some(event.id),
        slug: cut(&event.slug, MAX_TEXT_BYTES),
        title: cut(&event.title, MAX_TEXT_BYTES),
        ticker: cut(&event.ticker, MAX_TEXT_BYTES),
        description: cut(&event.description, MAX_TEXT_BYTES),
    }
}

/// The first non-empty text, cut.
fn first_of(texts: &[&str]) -> String {
    let text = texts.iter().find(|text| !text.is_empty());
    cut(text.copied().unwrap_or("?"), MAX_TEXT_BYTES)
}

/// A URL or id unchanged; empty when too long, because a cut one is useless.
fn whole_or_empty(text: &str) -> String {
    let text = &one_way(text);
    if text.len() <= MAX_TEXT_BYTES {
        text.clone()
    } else {
        String::new()
    }
}

/// At most `bytes` bytes of a text, cut at a character boundary.
fn cut(text: &str, bytes: usize) -> String {
    let text = one_way(text);
    text[..text.floor_char_boundary(bytes)].to_owned()
}

/// A text without hidden characters, which no registration may have.
fn one_way(text: &str) -> String {
    text.replace(is_hidden, "")
}

/// Cuts a description to its limits. Escaped in JSON, a character may take six bytes.
fn cut_description(text: &str) -> String {
    let text = one_way(text);
    let (mut kept, mut room) = (0, MAX_DESCRIPTION_JSON_BYTES);
    for character in text.chars() {
        let bytes = match character {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            '\0'..='\u{1f}' => 6,
            _ => character.len_utf8(),
        };
        if bytes > room || kept + character.len_utf8() > MAX_DESCRIPTION_BYTES {
            break;
        }
        (kept, room) = (kept + character.len_utf8(), room - bytes);
    }
    text[..kept].to_owned()
}

#[cfg(test)]
mod tests {
    use foretell_catalog::record::{Record, RecordKind, read};
    use serde_json::{Value, json};

    use super::*;

    fn market(json: &Value) -> MarketRecord {
        match read(Some(RecordKind::Market), json.to_string().as_bytes())
            .unwrap()
            .record
        {
            Record::Market(market) => *market,
            other => panic!("{other:?}"),
        }
    }

    fn unit(market_json: &Value) -> Unit {
        let event = json!({"id": "5", "slug": "e", "title": "Event", "ticker": "tick", "negRisk": true,
            "description": "about", "tags": [{"id": "1", "label": "Politics", "slug": "politics"}]});
        let event = match read(Some(RecordKind::Event), event.to_string().as_bytes())
            .unwrap()
            .record
        {
            Record::Event(event) => *event,
            other => panic!("{other:?}"),
        };
        Unit {
            change: 1,
            event: Some(event),
            is_whole: true,
            markets: vec![market(market_json)],
        }
    }

    fn usual() -> Value {
        json!({"id": "9", "slug": "m", "question": "Q?", "conditionId": format!("0x{}", "ab".repeat(32)),
            "outcomes": "[\"Up\", \"Down\"]", "clobTokenIds": "[\"1\", \"2\"]", "negRisk": true,
            "icon": "https://i", "endDate": "2026-01-23 20:56:36+00", "description": "rules"})
    }

    #[test]
    fn a_registration_says_what_the_catalog_knows() {
        let group = group(&unit(&usual()));
        assert_eq!(group.event.as_ref().map(|event| event.event_id), Some(5));
        let description = &group.markets[0].description;
        assert_eq!(
            (description.question.as_str(), description.market_id),
            ("Q?", 9)
        );
        assert_eq!(description.outcomes, ["Up", "Down"]);
        assert_eq!(description.tags, ["Politics"]);
        assert_eq!(
            description.end_date.as_deref(),
            Some("2026-01-23T20:56:36Z")
        );
        let event = description.event.as_ref().unwrap();
        assert_eq!((event.id, event.title.as_str()), (Some(5), "Event"));
    }

    /// The upstream may say that a market is resolved before it closes it.
    #[test]
    fn an_answer_is_read_in_any_spelling_also_of_an_open_market() {
        for (status, answer) in [
            ("Proposed", Answer::Proposed),
            (" disputed", Answer::Proposed),
            ("resolved ", Answer::Known),
            ("RESOLVED", Answer::Known),
            ("", Answer::Open),
            ("requested", Answer::Open),
        ] {
            let mut market = usual();
            market["umaResolutionStatus"] = status.into();
            market["closed"] = false.into();
            let read = &group(&unit(&market)).markets[0];
            assert_eq!((read.answer, read.payout), (answer, None), "{status}");
        }
    }

    #[test]
    fn a_market_that_cannot_trade_keeps_its_condition() {
        let mut three = usual();
        three["outcomes"] = "[\"A\", \"B\", \"C\"]".into();
        let group = group(&unit(&three));
        assert!(group.markets[0].terms.is_err());
        assert_eq!(group.markets[0].condition, Some(ConditionId([0xab; 32])));
    }

    #[test]
    fn whatever_a_record_holds_fits_the_journal() {
        for text in ["\u{1}", "\"", "ä", "🎉", "x"] {
            let mut long = usual();
            for field in [
                "description",
                "question",
                "icon",
                "category",
                "resolutionSource",
            ] {
                long[field] = text.repeat(100_000 / text.len()).into();
            }
            let description = group(&unit(&long)).markets[0].description.clone();
            assert!(description.to_evidence().is_ok());
            assert_eq!((description.slug.as_str(), description.market_id), ("m", 9));
        }
        let mut long = usual();
        long["description"] = "ä\n".repeat(30_000).into();
        let description = group(&unit(&long)).markets[0].description.clone();
        assert!(
            (MAX_DESCRIPTION_BYTES - 3..=MAX_DESCRIPTION_BYTES)
                .contains(&description.description.len())
        );
        let mut empty = usual();
        empty["question"] = "".into();
        assert_eq!(group(&unit(&empty)).markets[0].description.question, "m");
    }
}
