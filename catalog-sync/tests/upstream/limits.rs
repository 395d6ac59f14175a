//! Endless upstreams against the limits of a round.

use foretell_catalog_sync::limits::LimitReached;
use foretell_catalog_sync::resource::Resource;
use foretell_catalog_sync::sync::ListProblem;
use serde_json::{Value, json};

use crate::mock::{Asked, Mock, NoWait, Reply};
use crate::run;
use crate::world::{World, event, page};

const NOW: &str = "2026-02-08T12:00:00Z";

/// A full page of rows at any offset.
fn endless(asked: &Asked, row: impl Fn(usize) -> Value) -> Reply {
    let first = asked.number("offset");
    let rows = first..first + asked.number("limit");
    Reply::Json(rows.map(row).collect::<Value>().to_string())
}

fn tag(id: usize) -> Value {
    json!({"id": (id + 1).to_string(), "label": format!("Tag {id}"), "slug": format!("tag-{id}")})
}

fn long_tag(id: usize) -> Value {
    json!({"id": (id + 1).to_string(), "label": "x".repeat(20_000), "slug": format!("tag-{id}")})
}

/// An upstream with an endless list of tags and a few events.
async fn endless_tags(row: fn(usize) -> Value) -> Mock {
    let events = [event(1, 60), event(2, 120)];
    Mock::start(move |asked| match asked.path.as_str() {
        "/tags" => endless(asked, row),
        _ => page(&events, asked),
    })
    .await
}

#[test]
fn a_list_without_an_end_is_left_and_the_others_are_read() {
    run(async {
        let mock = endless_tags(tag).await;
        let world = World::new(&mock.base, &NoWait::at(NOW)).limited(|limits| {
            limits.list_rows = 16 * 1_000;
        });
        let pulled = world.pull().await.unwrap();
        assert!(pulled.ended && !pulled.full);
        assert_eq!(pulled.limits, [LimitReached::ListRows(Resource::Tags)]);
        assert!(matches!(pulled.findings[0].problem, ListProblem::Limit(_)));
        assert_eq!(world.events(), [1, 2]);
        let before = mock.asked().len();
        assert!(before < 30, "{before} pages");

        // The list restarts only when the next full pass is due.
        let again = world.pull().await.unwrap();
        assert_eq!((again.ended, again.limits), (false, vec![]));
        assert!(
            mock.asked()[before..]
                .iter()
                .all(|asked| asked.path != "/tags")
        );
    });
}

#[test]
fn a_list_is_bounded_in_bytes() {
    run(async {
        let mock = endless_tags(long_tag).await;
        let world = World::new(&mock.base, &NoWait::at(NOW)).limited(|limits| {
            limits.list_bytes = 16 * 10_000_000;
        });
        let pulled = world.pull().await.unwrap();
        assert_eq!(pulled.limits, [LimitReached::ListBytes(Resource::Tags)]);
        assert!(pulled.bytes < 15_000_000, "{}", pulled.bytes);
        assert_eq!(world.events(), [1, 2]);
    });
}

/// Each round continues where the previous one ended, until the list reaches its limit.
#[test]
fn a_round_that_is_full_ends_well_and_the_next_goes_on() {
    run(async {
        let mock = endless_tags(tag).await;
        let world = World::new(&mock.base, &NoWait::at(NOW)).limited(|limits| {
            limits.list_rows = 16 * 1_500;
            limits.round_pages = 5;
        });
        let (mut offsets, mut rounds) = (Vec::new(), 0);
        loop {
            let before = mock.asked().len();
            let pulled = world.pull().await.unwrap();
            rounds += 1;
            let mut asked = mock.asked()[before..].to_vec();
            asked.retain(|asked| !asked.path.ends_with("/keyset"));
            assert!(
                asked.len() <= 5 && rounds < 10,
                "{} in {rounds}",
                asked.len()
            );
            if asked[0].path == "/tags" {
                offsets.push(asked[0].number("offset"));
            }
            if pulled.ended {
                break;
            }
            assert!(
                pulled.limits.contains(&LimitReached::RoundPages),
                "{:?}",
                pulled.limits
            );
        }
        assert!(
            offsets.len() >= 3 && offsets.is_sorted_by(|a, b| a < b),
            "{offsets:?}"
        );
        assert_eq!(world.events(), [1, 2]);
    });
}

#[test]
fn a_round_is_bounded_in_bytes() {
    run(async {
        let mock = endless_tags(long_tag).await;
        let world = World::new(&mock.base, &NoWait::at(NOW)).limited(|limits| {
            limits.round_bytes = 5_000_000;
        });
        let pulled = world.pull().await.unwrap();
        assert_eq!(
            (pulled.full, pulled.limits),
            (false, vec![LimitReached::RoundBytes])
        );
        assert!(pulled.bytes < 8_000_000, "{}", pulled.bytes);
    });
}

#[test]
fn a_catalog_that_is_full_is_written_no_more_and_can_be_read() {
    run(async {
        let mock = Mock::start(|asked| match asked.path.as_str() {
            "/events" => endless(asked, |id| {
                let mut event = event(id as u64 + 1, 60);
                event["description"] = "x".repeat(20_000).into();
                event
            }),
            _ => Reply::Json("[]".into()),
        })
        .await;
        let bound = 30_000_000;
        let world =
            World::new(&mock.base, &NoWait::at(NOW)).limited(|limits| limits.catalog_bytes = bound);
        let pulled = world.pull().await.unwrap();
        assert_eq!(
            (pulled.full, pulled.limits),
            (false, vec![LimitReached::CatalogBytes])
        );
        let before = mock.asked().len();
        let again = world.pull().await.unwrap();
        assert_eq!(again.limits, [LimitReached::CatalogBytes]);
        assert_eq!(mock.asked().len(), before, "nothing more is asked for");
        // A page of these events is 2 MB, and the catalog stores it a few times.
        assert!(world.bytes() < bound + 30_000_000, "{}", world.bytes());
        assert_eq!(world.events()[..3], [1, 2, 3]);
    });
}

#[test]
fn a_disk_with_little_room_is_left_to_the_journal() {
    run(async {
        let mock = endless_tags(tag).await;
        let world = World::new(&mock.base, &NoWait::at(NOW))
            .limited(|limits| limits.disk_reserve_bytes = u64::MAX);
        let pulled = world.pull().await.unwrap();
        assert_eq!(pulled.limits, [LimitReached::DiskReserve]);
        assert_eq!(mock.asked().len(), 0);
    });
}

/// If too many recent changes hide the older ones, a full pass through several rounds follows.
#[test]
fn changes_without_an_end_become_a_reading_of_all_lists() {
    run(async {
        let mock = Mock::start(|asked| match asked.path.as_str() {
            "/events" if asked.query.contains("order=updatedAt") => {
                endless(asked, |id| event(id as u64 + 1, 43_200))
            }
            "/events" => page(
                &(1..=300).map(|id| event(id, 60)).collect::<Vec<_>>(),
                asked,
            ),
            _ => Reply::Json("[]".into()),
        })
        .await;
        let world = World::new(&mock.base, &NoWait::at(NOW)).limited(|limits| {
            limits.round_pages = 12;
        });
        assert!(world.pull().await.unwrap().full);
        let mut full = Vec::new();
        for _ in 0..3 {
            let before = mock.asked().len();
            let pulled = world.pull().await.unwrap();
            assert!(mock.asked().len() - before <= 12);
            full.push(pulled.full);
        }
        assert_eq!(full, [false, true, false], "changes, all lists, changes");
    });
}
