//! Updates: a second record with a known id.

use super::common::{Shelf, event, ids, json_of, market, series, tag, with};
use foretell_catalog::query::{
    EventsQuery, MarketsQuery, OneEventQuery, OneMarketQuery, TagsQuery,
};
use foretell_catalog::record::{Record, read};
use foretell_catalog::{Catalog, CatalogError, Profile, Sites, Tally, Unit, Writer};
use foretell_model::WalletAddress;
use serde_json::json;

fn tally(added: u64, changed: u64, unchanged: u64) -> Tally {
    Tally {
        added,
        changed,
        unchanged,
    }
}

#[test]
fn the_same_again_changes_nothing() {
    let records = [
        event(1, &[market(1), market(2)]),
        market(3),
        tag(9),
        series(9),
    ];
    let mut shelf = Shelf::new(&[]);
    let first = shelf.put(&records);
    assert_eq!(
        (first.events, first.markets),
        (tally(1, 0, 0), tally(3, 0, 0))
    );
    assert_eq!((first.tags, first.series), (tally(2, 0, 0), tally(2, 0, 0)));
    let change = shelf
        .catalog
        .changes_after(0, 100)
        .unwrap()
        .last()
        .unwrap()
        .change;
    let second = shelf.put(&records);
    assert!(!second.changed_anything());
    assert_eq!(
        (second.events, second.markets),
        (tally(0, 0, 1), tally(0, 0, 3))
    );
    assert_eq!(shelf.catalog.changes_after(change, 100).unwrap(), []);
}

#[test]
fn an_event_inside_a_market_is_not_whole() {
    let inside = with(market(1), &json!({"events": [event(1, &[])]}));
    let mut shelf = Shelf::new(&[inside, event(2, &[market(2)])]);
    let whole = |shelf: &Shelf| -> Vec<_> {
        let units = shelf.catalog.changes_after(0, 100).unwrap();
        let event = |unit: &Unit| unit.event.as_ref().map(|event| event.id);
        let whole = units.iter().map(|unit| (event(unit), unit.is_whole));
        whole.collect()
    };
    assert_eq!(whole(&shelf), [(Some(1), false), (Some(2), true)]);
    // The change is new, although the record may be the same.
    shelf.put(&[event(1, &[market(1)])]);
    assert_eq!(whole(&shelf), [(Some(2), true), (Some(1), true)]);
    shelf.put(&[with(market(1), &json!({"events": [event(1, &[])]}))]);
    assert!(whole(&shelf).contains(&(Some(1), true)));
    // A market that cannot be read is missing.
    shelf.put(&[event(3, &[market(3), json!({"id": 4})])]);
    assert!(whole(&shelf).contains(&(Some(3), false)));
}

#[test]
fn what_a_record_does_not_carry_stays() {
    let mut shelf = Shelf::new(&[event(1, &[market(1)])]);
    let later = "2026-01-01T00:00:00Z";
    let bare =
        json!({"tags": null, "series": null, "markets": null, "updatedAt": later, "title": "New"});
    let report = shelf.put(&[
        with(event(1, &[]), &bare),
        with(market(1), &json!({"updatedAt": later})),
    ]);
    assert_eq!(
        (report.events, report.markets),
        (tally(0, 1, 0), tally(0, 1, 0))
    );
    let event = json_of(shelf.catalog.event(1, &OneEventQuery::default()));
    assert_eq!(event["title"], "New");
    assert_eq!(
        (
            ids(&event["tags"]),
            ids(&event["series"]),
            ids(&event["markets"])
        ),
        (vec![1], vec![1], vec![1])
    );
    assert_eq!(event["markets"][0]["updatedAt"], later);
}

#[test]
fn an_empty_list_takes_away() {
    let mut shelf = Shelf::new(&[event(1, &[])]);
    let report = shelf.put(&[with(event(1, &[]), &json!({"tags": []}))]);
    assert_eq!(report.events, tally(0, 1, 0));
    assert_eq!(
        json_of(shelf.catalog.event(1, &OneEventQuery::default()))["tags"],
        json!([])
    );
}

#[test]
fn older_records_are_passed_over() {
    let old = json!({"updatedAt": "2020-01-01T00:00:00Z", "question": "Old", "title": "Old", "label": "Old", "tags": []});
    let mut shelf = Shelf::new(&[event(1, &[market(1)])]);
    let report = shelf.put(&[
        with(event(1, &[with(market(1), &old)]), &old),
        with(tag(1), &old),
    ]);
    assert!(!report.changed_anything(), "{report}");
    assert_eq!(
        json_of(shelf.catalog.event(1, &OneEventQuery::default()))["tags"][0]["label"],
        "Tag 1"
    );
}

#[test]
fn an_abridged_event_inside_a_market_replaces_nothing_unless_newer() {
    let abridged = |changes| with(market(1), &json!({"events": [changes]}));
    let mut shelf = Shelf::new(&[abridged(
        json!({"id": "1", "slug": "event-1", "title": "Short"}),
    )]);
    let title =
        |shelf: &Shelf| json_of(shelf.catalog.event(1, &OneEventQuery::default()))["title"].clone();
    assert_eq!(title(&shelf), "Short");
    shelf.put(&[event(1, &[])]);
    assert_eq!(title(&shelf), "Event 1");
    shelf.put(&[abridged(
        json!({"id": "1", "slug": "event-1", "title": "Short"}),
    )]);
    assert_eq!(title(&shelf), "Event 1");
    let newer = json!({"id": "1", "slug": "event-1", "title": "Newer", "updatedAt": "2027-01-01T00:00:00Z"});
    shelf.put(&[abridged(newer)]);
    assert_eq!(title(&shelf), "Newer");
    let event = json_of(shelf.catalog.event(1, &OneEventQuery::default()));
    assert_eq!(
        (ids(&event["tags"]), ids(&event["markets"])),
        (vec![1], vec![1])
    );
}

/// A part of another record takes no field away from the stored one.
#[test]
fn an_abridged_record_inside_another_takes_nothing_away() {
    let mut shelf = Shelf::new(&[event(1, &[market(1)])]);
    let newer = "2027-01-01T00:00:00Z";
    let brief = json!({"id": 1, "slug": "event-1", "title": "Newer", "updatedAt": newer, "image": "",
                       "tags": [], "series": []});
    let known = json_of(shelf.catalog.event(1, &OneEventQuery::default()));
    shelf.put(&[with(market(1), &json!({"events": [brief]}))]);
    let expected = with(known, &json!({"title": "Newer", "updatedAt": newer}));
    assert_eq!(
        json_of(shelf.catalog.event(1, &OneEventQuery::default())),
        expected
    );

    let brief = json!({"id": "1", "slug": "will-1-happen", "closed": true, "updatedAt": newer,
                       "description": null, "clobTokenIds": "[]"});
    let known = json_of(shelf.catalog.market("1", &OneMarketQuery::default()));
    let brief = with(brief, &json!({"clobTokenIds": null}));
    shelf.put_current(&[with(
        event(1, &[brief]),
        &json!({"title": "Newer", "updatedAt": newer}),
    )]);
    let expected = with(known, &json!({"closed": true, "updatedAt": newer}));
    assert_eq!(
        json_of(shelf.catalog.market("1", &OneMarketQuery::default())),
        expected
    );

    // A record of its own is all that there is.
    shelf.put(&[with(
        market(1),
        &json!({"description": null, "updatedAt": newer}),
    )]);
    assert_eq!(
        json_of(shelf.catalog.market("1", &OneMarketQuery::default()))["description"],
        ""
    );
}

/// The upstream took a change back: what it has now counts, whatever the date.
#[test]
fn what_the_upstream_has_now_counts_whatever_its_date() {
    let old = json!({"updatedAt": "2020-01-01T00:00:00Z", "question": "Old", "label": "Old"});
    let mut shelf = Shelf::new(&[event(1, &[market(1), market(2)])]);
    let records = [
        with(market(1), &old),
        with(
            event(1, &[with(market(2), &old)]),
            &json!({"updatedAt": "2020-01-01T00:00:00Z", "tags": null}),
        ),
        with(
            tag(1),
            &json!({"updatedAt": "2020-01-01T00:00:00Z", "label": "Old"}),
        ),
    ];
    assert!(!shelf.put(&records).changed_anything());
    let report = shelf.put_current(&records);
    assert_eq!(
        (report.events, report.markets),
        (tally(0, 1, 0), tally(0, 2, 0))
    );
    for id in ["1", "2"] {
        let market = json_of(shelf.catalog.market(id, &OneMarketQuery::default()));
        assert_eq!(market["question"], "Old");
    }
    assert!(!shelf.put_current(&records).changed_anything());
}

#[test]
fn a_change_inside_reaches_everything_that_shows_it() {
    let mut shelf = Shelf::new(&[event(1, &[market(1)]), event(2, &[market(2)])]);
    let newer = |field: &str| json!({"updatedAt": "2026-06-01T00:00:00Z", field: "New"});
    shelf.put(&[
        with(tag(1), &newer("label")),
        with(series(1), &newer("title")),
        with(market(1), &newer("question")),
    ]);
    for id in [1, 2] {
        let event = json_of(shelf.catalog.event(id, &OneEventQuery::default()));
        assert_eq!(
            (&event["tags"][0]["label"], &event["series"][0]["title"]),
            (&json!("New"), &json!("New"))
        );
    }
    assert_eq!(
        json_of(shelf.catalog.event(1, &OneEventQuery::default()))["markets"][0]["question"],
        "New"
    );
    assert_eq!(
        json_of(shelf.catalog.tags(&TagsQuery::default()))[0]["label"],
        "New"
    );
    // A new title of an event appears in its markets and its series.
    shelf.put(&[with(event(1, &[]), &newer("title"))]);
    assert_eq!(
        json_of(shelf.catalog.markets(&MarketsQuery::default()))[1]["events"][0]["title"],
        "New"
    );
    let series = json_of(shelf.catalog.series(&<_>::default()));
    assert_eq!(series[0]["events"][1]["title"], "New");
}

#[test]
fn a_market_moves_to_the_event_that_has_it_now() {
    let mut shelf = Shelf::new(&[event(1, &[market(1)]), event(2, &[])]);
    shelf.put(&[event(2, &[market(1)])]);
    let events = json_of(shelf.catalog.events(&EventsQuery::default()));
    assert_eq!(
        (ids(&events[0]["markets"]), ids(&events[1]["markets"])),
        (vec![1], vec![])
    );
    assert_eq!(
        json_of(shelf.catalog.market("1", &OneMarketQuery::default()))["events"][0]["id"],
        "2"
    );
}

#[test]
fn a_batch_is_seen_whole_or_not_at_all() {
    let mut shelf = Shelf::new(&[event(1, &[market(1)])]);
    let later = |id| {
        with(
            event(id, &[market(id * 10), market(id * 10 + 1)]),
            &json!({"title": "Later"}),
        )
    };
    let put = |batch: &mut foretell_catalog::Batch<'_>, id| {
        batch
            .put(&read(None, later(id).to_string().as_bytes()).unwrap())
            .unwrap();
        batch.set_state("cursor", Some("7")).unwrap();
    };
    let mut dropped = shelf.writer.begin().unwrap();
    put(&mut dropped, 1);
    drop(dropped);
    let mut batch = shelf.writer.begin().unwrap();
    put(&mut batch, 2);
    assert_eq!(
        ids(&json_of(shelf.catalog.markets(&MarketsQuery::default()))),
        [1]
    );
    assert_eq!(shelf.catalog.state("cursor").unwrap(), None);
    batch.commit().unwrap();
    assert_eq!(
        ids(&json_of(shelf.catalog.markets(&MarketsQuery::default()))),
        [21, 20, 1]
    );
    assert_eq!(shelf.catalog.state("cursor").unwrap().as_deref(), Some("7"));
    assert_eq!(shelf.writer.state("cursor").unwrap().as_deref(), Some("7"));
}

#[test]
fn changes_are_followed_in_order_and_none_is_missed() {
    let mut shelf = Shelf::new(&[event(1, &[market(1)]), market(5)]);
    let follow = |shelf: &Shelf, from: u64| -> (Vec<u64>, u64) {
        let units: Vec<Unit> = shelf.catalog.changes_after(from, 100).unwrap();
        let name = |unit: &Unit| {
            unit.event
                .as_ref()
                .map_or(unit.markets[0].id, |event| event.id * 100)
        };
        (
            units.iter().map(name).collect(),
            units.last().map_or(from, |unit| unit.change),
        )
    };
    let (first, at) = follow(&shelf, 0);
    assert_eq!(first, [100, 5]);
    let newer = json!({"updatedAt": "2026-06-01T00:00:00Z", "orderPriceMinTickSize": 0.001});
    shelf.put(&[
        event(2, &[market(2)]),
        with(market(1), &newer),
        with(market(5), &newer),
    ]);
    let (second, at) = follow(&shelf, at);
    assert_eq!(second, [100, 200, 5]);
    assert_eq!(follow(&shelf, at).0, [0_u64; 0]);
    let unit = &shelf.catalog.changes_after(at - 3, 1).unwrap()[0];
    assert_eq!(
        unit.markets[0].terms.as_ref().unwrap().tick,
        foretell_model::Tick::Thousandth
    );
    assert_eq!(
        (unit.tags()[0].slug.as_str(), unit.series()[0].id),
        ("tag-1", 1)
    );
    let Record::Market(put) = read(None, with(market(1), &newer).to_string().as_bytes())
        .unwrap()
        .record
    else {
        panic!("no market");
    };
    assert_eq!(unit.markets[0], *put, "what was put comes back");
    // The market gets an event and from now on changes with it.
    shelf.put(&[event(3, &[with(market(5), &newer)])]);
    assert_eq!(follow(&shelf, at).0, [300]);
}

#[test]
fn profiles_are_kept() {
    let mut shelf = Shelf::new(&[]);
    let wallet = WalletAddress([7; 20]);
    assert_eq!(shelf.catalog.profile(&wallet).unwrap(), None);
    let profile = Profile {
        name: "N".into(),
        bio: "B".into(),
        display_username_public: true,
        ..Profile::default()
    };
    shelf.writer.set_profile(&wallet, &profile).unwrap();
    assert_eq!(
        shelf.catalog.profile(&wallet).unwrap(),
        Some(profile.clone())
    );
    let all = shelf.catalog.profiles(None).unwrap().unwrap();
    assert_eq!(all.profiles, [(wallet, profile.clone())]);
    let seen = Some(all.version.as_str());
    assert_eq!(shelf.catalog.profiles(seen).unwrap(), None);
    let renamed = Profile {
        name: "Bea".to_owned(),
        ..profile
    };
    shelf.writer.set_profile(&wallet, &renamed).unwrap();
    let changed = shelf.catalog.profiles(seen).unwrap().unwrap();
    assert_eq!(changed.profiles, [(wallet, renamed)]);
}

#[test]
fn files_of_other_builds_are_refused() {
    let shelf = Shelf::new(&[]);
    let path = shelf.directory.path().join("catalog.db");
    let nowhere = shelf.directory.path().join("nothing.db");
    let missing = Catalog::open(&nowhere, Sites::new()).unwrap_err();
    assert!(matches!(missing, CatalogError::Missing(_)) && !nowhere.exists());
    std::fs::write(&nowhere, "").unwrap();
    let empty = Catalog::open(&nowhere, Sites::new()).unwrap_err();
    assert!(matches!(empty, CatalogError::OtherSchema { found: 0, .. }));
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection
        .pragma_update(None, "user_version", 1_000)
        .unwrap();
    drop(connection);
    for error in [
        Writer::open(&path).unwrap_err(),
        Catalog::open(&path, Sites::new()).unwrap_err(),
    ] {
        assert!(
            matches!(error, CatalogError::OtherSchema { found: 1_000, .. }),
            "{error}"
        );
        assert_eq!(error.code().status(), 503);
    }
}
