//! The field lists of the interface as tables: required fields, their types, and forbidden fields.

use super::common::{Shelf, event, json_of, market, parameters, series, tag};
use foretell_catalog::every_record;
use foretell_catalog::query::{
    EventsQuery, MarketsQuery, OneEventQuery, OneMarketQuery, OneTagQuery, SearchQuery,
    SeriesQuery, TagsQuery,
};
use foretell_wire::read::query::parameters::Parameters as _;
use serde_json::{Map, Value, json};

/// A record of the interface: field names and type letters. `s` text, `d` date (may be missing),
/// `b` boolean, `i` integer, `a` array, `o` object, `f` further: as the source has it, if it does.
type Shape = &'static [(&'static str, char)];

const MARKET: Shape = &[
    ("id", 's'),
    ("question", 's'),
    ("conditionId", 's'),
    ("slug", 's'),
    ("resolutionSource", 's'),
    ("startDate", 'd'),
    ("endDate", 'd'),
    ("image", 's'),
    ("icon", 's'),
    ("description", 's'),
    ("outcomes", 's'),
    ("clobTokenIds", 's'),
    ("active", 'b'),
    ("closed", 'b'),
    ("archived", 'b'),
    ("createdAt", 'd'),
    ("updatedAt", 'd'),
    ("questionID", 'f'),
    ("volume", 'f'),
    ("liquidity", 'f'),
    ("someUnknownKey", 'f'),
];
const SHORT_EVENT: Shape = &[("id", 's'), ("ticker", 's'), ("slug", 's'), ("title", 's')];
const FULL_EVENT: Shape = &[
    ("id", 's'),
    ("ticker", 's'),
    ("slug", 's'),
    ("title", 's'),
    ("description", 's'),
    ("resolutionSource", 's'),
    ("startDate", 'd'),
    ("creationDate", 'd'),
    ("endDate", 'd'),
    ("image", 's'),
    ("icon", 's'),
    ("active", 'b'),
    ("closed", 'b'),
    ("archived", 'b'),
    ("createdAt", 'd'),
    ("updatedAt", 'd'),
    ("volume", 'f'),
];
const TAG: Shape = &[
    ("id", 's'),
    ("label", 's'),
    ("slug", 's'),
    ("createdAt", 'd'),
    ("updatedAt", 'd'),
    ("requiresTranslation", 'b'),
    ("forceShow", 'b'),
];
const SERIES: Shape = &[
    ("id", 's'),
    ("ticker", 's'),
    ("slug", 's'),
    ("title", 's'),
    ("seriesType", 's'),
    ("recurrence", 's'),
    ("image", 's'),
    ("icon", 's'),
    ("active", 'b'),
    ("closed", 'b'),
    ("archived", 'b'),
    ("createdAt", 'd'),
    ("updatedAt", 'd'),
];
const SEARCH_TAG: Shape = &[
    ("id", 's'),
    ("label", 's'),
    ("slug", 's'),
    ("event_count", 'i'),
];

/// Checks a record against its shape and further fields; with `dates`, dates are required.
fn check(record: &Value, shape: Shape, more: Shape, dates: bool) {
    let fields = record.as_object().unwrap();
    for (name, kind) in shape.iter().chain(more) {
        let Some(value) = fields.get(*name) else {
            assert!(
                "df".contains(*kind) && !dates,
                "{name} is missing in {record}"
            );
            continue;
        };
        let fits = match kind {
            's' => value.is_string(),
            'd' => value
                .as_str()
                .is_some_and(|date| date.ends_with('Z') && date.parse::<jiff::Timestamp>().is_ok()),
            'b' => value.is_boolean(),
            'i' => value.is_u64(),
            'a' => value.is_array(),
            'f' => !value.is_null(),
            _ => value.is_object(),
        };
        assert!(fits, "{name} is {value}");
    }
    let known: Vec<&str> = shape.iter().chain(more).map(|(name, _)| *name).collect();
    let order: Vec<&str> = fields.keys().map(String::as_str).collect();
    assert_eq!(
        order.len(),
        order.iter().filter(|name| known.contains(name)).count(),
        "{order:?}"
    );
}

/// Checks a market or an event, of which nothing is known that every recorded one has.
fn check_filled(
    record: &Value,
    fill: fn(&mut Map<String, Value>),
    shape: Shape,
    more: Shape,
    dates: bool,
) {
    let mut filled = Map::new();
    fill(&mut filled);
    filled.retain(|name, _| shape.iter().all(|(known, _)| known != name));
    assert!(filled.len() > 9, "{filled:?}");
    let mut record = record.clone();
    for (name, value) in &filled {
        let answered = record.as_object_mut().unwrap().remove(name);
        assert_eq!(answered.as_ref(), Some(value), "{name}");
    }
    check(&record, shape, more, dates);
}

fn check_market(record: &Value, more: Shape, dates: bool) {
    check_filled(record, every_record::fill_market, MARKET, more, dates);
}

fn check_event(record: &Value, more: Shape, dates: bool) {
    check_filled(record, every_record::fill_event, FULL_EVENT, more, dates);
}

#[test]
fn what_a_source_says_is_kept_where_every_record_says_something() {
    let mut market = market(1);
    market["approved"] = false.into();
    market["rewardsMinSize"] = 20.into();
    let mut event = event(1, &[market]);
    event["negRisk"] = true.into();
    event["commentCount"] = 7.into();
    let shelf = Shelf::new(&[event]);
    let answered = json_of(shelf.catalog.event(1, &OneEventQuery::default()));
    let of = |name: &str| answered["markets"][0][name].clone();
    assert_eq!(
        [
            of("approved"),
            of("rewardsMinSize"),
            of("marketMakerAddress")
        ],
        [json!(false), json!(20), json!("")]
    );
    let event = |name: &str| answered[name].clone();
    assert_eq!(
        [event("enableNegRisk"), event("commentCount"), event("cyom")],
        [json!(true), json!(7), json!(false)]
    );
}

/// A catalog of complete records, and one of nearly empty records.
fn shelves() -> [(Shelf, bool); 2] {
    let bare = json!({"id": "1", "slug": "event-1", "title": "Event 1",
        "tags": [{"id": "1", "slug": "tag-1", "label": null}],
        "series": [{"id": 1, "slug": "series-1"}],
        "markets": [{"id": "1", "slug": "will-1-happen", "question": null, "startDate": "April 11, 2022"}]});
    [
        (Shelf::new(&[event(1, &[market(1)])]), true),
        (Shelf::new(&[bare]), false),
    ]
}

#[test]
fn markets_in_lists_have_short_events() {
    for (shelf, dates) in shelves() {
        let markets = json_of(shelf.catalog.markets(&MarketsQuery::default()));
        check_market(&markets[0], &[("events", 'a')], dates);
        assert_eq!(markets[0]["events"].as_array().unwrap().len(), 1);
        check(&markets[0]["events"][0], SHORT_EVENT, &[], dates);
    }
}

#[test]
fn single_markets_have_full_events() {
    for (shelf, dates) in shelves() {
        let by_slug = json_of(
            shelf
                .catalog
                .market_by_slug("will-1-happen", &OneMarketQuery::default()),
        );
        check_market(&by_slug, &[("events", 'a')], dates);
        check_event(&by_slug["events"][0], &[], dates);
        assert_eq!(
            json_of(shelf.catalog.market("1", &OneMarketQuery::default())),
            by_slug
        );
    }
}

#[test]
fn events_carry_tags_and_markets_and_series_that_carry_no_events() {
    let more = &[
        ("tags", 'a'),
        ("markets", 'a'),
        ("series", 'a'),
        ("eventMetadata", 'o'),
    ];
    for (shelf, dates) in shelves() {
        let list = json_of(shelf.catalog.events(&EventsQuery::default()));
        let event = &list[0];
        check_event(event, more, dates);
        check(&event["tags"][0], TAG, &[], dates);
        check_market(&event["markets"][0], &[], dates);
        check(&event["series"][0], SERIES, &[], dates);
        assert_eq!(
            &json_of(shelf.catalog.event(1, &OneEventQuery::default())),
            event
        );
        assert_eq!(
            &json_of(
                shelf
                    .catalog
                    .event_by_slug("event-1", &OneEventQuery::default())
            ),
            event
        );
    }
}

#[test]
fn series_carry_full_events_and_tags_are_themselves() {
    for (shelf, dates) in shelves() {
        let list = json_of(shelf.catalog.series(&SeriesQuery::default()));
        check(&list[0], SERIES, &[("events", 'a')], dates);
        check_event(&list[0]["events"][0], &[], dates);
        let tags = json_of(shelf.catalog.tags(&TagsQuery::default()));
        check(&tags[0], TAG, &[], dates);
        assert_eq!(
            json_of(shelf.catalog.tag(1, &OneTagQuery::default())),
            tags[0]
        );
        assert_eq!(
            json_of(shelf.catalog.tag_by_slug("tag-1", &OneTagQuery::default())),
            tags[0]
        );
    }
}

#[test]
fn search_results_are_short_and_counted() {
    for (shelf, dates) in shelves() {
        let query = SearchQuery::read(&parameters("q=event")).unwrap();
        let found = json_of(shelf.catalog.search(&query));
        check(
            &found,
            &[],
            &[("events", 'a'), ("tags", 'a'), ("pagination", 'o')],
            dates,
        );
        check(&found["events"][0], SHORT_EVENT, &[], dates);
        assert_eq!(
            found["pagination"],
            json!({"hasMore": false, "totalResults": 1})
        );
    }
    let (shelf, dates) = &shelves()[0];
    let query = SearchQuery::read(&parameters("q=tag")).unwrap();
    let found = json_of(shelf.catalog.search(&query));
    check(&found["tags"][0], SEARCH_TAG, &[], *dates);
    assert_eq!(found["tags"][0]["event_count"], 1);
}

#[test]
fn what_was_put_is_what_is_answered() {
    let shelf = Shelf::new(&[event(1, &[market(1)]), tag(2), series(2)]);
    let answered = json_of(shelf.catalog.event(1, &OneEventQuery::default()));
    let same = |put: &Value, answered: &Value, shape: Shape| {
        for (name, kind) in shape {
            match kind {
                'd' => {
                    let put = foretell_catalog::record::read_date(put[name].as_str().unwrap());
                    assert_eq!(put, answered[name].as_str().unwrap().parse().ok(), "{name}");
                }
                _ => assert_eq!(put[name], answered[name], "{name}"),
            }
        }
    };
    same(&event(1, &[]), &answered, FULL_EVENT);
    same(&market(1), &answered["markets"][0], MARKET);
    same(&tag(1), &answered["tags"][0], TAG);
    same(&series(1), &answered["series"][0], SERIES);
    assert_eq!(answered["eventMetadata"], json!({"context": "more"}));
    same(
        &tag(2),
        &json_of(shelf.catalog.tag(2, &OneTagQuery::default())),
        TAG,
    );
    assert_eq!(answered["markets"][0]["endDate"], "2026-02-01T12:00:00Z");
}
