//! After a restore no money leaves before an admin opens withdrawals, and what follows is told under
//! other ids (docs/verify/rules.md §31).

use foretell_auth::withdrawal::WithdrawalMessage;
use foretell_model::Micros;
use foretell_ops::trader::Trader;
use foretell_tests::demo::visitor;
use foretell_tests::exchange::{Exchange, Options, PATIENCE};
use foretell_tests::operator::{done, post};
use foretell_tests::webhook_receiver::WebhookReceiver;
use foretell_tests::withdrawals::{in_seconds, wallet_of};
use serde_json::{Value, json};

use crate::site::{answer, backup, on, text};

async fn ask(trader: &Trader, reference: &str) -> (u16, Value) {
    let message = WithdrawalMessage {
        wallet: wallet_of(trader),
        destination: "bank account 7",
        amount: Micros(2_500_000),
        reference,
        valid_until: in_seconds(600),
    };
    trader.withdraw(&message).await.expect("an answer")
}

#[tokio::test]
async fn a_restored_exchange_pays_nothing_before_it_is_opened() {
    let directory = tempfile::tempdir().expect("a directory");
    let [old, copy, new] = ["old", "copy", "new"].map(|name| directory.path().join(name));
    let receiver = WebhookReceiver::start();
    let exchange = Exchange::start_at(&receiver.told_by(Options::demo()), &old);
    let trader = visitor(&exchange, 0).await;
    let (_, asked) = ask(&trader, "before").await;
    let number = asked["withdrawal"].as_u64().expect("a number");
    done(
        &exchange,
        "/withdrawals/claim",
        &json!({ "withdrawal": number }),
    )
    .await;
    let claimed = |notices: &[Value]| notices.iter().any(|it| it["data"]["status"] == "claimed");
    let (told, _) = receiver.wait(PATIENCE, claimed);
    backup(&old, &copy, &["--with-secrets"]);
    // Paid, and lost with the disk.
    let payment = json!({ "withdrawal": number, "payment": "wire 1" });
    done(&exchange, "/withdrawals/pay", &payment).await;
    let paid = |notices: &[Value]| notices.iter().any(|it| it["data"]["status"] == "paid");
    let (lost, _) = receiver.wait(PATIENCE, paid);
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
    assert!(status == 409 && said.contains("restored"), "{said}");
    let wallet = trader.address();
    let withdraw = json!({ "wallet": wallet, "amount": "1", "reference": "out" });
    for (path, body) in [
        ("/withdrawals/pay", &payment),
        ("/withdrawals/fail", &json!({ "withdrawal": number })),
        ("/accounts/withdraw", &withdraw),
        (
            "/fees/withdraw",
            &json!({ "amount": "1", "reference": "fees" }),
        ),
    ] {
        let (status, refused) = post(&exchange, path, body).await;
        assert_eq!(
            (status, &refused["code"]),
            (409, &json!("withdrawals_shut")),
            "{path}: {refused}"
        );
    }
    let deposit = json!({ "wallet": wallet, "amount": "1", "reference": "in" });
    done(&exchange, "/accounts/deposit", &deposit).await;
    done(
        &exchange,
        "/withdrawals/open",
        &json!({ "reason": "reconciled" }),
    )
    .await;
    done(&exchange, "/withdrawals/pay", &payment).await;

    let again = |notices: &[Value]| {
        notices
            .iter()
            .filter(|it| it["data"]["status"] == "paid")
            .count()
            == 2
    };
    let (all, _) = receiver.wait(PATIENCE, again);
    assert_eq!(all[..lost.len()], lost, "what was told before stays");
    let after = &all[lost.len()..];
    let kinds: Vec<_> = after
        .iter()
        .map(|it| (&it["type"], &it["data"]["status"]))
        .collect();
    let expected = [
        (&json!("deposit"), &Value::Null),
        (&json!("withdrawal"), &json!("paid")),
    ];
    assert_eq!(kinds, expected, "{after:?}");
    let stream = |notice: &Value| {
        notice["id"]
            .as_str()
            .map(|id| id.split('-').next().unwrap_or_default().to_owned())
    };
    assert_ne!(
        stream(&told[0]),
        stream(&after[0]),
        "the branch names what follows"
    );
    let journal = new.join("journal");
    let mut audit = on(&new, &["audit", "--journal", text(&journal), "verify"]);
    audit.args(["--signatures", "--reference"]);
    assert_eq!(answer(audit)["sound"], true);
    assert!(exchange.stop().success());
}
