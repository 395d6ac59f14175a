//! Cancels, heartbeats, keys: malformed bodies, data of others, revoked keys.

use foretell_tests::demo::visitor_with;
use foretell_tests::operator;
use reqwest::Method;
use serde_json::json;

use crate::end_to_end::bad_reads::Must::{Fail, Rows};
use crate::end_to_end::bad_reads::{NOBODY, check, finish, scalars, traded};

#[tokio::test]
async fn cancels_of_nothing_and_of_others() {
    let site = traded().await;
    let foreign = site.buy(&site.other, 0, 1_000, 500).await;
    let filled = site.buy(&site.trader, 0, 1_000, 8_000).await;
    let ended = site.buy(&site.trader, 0, 1_000, 300).await;
    let delete = Method::DELETE;
    let body = json!([ended]).to_string();
    let (_, answer) = site.signed(delete.clone(), "/orders", &body).await;
    assert_eq!(answer["canceled"], json!([ended]), "{answer}");
    let before = site.sequence().await;
    for path in ["/order", "/cancel-market-orders"] {
        for body in scalars().chain([json!([]), json!(["x"])]) {
            let answer = site.signed(delete.clone(), path, &body.to_string()).await;
            check(
                &format!("{path} {body}"),
                answer,
                Fail(400, "allowed: an object"),
            );
        }
        let answer = site.signed(delete.clone(), path, "").await;
        check(path, answer, Fail(400, "invalid body"));
    }
    let long = "9".repeat(3_000);
    for body in [
        json!({}),
        json!({ "orderId": null }),
        json!({ "orderId": "" }),
        json!({ "orderId": 7 }),
        json!({ "orderId": [NOBODY] }),
        json!({ "orderId": long }),
        json!({ "orderId": NOBODY, "orderID": foreign }),
    ] {
        let answer = site
            .signed(delete.clone(), "/order", &body.to_string())
            .await;
        check(&format!("{body:.70}"), answer, Fail(400, "order"));
    }
    let twice = format!(r#"{{"orderId":"{NOBODY}","orderId":"{foreign}"}}"#);
    let answer = site.signed(delete.clone(), "/order", &twice).await;
    check(
        "a key twice",
        answer,
        Fail(400, "'orderId' is repeated, allowed: once"),
    );
    const GONE: &str = "order can't be found - already canceled or matched";
    const FOREIGN: &str = "order belongs to another account";
    for (id, reason) in [
        (NOBODY, GONE),
        ("x", GONE),
        ("0x12", GONE),
        (filled.as_str(), GONE),
        (ended.as_str(), GONE),
        (foreign.as_str(), FOREIGN),
    ] {
        let none = json!({ "canceled": [], "not_canceled": { id: reason } });
        let body = json!({ "orderId": id }).to_string();
        let one = site.signed(delete.clone(), "/order", &body).await;
        assert_eq!(one, (200, none.clone()), "{id}");
        let body = json!([id, id]).to_string();
        let many = site.signed(delete.clone(), "/orders", &body).await;
        assert_eq!(many, (200, none), "{id}");
    }
    let ids = |count: usize| {
        json!(
            (0..count)
                .map(|it| format!("0x{it:064x}"))
                .collect::<Vec<_>>()
        )
    };
    for (body, must) in scalars()
        .map(|body| (body, Fail(400, "allowed: an array")))
        .chain([
            (json!({}), Fail(400, "allowed: an array")),
            (json!([7]), Fail(400, "order id is 7")),
            (json!([""]), Fail(400, "order id is")),
            (
                ids(1_001),
                Fail(400, "1001 entries, allowed: up to 1000 order ids"),
            ),
            (ids(1_000), Rows(2)),
            (json!([]), Rows(2)),
        ])
    {
        let text = body.to_string();
        let answer = site.signed(delete.clone(), "/orders", &text).await;
        check(&format!("{text:.70}"), answer, must);
    }
    let (condition, token) = (&site.condition, &site.tokens[0]);
    for (body, must) in [
        (json!({}), Fail(400, "market is missing")),
        (
            json!({ "market": "", "asset_id": "" }),
            Fail(400, "market is missing"),
        ),
        (json!({ "market": 7 }), Fail(400, "market is 7")),
        (json!({ "market": "x" }), Fail(400, "market is 'x'")),
        (json!({ "market": NOBODY }), Fail(404, "market not found")),
        (json!({ "asset_id": "x" }), Fail(400, "Invalid token id")),
        (json!({ "asset_id": 1 }), Fail(400, "asset_id is 1")),
        (json!({ "asset_id": "1" }), Fail(404, "No orderbook exists")),
        (
            json!({ "market": NOBODY, "asset_id": token }),
            Fail(400, "asset_id is"),
        ),
        (
            json!({ "market": condition, "asset_id": "1" }),
            Fail(400, "asset_id is '1'"),
        ),
    ] {
        let answer = site
            .signed(delete.clone(), "/cancel-market-orders", &body.to_string())
            .await;
        check(&body.to_string(), answer, must);
    }
    finish(site, before).await;
}

#[tokio::test]
async fn keys_and_heartbeats() {
    let site = traded().await;
    let (status, foreign) = {
        let made = site
            .other
            .signed(Method::POST, "/auth/readonly-api-key", "", "")
            .await;
        made.expect("an answer")
    };
    assert_eq!(status, 200);
    let before = site.sequence().await;
    let (delete, post) = (Method::DELETE, Method::POST);
    for (body, must) in [
        (json!([]), Fail(400, "allowed: an object")),
        (json!({ "cancel": 1 }), Fail(400, "cancel is 1")),
        (json!({ "cancel": "true" }), Fail(400, "cancel is 'true'")),
    ] {
        let answer = site
            .signed(delete.clone(), "/auth/api-key", &body.to_string())
            .await;
        check(&body.to_string(), answer, must);
    }
    for (body, must) in [
        (json!([]), Fail(400, "allowed: an object")),
        (json!({}), Fail(400, "key is missing")),
        (json!({ "key": "" }), Fail(400, "key is ''")),
        (json!({ "key": 7 }), Fail(400, "key is 7")),
        (json!({ "key": "x" }), Fail(400, "key is 'x'")),
        (
            json!({ "key": foreign["apiKey"] }),
            Fail(404, "api key not found"),
        ),
        (
            json!({ "key": site.trader.api_key() }),
            Fail(404, "api key not found"),
        ),
        (
            json!({ "key": "00000000-0000-4000-8000-000000000000" }),
            Fail(404, "api key not found"),
        ),
    ] {
        let path = "/auth/readonly-api-key";
        let answer = site.signed(delete.clone(), path, &body.to_string()).await;
        check(&body.to_string(), answer, must);
    }
    for path in ["/heartbeats", "/v1/heartbeats"] {
        for (body, must) in [
            (json!([]), Fail(400, "allowed: an object")),
            (json!(7), Fail(400, "allowed: an object")),
            (json!({ "heartbeat_id": 7 }), Fail(400, "heartbeat_id is 7")),
            (
                json!({ "heartbeat_id": "x".repeat(65) }),
                Fail(400, "heartbeat_id is"),
            ),
            (
                json!({ "heartbeat_id": "x" }),
                Fail(400, "heartbeat_id is not that"),
            ),
        ] {
            let answer = site.signed(post.clone(), path, &body.to_string()).await;
            check(&format!("{body:.70}"), answer, must);
        }
    }
    finish(site, before).await;
}

#[tokio::test]
async fn a_revoked_key_opens_nothing_and_may_be_revoked_again() {
    let site = traded().await;
    let gone = visitor_with(&site.exchange, 0, 1).await;
    let revocation = json!({ "api_key": gone.api_key() });
    let first = operator::done(&site.exchange, "/keys/revoke", &revocation).await;
    assert_eq!(first["duplicate"], false);
    let before = site.sequence().await;
    let again = operator::done(&site.exchange, "/keys/revoke", &revocation).await;
    assert_eq!(
        (&again["success"], &again["duplicate"]),
        (&json!(true), &json!(true))
    );
    for (method, path) in [
        (Method::GET, "/data/orders"),
        (Method::GET, "/data/trades"),
        (Method::GET, &format!("/data/order/{NOBODY}")),
        (Method::GET, "/balance-allowance?asset_type=COLLATERAL"),
        (Method::GET, "/auth/api-keys"),
        (Method::GET, "/auth/readonly-api-keys"),
        (Method::GET, "/auth/ban-status/closed-only"),
        (Method::GET, "/notifications"),
        (Method::GET, "/order-scoring"),
        (Method::GET, "/data/pre-migration-orders"),
        (Method::POST, "/auth/readonly-api-key"),
        (Method::POST, "/heartbeats"),
        (Method::DELETE, "/auth/api-key"),
        (Method::DELETE, "/cancel-all"),
        (Method::DELETE, "/notifications"),
    ] {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let answer = gone.signed(method, path, &format!("?{query}"), "").await;
        check(
            path,
            answer.expect("an answer"),
            Fail(401, "Unauthorized/Invalid api key"),
        );
    }
    assert_eq!(
        site.sequence().await,
        before,
        "nothing of it was journalled"
    );
    // The owner's orders live until they are cancelled, also after the first time.
    let open = site.signed(Method::GET, "/data/orders", "").await;
    check("open", open, Rows(1));
    let revocation = json!({ "api_key": gone.api_key(), "cancel_orders": true });
    operator::done(&site.exchange, "/keys/revoke", &revocation).await;
    let open = site.signed(Method::GET, "/data/orders", "").await;
    check("closed", open, Rows(0));
    assert!(site.exchange.stop().success());
}
