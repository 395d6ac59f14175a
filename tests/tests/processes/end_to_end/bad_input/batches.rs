//! Several orders in one request.

use foretell_tests::demo::Demo;
use foretell_wire::limits::ORDER_BODY_BYTES;
use reqwest::Method;
use serde_json::{Value, json};

use crate::end_to_end::bad_input::{state, valid};

#[tokio::test]
async fn batches_are_refused_whole_or_element_by_element() {
    let site = Demo::start().await;
    let before = state(&site).await;
    let sixteen: Vec<Value> = (0..16).map(|_| valid(&site).body).collect();
    for (body, text) in [
        (
            json!(sixteen).to_string(),
            "Too many orders in payload: 16, max allowed: 15",
        ),
        ("{}".to_owned(), ""),
        ("[".to_owned(), ""),
        ("[]".to_owned(), ""),
    ] {
        let (status, answer) = site
            .trader
            .signed(Method::POST, "/orders", "", &body)
            .await
            .expect("an answer");
        assert_eq!(status, 400, "{answer}");
        assert!(
            answer["error"]
                .as_str()
                .is_some_and(|error| error.contains(text)),
            "{answer}"
        );
    }
    assert_eq!(state(&site).await, before);

    // Fifteen bodies, each as long as one order may be.
    let mut long = valid(&site).body;
    let room = ORDER_BODY_BYTES - long.to_string().len() - 20;
    long["note"] = json!("x".repeat(room));
    let body = json!(vec![long; 15]).to_string();
    let sent = site.trader.signed(Method::POST, "/orders", "", &body).await;
    let (status, answer) = sent.expect("an answer");
    assert_eq!(status, 200, "{answer}");
    let taken = answer.as_array().expect("results").iter();
    assert!(taken.clone().all(|one| one["success"] == true), "{answer}");
    let named = json!([answer[0]["orderID"]]).to_string();
    let ended = site
        .trader
        .signed(Method::DELETE, "/orders", "", &named)
        .await;
    assert_eq!(ended.expect("an answer").0, 200);

    let (good, bad) = (valid(&site), json!({ "order": { "tokenId": "x" } }));
    let body = json!([bad, good.body, good.body, 7]).to_string();
    let (status, answer) = site
        .trader
        .signed(Method::POST, "/orders", "", &body)
        .await
        .expect("an answer");
    assert_eq!(status, 200, "{answer}");
    let results = answer.as_array().expect("results");
    assert_eq!(results.len(), 4);
    assert_eq!(results[0]["success"], false);
    assert_eq!(results[0]["code"], "missing_order_field", "{answer}");
    assert!(results[1].get("code").is_none(), "{answer}");
    assert_eq!(results[1]["success"], true);
    assert_eq!(results[1]["orderID"], good.id.to_string());
    assert_eq!(
        results[2]["duplicate"], true,
        "the same order twice in one batch executes once: {answer}"
    );
    assert_eq!(results[2]["orderID"], good.id.to_string());
    assert_eq!(results[3]["success"], false);
    assert_eq!(results[3]["code"], "invalid_order_payload", "{answer}");
    assert!(site.exchange.stop().success());
}
