//! From what changes together in the catalog to what is compared together, with the words that are
//! journalled beside a registration.

use foretell_catalog::Unit;
use foretell_catalog::record::{EventRecord, MarketRecord};
use foretell_model::ConditionId;
use foretell_model::limits::MAX_EVIDENCE_BYTES;
use foretell_wire::ids;
use foretell_wire::operator::{EventSummary, MarketDescription};

use crate::difference::{Group, Listed};
use crate::exchange::EventRegistration;

/// Bytes of a title, label or URL that the exchange takes.
const SHORT: usize = 2_048;
/// Bytes of a description that the exchange takes.
const LONG: usize = 32 * 1024;
/// Tags of a market that the exchange takes.
const MAX_TAGS: usize = 64;
/// Bytes that the longest description may have as JSON, beside everything else that is journalled.
const ROOM: usize = MAX_EVIDENCE_BYTES - 16 * 1024;

/// The markets of a unit, as they are compared with the exchange.
#[must_use]
pub fn group(unit: &Unit) -> Group {
    let tags: Vec<String> = unit
        .tags()
        .iter()
        .map(|tag| cut(&tag.label, SHORT))
        .filter(|label| !label.is_empty())
        .take(MAX_TAGS)
        .collect();
    let listed = |market: &MarketRecord| Listed {
        id: market.id,
        slug: market.slug.clone(),
        condition: condition(market),
        flags: market.flags,
        terms: market.terms.clone(),
        words: fitted(words(market, unit.event.as_ref(), &tags)),
    };
    let event = unit.event.as_ref().filter(|event| event.neg_risk);
    Group {
        event: event.map(registration),
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
        id: event.id,
        title: first_of(&[&event.title, &event.slug]),
        slug: cut(&event.slug, SHORT),
        ticker: cut(&event.ticker, SHORT),
    }
}

fn words(market: &MarketRecord, event: Option<&EventRecord>, tags: &[String]) -> MarketDescription {
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
        description: cut_to_room(&market.description),
        slug: cut(&market.slug, SHORT),
        outcomes,
        icon: whole(&market.icon),
        image: whole(&market.image),
        category: cut(&market.category, SHORT),
        tags: tags.to_vec(),
        end_date: date(market.end_date),
        game_start_time: date(market.game_start_time),
        resolution_source: whole(&market.resolution_source),
        question_id: whole(&market.question_id),
        market_id: market.id,
        neg_risk_market_id: whole(&market.neg_risk_market_id),
        neg_risk_request_id: whole(&market.neg_risk_request_id),
        event: event.map(summary),
        // It stays in the catalog, where it changes; a journal is for ever.
        raw_metadata: serde_json::Map::new(),
    }
}

/// What fits a frame of the journal. Records that need more than the first line are attacks.
fn fitted(words: MarketDescription) -> MarketDescription {
    if words.to_evidence().is_ok() {
        return words;
    }
    MarketDescription {
        question: words.question,
        slug: words.slug,
        outcomes: words.outcomes,
        market_id: words.market_id,
        ..MarketDescription::default()
    }
}

fn summary(event: &EventRecord) -> EventSummary {
    EventSummary {
        id: Some(event.id),
        slug: cut(&event.slug, SHORT),
        title: cut(&event.title, SHORT),
        ticker: cut(&event.ticker, SHORT),
        description: cut(&event.description, SHORT),
    }
}

/// The first text that is not empty.
fn first_of(texts: &[&str]) -> String {
    let text = texts.iter().find(|text| !text.is_empty());
    cut(text.copied().unwrap_or("?"), SHORT)
}

/// A URL or an id: whole, or it is worth nothing.
fn whole(text: &str) -> String {
    if text.len() <= SHORT {
        text.to_owned()
    } else {
        String::new()
    }
}

/// At most so many bytes of a text, and no half character.
fn cut(text: &str, bytes: usize) -> String {
    text[..text.floor_char_boundary(bytes)].to_owned()
}

/// As much of a description as fits the journal: in JSON a character may take six bytes.
fn cut_to_room(text: &str) -> String {
    let (mut kept, mut room) = (0, ROOM);
    for character in text.chars() {
        let bytes = match character {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            '\0'..='\u{1f}' => 6,
            _ => character.len_utf8(),
        };
        if bytes > room || kept + character.len_utf8() > LONG {
            break;
        }
        (kept, room) = (kept + character.len_utf8(), room - bytes);
    }
    text[..kept].to_owned()
}

#[cfg(test)]
mod tests {
    use foretell_catalog::record::{Kind, Record, read};
    use serde_json::{Value, json};

    use super::*;

    fn market(json: &Value) -> MarketRecord {
        match read(Some(Kind::Market), json.to_string().as_bytes())
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
        let event = match read(Some(Kind::Event), event.to_string().as_bytes())
            .unwrap()
            .record
        {
            Record::Event(event) => *event,
            other => panic!("{other:?}"),
        };
        Unit {
            change: 1,
            event: Some(event),
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
        assert_eq!(group.event.as_ref().map(|event| event.id), Some(5));
        let words = &group.markets[0].words;
        assert_eq!((words.question.as_str(), words.market_id), ("Q?", 9));
        assert_eq!(words.outcomes, ["Up", "Down"]);
        assert_eq!(words.tags, ["Politics"]);
        assert_eq!(words.end_date.as_deref(), Some("2026-01-23T20:56:36Z"));
        let event = words.event.as_ref().unwrap();
        assert_eq!((event.id, event.title.as_str()), (Some(5), "Event"));
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
            let words = group(&unit(&long)).markets[0].words.clone();
            assert!(words.to_evidence().is_ok());
            assert_eq!((words.slug.as_str(), words.market_id), ("m", 9));
        }
        let mut long = usual();
        long["description"] = "ä\n".repeat(30_000).into();
        let words = group(&unit(&long)).markets[0].words.clone();
        assert!((LONG - 3..=LONG).contains(&words.description.len()));
        let mut empty = usual();
        empty["question"] = "".into();
        assert_eq!(group(&unit(&empty)).markets[0].words.question, "m");
    }
}
