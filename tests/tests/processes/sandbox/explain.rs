//! Why an order did not fill: each ending of an order, and what it met.

use foretell_model::{Side, TokenId};
use foretell_ops::trader::{Terms, Trader};
use foretell_tests::quotes::now_ms;
use foretell_tests::sandbox::Sandbox;
use foretell_wire::text::decimal::uint256;
use serde_json::{Value, json};

/// A trader, a market with a bid of 20 at 0.50 and an ask of 20 at 0.58 from others.
struct Scene {
    sandbox: Sandbox,
    trader: Trader,
    condition: String,
    yes: String,
    others: Value,
}

impl Scene {
    async fn open(market: Value) -> Self {
        let sandbox = Sandbox::start(&[]);
        let trader = sandbox.trader().await;
        let (condition, [yes, no]) = sandbox.market(market).await;
        let others = sandbox
            .done("/sandbox/wallets", json!({ "amount": "1000" }))
            .await;
        let scene = Self {
            sandbox,
            trader,
            condition,
            yes,
            others,
        };
        scene.other("BUY", "0.50", "20", None).await;
        scene.other("BUY", "0.42", "20", Some(&no)).await;
        scene
    }

    /// An order of somebody else, of Yes unless a token is given.
    async fn other(&self, side: &str, price: &str, size: &str, token: Option<&str>) {
        let body = json!({
            "wallet": self.others["funder"], "token_id": token.unwrap_or(&self.yes), "side": side,
            "price": price, "size": size,
        });
        self.sandbox.done("/sandbox/orders", body).await;
    }

    /// Places an order for Yes and explains it.
    async fn explained(
        &self,
        order_type: &'static str,
        side: Side,
        lots: u64,
        price: u16,
    ) -> Value {
        self.placed(&self.terms(order_type, side, lots, price))
            .await
    }

    fn terms(&self, order_type: &'static str, side: Side, lots: u64, price: u16) -> Terms<'static> {
        let token = TokenId(uint256(&self.yes).expect("digits"));
        Terms {
            order_type,
            ..Terms::limit(token, false, side, lots, price)
        }
    }

    async fn placed(&self, terms: &Terms<'_>) -> Value {
        let order = self.trader.sign(terms).expect("a body");
        self.trader.place(&order).await.expect("an answer");
        self.explain(&order.id.to_string()).await
    }

    async fn explain(&self, order: &str) -> Value {
        let (status, explained) = self.sandbox.get(&format!("/sandbox/orders/{order}")).await;
        assert_eq!(status, 200, "{explained}");
        explained
    }
}

/// The explanation has this status and these words.
fn assert_says(explained: &Value, status: &str, words: &[&str]) {
    assert_eq!(explained["status"], status, "{explained}");
    let text = explained["text"].as_str().expect("a text");
    for word in words {
        assert!(text.contains(word), "no {word:?}: {explained}");
    }
}

#[tokio::test]
async fn orders_that_met_a_book_say_what_they_met() {
    let scene = Scene::open(json!({})).await;
    use Side::{Buy, Sell};
    let best_ask = "best ask was 0.58";
    let killed = scene.explained("FOK", Buy, 1_000, 5_700).await;
    assert_says(
        &killed,
        "killed",
        &[best_ask, "limit was 0.57", "reached 0 shares", "Perhaps"],
    );
    assert_eq!(killed["code"], "fok_not_filled");
    assert_eq!(
        killed["met"]["asks"],
        json!([{ "price": "0.58", "size": "20" }])
    );
    assert_eq!(
        killed["met"]["bids"],
        json!([{ "price": "0.5", "size": "20" }])
    );

    let killed = scene.explained("FAK", Buy, 1_000, 5_600).await;
    assert_says(&killed, "killed", &[best_ask, "reached 0 shares"]);
    let killed = scene.explained("FOK", Buy, 10_000, 5_800).await;
    assert_says(&killed, "killed", &["limit was 0.58", "reached 20 shares"]);
    assert!(
        !killed["text"].as_str().expect("a text").contains("Perhaps"),
        "{killed}"
    );

    let post_only = Terms {
        post_only: true,
        ..scene.terms("GTC", Buy, 1_000, 6_000)
    };
    assert_says(
        &scene.placed(&post_only).await,
        "killed",
        &["reached 20 shares"],
    );
    let small = scene.explained("GTC", Buy, 500, 1_000).await;
    assert_says(
        &small,
        "live",
        &["rests", "filled nothing", best_ask, "limit was 0.1"],
    );
    let partly = scene.explained("GTC", Buy, 3_000, 5_800).await;
    assert_says(&partly, "live", &["20 of 30 shares", "reached 20 shares"]);
    let alone = scene.explained("GTC", Buy, 500, 5_900).await;
    assert_says(&alone, "live", &["The book had no ask when it arrived"]);

    let own = scene.explained("GTC", Sell, 500, 5_900).await;
    assert_says(&own, "live", &["also reached 5 shares of its own account"]);
    assert_says(
        &scene.explain(alone["order"].as_str().expect("an id")).await,
        "ended",
        &["met an order of its own"],
    );

    let filled = scene.explained("FAK", Sell, 500, 5_000).await;
    assert_says(&filled, "matched", &["is filled", "best bid was 0.58"]);
    let (_, list) = scene.sandbox.get("/sandbox/rejections").await;
    let list = list["rejections"].as_array().expect("a list").clone();
    assert_eq!(list.len(), 4, "{list:?}");
    assert_says(&list[0], "killed", &["post-only"]);

    let no_shares = scene.explained("GTC", Sell, 100_000, 5_000).await;
    assert_says(&no_shares, "rejected", &["not enough balance"]);
    assert_eq!(no_shares["met"], Value::Null);
}

#[tokio::test]
async fn orders_that_ended_later_say_why() {
    let scene = Scene::open(json!({})).await;
    let resting = scene.explained("GTC", Side::Buy, 500, 1_000).await;
    let order = resting["order"].as_str().expect("an id").to_owned();
    let body = json!({ "orderID": order }).to_string();
    let cancel = scene
        .trader
        .signed(reqwest::Method::DELETE, "/order", "", &body);
    assert_eq!(cancel.await.expect("an answer").0, 200);
    assert_says(
        &scene.explain(&order).await,
        "ended",
        &["its owner cancelled it", "filled nothing"],
    );

    let gtd = Terms {
        expiration: now_ms() / 1_000 + 600,
        ..scene.terms("GTD", Side::Buy, 500, 1_100)
    };
    let order = scene.placed(&gtd).await["order"]
        .as_str()
        .expect("an id")
        .to_owned();
    let beat = scene.explained("GTC", Side::Buy, 500, 1_200).await;
    let beating = beat["order"].as_str().expect("an id").to_owned();
    let started = scene
        .trader
        .signed(reqwest::Method::POST, "/v1/heartbeats", "", "{}");
    assert_eq!(started.await.expect("an answer").0, 200);
    let hour = json!({ "advance_ms": 3_600_000 });
    scene.sandbox.done("/sandbox/clock", hour).await;
    assert_says(&scene.explain(&order).await, "ended", &["it expired"]);
    assert_says(
        &scene.explain(&beating).await,
        "ended",
        &["a heartbeat was missed"],
    );

    let last = scene.explained("GTC", Side::Buy, 500, 1_300).await;
    let market = json!({ "condition_id": scene.condition });
    scene.sandbox.done("/markets/close", market).await;
    let order = last["order"].as_str().expect("an id");
    assert_says(&scene.explain(order).await, "ended", &["the market closed"]);
}

#[tokio::test]
async fn orders_that_met_no_book_say_why() {
    let scene = Scene::open(json!({})).await;
    for (terms, words) in [
        (
            scene.terms("GTC", Side::Buy, 500, 1_005),
            "minimum tick size",
        ),
        (scene.terms("GTC", Side::Buy, 100, 1_000), "minimum"),
        (
            scene.terms("GTC", Side::Buy, 10_000_000, 5_000),
            "not enough balance",
        ),
        (
            Terms {
                expiration: 1,
                ..scene.terms("GTD", Side::Buy, 500, 1_000)
            },
            "expiration",
        ),
        (
            Terms {
                post_only: true,
                ..scene.terms("FOK", Side::Buy, 500, 5_800)
            },
            "postOnly is allowed",
        ),
    ] {
        assert_says(&scene.placed(&terms).await, "rejected", &[words]);
    }
    let small = Terms {
        maker_amount: 500_000,
        ..scene.terms("FAK", Side::Buy, 100, 5_800)
    };
    assert_says(&scene.placed(&small).await, "rejected", &["min size: $1"]);
    let wallet = json!({ "wallet": scene.trader.address(), "closed_only": true });
    scene.sandbox.done("/accounts/closed-only", wallet).await;
    let closed = scene.explained("GTC", Side::Buy, 500, 1_000).await;
    assert_says(&closed, "rejected", &["closed only"]);
    let market = json!({ "condition_id": scene.condition });
    scene.sandbox.done("/markets/pause", market).await;
    let paused = scene.explained("GTC", Side::Buy, 500, 1_000).await;
    assert_says(&paused, "rejected", &["paused"]);

    let (_, list) = scene.sandbox.get("/sandbox/rejections").await;
    let list = list["rejections"].as_array().expect("a list").clone();
    assert_eq!(list.len(), 8, "{list:?}");
    assert_eq!(list[0]["order"], paused["order"]);
    let unknown = format!("/sandbox/orders/0x{}", "0".repeat(64));
    assert_eq!(scene.sandbox.get(&unknown).await.0, 404);
}

#[tokio::test]
async fn a_delayed_order_says_that_it_waits() {
    let scene = Scene::open(json!({ "taker_delay_ms": 60_000 })).await;
    let waits = scene.explained("GTC", Side::Buy, 500, 5_800).await;
    assert_says(&waits, "delayed", &["taker delay", "reached 20 shares"]);
    let minute = json!({ "advance_ms": 61_000 });
    scene.sandbox.done("/sandbox/clock", minute).await;
    let order = waits["order"].as_str().expect("an id");
    assert_says(
        &scene.explain(order).await,
        "matched",
        &["is filled", "When its delay ended"],
    );
}

/// The book of the release counts, not that of the arrival.
#[tokio::test]
async fn a_delayed_order_met_the_book_when_its_delay_ended() {
    let scene = Scene::open(json!({ "taker_delay_ms": 60_000 })).await;
    let first = scene.explained("FOK", Side::Buy, 1_500, 5_800).await;
    let late = scene.explained("FOK", Side::Buy, 1_000, 5_800).await;
    assert_says(&late, "delayed", &["reached 20 shares"]);
    let minute = json!({ "advance_ms": 61_000 });
    scene.sandbox.done("/sandbox/clock", minute).await;

    let ended = scene.explain(late["order"].as_str().expect("an id")).await;
    let words = [
        "after its delay",
        "When its delay ended",
        "reached 5 shares",
    ];
    assert_says(&ended, "ended", &words);
    assert_eq!(ended["received"], late["received"]);
    let sequence = |explained: &Value| explained["met"]["sequence"].as_u64().expect("a number");
    assert!(sequence(&ended) > sequence(&late), "{ended}");
    let first = scene.explain(first["order"].as_str().expect("an id")).await;
    assert_says(&first, "matched", &["reached 20 shares"]);

    let waits = scene.explained("GTC", Side::Buy, 500, 5_800).await;
    let closed = json!({ "condition_id": scene.condition });
    scene.sandbox.done("/markets/close", closed).await;
    let ended = scene.explain(waits["order"].as_str().expect("an id")).await;
    assert_says(
        &ended,
        "ended",
        &["the market closed", "When its delay ended"],
    );
}
