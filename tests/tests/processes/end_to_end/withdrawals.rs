//! A withdrawal from its signed request to its payment, over real processes, as the user, the stream and
//! the auditor see it (docs/verify/rules.md §30).

use foretell_auth::withdrawal::WithdrawalMessage;
use foretell_model::{Micros, TimeMs};
use foretell_ops::trader::Trader;
use foretell_tests::demo::{buy, market, visitor, visitors};
use foretell_tests::exchange::{Exchange, Options};
use foretell_tests::operator;
use foretell_tests::streams::Connection;
use foretell_tests::withdrawals::{in_seconds, wallet_of};
use reqwest::Method;
use serde_json::{Value, json};

const PATH: &str = "/withdrawals";

/// A request of a trader's own wallet, valid for so many seconds.
fn message<'a>(trader: &Trader, reference: &'a str, seconds: u64) -> WithdrawalMessage<'a> {
    WithdrawalMessage {
        wallet: wallet_of(trader),
        destination: "bank account 7",
        amount: Micros(60_500_000),
        reference,
        valid_until: in_seconds(seconds),
    }
}

async fn cash(exchange: &Exchange, trader: &Trader) -> (String, String) {
    let (_, account) = operator::get(exchange, &format!("/accounts/{}", trader.address())).await;
    let text = |name: &str| account[name].as_str().expect("an amount").to_owned();
    (text("free"), text("reserved"))
}

async fn ask(trader: &Trader, message: &WithdrawalMessage<'_>) -> (u16, Value) {
    trader.withdraw(message).await.expect("an answer")
}

#[tokio::test]
async fn a_withdrawal_is_asked_for_claimed_and_paid() {
    let exchange = Exchange::start(&Options::demo());
    let trader = visitor(&exchange, 0).await;
    let (free, _) = cash(&exchange, &trader).await;
    let (_, auth) = trader.derive_key(0).await.expect("the key");
    let subscription = json!({ "type": "user", "auth": auth, "heartbeat_ms": 500 });
    let mut stream = Connection::subscribe(&exchange.trading, "user", &subscription).await;
    let asked = message(&trader, "rent", 600);
    let (status, row) = ask(&trader, &asked).await;
    assert_eq!(status, 200, "{row}");
    let expected = json!({
        "wallet": wallet_of(&trader).to_string(), "destination": "bank account 7",
        "amount": "60.5", "reference": "rent", "status": "requested", "payment": "",
    });
    for (name, value) in expected.as_object().expect("fields") {
        assert_eq!(row[name], *value, "{name} of {row}");
    }
    let number = row["withdrawal"].as_u64().expect("a number");
    let (left, reserved) = cash(&exchange, &trader).await;
    assert_eq!(reserved, "60.5");
    assert_ne!(left, free);

    // A repeat answers with the same withdrawal and reserves nothing more.
    let (status, again) = ask(&trader, &asked).await;
    assert_eq!((status, &again["withdrawal"]), (200, &json!(number)));
    assert_eq!(cash(&exchange, &trader).await.1, "60.5");

    // Another destination under the same reference is no repeat.
    let other = WithdrawalMessage {
        destination: "bank account 8",
        valid_until: in_seconds(601),
        ..asked
    };
    let (status, refused) = ask(&trader, &other).await;
    assert_eq!(status, 409, "{refused}");

    let path = format!("{PATH}/{number}");
    let claim = json!({ "withdrawal": number });
    operator::done(&exchange, "/withdrawals/claim", &claim).await;
    let cancelled = trader.signed(Method::DELETE, &path, "", "").await;
    let (status, refused) = cancelled.expect("an answer");
    assert_eq!(status, 409, "{refused}");
    let payment = json!({ "withdrawal": number, "payment": "wire 4711" });
    operator::done(&exchange, "/withdrawals/pay", &payment).await;
    let repeated = operator::done(&exchange, "/withdrawals/pay", &payment).await;
    assert_eq!(repeated["duplicate"], true, "{repeated}");
    assert_eq!(cash(&exchange, &trader).await, (left, "0".to_owned()));

    let listed = trader.signed(Method::GET, PATH, "", "").await;
    let (_, page) = listed.expect("an answer");
    let row = &page["data"][0];
    assert_eq!(
        (&row["status"], &row["payment"]),
        (&json!("paid"), &json!("wire 4711"))
    );
    let told = stream.until(|it| it["status"] == "paid").await;
    let statuses = told.iter().filter(|it| it["event_type"] == "withdrawal");
    let statuses: Vec<_> = statuses.map(|it| it["status"].clone()).collect();
    assert_eq!(statuses, ["requested", "claimed", "paid"]);

    let query = format!(
        "{}/activity?user={}&excludeDepositsWithdrawals=false&type=WITHDRAWAL",
        exchange.data_surface,
        trader.address()
    );
    let activity: Value = reqwest::get(query)
        .await
        .expect("an answer")
        .json()
        .await
        .expect("JSON");
    assert_eq!(activity[0]["usdcSize"], 60.5, "{activity}");
    let wallet = trader.address();
    let direct = json!({ "wallet": wallet, "amount": "2", "reference": "wire 4712" });
    operator::done(&exchange, "/accounts/withdraw", &direct).await;
    reconciled(&exchange);
    audited(exchange, 1);
}

/// The bank's list agrees, and another one does not.
fn reconciled(exchange: &Exchange) {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("bank.csv");
    let compare = |text: &str| {
        std::fs::write(&file, text).expect("a file");
        let arguments = [
            "--json",
            "withdrawals",
            "reconcile",
            file.to_str().expect("a path"),
        ];
        let output = exchange.foretell(&arguments).output().expect("a process");
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        (output.status.code(), report)
    };
    let (code, report) = compare("payment,amount\nwire 4711,60.50\nwire 4712,2\n");
    assert_eq!((code, &report["agreed"]), (Some(0), &json!(2)), "{report}");
    let (code, report) = compare("payment,amount\nwire 4711,60.51\nwire 4712,2\n");
    assert_eq!(code, Some(1), "{report}");
    assert_eq!(report["differences"][0]["what"], "another amount");
}

/// Every signature holds, and the reference agrees.
fn audited(exchange: Exchange, withdrawals: u64) {
    let data = exchange.data();
    let keep = data.join("journal");
    let verify = |exchange: &Exchange| {
        let journal = keep.to_str().expect("a path").to_owned();
        let arguments = ["--json", "audit", "--journal", &journal, "verify"];
        let mut command = exchange.foretell(&arguments);
        command.args(["--signatures", "--reference"]);
        let output = command.output().expect("a process");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}");
        serde_json::from_str::<Value>(&text).expect("JSON")
    };
    let report = verify(&exchange);
    let sound = report["signatures"]["sound"].as_u64().expect("a number");
    assert!(sound >= withdrawals, "{report}");
    exchange.end();
}

#[tokio::test]
async fn what_is_asked_for_wrongly_changes_nothing() {
    let exchange = Exchange::start(&Options::demo());
    let traders = visitors(&exchange, 2).await;
    let [alice, bob] = &traders[..] else {
        unreachable!()
    };
    let before = cash(&exchange, alice).await;
    // Bob's key signs for alice's wallet, and sends as bob: the wallet is not his.
    let (status, refused) = ask(bob, &message(alice, "theft", 600)).await;
    assert_eq!(status, 400, "{refused}");
    let good = message(alice, "rent", 600);
    let body = alice.withdrawal_body(&good).await.expect("a domain");
    let send = async |body: &Value| {
        let answer = alice
            .signed(Method::POST, PATH, "", &body.to_string())
            .await;
        answer.expect("an answer")
    };
    for (field, value, code) in [
        ("amount", json!("60500001"), "invalid_signature"),
        ("amount", json!(0), "invalid_field"),
        ("amount", json!("1.5"), "invalid_field"),
        ("destination", json!("bank account 8"), "invalid_signature"),
        ("destination", json!("b\u{e4}nk"), "invalid_field"),
        ("destination", json!(""), "invalid_field"),
        ("reference", json!("renT"), "invalid_signature"),
        (
            "validUntil",
            json!(good.valid_until.0 + 1),
            "invalid_signature",
        ),
        ("validUntil", json!("soon"), "invalid_field"),
        ("signature", json!("0x00"), "invalid_signature"),
        ("wallet", json!(bob.address()), "invalid_field"),
        ("wallet", json!("alice"), "invalid_field"),
    ] {
        let mut wrong = body.clone();
        wrong[field] = value.clone();
        let (status, refused) = send(&wrong).await;
        assert_eq!(status, 400, "{field} {value}: {refused}");
        let text = refused["error"].as_str().expect("a text");
        let is_named = match code {
            "invalid_field" => text.contains(field),
            _ => text.contains("invalid signature"),
        };
        assert!(is_named, "{field} {value}: {text}");
    }
    let over = TimeMs(in_seconds(0).0 - 60_000);
    for (valid_until, reference) in [(in_seconds(86_500), "too far"), (over, "over")] {
        let wrong = WithdrawalMessage {
            valid_until,
            ..message(alice, reference, 0)
        };
        let (status, refused) = ask(alice, &wrong).await;
        let text = refused["error"].as_str().expect("a text");
        assert!(status == 400 && text.contains("validUntil"), "{text}");
    }
    let (status, refused) = ask(
        alice,
        &WithdrawalMessage {
            amount: Micros(1_000_000_000_000),
            ..message(alice, "all", 60)
        },
    )
    .await;
    let text = refused["error"].as_str().expect("a text");
    assert!(status == 400 && text.contains("available"), "{text}");
    assert_eq!(cash(&exchange, alice).await, before);

    // A signature of another exchange.
    let mut foreign = body.clone();
    foreign["signature"] = json!(alice.sign_withdrawal(&good, &[7; 32]));
    assert_eq!(send(&foreign).await.0, 400);
    assert_eq!(send(&body).await.0, 200);
    let (_, page) = alice
        .signed(Method::GET, PATH, "", "")
        .await
        .expect("an answer");
    let number = page["data"][0]["withdrawal"].as_u64().expect("a number");
    let path = format!("{PATH}/{number}");
    for (trader, path) in [
        (bob, path.as_str()),
        (alice, "/withdrawals/x"),
        (alice, "/withdrawals/1"),
    ] {
        let (status, refused) = trader
            .signed(Method::DELETE, path, "", "")
            .await
            .expect("an answer");
        assert_eq!(status, 404, "{path}: {refused}");
    }
    let (status, row) = alice
        .signed(Method::DELETE, &path, "", "")
        .await
        .expect("an answer");
    assert_eq!((status, &row["status"]), (200, &json!("cancelled")));
    assert_eq!(cash(&exchange, alice).await, before);
    // The signature of a cancelled request asks for nothing again.
    let (status, row) = send(&body).await;
    assert_eq!(
        (status, &row["status"]),
        (200, &json!("cancelled")),
        "{row}"
    );
    assert_eq!(cash(&exchange, alice).await, before);
}

/// The statement of a wallet ends with what the exchange says that it has.
/// Dust of strangers stands behind what others ask for, however early it came.
#[tokio::test]
async fn an_operator_sees_the_largest_first_in_pages() {
    let exchange = Exchange::start(&Options::demo());
    let mut asked = 0_u64;
    for trader in &visitors(&exchange, 3).await {
        for amount in [1, 5_000_000 + asked] {
            asked += 1;
            let reference = format!("w{asked}");
            let message = WithdrawalMessage {
                amount: Micros(amount),
                ..message(trader, &reference, 60 + asked)
            };
            let (status, answer) = ask(trader, &message).await;
            assert_eq!(status, 200, "{answer}");
        }
    }
    let (mut amounts, mut before) = (Vec::new(), String::new());
    loop {
        let path = format!("/withdrawals?limit=4{before}");
        let (_, page) = operator::get(&exchange, &path).await;
        assert_eq!(page["waiting"], 6, "{page}");
        let rows = page["withdrawals"].as_array().expect("rows");
        amounts.extend(rows.iter().map(|row| row["amount"].clone()));
        match page["next"].as_str() {
            Some(next) => before = format!("&before={next}"),
            None => break,
        }
    }
    let expected = ["5.000004", "5.000002", "5"];
    assert_eq!(amounts[..3], expected.map(|amount| json!(amount)));
    assert_eq!(
        amounts[3..],
        [json!("0.000001"), json!("0.000001"), json!("0.000001")]
    );
}

#[tokio::test]
async fn a_statement_adds_up_to_the_account() {
    let exchange = Exchange::start(&Options::demo());
    let trader = visitor(&exchange, 0).await;
    let seller = visitor(&exchange, 1).await;
    let [yes, no] = market().token_ids();
    buy(&trader, &yes, 1_000, 4_200).await;
    buy(&seller, &no, 1_000, 5_800).await;
    let asked = message(&trader, "rent", 600);
    let (_, row) = ask(&trader, &asked).await;
    let number = row["withdrawal"].as_u64().expect("a number");
    let wallet = trader.address();
    for (path, body) in [
        ("/withdrawals/claim", json!({ "withdrawal": number })),
        (
            "/withdrawals/pay",
            json!({ "withdrawal": number, "payment": "wire 4711" }),
        ),
        (
            "/accounts/deposit",
            json!({ "wallet": wallet, "amount": "0.000002", "reference": "dust" }),
        ),
    ] {
        operator::done(&exchange, path, &body).await;
    }
    let output = exchange
        .foretell(&["account", "statement", &wallet])
        .output()
        .expect("an answer");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{text}");
    let reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text.as_bytes());
    let lines: Vec<csv::StringRecord> = reader
        .into_records()
        .map(|line| line.expect("a row"))
        .collect();
    let kinds: Vec<_> = lines.iter().map(|fields| &fields[1]).collect();
    let expected = [
        "type",
        "OPENING",
        "DEPOSIT",
        "TRADE",
        "WITHDRAWAL",
        "DEPOSIT",
        "CLOSING",
    ];
    assert_eq!(kinds, expected, "{text}");
    let (free, _) = cash(&exchange, &trader).await;
    assert_eq!(&lines.last().expect("a line")[9], free, "{text}");
}
