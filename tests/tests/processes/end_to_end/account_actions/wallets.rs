//! The wallets for which an owner may act.

use foretell_ops::demo::wallets::VISITORS;
use foretell_tests::demo::{plain_markets, visitor};
use foretell_tests::exchange::{Exchange, Options};
use foretell_tests::operator;
use serde_json::json;

use crate::end_to_end::account_actions::{balance, ok, sets};

const PROXY: &str = "0x00000000000000000000000000000000000000a1";
const SAFE: &str = "0x00000000000000000000000000000000000000a2";

async fn bind(exchange: &Exchange, wallet: &str, kind: &str) {
    let money = json!({ "wallet": wallet, "amount": "100", "reference": wallet });
    operator::done(exchange, "/accounts/deposit", &money).await;
    let owner = VISITORS[0].address;
    let binding = json!({ "owner": owner, "wallet": wallet, "kind": kind });
    operator::done(exchange, "/accounts/bind", &binding).await;
}

#[tokio::test]
async fn the_only_bound_wallet_acts_else_the_owner_and_a_named_one_always() {
    let exchange = Exchange::demo();
    let trader = visitor(&exchange, 0).await;
    let condition = plain_markets()[0].condition_id();
    let split = async |wallet: Option<&str>, reference: &str| {
        let mut body =
            json!({ "conditionId": condition, "amount": "1000000", "reference": reference });
        if let Some(wallet) = wallet {
            body["wallet"] = json!(wallet);
        }
        let answer = ok(trader.act("split", &body).await);
        answer["wallet"].as_str().expect("a text").to_lowercase()
    };
    let owner = VISITORS[0].address.to_lowercase();
    assert_eq!(split(None, "1").await, owner);
    bind(&exchange, PROXY, "proxy").await;
    assert_eq!(split(None, "2").await, PROXY);
    assert_eq!(split(Some(&owner), "3").await, owner);
    assert_eq!(balance(&trader, None, 1).await, 99_000_000);
    bind(&exchange, SAFE, "safe").await;
    assert_eq!(split(None, "4").await, owner);
    assert_eq!(split(Some(PROXY), "5").await, PROXY);
    assert_eq!(
        split(Some(SAFE), "5").await,
        SAFE,
        "references are the wallet's"
    );

    let unbinding = json!({ "wallet": SAFE });
    operator::done(&exchange, "/accounts/unbind", &unbinding).await;
    let before = operator::sequence(&exchange).await;
    for wallet in [
        SAFE,
        VISITORS[1].address,
        "0x00000000000000000000000000000000000000ff",
    ] {
        let body = json!({
            "wallet": wallet, "conditionId": condition, "amount": "1000000", "reference": "6",
        });
        let (status, answer) = trader.act("split", &body).await.expect("an answer");
        let text = answer["error"].as_str().unwrap_or_default();
        assert_eq!(status, 400, "{wallet}: {answer}");
        assert!(text.starts_with("wallet is '0x"), "{wallet}: {text}");
    }
    assert_eq!(operator::sequence(&exchange).await, before);
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn a_revoked_key_and_an_unbound_wallet_act_no_more_from_the_answer_on() {
    let exchange = Exchange::start(&Options::two_gateways());
    let trader = visitor(&exchange, 0).await;
    let condition = plain_markets()[0].condition_id();
    bind(&exchange, PROXY, "proxy").await;
    for number in 0..20 {
        let reference = format!("s{number}");
        let body = json!({
            "wallet": PROXY, "conditionId": condition, "amount": "10000", "reference": reference,
        });
        ok(trader.act("split", &body).await);
        operator::done(&exchange, "/accounts/unbind", &json!({ "wallet": PROXY })).await;
        let (status, answer) = trader.act("split", &body).await.expect("an answer");
        assert_eq!(status, 400, "{answer}");
        let owner = VISITORS[0].address;
        let binding = json!({ "owner": owner, "wallet": PROXY, "kind": "proxy" });
        operator::done(&exchange, "/accounts/bind", &binding).await;
    }
    let revocation = json!({ "api_key": trader.api_key() });
    operator::done(&exchange, "/keys/revoke", &revocation).await;
    for number in 0..20 {
        let reference = format!("r{number}");
        let (status, answer) = trader
            .split(&sets(&condition, 1, &reference))
            .await
            .expect("an answer");
        assert_eq!(status, 401, "{answer}");
    }
    assert!(exchange.stop().success());
}
