//! Orders that nobody signed, wallets of each kind, and payouts to who redeems.

use foretell_model::{Side, TokenId};
use foretell_ops::trader::{Terms, Trader};
use foretell_tests::sandbox::Sandbox;
use foretell_wire::text::decimal::uint256;
use serde_json::{Value, json};

fn token(text: &str) -> TokenId {
    TokenId(uint256(text).expect("digits"))
}

/// An unsigned order of a new wallet.
async fn unsigned(
    sandbox: &Sandbox,
    funder: &Value,
    token: &str,
    order: [&str; 3],
) -> (u16, Value) {
    let [side, price, size] = order;
    let body = json!({
        "wallet": funder, "token_id": token, "side": side, "price": price, "size": size,
        "reason": "a test",
    });
    sandbox.post("/sandbox/orders", body).await
}

async fn balance(sandbox: &Sandbox, wallet: &str) -> Value {
    let (_, account) = sandbox.get(&format!("/accounts/{wallet}")).await;
    account["free"].clone()
}

#[tokio::test]
async fn unsigned_orders_trade_with_signed_ones_and_are_counted_apart() {
    let mut sandbox = Sandbox::start(&[]);
    let (_, [yes, no]) = sandbox.market(json!({})).await;
    let bot = sandbox.trader().await;
    let kinds = ["eoa", "proxy", "safe", "deposit"];
    for kind in kinds {
        let body = json!({ "kind": kind, "amount": "100" });
        let maker = sandbox.done("/sandbox/wallets", body).await;
        assert_eq!(maker["kind"], kind);
        let order = ["BUY", "0.45", "10"];
        let (status, rests) = unsigned(&sandbox, &maker["funder"], &no, order).await;
        assert_eq!(
            (status, &rests["status"]),
            (200, &json!("live")),
            "{kind}: {rests}"
        );
        let terms = Terms::limit(token(&yes), false, Side::Buy, 1_000, 5_500);
        let taken = bot
            .place(&bot.sign(&terms).expect("a body"))
            .await
            .expect("an answer");
        assert_eq!(
            (taken.0, &taken.1["status"]),
            (200, &json!("matched")),
            "{kind}"
        );
    }
    let stranger = sandbox.done("/sandbox/wallets", json!({})).await;
    for (order, code) in [
        (["BUY", "0.45", "10"], "insufficient_balance"),
        (["BUY", "0.455", "10"], "price_off_tick"),
        (["BUY", "0.45555", "10"], "invalid_field"),
        (["BUY", "1", "10"], "invalid_field"),
        (["SELL", "0.45", "10"], "insufficient_shares"),
    ] {
        let (status, refused) = unsigned(&sandbox, &stranger["funder"], &yes, order).await;
        assert!((400..500).contains(&status), "{order:?}: {refused}");
        assert_eq!(refused["code"], code, "{order:?}: {refused}");
    }

    sandbox.write("keep");
    let directory = sandbox.directory();
    assert!(sandbox.end().0.success());
    let options = foretell_audit::Options {
        signatures: true,
        reference: true,
        ..foretell_audit::Options::default()
    };
    let report = foretell_audit::verify(&directory.join("journal"), &options).expect("a journal");
    assert!(report.sound, "{report}");
    assert_eq!(report.counts.unsigned_orders, 4, "{report}");
    assert_eq!(report.counts.signed_orders, 4, "{report}");
    std::fs::remove_dir_all(directory).expect("it can be removed");
}

#[tokio::test]
async fn a_resolved_market_pays_who_redeems() {
    let sandbox = Sandbox::start(&[]);
    let (condition, [yes, _]) = sandbox.market(json!({})).await;
    let (alice, bob) = (sandbox.trader().await, sandbox.trader().await);
    let buy = |price| Terms::limit(token(&yes), false, Side::Buy, 1_000, price);
    place(&alice, &buy(5_000)).await;
    sandbox
        .done(
            "/sandbox/orders",
            json!({
                "wallet": bob.address(), "token_id": format!("{condition}:1"), "side": "BUY",
                "price": "0.5", "size": "10",
            }),
        )
        .await;
    let market = json!({ "condition_id": condition });
    sandbox.done("/markets/close", market).await;
    let payout = json!({ "condition_id": condition, "payout": "Yes" });
    sandbox.done("/markets/resolve", payout).await;
    assert_eq!(balance(&sandbox, &alice.address()).await, "995");
    let redeemed = alice.redeem(&condition, "r1").await.expect("an answer");
    assert_eq!(redeemed.0, 200, "{}", redeemed.1);
    assert_eq!(balance(&sandbox, &alice.address()).await, "1005");
}

async fn place(trader: &Trader, terms: &Terms<'_>) {
    let order = trader.sign(terms).expect("a body");
    let (status, placed) = trader.place(&order).await.expect("an answer");
    assert_eq!(status, 200, "{placed}");
}
