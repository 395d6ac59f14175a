//! Records of own markets and event groups in the form of an upstream's, from the view.

use foretell_model::{MarketState, Payout, TimeMs};
use foretell_view::{EventGroup, Market, View};
use foretell_wire::ids::token_text;
use foretell_wire::operator::{EventDescription, MarketDescription};
use foretell_wire::time::{iso, iso_millis};
use serde_json::{Value, json};

use super::ids;
use super::ids::slug_of;

/// The event that shows a plain market.
pub(super) fn plain_event(market: &Market) -> Value {
    let words = MarketDescription::from_words(&market.description).unwrap_or_default();
    let is_over = is_over(market);
    json!({
        "id": ids::event_of_market(&market.condition).to_string(),
        "ticker": words.slug,
        "slug": words.slug,
        "title": words.question,
        "description": words.description,
        "image": words.image,
        "icon": words.icon,
        "endDate": words.end_date,
        "createdAt": iso(market.registered),
        "active": true,
        "closed": is_over,
        "archived": market.archived,
        "negRisk": false,
        "tags": tags(&words.tags),
        "markets": [market_record(market, &words)],
    })
}

/// The event of a neg-risk event group with its questions.
pub(super) fn group_event(view: &View, group: &EventGroup) -> Value {
    let words = EventDescription::from_words(&group.description).unwrap_or_default();
    let markets: Vec<&Market> = (group.questions.iter())
        .filter_map(|number| view.markets().get(*number))
        .collect();
    let described: Vec<MarketDescription> = (markets.iter())
        .map(|market| MarketDescription::from_words(&market.description).unwrap_or_default())
        .collect();
    let of_questions = described.iter().flat_map(|it| &it.tags);
    let mut labels: Vec<String> = words.tags.iter().chain(of_questions).cloned().collect();
    labels.sort_unstable();
    labels.dedup();
    let slug = match words.slug.is_empty() {
        true => slug_of(&words.title),
        false => words.slug,
    };
    let records: Vec<Value> = (markets.iter().zip(&described))
        .map(|(market, words)| market_record(market, words))
        .collect();
    json!({
        "id": ids::event_record(group.id.0).to_string(),
        "ticker": words.ticker,
        "slug": slug,
        "title": words.title,
        "description": words.description,
        "image": described.first().map(|it| it.image.as_str()).unwrap_or_default(),
        "icon": described.first().map(|it| it.icon.as_str()).unwrap_or_default(),
        "endDate": described.iter().filter_map(|it| it.end_date.as_deref()).max(),
        "createdAt": iso(group.registered),
        "active": true,
        "closed": markets.iter().all(|market| is_over(market)),
        "archived": markets.iter().all(|market| market.archived),
        "negRisk": true,
        "tags": tags(&labels),
        "markets": records,
    })
}

fn is_over(market: &Market) -> bool {
    matches!(market.state, MarketState::Closed | MarketState::Resolved)
}

fn market_record(market: &Market, words: &MarketDescription) -> Value {
    let text = |value: &Value| value.to_string();
    let tokens: Vec<String> = market.tokens.iter().map(token_text).collect();
    let fee = market.fee;
    let terms = market.terms;
    json!({
        "id": ids::market_id(&market.condition).to_string(),
        "question": words.question,
        "conditionId": market.condition.to_string(),
        "slug": words.slug,
        "resolutionSource": words.resolution_source,
        "endDate": words.end_date,
        "gameStartTime": game_start(market, words),
        "image": words.image,
        "icon": words.icon,
        "description": words.description,
        "outcomes": text(&json!(words.outcomes)),
        "outcomePrices": market.payout.map(|payout| text(&prices(payout))),
        "clobTokenIds": text(&json!(tokens)),
        "category": words.category,
        "questionID": words.question_id,
        "active": market.activated.is_some() || market.state == MarketState::Active,
        "closed": is_over(market),
        "archived": market.archived,
        "createdAt": iso(market.registered),
        "closedTime": market.closed.map(iso),
        "acceptingOrders": market.state == MarketState::Active,
        "enableOrderBook": true,
        "orderPriceMinTickSize": market.tick.text(),
        "orderMinSize": foretell_wire::decimal::Decimal::from(market.minimum_size).to_string(),
        "negRisk": market.is_neg_risk(),
        "feesEnabled": fee.rate_ppm > 0,
        "feeSchedule": {
            "rate": ratio(fee.rate_ppm),
            "exponent": fee.exponent,
            "takerOnly": true,
            "rebateRate": ratio(terms.rebate_ppm),
        },
        "secondsDelay": terms.taker_delay_ms.div_ceil(1_000),
        "clearBookOnStart": terms.clear_book_on_start,
        "umaResolutionStatus": market.payout.map(|_| "resolved"),
    })
}

/// The game start of the terms, else the text it was registered with.
fn game_start(market: &Market, words: &MarketDescription) -> Option<String> {
    match market.terms.game_start_time {
        TimeMs(0) => words.game_start_time.clone(),
        start => Some(iso_millis(start)),
    }
}

fn prices(payout: Payout) -> Value {
    match payout {
        Payout::Yes => json!(["1", "0"]),
        Payout::No | Payout::Outside => json!(["0", "1"]),
        Payout::Half => json!(["0.5", "0.5"]),
    }
}

/// Parts per million as a decimal number.
fn ratio(ppm: u32) -> Value {
    let text = foretell_wire::decimal::Decimal::micros(ppm.into()).to_string();
    serde_json::from_str(&text).unwrap_or_default()
}

fn tags(labels: &[String]) -> Vec<Value> {
    let tag = |label: &String| {
        let slug = slug_of(label);
        let id = ids::tag(&slug).to_string();
        (!slug.is_empty()).then(|| json!({ "id": id, "label": label, "slug": slug }))
    };
    labels.iter().filter_map(tag).collect()
}
