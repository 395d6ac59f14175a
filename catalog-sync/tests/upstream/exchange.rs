//! Effects of an upstream on an exchange over several rounds.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use foretell_catalog_sync::difference::FindingKind;
use foretell_catalog_sync::exchange::Exchange;
use foretell_catalog_sync::limits::LimitReached;
use foretell_catalog_sync::reconcile::{ReconcileError, ReconcileReport};
use foretell_catalog_sync::upstream::Backoff;
use foretell_catalog_sync::{RoundReport, Service};
use foretell_operator_client::OperatorClient;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::mock::{Asked, Mock, NoWait, Reply};
use crate::run;
use crate::world::{World, event, page};

const NOW: &str = "2026-02-08T12:00:00Z";

/// The markets of an exchange in the form of its operator surface.
pub(crate) type Markets = Arc<Mutex<BTreeMap<String, Value>>>;

fn answer(markets: &Markets, asked: &Asked) -> Reply {
    let mut markets = markets.lock();
    let body: Value = serde_json::from_str(&asked.body).unwrap_or_default();
    let condition = body["condition_id"].as_str().unwrap_or_default().to_owned();
    match (asked.path.as_str(), body.is_null()) {
        ("/status", true) => return status(false),
        ("/markets", true) => {
            let all: Value = markets.values().cloned().collect();
            return Reply::Json(json!({ "markets": all }).to_string());
        }
        ("/markets", false) => {
            let market = json!({
                "conditionId": condition, "tokenIds": body["token_ids"],
                "outcomes": body["outcomes"], "holds": [], "status": "active",
                "tick": body["tick_size"], "minimumSize": body["minimum_order_size"],
                "fee": {"ratePpm": body["fee"]["rate_ppm"], "exponent": body["fee"]["exponent"]},
                "archived": false, "negRisk": false, "eventFrozen": false,
                "question": body["question"], "slug": body["slug"],
                "endDate": body["end_date"],
            });
            markets.insert(condition, market);
        }
        ("/markets/close", false) => {
            markets.get_mut(&condition).expect("a fixture of ours")["status"] = "closed".into()
        }
        ("/markets/pause", false) => {
            let market = markets.get_mut(&condition).expect("a fixture of ours");
            market["status"] = "paused".into();
            market["holds"] = json!(["upstream"]);
        }
        other => panic!("{other:?}"),
    }
    Reply::Json(json!({ "success": true, "sequence": 1, "duplicate": false }).to_string())
}

fn status(outward_closed: bool) -> Reply {
    let exchange = json!({ "outward_closed": outward_closed });
    Reply::Json(json!({ "exchange": exchange }).to_string())
}

/// An exchange on a real socket, and its markets.
pub(crate) async fn exchange(clock: &Arc<NoWait>) -> (Arc<Exchange>, Markets) {
    let markets = Markets::default();
    let served = Arc::clone(&markets);
    let mock = Mock::start(move |asked| answer(&served, asked)).await;
    let client = OperatorClient::new(&mock.base, "token").expect("a fixture of ours");
    let exchange = Exchange::new(client, Backoff::default(), clock.clone());
    (Arc::new(exchange), markets)
}

/// An upstream whose events a test may change.
async fn upstream(events: u64) -> (Mock, Arc<Mutex<Vec<Value>>>) {
    let events: Vec<_> = (1..=events).map(|id| event(id, 60)).collect();
    let events = Arc::new(Mutex::new(events));
    let served = Arc::clone(&events);
    (
        Mock::start(move |asked| page(&served.lock(), asked)).await,
        events,
    )
}

fn close(market: &mut Value, second: u64) {
    market["closed"] = true.into();
    market["updatedAt"] = format!("2026-02-08T00:05:{second:02}Z").into();
}

pub(crate) fn has(markets: &Markets, status: &str) -> usize {
    let markets = markets.lock();
    markets
        .values()
        .filter(|market| market["status"] == status)
        .count()
}

async fn compared(service: &mut Service) -> ReconcileReport {
    let round: RoundReport = service.round().await;
    assert!(round.is_ok(), "{round:?}");
    round
        .exchange
        .expect("a fixture of ours")
        .expect("a fixture of ours")
}

#[test]
fn a_restored_copy_is_left_alone_until_it_is_opened() {
    run(async {
        let clock = NoWait::at(NOW);
        let (mock, _) = upstream(3).await;
        let (markets, is_closed) = (Markets::default(), Arc::new(AtomicBool::new(true)));
        let (served, flag) = (Arc::clone(&markets), Arc::clone(&is_closed));
        let copy = Mock::start(move |asked| match asked.path.as_str() {
            "/status" => status(flag.load(Ordering::Relaxed)),
            _ => answer(&served, asked),
        });
        let copy = copy.await;
        let client = OperatorClient::new(&copy.base, "token").expect("a fixture of ours");
        let exchange = Exchange::new(client, Backoff::default(), clock.clone());
        let world = World::new(&mock.base, &clock);
        let mut service = world.service(Some(Arc::new(exchange)));
        let round = service.round().await;
        let is_refused = matches!(round.exchange, Some(Err(ReconcileError::OutwardClosed)));
        assert!(is_refused && round.pulled.is_none(), "{round:?}");
        assert_eq!((mock.asked().len(), copy.asked().len()), (0, 1));
        is_closed.store(false, Ordering::Relaxed);
        compared(&mut service).await;
        assert_eq!(has(&markets, "active"), 6);
    });
}

#[test]
fn new_markets_are_registered_in_several_rounds() {
    run(async {
        let clock = NoWait::at(NOW);
        let (mock, events) = upstream(160).await;
        let (exchange, markets) = exchange(&clock).await;
        let world = World::new(&mock.base, &clock).limited(|limits| limits.new_markets = 130);
        let mut service = world.service(Some(exchange));
        let first = compared(&mut service).await;
        assert_eq!((has(&markets, "active"), first.waiting), (130, 190));
        assert_eq!(first.limits, [LimitReached::NewMarkets(190)]);

        // The rest of a round still runs: a market that ended is closed in the meantime.
        close(&mut events.lock()[0]["markets"][0], 1);
        let second = compared(&mut service).await;
        assert_eq!((has(&markets, "active"), has(&markets, "closed")), (259, 1));
        assert_eq!(second.waiting, 60);
        let third = compared(&mut service).await;
        assert_eq!((has(&markets, "active"), third.waiting), (319, 0));
        assert_eq!(third.limits, []);
        let last = compared(&mut service).await;
        assert_eq!((last.done(), last.limits.len()), (0, 0));
    });
}

/// If an upstream closes everything, a few markets close per day. The others are reported with the
/// operator's command until their registered end date has passed.
#[test]
fn an_upstream_does_not_close_everything() {
    run(async {
        let clock = NoWait::at(NOW);
        let (mock, events) = upstream(40).await;
        for (id, event) in events.lock().iter_mut().enumerate() {
            let ends = if id < 10 {
                "2026-02-08T13:00:00Z"
            } else {
                "2026-03-01T00:00:00Z"
            };
            event["markets"][0]["endDate"] = ends.into();
            event["markets"][1]["endDate"] = ends.into();
        }
        let (exchange, markets) = exchange(&clock).await;
        let world = World::new(&mock.base, &clock);
        let mut service = world.service(Some(exchange));
        compared(&mut service).await;
        assert_eq!(has(&markets, "active"), 80);

        for event in events.lock().iter_mut() {
            for market in event["markets"].as_array_mut().unwrap() {
                close(market, 2);
                // A new end date changes nothing.
                market["endDate"] = "2026-01-01T00:00:00Z".into();
            }
        }
        let found = compared(&mut service).await;
        assert_eq!(has(&markets, "closed"), 8, "a tenth");
        assert_eq!(has(&markets, "paused"), 16, "a fifth");
        let trade_on = service.status().stops_waiting;
        assert_eq!(trade_on, 56, "neither closed nor held");
        assert_eq!(found.count_of(FindingKind::HeldBack), 72 + trade_on);
        let json = found.json();
        let note = &json["notes"][0];
        assert_eq!(note["kind"], "held back");
        assert!(
            note["command"]
                .as_str()
                .unwrap()
                .starts_with("foretell market close 0x"),
            "{note}"
        );

        // At the next full pass the registered end dates of the first ten events have passed.
        clock.set("2026-02-08T13:30:00Z");
        compared(&mut service).await;
        assert!(
            (20..=28).contains(&has(&markets, "closed")),
            "{}",
            has(&markets, "closed")
        );
        let before = has(&markets, "closed");
        let held = has(&markets, "paused");
        assert!(held <= 16, "also over several rounds: {held}");
        compared(&mut service).await;
        assert_eq!(
            (has(&markets, "closed"), has(&markets, "paused")),
            (before, held)
        );

        clock.set("2026-02-09T12:00:00Z");
        compared(&mut service).await;
        let live = 80 - before;
        assert_eq!(
            has(&markets, "closed") - before,
            (live / 10).max(5),
            "another day"
        );
    });
}

#[test]
fn a_disk_with_little_room_gets_no_new_markets() {
    run(async {
        let clock = NoWait::at(NOW);
        let (mock, _) = upstream(2).await;
        let (exchange, markets) = exchange(&clock).await;
        let world = World::new(&mock.base, &clock);
        world.pull().await.unwrap();
        let world = world.limited(|limits| limits.disk_reserve_bytes = u64::MAX);
        let mut service = world.service(Some(exchange));
        let round = service.round().await;
        let reached: Vec<_> = round.limits().cloned().collect();
        assert_eq!(
            reached,
            [LimitReached::DiskReserve, LimitReached::DiskReserve]
        );
        assert_eq!(markets.lock().len(), 0);
    });
}
