//! A sync is killed at any point, and so is the engine. Afterwards catalog and exchange agree, and
//! nothing was registered twice.

use std::collections::BTreeMap;
use std::process::Child;

use foretell_tests::exchange::{Exchange, Options};
use foretell_tests::random::Random;
use serde_json::{Value, json};

use crate::end_to_end::catalog::upstream::{Upstream, event};
use crate::end_to_end::catalog::{ended, foretell, get, run, runtime};

/// Default number of kills.
const KILLS: u64 = 6;
const VARIABLE: &str = "FORETELL_TEST_CATALOG_KILLS";
const SEED: &str = "FORETELL_TEST_SEED";
/// Maximum number of commands and pages before a kill.
const WITHIN: u64 = 25;

#[test]
fn whatever_is_killed_catalog_and_exchange_agree_afterwards() {
    let kills = std::env::var(VARIABLE)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(KILLS);
    let mut random = Random::new(Random::seed(SEED));
    let mut exchange = Exchange::start(&Options::default());
    let upstream = Upstream::start();
    let runtime = runtime();
    for version in 0..kills {
        *upstream.events.lock() = events(version);
        let sync = foretell(&exchange, &["catalog", "sync", &upstream.base])
            .spawn()
            .expect("starts");
        let target = random.below(WITHIN);
        let sync = runtime.block_on(until(&exchange, &upstream, sync, target));
        if random.below(3) == 0 {
            exchange.kill_and_wait("engine");
            finish(sync);
        } else {
            kill(sync);
        }
    }
    let (_, done) = run(&exchange, &["catalog", "sync", &upstream.base]);
    let (agrees, found) = run(&exchange, &["catalog", "check"]);
    assert!(agrees, "{done}\n{found}");
    runtime.block_on(compare(&exchange, &events(kills.saturating_sub(1))));
}

/// Every version has more events than the previous one; some older ones have ended or have a finer
/// tick.
fn events(version: u64) -> Vec<Value> {
    let of = |id: u64| {
        let age = (version + 4).saturating_sub(id);
        let changed = id + age.min(6);
        let mut event = event(id, id.is_multiple_of(2), 3, changed * 10);
        for market in event["markets"].as_array_mut().into_iter().flatten() {
            if age >= 2 {
                market["orderPriceMinTickSize"] = json!(0.001);
            }
            if age >= 4 {
                market["closed"] = true.into();
            }
        }
        event
    };
    (1..=version + 4).map(of).collect()
}

/// Waits until pages and commands together reach `target`, or the sync ends.
async fn until(exchange: &Exchange, upstream: &Upstream, mut sync: Child, target: u64) -> Child {
    let (asked, registered) = (upstream.asked(), statuses(exchange).await.len());
    loop {
        let progress = upstream.asked() - asked + statuses(exchange).await.len() - registered;
        let ended = sync.try_wait().expect("a child").is_some();
        if ended || u64::try_from(progress).is_ok_and(|progress| progress >= target) {
            return sync;
        }
    }
}

fn kill(mut sync: Child) {
    // The process may have ended already.
    let _ = sync.kill();
    sync.wait().expect("a child");
}

/// A sync whose engine died ends by itself, with any exit code.
fn finish(sync: Child) {
    ended(sync);
}

/// Condition and status of every market of the exchange.
async fn statuses(exchange: &Exchange) -> BTreeMap<String, String> {
    let url = format!("{}/markets", exchange.operator);
    let (status, answer) = get(&url, Some(&exchange.operator_token())).await;
    let rows = answer["markets"].as_array().cloned().unwrap_or_default();
    assert!(status == 200 || rows.is_empty(), "{answer}");
    let count = rows.len();
    let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let all: BTreeMap<_, _> = rows
        .iter()
        .map(|row| (text(row, "conditionId"), text(row, "status")))
        .collect();
    assert_eq!(all.len(), count, "a condition is repeated in /markets");
    all
}

async fn compare(exchange: &Exchange, events: &[Value]) {
    let here = statuses(exchange).await;
    let markets = events
        .iter()
        .flat_map(|event| event["markets"].as_array().cloned().unwrap_or_default());
    let mut open = 0;
    for market in markets {
        let condition = market["conditionId"].as_str().expect("a condition");
        let status = here.get(condition).map(String::as_str);
        if market["closed"] == true {
            // Omitted if it ended before a sync lived long enough to register it.
            assert!(
                matches!(status, None | Some("closed")),
                "{condition}: {status:?}"
            );
        } else {
            assert_eq!(status, Some("active"), "{condition}");
            open += 1;
        }
    }
    assert!(open > 0);
}
