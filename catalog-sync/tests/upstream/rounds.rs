//! Full passes, changes, lists that shift, and restarts in the middle.

use std::sync::Arc;

use foretell_catalog_sync::sync::ListProblem;
use parking_lot::Mutex;
use serde_json::Value;

use crate::mock::{Mock, NoWait, Reply};
use crate::run;
use crate::world::{World, event, page};

const NOW: &str = "2026-02-08T12:00:00Z";

/// An upstream whose events a test may change.
async fn living(events: Vec<Value>) -> (Mock, Arc<Mutex<Vec<Value>>>) {
    let events = Arc::new(Mutex::new(events));
    let served = Arc::clone(&events);
    (
        Mock::start(move |asked| page(&served.lock(), asked)).await,
        events,
    )
}

fn many(count: u64) -> Vec<Value> {
    (1..=count).map(|id| event(id, id)).collect()
}

#[test]
fn a_second_round_reads_little_and_changes_nothing() {
    run(async {
        let (mock, _) = living(many(230)).await;
        let world = World::new(&mock.base, &NoWait::at(NOW));
        let first = world.pull().await.unwrap();
        assert!(first.full);
        assert_eq!(
            (first.records.events.added, first.records.markets.added),
            (230, 460)
        );
        assert_eq!(world.events(), (1..=230).collect::<Vec<_>>());
        let before = mock.asked().len();
        let second = world.pull().await.unwrap();
        assert!(!second.full && !second.records.changed_anything());
        let asked: Vec<String> = mock.asked()[before..]
            .iter()
            .map(|asked| asked.path.clone())
            .collect();
        assert!(
            asked
                .iter()
                .all(|path| path == "/events" || path == "/markets"),
            "{asked:?}"
        );
    });
}

#[test]
fn changes_are_found_and_everything_is_read_again_in_time() {
    run(async {
        let (mock, events) = living(many(230)).await;
        let clock = NoWait::at(NOW);
        let world = World::new(&mock.base, &clock);
        world.pull().await.unwrap();
        {
            let mut events = events.lock();
            events[3] = event(4, 40_000);
            events[3]["markets"][0]["closed"] = true.into();
            events.push(event(231, 40_001));
        }
        let pulled = world.pull().await.unwrap();
        assert!(!pulled.full);
        assert_eq!(
            (pulled.records.events.added, pulled.records.events.changed),
            (1, 1)
        );
        assert_eq!(world.events().len(), 231);

        clock.set("2026-02-08T13:00:00Z");
        assert!(world.pull().await.unwrap().full, "an hour has passed");
    });
}

#[test]
fn a_pass_that_broke_off_goes_on_where_it_was() {
    run(async {
        let broken = Arc::new(Mutex::new(true));
        let (all, down) = (many(500), Arc::clone(&broken));
        let mock = Mock::start(move |asked| {
            if *down.lock() && asked.path == "/events" && asked.number("offset") > 250 {
                return Reply::Status(502, "", String::new());
            }
            page(&all, asked)
        })
        .await;
        let world = World::new(&mock.base, &NoWait::at(NOW));
        let pulled = world.pull().await.unwrap();
        assert!(pulled.ended && !pulled.full);
        let problem = &pulled.findings[0].problem;
        assert!(matches!(problem, ListProblem::Unreadable(_)), "{problem}");
        assert_eq!(world.markets().len(), 500, "the other lists are read");

        *broken.lock() = false;
        let before = mock.asked().len();
        let pulled = world.pull().await.unwrap();
        assert_eq!((pulled.ended, &*pulled.findings), (false, &[][..]));
        let first = mock.asked()[before].clone();
        assert_eq!(first.path, "/events");
        assert!(
            first.number("offset") > 100,
            "not from the beginning: {}",
            first.query
        );
        assert_eq!(world.events().len(), 500);
    });
}

#[test]
fn a_list_that_moves_while_it_is_read_loses_nothing() {
    run(async {
        let list = Arc::new(Mutex::new(many(400)));
        let served = Arc::clone(&list);
        let mock = Mock::start(move |asked| {
            let mut list = served.lock();
            if asked.path == "/events" && asked.query.contains("order=id") {
                match asked.before % 3 {
                    // Rows are added at the front, and rows before the offset are deleted.
                    0 => list.insert(0, event(1_000 + asked.before as u64, 1)),
                    1 => list.drain(..15).for_each(drop),
                    _ => {}
                }
            }
            page(&list, asked)
        })
        .await;
        let world = World::new(&mock.base, &NoWait::at(NOW));
        world.pull().await.unwrap();
        let known = world.events();
        for left in list.lock().iter() {
            let id: u64 = left["id"].as_str().unwrap().parse().unwrap();
            assert!(
                known.contains(&id) || id >= 1_000,
                "{id} was there all the time"
            );
        }
    });
}

#[test]
fn an_upstream_that_knows_no_order_is_read_whole() {
    run(async {
        let events = many(30);
        let mock = Mock::start(move |asked| {
            let mut plain = asked.clone();
            plain.query = plain.query.replace("order=updatedAt", "order=none");
            page(&events, &plain)
        })
        .await;
        let world = World::new(&mock.base, &NoWait::at(NOW));
        world.pull().await.unwrap();
        let again = world.pull().await.unwrap();
        assert!(again.full && !again.records.changed_anything());
        assert_eq!(world.markets().len(), 60);
    });
}
