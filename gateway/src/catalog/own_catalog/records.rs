//! Records of own markets and event groups in the form of an upstream's, from the view.

use foretell_catalog::every_record;
use foretell_model::{MarketNumber, TimeMs};
use foretell_view::{EventGroup, Market, View};
use foretell_wire::operator::{EventDescription, EventSummary, MarketDescription};
use foretell_wire::text::ids::token_text;
use foretell_wire::text::time::{iso, iso_millis};
use serde_json::{Map, Value, json};

use crate::catalog::own_catalog::identity::{described, event_of_group};
use crate::catalog::own_catalog::ids::{self, slug_of};
use crate::render::market_facts::{catalog_fields, last_step};

/// The event that shows a plain market.
pub(crate) fn plain_event(view: &View, number: MarketNumber, market: &Market) -> Value {
    let words = described(&market.description, &market.condition, None);
    let summary = words.event.clone().unwrap_or_default();
    event_record(summary, &words.tags, vec![(number, market, &words)], view)
}

/// The event of a neg-risk event group with its questions.
pub(crate) fn group_event(view: &View, group: &EventGroup) -> Value {
    let numbers = group.questions.iter().copied();
    let markets = numbers.filter_map(|number| Some((number, view.markets().get(number)?)));
    let markets: Vec<_> = markets.collect();
    let words: Vec<_> = (markets.iter())
        .map(|(_, market)| {
            let group = Some((group.id, &*group.description));
            described(&market.description, &market.condition, group)
        })
        .collect();
    let of_event = EventDescription::from_words(&group.description).unwrap_or_default();
    let of_questions = words.iter().flat_map(|it| &it.tags);
    let mut labels: Vec<String> = of_event.tags.iter().chain(of_questions).cloned().collect();
    labels.sort_unstable();
    labels.dedup();
    let questions = markets.into_iter().zip(&words);
    let questions = questions.map(|((number, market), words)| (number, market, words));
    let summary = event_of_group(group.id, &group.description);
    let neg_risk = ids::neg_risk_market(summary.id.unwrap_or_default());
    let mut record = event_record(summary, &labels, questions.collect(), view);
    record["createdAt"] = iso(group.registered).into();
    record["creationDate"] = iso(group.registered).into();
    record["negRisk"] = true.into();
    record["enableNegRisk"] = true.into();
    record["negRiskMarketID"] = neg_risk.into();
    record
}

type Described<'a> = (MarketNumber, &'a Market, &'a MarketDescription);

fn event_record(
    event: EventSummary,
    labels: &[String],
    markets: Vec<Described<'_>>,
    view: &View,
) -> Value {
    let words = || markets.iter().map(|(.., words)| *words);
    let registered = markets.iter().map(|(_, market, _)| market.registered);
    let started = markets
        .iter()
        .map(|(_, market, _)| market.activated.unwrap_or(market.registered));
    let changed = markets.iter().map(|(_, market, _)| last_step(market));
    let registered = registered.min().map(iso);
    let records: Vec<Value> = (markets.iter())
        .map(|market| market_record(view, *market))
        .collect();
    let is_over = |record: &Value| record["closed"] == true;
    let record = without_blanks(json!({
        "id": event.id.unwrap_or_default().to_string(),
        "ticker": event.ticker,
        "slug": event.slug,
        "title": event.title,
        "description": event.description,
        "resolutionSource": words().next().map(|it| it.resolution_source.as_str()),
        "image": words().next().map(|it| it.image.as_str()),
        "icon": words().next().map(|it| it.icon.as_str()),
        "startDate": started.min().map(iso),
        "creationDate": registered,
        "endDate": words().filter_map(|it| it.end_date.as_deref()).max(),
        "createdAt": registered,
        "updatedAt": changed.max().map(iso),
        "active": true,
        "closed": records.iter().all(is_over),
        "archived": markets.iter().all(|(_, market, _)| market.archived),
        "enableOrderBook": true,
        "negRisk": false,
        "tags": tags(labels),
        "markets": records,
    }));
    filled(record, every_record::fill_event)
}

fn market_record(view: &View, (number, market, words): Described<'_>) -> Value {
    let text = |value: &Value| value.to_string();
    let tokens: Vec<String> = market.tokens.iter().map(token_text).collect();
    let mut record = without_blanks(json!({
        "id": words.market_id.to_string(),
        "question": words.question,
        "conditionId": market.condition.to_string(),
        "slug": words.slug,
        "resolutionSource": words.resolution_source,
        "startDate": iso(market.activated.unwrap_or(market.registered)),
        "endDate": words.end_date,
        "gameStartTime": game_start(market, words),
        "image": words.image,
        "icon": words.icon,
        "description": words.description,
        "outcomes": text(&json!(words.outcomes)),
        "clobTokenIds": text(&json!(tokens)),
        "category": words.category,
        "questionID": words.question_id,
        "negRiskMarketID": words.neg_risk_market_id,
        "negRiskRequestID": words.neg_risk_request_id,
        "createdAt": iso(market.registered),
        "updatedAt": iso(last_step(market)),
    }));
    if let Some((_, place)) = market.question {
        let title = words.raw_metadata.get("groupItemTitle");
        record["groupItemTitle"] = title
            .cloned()
            .unwrap_or_else(|| words.question.clone().into());
        record["groupItemThreshold"] = place.to_string().into();
    }
    let trading = catalog_fields(view, number).unwrap_or_default();
    let trading: Map<String, Value> = serde_json::from_str(&trading).unwrap_or_default();
    if let Value::Object(record) = &mut record {
        record.extend(trading);
    }
    filled(record, every_record::fill_market)
}

/// A record with the fields that it lacks.
fn filled(mut record: Value, fill: fn(&mut Map<String, Value>)) -> Value {
    if let Value::Object(fields) = &mut record {
        fill(fields);
    }
    record
}

/// A record without fields that have no value: a client may refuse an empty id or date.
fn without_blanks(mut record: Value) -> Value {
    if let Value::Object(fields) = &mut record {
        fields.retain(|_, value| !value.is_null() && value != "");
    }
    record
}

/// The game start of the terms, else the text it was registered with.
fn game_start(market: &Market, words: &MarketDescription) -> Option<String> {
    match market.terms.game_start_time {
        TimeMs(0) => words.game_start_time.clone(),
        start => Some(iso_millis(start)),
    }
}

fn tags(labels: &[String]) -> Vec<Value> {
    let tag = |label: &String| {
        let slug = slug_of(label);
        let id = ids::tag(&slug).to_string();
        (!slug.is_empty()).then(|| json!({ "id": id, "label": label, "slug": slug }))
    };
    labels.iter().filter_map(tag).collect()
}
