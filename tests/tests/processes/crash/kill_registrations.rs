//! SIGKILL the gateway while operators register markets: each market is absent, or it is there with its
//! clock, delay and rebate, opened or closed as its registration says (docs/verify/rules.md §12).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use foretell_operator_client::{OperatorClient, OperatorError};
use foretell_tests::exchange::{Exchange, Options};
use foretell_tests::load::Shared;
use foretell_tests::operator;
use foretell_tests::random::Random;
use parking_lot::Mutex;
use serde_json::{Value, json};

/// Operators that register at the same time.
const OPERATORS: usize = 4;
/// Registrations between two kills, of all operators.
const BETWEEN_KILLS: u64 = 20;
/// After a registration without an answer.
const PAUSE: Duration = Duration::from_millis(100);
const OPENS: &str = "2100-01-01T00:00:00Z";
const CLOSES: &str = "2100-01-02T00:00:00Z";

/// A registration by its slug, and whether it was acknowledged.
type Sent = Arc<Mutex<BTreeMap<String, (Value, bool)>>>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_market_is_registered_whole_or_not_at_all() {
    let rounds = crate::crash::busy::rounds(5);
    let mut random = Random::new(Random::seed("FORETELL_KILL_SEED"));
    let mut exchange = Exchange::start(&Options::demo());
    let (shared, sent) = (Shared::default(), Sent::default());
    let mut tasks = Vec::new();
    for operator in 0..OPERATORS {
        let client = operator::client(&exchange);
        let (shared, sent) = (shared.clone(), Arc::clone(&sent));
        tasks.push(tokio::spawn(async move {
            register(operator, &client, &shared, &sent).await;
        }));
    }
    for _ in 0..rounds {
        shared.wait_answers(BETWEEN_KILLS).await;
        // The moment within a registration is the experiment.
        tokio::time::sleep(Duration::from_micros(random.below(5_000))).await;
        exchange.kill_and_wait("gateway-1");
    }
    shared.stop.send_replace(true);
    for task in tasks {
        task.await.expect("no registration was refused");
    }
    let sent = std::mem::take(&mut *sent.lock());
    let there = rows(&exchange).await;
    let of_unknown = sent.iter().filter(|(_, (_, is_known))| !is_known);
    let absent = of_unknown
        .clone()
        .filter(|(slug, _)| !there.contains_key(*slug));
    println!(
        "{} registrations, {rounds} kills, {} without an answer, {} of them absent",
        sent.len(),
        of_unknown.count(),
        absent.count()
    );
    for (slug, (registration, is_acknowledged)) in &sent {
        match there.get(slug) {
            Some(row) => assert_whole(registration, row),
            None => assert!(!is_acknowledged, "{slug} was acknowledged and is absent"),
        }
    }
    // A repeat registers what is absent, and changes nothing of what is there.
    for (slug, (registration, _)) in &sent {
        let answer = operator::done(&exchange, "/markets", registration).await;
        assert_eq!(answer["duplicate"], there.contains_key(slug), "{answer}");
    }
    let there = rows(&exchange).await;
    for (slug, (registration, _)) in &sent {
        assert_whole(registration, &there[slug]);
    }
    assert!(exchange.stop().success(), "a clean stop");
}

async fn register(operator: usize, client: &OperatorClient, shared: &Shared, sent: &Sent) {
    for number in 0.. {
        if *shared.stop.borrow() {
            return;
        }
        let slug = format!("registered-{operator}-{number}");
        let registration = registration(&slug, number);
        let entry = (registration.clone(), false);
        sent.lock().insert(slug.clone(), entry);
        match client.post::<Value>("/markets", &registration).await {
            Ok(_) => {
                sent.lock().insert(slug, (registration, true));
                shared.counted();
            }
            Err(OperatorError::Rejected { status, text, .. }) if status < 500 && status != 425 => {
                panic!("{slug}: {status} {text}")
            }
            // The gateway was not there: nothing was sent.
            Err(OperatorError::Unreachable { .. }) => {
                sent.lock().remove(&slug);
                tokio::time::sleep(PAUSE).await;
            }
            // It was killed meanwhile, or starts.
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Every third one opens at once, later, never.
fn registration(slug: &str, number: u64) -> Value {
    let mut registration = json!({
        "question": format!("Is {slug} whole?"),
        "slug": slug,
        "closes_at": CLOSES,
        "taker_delay_ms": 1_500,
        "rebate_ppm": 250_000,
    });
    match number % 3 {
        0 => {}
        1 => registration["opens_at"] = json!(OPENS),
        _ => registration["closed"] = json!(true),
    }
    registration
}

/// The rows of the registered markets by their slug.
async fn rows(exchange: &Exchange) -> BTreeMap<String, Value> {
    let (status, answer) = operator::get(exchange, "/markets").await;
    assert_eq!(status, 200, "{answer}");
    let rows = answer["markets"].as_array().expect("rows").iter();
    let slug = |row: &Value| row["slug"].as_str().expect("a slug").to_owned();
    rows.map(|row| (slug(row), row.clone())).collect()
}

fn assert_whole(registration: &Value, row: &Value) {
    let status = match (&registration["opens_at"], &registration["closed"]) {
        (Value::Null, Value::Null) => "active",
        (_, Value::Null) => "registered",
        _ => "closed",
    };
    assert_eq!(row["status"], status, "{row}");
    assert_eq!(row["slugTaken"], false, "{row}");
    for field in ["taker_delay_ms", "rebate_ppm"] {
        assert_eq!(row["terms"][field], registration[field], "{field}: {row}");
    }
    for field in ["closes_at", "opens_at"] {
        let is_set = row["terms"][field]
            .as_str()
            .is_some_and(|time| !time.is_empty());
        assert_eq!(is_set, !registration[field].is_null(), "{field}: {row}");
    }
}

/// Two registrations of different markets under one slug, at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_two_markets_gets_a_slug() {
    let exchange = Exchange::start(&Options::demo());
    let client = Arc::new(operator::client(&exchange));
    for number in 0..40 {
        let slug = format!("wanted-{number}");
        let [first, second] = [1, 2].map(|which| {
            let (client, condition) = (Arc::clone(&client), format!("0x{which:032x}{number:032x}"));
            let registration = json!({
                "question": "Who was first?", "slug": slug, "condition_id": condition,
            });
            tokio::spawn(async move {
                let answer = client.post::<Value>("/markets", &registration).await;
                (condition, answer)
            })
        });
        let answers = [
            first.await.expect("an answer"),
            second.await.expect("an answer"),
        ];
        let (won, lost): (Vec<_>, Vec<_>) =
            answers.into_iter().partition(|(_, answer)| answer.is_ok());
        let ([(winner, _)], [(_, lost)]) = (&won[..], &lost[..]) else {
            panic!("{slug}: {} of two were registered", won.len());
        };
        let Err(OperatorError::Rejected { status, code, text }) = lost else {
            panic!("{lost:?}");
        };
        assert_eq!((*status, code.as_str()), (409, "slug_taken"), "{text}");
        assert!(text.contains(winner) && text.contains(&slug), "{text}");
    }
    assert!(exchange.stop().success(), "a clean stop");
}
