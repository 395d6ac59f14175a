//! Tags and creators of events apply to their markets.

use foretell_model::WalletAddress;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::query::{EventsQuery, MarketsQuery, OneMarketQuery};
use crate::record::read;
use crate::store::Writer;
use foretell_wire::read::query::Query;
use foretell_wire::read::query::parameters::Parameters as _;

const EVENTS: u64 = 12;

fn address(id: u64) -> String {
    format!("0x{id:040x}")
}

/// Tags of an event: one of all events, one of every second, one of a single event.
fn tags(event: u64) -> Vec<u64> {
    let mut tags = vec![1];
    tags.extend(event.is_multiple_of(2).then_some(2));
    tags.extend((event == 5).then_some(3));
    tags
}

/// Creator of a market; every third market has none.
fn creator(market: u64) -> Option<u64> {
    (!market.is_multiple_of(3)).then_some(if market == 8 { 9 } else { 7 })
}

/// Creator of an event, which applies to its markets without a creator.
fn event_creator(event: u64) -> Option<u64> {
    event.is_multiple_of(4).then_some(7)
}

fn record(event: u64) -> Value {
    let market = |id: u64| {
        let mut market = json!({"id": id, "slug": format!("m{id}"), "question": "Q", "volume": id % 3,
            "closed": id.is_multiple_of(2), "conditionId": ""});
        if let Some(creator) = creator(id) {
            market["creator"] = json!(address(creator));
        }
        market
    };
    let tag = |id: u64| json!({"id": id, "slug": format!("t{id}"), "label": "L"});
    let mut record = json!({"id": event, "slug": format!("e{event}"), "title": "T",
        "tags": tags(event).into_iter().map(tag).collect::<Vec<_>>(),
        "series": [{"id": 1, "slug": "s1"}],
        "markets": [market(event * 2), market(event * 2 + 1)]});
    if let Some(creator) = event_creator(event) {
        record["creator"] = json!(address(creator));
    }
    record
}

fn made_by(market: u64, who: u64) -> bool {
    creator(market).or_else(|| event_creator(market / 2)) == Some(who)
}

fn ids(answer: &str) -> Vec<u64> {
    let rows: Vec<Value> = serde_json::from_str(answer).unwrap();
    let id = |row: &Value| row["id"].as_str().unwrap().parse().unwrap();
    rows.iter().map(id).collect()
}

fn query(text: &str) -> Query<'_> {
    text.split('&')
        .filter_map(|pair| pair.split_once('='))
        .collect()
}

fn shelf() -> (tempfile::TempDir, Catalog) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("catalog.db");
    let mut writer = Writer::open(&path).unwrap();
    let mut batch = writer.begin().unwrap();
    for event in 1..=EVENTS {
        let record = record(event).to_string();
        batch.put(&read(None, record.as_bytes()).unwrap()).unwrap();
    }
    batch.commit().unwrap();
    let sites = Sites::from([("site".to_owned(), vec![WalletAddress([0; 20])])]);
    (directory, Catalog::open(&path, sites).unwrap())
}

#[rstest]
fn tags_and_creators_are_those_of_the_records(
    #[values(None, Some(1), Some(2), Some(3), Some(4))] tag: Option<u64>,
    #[values(None, Some(7), Some(9), Some(8))] who: Option<u64>,
    #[values(None, Some(true), Some(false))] closed: Option<bool>,
) {
    let (_directory, catalog) = shelf();
    let mut text = "limit=500&ascending=true".to_owned();
    if let Some(tag) = tag {
        text.push_str(&format!("&tag=t{tag}"));
    }
    if let Some(who) = who {
        text.push_str(&format!("&creator={}", address(who)));
    }
    let in_tag = |event: u64| tag.is_none_or(|tag| tags(event).contains(&tag));
    let events: Vec<u64> = (1..=EVENTS)
        .filter(|event| in_tag(*event))
        .filter(|event| {
            who.is_none_or(|who| {
                let markets = [event * 2, event * 2 + 1];
                event_creator(*event) == Some(who)
                    || markets.iter().any(|id| creator(*id) == Some(who))
            })
        })
        .collect();
    let found = catalog
        .events(&EventsQuery::read(&query(&text)).unwrap())
        .unwrap();
    assert_eq!(ids(&found), events, "{text}");
    if let Some(closed) = closed {
        text.push_str(&format!("&closed={closed}"));
    }
    let mut markets: Vec<u64> = (2..=EVENTS * 2 + 1)
        .filter(|id| in_tag(id / 2))
        .filter(|id| who.is_none_or(|who| made_by(*id, who)))
        .filter(|id| closed.is_none_or(|closed| id.is_multiple_of(2) == closed))
        .collect();
    let found = catalog
        .markets(&MarketsQuery::read(&query(&text)).unwrap())
        .unwrap();
    assert_eq!(ids(&found), markets, "{text}");
    markets.sort_by_key(|id| (id % 3, *id));
    text.push_str("&order=volume");
    let found = catalog
        .markets(&MarketsQuery::read(&query(&text)).unwrap())
        .unwrap();
    assert_eq!(ids(&found), markets, "{text}");
}

#[test]
fn a_list_is_refused_while_another_reads_everything() {
    let (_directory, catalog) = shelf();
    let list = || catalog.markets(&MarketsQuery::default());
    let reading = catalog.updater.lock();
    let refused = list().unwrap_err();
    assert!(matches!(refused, CatalogError::Reading));
    assert_eq!(refused.code().status(), 503);
    assert!(catalog.market("2", &OneMarketQuery::default()).is_ok());
    drop(reading);
    assert_eq!(ids(&list().unwrap()).len(), 24);
}
