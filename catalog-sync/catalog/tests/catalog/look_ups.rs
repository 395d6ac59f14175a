//! The table of market texts.

use super::common::{Shelf, condition, event, market, with};
use foretell_model::{ConditionId, TokenId};
use serde_json::json;

fn condition_id(id: u64) -> ConditionId {
    let mut bytes = [0; 32];
    hex::decode_to_slice(&condition(id)[2..], &mut bytes).unwrap();
    ConditionId(bytes)
}

fn token(last: u8) -> TokenId {
    let mut bytes = [0; 32];
    bytes[31] = last;
    TokenId(bytes)
}

#[test]
fn words_are_found_by_condition_and_follow_changes() {
    let mut shelf = Shelf::new(&[event(1, &[market(10)]), market(20)]);
    assert!(shelf.catalog.lookup().is_empty());
    let mut changed = shelf.catalog.refresh_lookup().unwrap();
    changed.sort_unstable();
    assert_eq!(changed, [condition_id(10), condition_id(20)]);
    assert_eq!(shelf.catalog.refresh_lookup().unwrap(), []);
    let before = shelf.catalog.lookup();
    let words = before.market(&condition_id(10)).unwrap();
    assert_eq!(
        (words.id, &*words.title, &*words.slug),
        (10, "Will 10 happen?", "will-10-happen")
    );
    assert_eq!(
        words
            .outcomes
            .iter()
            .map(|label| &**label)
            .collect::<Vec<_>>(),
        ["Yes", "No"]
    );
    assert_eq!(words.end_date.as_deref(), Some("2026-02-01T12:00:00Z"));
    assert_eq!(*words.tokens, [token(20), token(21)]);
    let event_words = words.event.as_ref().unwrap();
    assert_eq!(
        (event_words.id, &*event_words.slug, &*event_words.title),
        (1, "event-1", "Event 1")
    );
    assert_eq!(&*event_words.tags[0], "Tag 1");
    assert!(before.market(&condition_id(20)).unwrap().event.is_none());
    assert!(before.market(&condition_id(99)).is_none());

    let newer = |field: &str| json!({"updatedAt": "2026-06-01T00:00:00Z", field: "New"});
    shelf.put(&[
        with(event(1, &[]), &newer("title")),
        with(market(20), &newer("question")),
        market(30),
    ]);
    let mut changed = shelf.catalog.refresh_lookup().unwrap();
    changed.sort_unstable();
    assert_eq!(changed, [10, 20, 30].map(condition_id));
    let after = shelf.catalog.lookup();
    assert_eq!(after.len(), 3);
    assert_eq!(
        &*after
            .market(&condition_id(10))
            .unwrap()
            .event
            .as_ref()
            .unwrap()
            .title,
        "New"
    );
    assert_eq!(&*after.market(&condition_id(20)).unwrap().title, "New");
    assert_eq!(
        &*before.market(&condition_id(20)).unwrap().title,
        "Will 20 happen?"
    );
}

#[test]
fn of_two_markets_with_one_condition_the_first_is_known() {
    let twin = with(
        market(11),
        &json!({"conditionId": condition(10), "clobTokenIds": "[\"5\", \"6\"]"}),
    );
    let odd = with(
        market(12),
        &json!({"outcomes": "[\"A\", \"B\", \"C\"]", "clobTokenIds": "[]"}),
    );
    let shelf = Shelf::new(&[
        market(10),
        twin,
        odd,
        with(market(13), &json!({"conditionId": ""})),
    ]);
    shelf.catalog.refresh_lookup().unwrap();
    let lookup = shelf.catalog.lookup();
    assert_eq!(lookup.market(&condition_id(10)).unwrap().id, 10);
    assert_eq!(lookup.market(&condition_id(12)).unwrap().outcomes.len(), 3);
    assert_eq!(lookup.len(), 2);
    let raw = shelf
        .catalog
        .raw_market(&condition_id(10))
        .unwrap()
        .unwrap();
    assert!(raw.contains("someUnknownKey") && raw.contains("\"10\""));
    assert_eq!(shelf.catalog.raw_market(&condition_id(99)).unwrap(), None);
}
