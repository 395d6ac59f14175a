//! Recorded answers of an upstream, if available: they import without a loss, and every fact that
//! the interface names comes back.

use std::collections::BTreeMap;
use std::fs::File;

use super::common::{Shelf, ids, json_of, parameters};
use foretell_catalog::import::{Records, import};
use foretell_catalog::query::{
    EventsQuery, MarketsQuery, OneEventQuery, OneMarketQuery, OneTagQuery, SearchQuery, TagsQuery,
};
use foretell_catalog::record::{self, NotTradable, Record, read_date};
use foretell_catalog::{Report, Tally};
use foretell_model::MarketTerms;
use foretell_wire::read::query::parameters::Parameters as _;
use serde_json::Value;

fn recorded(name: &str) -> Option<File> {
    foretell_fixtures::recorded(&format!("gamma/{name}")).map(|path| File::open(path).unwrap())
}

/// Every record of a file as JSON, by id; of duplicates, the last.
fn records(name: &str) -> Option<(usize, BTreeMap<String, Value>)> {
    let records = Records::open(recorded(name)?).unwrap();
    let records: Vec<Value> = records
        .map(|record| serde_json::from_slice(&record.unwrap().unwrap().json).unwrap())
        .collect();
    let by_id = |record: &Value| (record["id"].as_str().unwrap().to_owned(), record.clone());
    Some((records.len(), records.iter().map(by_id).collect()))
}

fn imported(shelf: &mut Shelf, name: &str) -> Option<Report> {
    Some(import(&mut shelf.writer, recorded(name)?, |_| {}).unwrap())
}

const DATES: &[&str] = &[
    "startDate",
    "endDate",
    "creationDate",
    "createdAt",
    "updatedAt",
];

/// All answered fields equal the recorded ones, and no recorded field is missing.
fn same(recorded: &Value, answered: &Value, fields: &[&str]) {
    for field in fields {
        let (recorded, answered) = (&recorded[*field], &answered[*field]);
        if DATES.contains(field) {
            let was = recorded.as_str().and_then(read_date);
            let is = answered.as_str().map(|date| date.parse().unwrap());
            assert_eq!(was, is, "{field}");
        } else if recorded.is_null() {
            let empty = answered.is_null()
                || answered == ""
                || answered == &Value::Bool(false)
                || answered == "[]";
            assert!(empty, "{field} is {answered}, and was not recorded");
        } else if let Some(text) = recorded.as_str() {
            // Hidden characters do not enter.
            assert_eq!(text.replace('\u{200b}', ""), *answered, "{field}");
        } else {
            assert_eq!(recorded, answered, "{field}");
        }
    }
}

const MARKET: &[&str] = &[
    "id",
    "question",
    "conditionId",
    "slug",
    "resolutionSource",
    "startDate",
    "endDate",
    "image",
    "icon",
    "description",
    "outcomes",
    "clobTokenIds",
    "active",
    "closed",
    "archived",
    "createdAt",
    "updatedAt",
    "questionID",
];
const EVENT: &[&str] = &[
    "id",
    "ticker",
    "slug",
    "title",
    "description",
    "resolutionSource",
    "startDate",
    "creationDate",
    "endDate",
    "image",
    "icon",
    "active",
    "closed",
    "archived",
    "createdAt",
    "updatedAt",
];
const TAG: &[&str] = &[
    "id",
    "label",
    "slug",
    "createdAt",
    "updatedAt",
    "requiresTranslation",
    "forceShow",
];
const SERIES: &[&str] = &[
    "id",
    "ticker",
    "slug",
    "title",
    "seriesType",
    "recurrence",
    "image",
    "icon",
    "active",
    "closed",
    "archived",
    "createdAt",
    "updatedAt",
];

#[test]
fn twenty_events_with_their_markets_and_tags() {
    let file = "events-20-202503.json.zst";
    let Some((_, events)) = records(file) else {
        return;
    };
    let mut shelf = Shelf::new(&[]);
    let report = imported(&mut shelf, file).unwrap();
    assert_eq!((report.events.added, report.markets.added), (20, 339));
    assert_eq!((report.skipped, report.events.changed), (0, 0), "{report}");
    for (id, event) in &events {
        let answered = json_of(
            shelf
                .catalog
                .event(id.parse().unwrap(), &OneEventQuery::default()),
        );
        same(event, &answered, EVENT);
        let by_slug = shelf
            .catalog
            .event_by_slug(event["slug"].as_str().unwrap(), &OneEventQuery::default());
        assert_eq!(json_of(by_slug), answered);
        let (tags, markets) = (
            event["tags"].as_array().unwrap(),
            event["markets"].as_array().unwrap(),
        );
        assert_eq!(answered["tags"].as_array().unwrap().len(), tags.len());
        assert_eq!(answered["markets"].as_array().unwrap().len(), markets.len());
        for (tag, answered) in tags.iter().zip(answered["tags"].as_array().unwrap()) {
            assert_eq!(
                (&tag["id"], &tag["slug"]),
                (&answered["id"], &answered["slug"])
            );
        }
        for market in markets {
            let answered = json_of(
                shelf
                    .catalog
                    .market(market["id"].as_str().unwrap(), &OneMarketQuery::default()),
            );
            same(market, &answered, MARKET);
            same(event, &answered["events"][0], EVENT);
        }
    }
    let again = imported(&mut shelf, file).unwrap();
    assert!(!again.changed_anything(), "{again}");
    assert_eq!(
        again.markets,
        Tally {
            unchanged: 339,
            ..Tally::default()
        }
    );
}

#[test]
fn six_hundred_markets_of_which_four_come_twice() {
    let file = "markets-600-20260208.json.zst";
    let Some((count, markets)) = records(file) else {
        return;
    };
    assert_eq!((count, markets.len()), (600, 596));
    let mut shelf = Shelf::new(&[]);
    let report = imported(&mut shelf, file).unwrap();
    assert_eq!(
        report.markets,
        Tally {
            added: 596,
            changed: 0,
            unchanged: 4
        }
    );
    assert_eq!(report.skipped, 0, "{report}");
    assert_eq!(report.events.added, 515);
    for (id, market) in &markets {
        let answered = json_of(shelf.catalog.market(id, &OneMarketQuery::default()));
        same(market, &answered, MARKET);
        let Some(event) = market["events"].get(0) else {
            continue;
        };
        assert_eq!(answered["events"][0]["id"], event["id"]);
        let whole = json_of(shelf.catalog.event(
            event["id"].as_str().unwrap().parse().unwrap(),
            &OneEventQuery::default(),
        ));
        assert!(ids(&whole["markets"]).contains(&id.parse().unwrap()));
        for (series, answered) in event["series"]
            .as_array()
            .into_iter()
            .flatten()
            .zip(whole["series"].as_array().unwrap())
        {
            if series["updatedAt"] == answered["updatedAt"] {
                same(series, answered, SERIES);
            }
        }
    }
    let again = imported(&mut shelf, file).unwrap();
    assert!(!again.changed_anything(), "{again}");
    // The pages of every order contain each market once.
    for order in ["id", "volume", "endDate", "slug", "question,liquidity"] {
        let mut all = Vec::new();
        for offset in (0..700).step_by(70) {
            let text = format!("limit=70&offset={offset}&order={order}");
            let query = parameters(&text);
            all.extend(ids(&json_of(
                shelf.catalog.markets(&MarketsQuery::read(&query).unwrap()),
            )));
        }
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 596, "{order}");
    }
    let closed = MarketsQuery::read(&parameters("closed=true&limit=500")).unwrap();
    let expected = markets
        .values()
        .filter(|market| market["closed"] == true)
        .count();
    assert_eq!(
        ids(&json_of(shelf.catalog.markets(&closed))).len(),
        expected
    );
}

#[test]
fn a_hundred_tags() {
    let Some((_, tags)) = records("tags-100.json") else {
        return;
    };
    let mut shelf = Shelf::new(&[]);
    let report = imported(&mut shelf, "tags-100.json").unwrap();
    assert_eq!((report.tags.added, report.skipped), (100, 0));
    for (id, tag) in &tags {
        same(
            tag,
            &json_of(
                shelf
                    .catalog
                    .tag(id.parse().unwrap(), &OneTagQuery::default()),
            ),
            TAG,
        );
        let slug = tag["slug"].as_str().unwrap();
        same(
            tag,
            &json_of(shelf.catalog.tag_by_slug(slug, &OneTagQuery::default())),
            TAG,
        );
    }
    let list = json_of(shelf.catalog.tags(&TagsQuery::default()));
    assert_eq!(list.as_array().unwrap().len(), 100);
}

#[test]
fn of_596_recorded_markets_five_never_open_and_say_why() {
    let Some(file) = recorded("markets-600-20260208.json.zst") else {
        return;
    };
    let mut terms = BTreeMap::new();
    for raw in Records::open(file).unwrap() {
        let raw = raw.unwrap().unwrap();
        let Record::Market(market) = record::read(raw.kind, &raw.json).unwrap().record else {
            panic!("no market");
        };
        terms.insert(market.id, market.terms);
    }
    let tradable: Vec<_> = terms.values().flatten().collect();
    let count = |holds: fn(&MarketTerms) -> bool| {
        let held = tradable.iter().filter(|terms| holds(&terms.clock));
        held.count()
    };
    assert_eq!((terms.len(), tradable.len()), (596, 596));
    assert_eq!(count(|clock| clock.taker_delay_ms == 3_000), 214);
    assert_eq!(count(|clock| clock.clear_book_on_start), 210);
    assert_eq!(count(|clock| clock.rebate_ppm == 1_000_000), 11);
    let reasons = tradable.iter().filter_map(|terms| terms.obstacle.as_ref());
    let mut reasons: Vec<&str> = reasons.map(NotTradable::field).collect();
    reasons.sort_unstable();
    let no_book = ["enableOrderBook"; 4];
    assert_eq!(reasons, [&no_book[..], &["makerBaseFee"]].concat());
}

#[test]
fn every_title_and_question_is_found_by_itself() {
    let Some((_, events)) = records("events-20-202503.json.zst") else {
        return;
    };
    let mut shelf = Shelf::new(&[]);
    imported(&mut shelf, "events-20-202503.json.zst").unwrap();
    imported(&mut shelf, "markets-600-20260208.json.zst").unwrap();
    for event in events.values() {
        let questions = event["markets"]
            .as_array()
            .unwrap()
            .iter()
            .map(|market| &market["question"]);
        for text in std::iter::once(&event["title"])
            .chain(questions)
            .chain([&event["slug"]])
        {
            let query = [("q", text.as_str().unwrap()), ("limit_per_type", "500")]
                .into_iter()
                .collect();
            let found = json_of(shelf.catalog.search(&SearchQuery::read(&query).unwrap()));
            let id: u64 = event["id"].as_str().unwrap().parse().unwrap();
            assert!(ids(&found["events"]).contains(&id), "{text}");
        }
    }
    let all = json_of(
        shelf
            .catalog
            .events(&EventsQuery::read(&parameters("limit=500")).unwrap()),
    );
    assert_eq!(all.as_array().unwrap().len(), 500);
}
