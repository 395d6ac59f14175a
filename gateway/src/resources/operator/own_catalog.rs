//! Own markets in the catalog: their records follow from the view, so that the catalog of any host
//! can be derived from the journal and the upstream.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use foretell_catalog::record::{RecordKind, read};
use foretell_catalog::{CatalogError, Writer};
use foretell_model::{EventNumber, MarketNumber, MarketState, Payout, Sequence};
use foretell_view::{EventGroup, Market, View};
use foretell_wire::ids::token_text;
use foretell_wire::operator::{EventDescription, MarketDescription};
use foretell_wire::time::iso;
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::own_ids;
use super::own_markets::{is_own, slug_of};
use crate::app::App;

/// The writer of own records, on a gateway with the operator surface.
pub(crate) struct OwnCatalog {
    progress: Mutex<Progress>,
}

/// What the catalog has of the view.
#[derive(Default)]
struct Progress {
    writer: Option<Writer>,
    /// Changes up to here are written.
    written: Sequence,
    /// Words of the event groups as written.
    groups: HashMap<EventNumber, Box<[u8]>>,
}

/// Brings the catalog up to date after a request; a failure is repaired by the watcher's next turn.
pub(super) async fn write_now(app: &Arc<App>) {
    let app = Arc::clone(app);
    let written = tokio::task::spawn_blocking(move || write(&app)).await;
    if !matches!(written, Ok(Ok(()))) {
        tracing::warn!("own markets are not in the catalog yet: the next turn writes them");
    }
}

/// Writes every own record that changed since the last call. Blocks.
pub(crate) fn write(app: &App) -> Result<(), CatalogError> {
    let (Some(own), Some(pool)) = (&app.own_catalog, &app.catalog) else {
        return Ok(());
    };
    let mut progress = own.progress.lock();
    let (records, sequence, groups) = {
        let state = app.shared_view.read();
        let view = &state.view;
        let groups = changed_groups(view, &progress);
        (changed_records(view, &progress, &groups), view.sequence(), groups)
    };
    if !records.is_empty() {
        let writer = match &mut progress.writer {
            Some(writer) => writer,
            none => none.insert(Writer::open(pool.file())?),
        };
        let mut batch = writer.begin()?;
        for record in &records {
            match read(Some(RecordKind::Event), record.to_string().as_bytes()) {
                Ok(record) => batch.put_own(&record)?,
                Err(skip) => batch.skip(skip),
            }
        }
        batch.commit()?;
        pool.catalog()?.refresh_lists()?;
    }
    progress.written = sequence;
    progress.groups.extend(groups);
    Ok(())
}

impl OwnCatalog {
    pub(crate) fn new() -> Self {
        Self {
            progress: Mutex::default(),
        }
    }
}

/// Own event groups whose words differ from the written ones.
fn changed_groups(view: &View, progress: &Progress) -> HashMap<EventNumber, Box<[u8]>> {
    let changed = view.events().iter().filter(|(number, group)| {
        progress.groups.get(number) != Some(&group.description) && is_own_group(view, group)
    });
    changed
        .map(|(number, group)| (number, group.description.clone()))
        .collect()
}

/// A group belongs to the operator when it has questions, and all of them do.
fn is_own_group(view: &View, group: &EventGroup) -> bool {
    let own = |number: &MarketNumber| view.markets().get(*number).is_some_and(is_own);
    !group.questions.is_empty() && group.questions.iter().all(own)
}

/// A record for each event with an own market that changed.
fn changed_records(
    view: &View,
    progress: &Progress,
    groups: &HashMap<EventNumber, Box<[u8]>>,
) -> Vec<Value> {
    let mut events: BTreeSet<EventNumber> = groups.keys().copied().collect();
    let mut records = Vec::new();
    let changed = view.markets().iter().filter(|(_, market)| {
        market.changed > progress.written && is_own(market)
    });
    for (_, market) in changed {
        match market.question {
            Some((event, _)) => {
                events.insert(event);
            }
            None => records.push(plain_event(market)),
        }
    }
    let group = |number| view.events().get(number);
    let own = events.into_iter().filter_map(group);
    records.extend(own.filter(|it| is_own_group(view, it)).map(|it| group_event(view, it)));
    records
}

/// The event that shows a plain market.
fn plain_event(market: &Market) -> Value {
    let words = MarketDescription::from_evidence(&market.description).unwrap_or_default();
    let is_over = is_over(market);
    json!({
        "id": own_ids::event_of_market(&market.condition).to_string(),
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
fn group_event(view: &View, group: &EventGroup) -> Value {
    let words = EventDescription::from_evidence(&group.description).unwrap_or_default();
    let markets: Vec<&Market> = (group.questions.iter())
        .filter_map(|number| view.markets().get(*number))
        .collect();
    let described: Vec<MarketDescription> = (markets.iter())
        .map(|market| MarketDescription::from_evidence(&market.description).unwrap_or_default())
        .collect();
    let mut labels: Vec<String> = described.iter().flat_map(|it| it.tags.clone()).collect();
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
        "id": own_ids::event_record(group.id.0).to_string(),
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
        "id": own_ids::market_id(&market.condition).to_string(),
        "question": words.question,
        "conditionId": market.condition.to_string(),
        "slug": words.slug,
        "resolutionSource": words.resolution_source,
        "endDate": words.end_date,
        "gameStartTime": words.game_start_time,
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
        "secondsDelay": terms.taker_delay_ms / 1_000,
        "clearBookOnStart": terms.clear_book_on_start,
        "umaResolutionStatus": market.payout.map(|_| "resolved"),
    })
}

fn prices(payout: Payout) -> Value {
    match payout {
        Payout::Yes => json!(["1", "0"]),
        Payout::No => json!(["0", "1"]),
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
        let id = own_ids::tag(&slug).to_string();
        (!slug.is_empty()).then(|| json!({ "id": id, "label": label, "slug": slug }))
    };
    labels.iter().filter_map(tag).collect()
}
