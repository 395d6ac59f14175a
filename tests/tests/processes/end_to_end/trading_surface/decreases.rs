//! `POST /order/decrease`, and what reads say of the order and of its queue.

use foretell_tests::demo::Demo;
use reqwest::Method;
use serde_json::{Value, json};

const PATH: &str = "/order/decrease";

fn body(order: &str, remaining: &str) -> String {
    json!({ "orderID": order, "remaining": remaining }).to_string()
}

/// Original size, size matched, status, and shares ahead.
async fn read(demo: &Demo, order: &str) -> [Value; 4] {
    let (status, read) = demo.own(&format!("/data/order/{order}"), "").await;
    assert_eq!(status, 200, "{read}");
    ["original_size", "size_matched", "status", "queue_ahead"].map(|name| read[name].clone())
}

#[tokio::test]
async fn a_smaller_order_keeps_its_place() {
    let demo = Demo::start().await;
    let first = demo.buy(&demo.other, 0, 3_000, 4_000).await;
    let own = demo.buy(&demo.trader, 0, 2_000, 4_000).await;
    demo.buy(&demo.other, 0, 1_000, 4_000).await;
    assert_eq!(
        read(&demo, &own).await,
        [json!("20"), json!("0"), json!("LIVE"), json!("30")]
    );

    let answer = json!({ "orderID": own, "status": "LIVE", "remaining": "12.5" });
    for again in ["12.5", "12.5", "19"] {
        let answered = demo.signed(Method::POST, PATH, &body(&own, again)).await;
        assert_eq!(answered, (200, answer.clone()), "{again}");
    }
    assert_eq!(
        read(&demo, &own).await,
        [json!("12.5"), json!("0"), json!("LIVE"), json!("30")]
    );

    let unknown = format!("0x{}", "11".repeat(32));
    let allowed = "a text, shares with up to two decimals, above 0";
    for (order, remaining, status, error) in [
        (
            &*first,
            "1",
            409,
            "order belongs to another account".to_owned(),
        ),
        (&*unknown, "1", 404, "order not found".to_owned()),
        (
            &*own,
            "0",
            400,
            format!("remaining is '0', allowed: {allowed}"),
        ),
        (
            &*own,
            "1.001",
            400,
            format!("remaining is '1.001', allowed: {allowed}"),
        ),
    ] {
        let answered = demo
            .signed(Method::POST, PATH, &body(order, remaining))
            .await;
        assert_eq!(answered, (status, json!({ "error": error })));
    }

    let (status, ended) = demo.signed(Method::POST, PATH, &body(&own, "0.01")).await;
    assert_eq!(
        (status, ended),
        (
            200,
            json!({ "orderID": own, "status": "CANCELED", "remaining": "0" })
        )
    );
    assert_eq!(
        read(&demo, &own).await,
        [json!("12.5"), json!("0"), json!("CANCELED"), Value::Null]
    );
    assert!(demo.exchange.stop().success());
}
