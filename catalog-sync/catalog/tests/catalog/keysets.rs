//! Walks by cursor, page by page, while rows change.

use std::collections::BTreeSet;

use super::common::{Shelf, event, ids, json_of, market, parameters, with};
use foretell_catalog::query::{EventsKeysetQuery, MarketsKeysetQuery};
use foretell_wire::read::query::parameters::Parameters as _;
use rstest::rstest;
use serde_json::{Value, json};

const ROWS: u64 = 150;

/// The sort values of a row; the values of many rows are equal.
fn values(row: u64, round: u64) -> Value {
    let number = (row * 7 + round * 31) % 40;
    json!({
        "volume": number, "slug": format!("s-{}", number % 11), "title": format!("T {number}"),
        "question": format!("T {number}"), "updatedAt": format!("2026-02-{:02}T00:00:00Z", 1 + round),
        "liquidity": if number < 9 { Value::Null } else { json!(number % 5) },
    })
}

fn records(of: impl Iterator<Item = u64>, round: u64) -> Vec<Value> {
    let record = |id: u64| {
        let values = values(id, round);
        let of_event = with(values.clone(), &json!({"question": null}));
        with(event(id, &[with(market(id), &values)]), &of_event)
    };
    of.map(record).collect()
}

fn page(shelf: &Shelf, list: &str, text: &str) -> (Vec<u64>, Option<String>) {
    let answer = json_of(match list {
        "markets" => shelf
            .catalog
            .markets_keyset(&MarketsKeysetQuery::read(&parameters(text)).unwrap()),
        _ => shelf
            .catalog
            .events_keyset(&EventsKeysetQuery::read(&parameters(text)).unwrap()),
    });
    let next = answer["next_cursor"].as_str().map(str::to_owned);
    (ids(&answer[list]), next)
}

/// A row that does not change is in exactly one page, and in its place, whatever other rows do.
#[rstest]
fn a_walk_misses_no_row_that_stays(
    #[values("markets", "events")] list: &str,
    #[values(
        "",
        "volume",
        "slug",
        "title,volume",
        "liquidity,slug",
        "id",
        "updatedAt"
    )]
    order: &str,
    #[values(true, false)] ascending: bool,
) {
    let mut shelf = Shelf::new(&records(1..=ROWS, 0));
    let all_asked = format!("limit=500&order={order}&ascending={ascending}&closed=false");
    let (all, _) = page(&shelf, list, &all_asked);
    assert_eq!(all.len() as u64, ROWS);
    let (mut walked, mut changed, mut round) = (Vec::new(), BTreeSet::<u64>::new(), 0);
    let mut next = Some(String::new());
    while let Some(cursor) = next {
        let asked = format!(
            "limit=15&order={order}&ascending={ascending}&closed=false&after_cursor={cursor}"
        );
        let (rows, following) = page(&shelf, list, &asked);
        assert!(
            rows.len() == 15 || following.is_none(),
            "only the last page is short"
        );
        round += 1;
        // Also the last row of a page, which the cursor is of; and new rows at both ends.
        let moves = |id: &u64| id % 5 == round % 2 || Some(id) == rows.last();
        let some: BTreeSet<u64> = (1..=ROWS).filter(moves).collect();
        walked.extend(rows);
        changed.extend(&some);
        shelf.put(&records(
            some.into_iter().chain([1_000 + round]),
            round % 25,
        ));
        next = following.filter(|_| round < 500);
    }
    let stays = |id: &u64| *id <= ROWS && !changed.contains(id);
    let expected: Vec<u64> = all.iter().copied().filter(stays).collect();
    walked.retain(stays);
    assert!(expected.len() > 50, "{}", expected.len());
    assert_eq!(walked, expected);
}

/// A text that no cursor holds is read again from its row.
#[test]
fn a_walk_goes_on_after_a_long_text() {
    let long = "x".repeat(5_000);
    let record = |id: u64| {
        with(
            event(id, &[]),
            &json!({"title": format!("{long}{}", id % 3)}),
        )
    };
    let shelf = Shelf::new(&(1..=20).map(record).collect::<Vec<_>>());
    let (mut walked, mut next) = (Vec::new(), Some(String::new()));
    while let Some(cursor) = next {
        assert!(cursor.len() < 4_000, "it fits in a request line");
        let (rows, following) = page(
            &shelf,
            "events",
            &format!("limit=3&order=title&after_cursor={cursor}"),
        );
        walked.extend(rows);
        next = following;
    }
    assert_eq!(walked, page(&shelf, "events", "order=title").0);
}
