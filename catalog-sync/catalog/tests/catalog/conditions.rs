//! One market for a condition, one tag for a slug, on every surface.

use foretell_catalog::query::{
    EventsQuery, MarketsKeysetQuery, MarketsQuery, OneEventQuery, OneMarketQuery, OneQuery,
    SearchQuery, TagsQuery,
};
use foretell_catalog::record::{NotTradable, RecordKind, read};
use foretell_catalog::{Catalog, Writer};
use foretell_model::ConditionId;
use foretell_wire::read::query::parameters::Parameters as _;
use rstest::rstest;
use serde_json::{Value, json};

use super::common::{Shelf, condition, event, ids, json_of, market, parameters, tag, with};

/// Ids of operators' own records.
const OWN: u64 = foretell_model::limits::OWN_CATALOG_IDS;

fn put_own(writer: &mut Writer, record: &Value) {
    let mut batch = writer.begin().unwrap();
    let record = read(Some(RecordKind::Event), record.to_string().as_bytes()).unwrap();
    batch.put_own(&record).unwrap();
    batch.commit().unwrap();
}

/// The operator's own event with a market of the condition of market 10.
fn own_event() -> Value {
    let own = json!({ "conditionId": condition(10), "slug": "own-10", "question": "Own?" });
    let tags = json!({ "tags": [with(tag(OWN + 2), &json!({"slug": "tag-1", "label": "Tag 1"}))] });
    with(event(OWN, &[with(market(OWN + 1), &own)]), &tags)
}

fn markets(catalog: &Catalog, query: &str) -> Vec<u64> {
    let query = MarketsQuery::read(&parameters(query)).unwrap();
    ids(&json_of(catalog.markets(&query)))
}

/// No surface shows the upstream's market 10 or its event 1, which has no other market.
fn shows_own_alone(catalog: &Catalog) {
    assert_eq!(markets(catalog, ""), [OWN + 1, 20]);
    assert_eq!(
        markets(catalog, &format!("condition_ids={}", condition(10))),
        [OWN + 1]
    );
    for query in [
        "id=10",
        "slug=will-10-happen",
        "event_id=1",
        "clob_token_ids=20",
    ] {
        let shown = markets(catalog, query);
        assert!(shown.is_empty() || shown == [OWN + 1], "{query}: {shown:?}");
    }
    let one = OneQuery::default();
    let by_condition = json_of(catalog.market(&condition(10), &OneMarketQuery::default()));
    assert_eq!(by_condition["id"], (OWN + 1).to_string());
    assert!(catalog.market("10", &OneMarketQuery::default()).is_err());
    assert!(catalog.market_tags("10", &one).is_err());
    assert!(
        catalog
            .market_by_slug("will-10-happen", &OneMarketQuery::default())
            .is_err()
    );
    assert!(
        catalog.event(1, &OneEventQuery::default()).is_err()
            && catalog.event_tags(1, &one).is_err()
    );
    assert!(
        catalog
            .event_by_slug("event-1", &OneEventQuery::default())
            .is_err()
    );
    let events = json_of(catalog.events(&EventsQuery::default()));
    assert_eq!(ids(&events), [OWN, 2]);
    let keyset = MarketsKeysetQuery::read(&parameters("")).unwrap();
    assert_eq!(
        ids(&json_of(catalog.markets_keyset(&keyset))["markets"]),
        [OWN + 1, 20]
    );
    let search = SearchQuery::read(&parameters("q=will 10 happen")).unwrap();
    assert_eq!(
        json_of(catalog.search(&search))["pagination"]["totalResults"],
        0
    );
    let series = json_of(catalog.one_series(1, &one));
    assert_eq!(ids(&series["events"]), [OWN, 2]);
    let tags = json_of(catalog.tags(&TagsQuery::default()));
    assert_eq!((ids(&tags), &tags[0]["slug"]), (vec![1], &json!("tag-1")));
    catalog.refresh_lookup().unwrap();
    let known = catalog.lookup();
    let known = known.market(&condition_id(10)).unwrap();
    assert_eq!((known.id, known.own), (OWN + 1, true));
}

fn condition_id(id: u64) -> ConditionId {
    ConditionId(
        hex::decode(&condition(id)[2..])
            .unwrap()
            .try_into()
            .unwrap(),
    )
}

#[rstest]
fn a_condition_has_one_market_whoever_comes_first(#[values(true, false)] own_first: bool) {
    let upstream = [event(1, &[market(10)]), event(2, &[market(20)])];
    let mut shelf = Shelf::new(&[]);
    if own_first {
        put_own(&mut shelf.writer, &own_event());
    }
    for record in &upstream {
        shelf.put(std::slice::from_ref(record));
        shelf.catalog.refresh_lists().unwrap();
        shelf.catalog.refresh_lookup().unwrap();
    }
    if !own_first {
        assert_eq!(markets(&shelf.catalog, ""), [20, 10]);
        put_own(&mut shelf.writer, &own_event());
    }
    shows_own_alone(&shelf.catalog);
    // Nothing of the upstream changes an own record, nor joins its event.
    let stolen = json!({ "conditionId": condition(30), "question": "Stolen?" });
    let report = shelf.put(&[
        with(
            own_event(),
            &json!({ "title": "Stolen", "updatedAt": "2030-01-01T00:00:00Z" }),
        ),
        with(market(OWN + 1), &stolen),
    ]);
    assert_eq!(report.skipped, 2);
    shows_own_alone(&shelf.catalog);
    // The comparison sees the upstream's markets, and which of them another record has.
    let units = shelf.catalog.changes_after(0, 100).unwrap();
    let mut seen: Vec<_> = units.iter().flat_map(|unit| &unit.markets).collect();
    seen.sort_by_key(|market| market.id);
    assert_eq!(seen.iter().map(|it| it.id).collect::<Vec<_>>(), [10, 20]);
    assert_eq!(seen[0].terms, Err(NotTradable::Taken(OWN + 1)));
}

#[test]
fn a_market_with_a_new_id_leaves_its_condition_to_it() {
    let mut shelf = Shelf::new(&[event(1, &[market(10)])]);
    let moved = json!({ "conditionId": condition(10) });
    shelf.put(&[event(1, &[with(market(20), &moved)])]);
    assert_eq!(markets(&shelf.catalog, ""), [10]);
    let mut batch = shelf.writer.begin().unwrap();
    batch.supersede(10, 20).unwrap();
    batch.commit().unwrap();
    let named = format!("condition_ids={}", condition(10));
    assert_eq!(markets(&shelf.catalog, &named), [20]);
    let old = json_of(shelf.catalog.market("10", &OneMarketQuery::default()));
    assert_eq!(
        (&old["supersededBy"], &old["archived"]),
        (&json!(20), &json!(true))
    );
    let units = shelf.catalog.changes_after(0, 100).unwrap();
    let terms: Vec<_> = units[0]
        .markets
        .iter()
        .map(|market| &market.terms)
        .collect();
    assert_eq!(terms[0], &Err(NotTradable::Taken(20)));
    assert!(terms[1].is_ok());
}

/// A record that an upstream stored under the id of an own market gives way, however new it says to be.
#[test]
fn an_own_record_takes_its_id() {
    let planted = json!({ "question": "Planted?", "updatedAt": "2099-01-01T00:00:00Z" });
    let mut shelf = Shelf::new(&[with(
        with(
            own_event(),
            &json!({ "title": "Planted", "updatedAt": "2099-01-01T00:00:00Z" }),
        ),
        &json!({ "markets": [with(market(OWN + 1), &planted)] }),
    )]);
    put_own(&mut shelf.writer, &own_event());
    let event = json_of(shelf.catalog.event(OWN, &OneEventQuery::default()));
    let market = &event["markets"][0];
    assert_eq!(
        (&event["title"], &market["question"]),
        (&own_event()["title"], &json!("Own?"))
    );
}

#[test]
fn of_two_markets_upstream_with_one_condition_the_first_is_shown() {
    let twin = with(market(5), &json!({ "conditionId": condition(10) }));
    let mut shelf = Shelf::new(&[market(10), twin.clone()]);
    assert_eq!(markets(&shelf.catalog, ""), [10]);
    // When the first gets another condition, the second is shown.
    let moved = json!({ "conditionId": condition(11), "updatedAt": "2026-01-01T00:00:00Z" });
    shelf.put(&[with(market(10), &moved)]);
    assert_eq!(markets(&shelf.catalog, ""), [10, 5]);
    let by_condition = shelf
        .catalog
        .market(&condition(10), &OneMarketQuery::default());
    assert_eq!(json_of(by_condition)["id"], "5");
}

#[test]
fn an_upstreams_tag_takes_the_place_of_a_generated_one() {
    let mut shelf = Shelf::new(&[]);
    put_own(&mut shelf.writer, &own_event());
    let tags = |shelf: &Shelf| ids(&json_of(shelf.catalog.tags(&TagsQuery::default())));
    assert_eq!(tags(&shelf), [OWN + 2]);
    shelf.put(&[tag(1)]);
    assert_eq!(tags(&shelf), [1]);
    let own = json_of(shelf.catalog.event(OWN, &OneEventQuery::default()));
    assert_eq!(ids(&own["tags"]), [1]);
    put_own(&mut shelf.writer, &own_event());
    assert_eq!(tags(&shelf), [1]);
    let query = MarketsQuery::read(&parameters("tag=tag-1")).unwrap();
    assert_eq!(ids(&json_of(shelf.catalog.markets(&query))), [OWN + 1]);
}
