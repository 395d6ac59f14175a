//! After a restore no money leaves before an admin opens withdrawals, and what follows is told under
//! other ids (docs/verify/rules.md §31).

use foretell_auth::withdrawal::WithdrawalMessage;
use foretell_model::Micros;
use foretell_operator_client::{OperatorClient, OperatorError};
use foretell_ops::trader::Trader;
use foretell_tests::demo::visitor;
use foretell_tests::exchange::{Exchange, Options, PATIENCE};
use foretell_tests::operator::{done, post};
use foretell_tests::webhook_receiver::WebhookReceiver;
use foretell_tests::withdrawals::{in_seconds, wallet_of};
use reqwest::Method;
use serde_json::{Value, json};

use crate::backup::site::{answer, backup, on, text};

fn message<'a>(trader: &Trader, reference: &'a str) -> WithdrawalMessage<'a> {
    WithdrawalMessage {
        wallet: wallet_of(trader),
        destination: "bank account 7",
        amount: Micros(2_500_000),
        reference,
        valid_until: in_seconds(600),
    }
}

async fn ask(trader: &Trader, reference: &str) -> (u16, Value) {
    let asked = trader.withdraw(&message(trader, reference)).await;
    asked.expect("an answer")
}

/// Sends a signed body as it is.
async fn send(trader: &Trader, body: &Value) -> (u16, Value) {
    let body = body.to_string();
    let sent = trader.signed(Method::POST, "/withdrawals", "", &body).await;
    sent.expect("an answer")
}

#[tokio::test]
async fn a_restored_exchange_pays_nothing_before_it_is_opened() {
    let directory = tempfile::tempdir().expect("a directory");
    let [old, copy, new] = ["old", "copy", "new"].map(|name| directory.path().join(name));
    let receiver = WebhookReceiver::start();
    let exchange = Exchange::start_at(&receiver.told_by(Options::demo()), &old);
    let trader = visitor(&exchange, 0).await;
    let cashier = json!({ "name": "cass", "role": "cashier", "reason": "pays" });
    let cashier = done(&exchange, "/operators", &cashier).await;
    let cashier = cashier["token"].as_str().expect("a token").to_owned();
    let (_, asked) = ask(&trader, "before").await;
    let number = asked["withdrawal"].as_u64().expect("a number");
    let claim = json!({ "withdrawal": number });
    done(&exchange, "/withdrawals/claim", &claim).await;
    backup(&old, &copy, &["--with-secrets"]);
    // Paid and asked for, and lost with the disk.
    let payment = json!({ "withdrawal": number, "payment": "wire 1" });
    done(&exchange, "/withdrawals/pay", &payment).await;
    let lost = trader.withdrawal_body(&message(&trader, "lost")).await;
    let lost = lost.expect("a body");
    assert_eq!(send(&trader, &lost).await.0, 200);
    let has_lost = |notices: &[Value]| notices.iter().any(|it| it["data"]["reference"] == "lost");
    let (before, _) = receiver.wait(PATIENCE, has_lost);
    assert!(exchange.stop().success());

    answer(on(&new, &["restore", text(&copy)]));
    let options = Options {
        demo: false,
        ..receiver.told_by(Options::demo())
    };
    let exchange = Exchange::start_at(&options, &new);
    let trader = visitor(&exchange, 0).await;
    let (status, refused) = ask(&trader, "after").await;
    let said = refused["error"].as_str().expect("a text");
    assert!(status == 409 && said.contains("after a restore"), "{said}");
    let cashier = OperatorClient::new(&exchange.operator, &cashier).expect("a client");
    let withdraw = json!({ "wallet": trader.address(), "amount": "1", "reference": "wire 2" });
    for (path, body) in [
        ("/withdrawals/pay", &payment),
        ("/withdrawals/fail", &claim),
        ("/accounts/withdraw", &withdraw),
    ] {
        let answer = cashier.post::<Value>(path, body).await;
        let is_shut = matches!(&answer, Err(OperatorError::Rejected { status: 409, code, .. }) if code == "withdrawals_shut");
        assert!(is_shut, "{path}: {answer:?}");
    }
    let (status, refused) = post(&exchange, "/withdrawals/fail", &claim).await;
    assert_eq!(
        (status, &refused["code"]),
        (409, &json!("withdrawals_shut"))
    );
    // An admin books what was paid.
    done(&exchange, "/withdrawals/pay", &payment).await;
    done(&exchange, "/accounts/withdraw", &withdraw).await;
    let reason = json!({ "reason": "reconciled" });
    done(&exchange, "/withdrawals/open", &reason).await;
    let (status, refused) = send(&trader, &lost).await;
    let said = refused["error"].as_str().expect("a text");
    assert!(status == 400 && said.contains("signature"), "{said}");
    assert_eq!(ask(&trader, "after").await.0, 200);

    let has_after = |notices: &[Value]| notices.iter().any(|it| it["data"]["reference"] == "after");
    let (all, _) = receiver.wait(PATIENCE, has_after);
    let after = &all[before.len()..];
    let kind = |it: &Value| (it["type"].clone(), it["data"]["payment"].clone());
    let expected = [
        (json!("restored"), Value::Null),
        (json!("withdrawal"), json!("wire 1")),
        (json!("withdrawal"), json!("wire 2")),
        (json!("withdrawal"), json!("")),
    ];
    let kinds: Vec<_> = after.iter().map(kind).collect();
    assert_eq!(kinds, expected, "{after:?}");
    let last = after[0]["data"]["after"].as_u64().expect("a sequence");
    let stream = |notice: &Value| notice["id"].as_str().expect("an id")[..16].to_owned();
    for notice in &before {
        assert_ne!(stream(notice), stream(&after[0]), "{notice}");
    }
    let is_void = |notice: &&Value| notice["sequence"].as_u64() > Some(last);
    assert_eq!(
        before.iter().filter(is_void).count(),
        2,
        "{last}: {before:?}"
    );
    let mut audit = on(&new, &["audit", "verify"]);
    audit.args(["--signatures", "--reference"]);
    assert_eq!(answer(audit)["sound"], true);
    assert!(exchange.stop().success());
}
