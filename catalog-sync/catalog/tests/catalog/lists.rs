//! Lists with each filter and each order.

use super::common::{
    Shelf, address, condition, event, ids, json_of, market, parameters, series, tag, with,
};
use foretell_catalog::Sites;
use foretell_catalog::query::{
    EventsQuery, MarketsQuery, OneEventQuery, OneMarketQuery, OneTagQuery, SeriesQuery, TagsQuery,
};
use foretell_model::WalletAddress;
use foretell_wire::read::query::parameters::Parameters as _;
use serde_json::{Value, json};

fn markets(shelf: &Shelf, text: &str) -> Vec<u64> {
    ids(&json_of(
        shelf
            .catalog
            .markets(&MarketsQuery::read(&parameters(text)).unwrap()),
    ))
}

fn events(shelf: &Shelf, text: &str) -> Vec<u64> {
    ids(&json_of(
        shelf
            .catalog
            .events(&EventsQuery::read(&parameters(text)).unwrap()),
    ))
}

#[test]
fn every_filter_by_name_finds_what_has_it() {
    let lone = with(market(30), &json!({"slug": "Alone-Upper"}));
    let records = [
        event(1, &[market(10), market(11)]),
        with(
            event(2, &[market(20)]),
            &json!({
        "tags": [tag(2)], "series": [series(2)]}),
        ),
        lone,
    ];
    let shelf = Shelf::new(&records);
    assert_eq!(markets(&shelf, ""), [30, 20, 11, 10]);
    assert_eq!(
        markets(&shelf, &format!("conditionId={}", condition(11))),
        [11]
    );
    assert_eq!(
        markets(
            &shelf,
            &format!(
                "conditionId={}",
                condition(11).to_uppercase().replace("0X", "0x")
            )
        ),
        [11]
    );
    assert_eq!(
        markets(
            &shelf,
            &format!("condition_ids={},{}", condition(11), condition(20))
        ),
        [20, 11]
    );
    assert_eq!(markets(&shelf, "clob_token_ids=21,40,999"), [20, 10]);
    assert_eq!(markets(&shelf, "id=10,30&id=999"), [30, 10]);
    assert_eq!(markets(&shelf, "slug=will-11-happen"), [11]);
    assert_eq!(markets(&shelf, "slug=Alone-Upper"), [30]);
    assert_eq!(markets(&shelf, "event_id=1"), [11, 10]);
    assert_eq!(markets(&shelf, "eventSlug=event-2"), [20]);
    assert_eq!(markets(&shelf, "tag_id=1&event_id=2"), [0_u64; 0]);
    assert_eq!(markets(&shelf, "tag=tag-2"), [20]);
    let unknown = format!("conditionId={}", condition(99));
    assert_eq!(markets(&shelf, &unknown), [0_u64; 0]);
    assert_eq!(events(&shelf, "series_slug=series-2"), [2]);
    assert_eq!(events(&shelf, "slug=event-1"), [1]);
    assert_eq!(events(&shelf, "tag_slug=nothing"), [0_u64; 0]);
    assert_eq!(
        json_of(
            shelf
                .catalog
                .market(&condition(20), &OneMarketQuery::default())
        )["id"],
        "20"
    );
    assert_eq!(
        json_of(shelf.catalog.market("30", &OneMarketQuery::default()))["events"],
        json!([])
    );
}

#[test]
fn every_column_sorts_both_lists_both_ways() {
    let numbered = |id: u64| {
        let day = |month: u64| format!("2026-{month:02}-0{id}T00:00:00Z");
        json!({
            "title": format!("T{id}"), "question": format!("T{id}"), "slug": format!("s{id}"), "startDate": day(1),
            "endDate": day(2), "createdAt": day(3), "updatedAt": day(4), "creationDate": day(5),
            "volume": id, "liquidity": id, "conditionId": null, "markets": null, "tags": null,
        })
    };
    let event = |id| {
        with(
            with(event(id, &[]), &numbered(id)),
            &json!({"question": null}),
        )
    };
    let market = |id| with(market(id), &numbered(id));
    // Ids are in reverse order of all other columns.
    let shelf = Shelf::new(&[
        with(event(1), &json!({"id": "9"})),
        event(2),
        with(market(1), &json!({"id": "9"})),
        market(2),
    ]);
    for column in [
        "slug",
        "startDate",
        "endDate",
        "createdAt",
        "updatedAt",
        "creationDate",
        "title",
        "question",
        "volume",
        "liquidity",
    ] {
        for (ascending, expected) in [(true, [9, 2]), (false, [2, 9])] {
            // Short selections use another code path than long ones.
            for more in ["", "&slug=nothing"] {
                let text = format!("order={column}&ascending={ascending}{more}");
                let expected: &[u64] = if more.is_empty() { &expected } else { &[] };
                assert_eq!(markets(&shelf, &text), expected, "{text}");
                assert_eq!(events(&shelf, &text), expected, "{text}");
            }
        }
    }
}

#[test]
fn creators_are_addresses_and_sites() {
    let of = |id, creator: u64| with(market(id), &json!({"creator": address(creator)}));
    let submitted = with(
        market(12),
        &json!({"submitted_by": address(0xaa), "creator": ""}),
    );
    let records = [
        event(1, &[of(10, 0xaa), market(11), submitted]),
        with(
            event(2, &[of(20, 0xbb), market(21)]),
            &json!({"creator": address(0xcc),
            "tags": [tag(2)], "series": [series(2)]}),
        ),
    ];
    let wallet = |last| {
        let mut bytes = [0; 20];
        bytes[19] = last;
        WalletAddress(bytes)
    };
    let sites = Sites::from([
        ("site".into(), vec![wallet(0xaa), wallet(0xcc)]),
        ("empty".into(), vec![]),
    ]);
    let shelf = Shelf::with_sites(&records, sites);
    let by = |creator: &str| format!("creator={creator}");
    assert_eq!(markets(&shelf, &by(&address(0xaa))), [12, 10]);
    assert_eq!(
        markets(
            &shelf,
            &by(&address(0xAA).to_uppercase().replace("0X", "0x"))
        ),
        [12, 10]
    );
    assert_eq!(
        markets(&shelf, &by("site")),
        [21, 12, 10],
        "without a creator, the event's counts"
    );
    assert_eq!(markets(&shelf, &format!("{}&event_id=2", by("site"))), [21]);
    assert_eq!(events(&shelf, &by(&address(0xbb))), [2]);
    assert_eq!(events(&shelf, &by("site")), [2, 1]);
    for nobody in ["unknown", "empty", "0x12", "' OR 1=1 --"] {
        assert_eq!(markets(&shelf, &by(nobody)), [0_u64; 0]);
        assert_eq!(events(&shelf, &by(nobody)), [0_u64; 0]);
    }
    let query = TagsQuery::read(&parameters(&by(&address(0xbb)))).unwrap();
    assert_eq!(ids(&json_of(shelf.catalog.tags(&query))), [2]);
    let query = SeriesQuery::read(&parameters(&by(&address(0xaa)))).unwrap();
    assert_eq!(ids(&json_of(shelf.catalog.series(&query))), [1]);
    let creator = by(&address(0xaa));
    let of_creator = parameters(&creator);
    let market = OneMarketQuery::read(&of_creator).unwrap();
    let event = OneEventQuery::read(&of_creator).unwrap();
    let tag = OneTagQuery::read(&of_creator).unwrap();
    assert!(shelf.catalog.market("10", &market).is_ok());
    for (answer, text) in [
        (shelf.catalog.market("20", &market), "id not found"),
        (shelf.catalog.event(2, &event), "id not found"),
        (
            shelf.catalog.event_by_slug("event-2", &event),
            "slug not found",
        ),
        (shelf.catalog.tag(2, &tag), "id not found"),
        (shelf.catalog.tag_by_slug("tag-2", &tag), "slug not found"),
    ] {
        assert_eq!(answer.unwrap_err().to_string(), text);
    }
}

#[test]
fn a_series_shows_its_twenty_newest_events() {
    let records: Vec<Value> = (1..=23).map(|id| event(id, &[])).collect();
    let shelf = Shelf::new(&records);
    let series = json_of(shelf.catalog.series(&SeriesQuery::default()));
    let shown = ids(&series[0]["events"]);
    assert_eq!((shown.len(), shown[0], shown[19]), (20, 23, 4));
    assert_eq!(events(&shelf, "series_slug=series-1&limit=500").len(), 23);
}

#[test]
fn of_several_with_one_slug_the_newest_is_answered() {
    let same = |id| with(market(id), &json!({"slug": "same"}));
    let shelf = Shelf::new(&[same(5), same(7), same(6)]);
    assert_eq!(
        json_of(
            shelf
                .catalog
                .market_by_slug("same", &OneMarketQuery::default())
        )["id"],
        "7"
    );
    assert_eq!(markets(&shelf, "slug=same"), [7, 6, 5]);
}
