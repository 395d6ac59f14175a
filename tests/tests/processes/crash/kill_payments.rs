//! SIGKILL the engine, the gateways and the webhooks while users ask for withdrawals and a cashier pays
//! them: nothing is paid twice, nothing paid is returned, no notice is missed (docs/verify/rules.md §30,
//! docs/operate/webhooks.md).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use foretell_auth::withdrawal::WithdrawalMessage;
use foretell_model::{Micros, TimeMs};
use foretell_operator_client::{OperatorClient, OperatorError};
use foretell_ops::demo::wallets::VISITORS;
use foretell_ops::trader::{Answer, Trader};
use foretell_tests::demo::visitors;
use foretell_tests::exchange::{Exchange, Options, PATIENCE};
use foretell_tests::load::Shared;
use foretell_tests::operator;
use foretell_tests::random::Random;
use foretell_tests::webhook_receiver::WebhookReceiver;
use foretell_tests::withdrawals::{in_seconds, wallet_of};
use parking_lot::Mutex;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::crash::busy::FUNDS;

const PROCESSES: [&str; 4] = ["engine", "webhooks", "gateway-1", "gateway-2"];

/// Between two looks of the cashier, and before a request is repeated.
const PAUSE: Duration = Duration::from_millis(20);

/// What was acknowledged: by number of the withdrawal.
#[derive(Default)]
struct Acknowledged {
    requested: BTreeMap<u64, (usize, String)>,
    ended: BTreeMap<u64, &'static str>,
}

type Known = Arc<Mutex<Acknowledged>>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_paid_is_paid_once_and_told() {
    let rounds = crate::crash::busy::rounds(8);
    let mut random = Random::new(Random::seed("FORETELL_KILL_SEED"));
    let receiver = WebhookReceiver::start();
    let mut exchange = Exchange::start(&receiver.told_by(Options::two_gateways()));
    let users = Arc::new(visitors(&exchange, VISITORS.len()).await);
    let (shared, known) = (Shared::default(), Known::default());
    let mut tasks = Vec::new();
    for user in 0..users.len() {
        let (users, shared, known) = (Arc::clone(&users), shared.clone(), Arc::clone(&known));
        let random = Random::new(random.draw());
        tasks.push(tokio::spawn(async move {
            ask(user, &users[user], &shared, &known, random).await;
        }));
    }
    let cashier = operator::client(&exchange);
    let closing = watch::Sender::new(false);
    let pays = {
        let (shared, known) = (shared.clone(), Arc::clone(&known));
        let (random, closes) = (Random::new(random.draw()), closing.subscribe());
        tokio::spawn(async move { pay(&cashier, &shared, &known, random, &closes).await })
    };
    for (round, name) in (1..=rounds).zip(PROCESSES.iter().cycle()) {
        shared.wait_answers(5 + random.below(60)).await;
        exchange.kill_and_wait(name);
        println!(
            "round {round}, {name}: {} withdrawals",
            known.lock().requested.len()
        );
    }
    shared.wait_answers(20).await;
    shared.stop.send_replace(true);
    for task in tasks {
        task.await.expect("the users saw nothing wrong");
    }
    closing.send_replace(true);
    pays.await.expect("the cashier saw nothing wrong");

    let acknowledged = std::mem::take(&mut *known.lock());
    let rows = compare(&exchange, &users, &acknowledged).await;
    compare_notices(&receiver, &rows);
    let journal = exchange.data().join("journal");
    let arguments = [
        "audit",
        "--journal",
        journal.to_str().expect("a path"),
        "verify",
    ];
    let mut audit = exchange.foretell(&arguments);
    let output = audit
        .args(["--signatures", "--reference"])
        .output()
        .expect("a process");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(exchange.stop().success(), "a clean stop");
}

/// Sends a request until its response is clear.
async fn persist(trader: &Trader, method: Method, path: &str, query: &str, body: &str) -> Answer {
    loop {
        match trader.signed(method.clone(), path, query, body).await {
            Ok((status, answer)) if status < 500 && status != 425 => return (status, answer),
            Ok((status, answer)) => assert!(matches!(status, 425 | 503), "{status}: {answer}"),
            Err(_) => {}
        }
        // A process starts again: a connection is refused at once.
        tokio::time::sleep(PAUSE).await;
    }
}

/// A user: asks, and cancels some.
async fn ask(user: usize, trader: &Trader, shared: &Shared, known: &Known, mut random: Random) {
    let first = in_seconds(600).0;
    for turn in 0.. {
        if *shared.stop.borrow() {
            return;
        }
        let reference = format!("user {user}, turn {turn}");
        let message = WithdrawalMessage {
            wallet: wallet_of(trader),
            destination: "bank account 7",
            amount: Micros(1 + random.below(5_000_000)),
            reference: &reference,
            valid_until: TimeMs(first + turn),
        };
        let Ok(body) = trader.withdrawal_body(&message).await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let body = body.to_string();
        let (status, row) = persist(trader, Method::POST, "/withdrawals", "", &body).await;
        shared.counted();
        // The exchange remembers 512 references for 90 s. Answers of the cashier count, too.
        shared.wait_answers(3).await;
        let too_many = ["pending withdrawals", "recent actions"];
        if too_many.iter().any(|text| {
            row["error"]
                .as_str()
                .is_some_and(|error| error.contains(text))
        }) {
            continue;
        }
        assert_eq!(status, 200, "{row}");
        let number = row["withdrawal"].as_u64().expect("a number");
        known
            .lock()
            .requested
            .insert(number, (user, reference.clone()));
        if random.below(3) == 0 {
            let path = format!("/withdrawals/{number}");
            let (status, answer) = persist(trader, Method::DELETE, &path, "", "").await;
            assert!(matches!(status, 200 | 404 | 409), "{status}: {answer}");
            if status == 200 {
                known.lock().ended.insert(number, "cancelled");
            }
            shared.counted();
        }
    }
}

/// A cashier: claims, pays, gives some up.
async fn pay(
    cashier: &OperatorClient,
    shared: &Shared,
    known: &Known,
    mut random: Random,
    closes: &watch::Receiver<bool>,
) {
    while !*closes.borrow() {
        if let Ok(list) = cashier.get::<Value>("/withdrawals").await {
            for row in list["withdrawals"].as_array().expect("rows") {
                serve(cashier, row, known, &mut random).await;
            }
        }
        shared.counted();
        tokio::time::sleep(PAUSE).await;
    }
}

async fn serve(cashier: &OperatorClient, row: &Value, known: &Known, random: &mut Random) {
    let number = row["withdrawal"].as_u64().expect("a number");
    let (path, body, becomes) = match (row["status"].as_str(), random.below(8)) {
        (_, 0) => ("fail", json!({ "withdrawal": number }), Some("failed")),
        (Some("requested"), _) => ("claim", json!({ "withdrawal": number }), None),
        _ => {
            let body = json!({ "withdrawal": number, "payment": format!("wire {number}") });
            ("pay", body, Some("paid"))
        }
    };
    let path = format!("/withdrawals/{path}");
    let is_done = loop {
        match cashier.post::<Value>(&path, &body).await {
            Ok(_) => break true,
            // Its user cancelled it, or an attempt without a response was carried out.
            Err(OperatorError::Rejected {
                status: 404 | 409, ..
            }) => break false,
            Err(OperatorError::Rejected {
                status: 425 | 503, ..
            }) => tokio::time::sleep(PAUSE).await,
            Err(OperatorError::Rejected { status, text, .. }) => panic!("{path}: {status} {text}"),
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    };
    if let (true, Some(becomes)) = (is_done, becomes) {
        known.lock().ended.insert(number, becomes);
    }
}

/// What the exchange says at the end, against what was acknowledged and the money of each user.
async fn compare(exchange: &Exchange, users: &[Trader], known: &Acknowledged) -> Vec<Value> {
    let mut all = Vec::new();
    for (user, trader) in users.iter().enumerate() {
        let rows = rows_of(trader).await;
        let references: BTreeSet<_> = rows
            .iter()
            .map(|row| row["reference"].to_string())
            .collect();
        assert_eq!(
            references.len(),
            rows.len(),
            "a reference asks for one withdrawal"
        );
        for (number, (_, reference)) in known
            .requested
            .iter()
            .filter(|(_, (owner, _))| *owner == user)
        {
            let row = rows.iter().find(|row| row["withdrawal"] == *number);
            let row = row.unwrap_or_else(|| panic!("{number} is lost"));
            assert_eq!(row["reference"], *reference, "{row}");
            if let Some(ended) = known.ended.get(number) {
                assert_eq!(row["status"], *ended, "{row}");
            }
        }
        check_money(exchange, trader, &rows).await;
        all.extend(rows);
    }
    let paid = all.iter().filter(|row| row["status"] == "paid");
    let payments: Vec<_> = paid.map(|row| row["payment"].to_string()).collect();
    assert!(!payments.is_empty(), "some were paid");
    let distinct: BTreeSet<_> = payments.iter().collect();
    assert_eq!(
        distinct.len(),
        payments.len(),
        "a payment pays one withdrawal"
    );
    for row in all.iter().filter(|row| row["status"] == "paid") {
        assert_eq!(
            row["payment"],
            format!("wire {}", row["withdrawal"]),
            "{row}"
        );
    }
    all
}

/// All withdrawals of a user.
async fn rows_of(trader: &Trader) -> Vec<Value> {
    let (mut rows, mut query) = (Vec::new(), String::new());
    loop {
        let (status, page) = persist(trader, Method::GET, "/withdrawals", &query, "").await;
        assert_eq!(status, 200, "{page}");
        rows.extend(page["data"].as_array().expect("rows").clone());
        match page["next_cursor"].as_str() {
            None | Some("LTE=") => return rows,
            Some(next) => query = format!("?next_cursor={next}"),
        }
    }
}

/// Nothing was paid and returned: what left the wallet is what was paid, what is reserved is what waits.
async fn check_money(exchange: &Exchange, trader: &Trader, rows: &[Value]) {
    let (_, account) = operator::get(exchange, &format!("/accounts/{}", trader.address())).await;
    let sum = |statuses: &[&str]| -> u64 {
        let some = rows
            .iter()
            .filter(|row| statuses.iter().any(|status| row["status"] == *status));
        some.map(|row| micros(&row["amount"])).sum()
    };
    let waits = sum(&["requested", "claimed"]);
    assert_eq!(micros(&account["reserved"]), waits, "{account}");
    assert_eq!(
        micros(&account["free"]) + waits + sum(&["paid"]),
        FUNDS,
        "{account}"
    );
}

fn micros(amount: &Value) -> u64 {
    let text = amount.as_str().expect("an amount");
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let micros = |text: &str| text.parse::<u64>().expect("digits");
    micros(whole) * 1_000_000 + micros(&format!("{part:0<6}"))
}

/// Each change of each withdrawal was told, once and in its order.
fn compare_notices(receiver: &WebhookReceiver, rows: &[Value]) {
    let path = |row: &Value| -> Vec<String> {
        let status = row["status"].as_str().expect("a status");
        let path: &[&str] = match status {
            "paid" => &["requested", "claimed", "paid"],
            "claimed" => &["requested", "claimed"],
            "requested" => &["requested"],
            ended => &["requested", ended],
        };
        path.iter().map(|status| (*status).to_owned()).collect()
    };
    let told_of = |notices: &[Value], number: &Value| -> Vec<Value> {
        let of = notices.iter().filter(|it| it["type"] == "withdrawal");
        of.filter(|it| it["data"]["withdrawal"] == *number)
            .cloned()
            .collect()
    };
    let has_all = |notices: &[Value]| {
        rows.iter().all(|row| {
            let told = told_of(notices, &row["withdrawal"]);
            told.iter()
                .any(|notice| notice["data"]["status"] == row["status"])
        })
    };
    let (notices, repeated) = receiver.wait(PATIENCE, has_all);
    println!("{} notices, {repeated} came again", notices.len());
    assert!(repeated > 0, "the receiver refused some after it took them");
    let sequences: Vec<_> = notices
        .iter()
        .map(|notice| notice["sequence"].as_u64())
        .collect();
    assert!(sequences.is_sorted(), "in the order of the journal");
    for row in rows {
        let told = told_of(&notices, &row["withdrawal"]);
        let mut statuses: Vec<_> = told
            .iter()
            .map(|it| it["data"]["status"].as_str().expect("a status").to_owned())
            .collect();
        if row["status"] == "failed" {
            // Before or after it was claimed.
            statuses.retain(|status| status != "claimed");
        }
        assert_eq!(statuses, path(row), "{told:?}");
    }
}
