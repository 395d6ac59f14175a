//! Malicious texts in records and queries.

use super::common::{Shelf, condition, event, json_of, market, parameters, series, tag, with};
use foretell_catalog::query::{
    EventsQuery, MarketsQuery, OneEventQuery, OneMarketQuery, OneTagQuery,
};
use foretell_catalog::record::read;
use foretell_wire::ErrorCode;
use foretell_wire::read::query::Query;
use foretell_wire::read::query::parameters::Parameters as _;
use rstest::rstest;
use serde_json::json;

#[rstest]
#[case("' OR 1=1 --")]
#[case("'; DROP TABLE markets; --")]
#[case("\" OR \"\"=\"")]
#[case("will-1-happe%")]
#[case("will-1-happe_")]
#[case("will-1-happen\u{200b}")]
#[case("will-1-happen/")]
#[case("will-1-happen\u{0}")]
#[case("*")]
#[case("🚀")]
#[case("")]
fn texts_are_compared_and_nothing_else(#[case] text: &str) {
    let shelf = Shelf::new(&[event(1, &[market(1)])]);
    let long = text.repeat(10_240 / text.len().max(1));
    for text in [text, &long] {
        for answer in [
            shelf
                .catalog
                .market_by_slug(text, &OneMarketQuery::default()),
            shelf.catalog.event_by_slug(text, &OneEventQuery::default()),
            shelf.catalog.tag_by_slug(text, &OneTagQuery::default()),
            shelf.catalog.market(text, &OneMarketQuery::default()),
        ] {
            assert_eq!(answer.unwrap_err().code().status(), 404);
        }
        for name in [
            "slug",
            "tag",
            "event_slug",
            "conditionId",
            "condition_ids",
            "clob_token_ids",
            "creator",
        ] {
            let parameters: Query<'_> = [(name, text)].into_iter().collect();
            let query = MarketsQuery::read(&parameters);
            let nothing_asked = text.trim().is_empty();
            // No id is such a text.
            if name.contains("_ids") || name == "conditionId" {
                assert_eq!(query.is_err(), !nothing_asked, "{name}");
                continue;
            }
            let found = json_of(shelf.catalog.markets(&query.unwrap()));
            assert_eq!(
                found.as_array().unwrap().len(),
                usize::from(nothing_asked),
                "{name}={text}"
            );
        }
        for name in ["slug", "tag_slug", "series_slug", "creator"] {
            let parameters: Query<'_> = [(name, text)].into_iter().collect();
            assert!(
                shelf
                    .catalog
                    .events(&EventsQuery::read(&parameters).unwrap())
                    .is_ok()
            );
        }
    }
    // The tables still exist.
    assert_eq!(
        json_of(shelf.catalog.market("1", &OneMarketQuery::default()))["conditionId"],
        json!(condition(1))
    );
}

#[test]
fn ids_of_markets_are_numbers_or_conditions() {
    let shelf = Shelf::new(&[event(1, &[market(1)])]);
    for bad in ["-1", "1.0", "0x1", "99999999999999999999", "1 ", "one"] {
        let error = shelf
            .catalog
            .market(bad, &OneMarketQuery::default())
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::IdNotFound, "{bad}");
    }
}

#[test]
fn offsets_beyond_the_end_are_empty_pages() {
    let shelf = Shelf::new(&[event(1, &[market(1)])]);
    let query = MarketsQuery::read(&parameters("offset=4294967295&limit=500")).unwrap();
    assert_eq!(json_of(shelf.catalog.markets(&query)), json!([]));
}

#[test]
fn sql_in_any_field_of_a_record_stays_a_text() {
    const SQL: &str = "x'); DROP TABLE markets; DELETE FROM events; --";
    let mut shelf = Shelf::new(&[event(1, &[market(1)])]);
    let before = json_of(shelf.catalog.market("1", &OneMarketQuery::default()));
    for whole in [market(2), event(2, &[]), tag(2), series(2)] {
        for field in whole.as_object().unwrap().keys() {
            let record = with(whole.clone(), &json!({ field: SQL })).to_string();
            // A record is skipped when such a text is invalid in its field.
            if let Ok(record) = read(None, record.as_bytes()) {
                let mut batch = shelf.writer.begin().unwrap();
                batch.put(&record).unwrap();
                batch.commit().unwrap();
            }
        }
    }
    let texts = json!({ "question": SQL, "description": SQL, "image": SQL });
    shelf.put(&[with(market(3), &texts)]);
    let shown = json_of(shelf.catalog.market("3", &OneMarketQuery::default()));
    for field in ["question", "description", "image"] {
        assert_eq!(shown[field], SQL, "{field}");
    }
    assert_eq!(
        json_of(shelf.catalog.market("1", &OneMarketQuery::default())),
        before
    );
}
