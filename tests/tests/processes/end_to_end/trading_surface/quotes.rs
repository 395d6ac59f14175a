//! `/quotes`: sets of quotes as ordinary orders, their refusals, leases and limits.

use foretell_model::quote::{Quote, QuoteWord};
use foretell_model::{ConditionId, Lots, Outcome, Price, Side};
use foretell_tests::demo::Demo;
use foretell_tests::exchange::PATIENCE;
use foretell_tests::quotes::{Terms, body, quote};
use foretell_wire::text::ids;
use reqwest::Method;
use serde_json::{Value, json};

/// A maker of the demo with its first wallet.
struct Maker {
    demo: Demo,
    separator: [u8; 32],
}

impl Maker {
    async fn start() -> Self {
        let demo = Demo::start().await;
        let separator = demo.trader.quotes_separator().await.expect("a domain");
        Self { demo, separator }
    }

    fn body(&self, terms: Terms, quotes: &[Quote]) -> Value {
        let words: Vec<QuoteWord> = quotes.iter().map(Quote::word).collect();
        let condition = ids::condition_id(&self.demo.condition).expect("a condition");
        self.signed(terms, &[condition], &words)
    }

    fn signed(&self, terms: Terms, conditions: &[ConditionId], words: &[QuoteWord]) -> Value {
        body(&self.demo.trader, &self.separator, terms, conditions, words)
    }

    async fn post(&self, body: &Value) -> (u16, Value) {
        (self.demo.signed(Method::POST, "/quotes", &body.to_string())).await
    }

    async fn set(&self, revision: u64, quotes: &[Quote]) -> Value {
        let terms = Terms::revision(revision);
        let (status, answer) = self.post(&self.body(terms, quotes)).await;
        assert_eq!(status, 200, "{answer}");
        answer
    }

    /// Waits until none of the maker's orders is live.
    async fn until_empty(&self) {
        let begun = std::time::Instant::now();
        while !self.live().await.is_empty() {
            assert!(begun.elapsed() < PATIENCE, "a quote is live");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }

    /// Ids of the maker's live orders, with their sizes.
    async fn live(&self) -> Vec<(String, String)> {
        let (status, page) = self.demo.own("/data/orders", "").await;
        assert_eq!(status, 200, "{page}");
        let text = |order: &Value, name: &str| order[name].as_str().expect("a text").to_owned();
        let orders = page["data"].as_array().expect("orders").iter();
        orders
            .map(|order| (text(order, "id"), text(order, "original_size")))
            .collect()
    }
}

fn counts(answer: &Value) -> [u64; 4] {
    ["kept", "reduced", "ended", "placed"].map(|name| answer[name].as_u64().expect("a count"))
}

#[tokio::test]
async fn quotes_are_orders_that_a_set_replaces() {
    let maker = Maker::start().await;
    let (yes, no) = (
        quote(Outcome::Yes, Side::Buy, 4_000, 1_000),
        quote(Outcome::No, Side::Buy, 5_000, 2_000),
    );
    let first = maker.set(1, &[yes, no]).await;
    assert_eq!(counts(&first), [0, 0, 0, 2]);
    let digest = first["set"].as_str().unwrap();
    let id = |index: u8| format!("{}{index:02x}", &digest[..64]);
    assert_eq!(first["orders"], json!([id(0), id(1)]));
    let sizes = |sizes: [&str; 2]| vec![(id(0), sizes[0].to_owned()), (id(1), sizes[1].to_owned())];
    assert_eq!(maker.live().await, sizes(["10", "20"]));

    let smaller = Quote {
        lots: Lots(1_500),
        ..no
    };
    let second = maker.set(2, &[yes, smaller]).await;
    assert_eq!(counts(&second), [1, 1, 0, 0]);
    assert_eq!(second["orders"], json!([null, null]));
    assert_eq!(maker.live().await, sizes(["10", "15"]));

    // Reads, cancels and decreases take a quote as any order.
    let demo = &maker.demo;
    let (status, read) = demo.own(&format!("/data/order/{}", id(1)), "").await;
    assert_eq!(
        (status, &read["status"], &read["queue_ahead"]),
        (200, &json!("LIVE"), &json!("0"))
    );
    let body = json!({ "orderID": id(1), "remaining": "12" }).to_string();
    let decreased = demo.signed(Method::POST, "/order/decrease", &body).await;
    assert_eq!(decreased.0, 200, "{}", decreased.1);
    let body = json!({ "orderID": id(0) }).to_string();
    let (_, cancelled) = demo.signed(Method::DELETE, "/order", &body).await;
    assert_eq!(cancelled["canceled"], json!([id(0)]));
    assert_eq!(maker.live().await, [(id(1), "12".to_owned())]);

    // A sweep of the rest names the quote as maker of the trade.
    demo.buy(&demo.other, 0, 1_200, 5_000).await;
    let (_, trades) = demo.own("/data/trades", "").await;
    assert_eq!(
        trades["data"][0]["maker_orders"][0]["order_id"],
        json!(id(1))
    );
    let third = maker.set(3, &[]).await;
    assert_eq!(counts(&third), [0, 0, 0, 0]);
    assert!(maker.live().await.is_empty());
    assert!(maker.demo.exchange.stop().success());
}

#[tokio::test]
async fn a_set_counts_once_and_the_newest_wins() {
    let maker = Maker::start().await;
    let yes = quote(Outcome::Yes, Side::Buy, 4_000, 1_000);
    let body = maker.body(Terms::revision(7), &[yes]);
    let (status, first) = maker.post(&body).await;
    assert_eq!(status, 200, "{first}");
    let (status, again) = maker.post(&body).await;
    let repeated = json!({
        "set": first["set"], "revision": 7, "sequence": first["sequence"], "duplicate": true,
    });
    assert_eq!((status, again), (200, repeated));
    let (status, older) = maker.post(&maker.body(Terms::revision(6), &[])).await;
    assert_eq!(status, 409, "{older}");
    let text = older["error"].as_str().unwrap();
    assert!(text.starts_with("revision is 6, allowed: 8 to "), "{text}");

    // Another process of the same maker signed the same revision with other quotes.
    let other = maker.body(Terms::revision(7), &[]);
    assert_eq!(maker.post(&other).await.0, 409);
    assert_eq!(maker.live().await.len(), 1);

    // Another exchange's signature, or a changed field, is nobody's.
    let mut forged = maker.body(Terms::revision(8), &[yes]);
    forged["set"]["group"] = json!(1);
    let (status, refused) = maker.post(&forged).await;
    assert_eq!(status, 400, "{refused}");
    let elsewhere = Maker {
        separator: [7; 32],
        demo: maker.demo,
    };
    let body = elsewhere.body(Terms::revision(8), &[yes]);
    let (status, refused) = elsewhere.post(&body).await;
    let error = "invalid signature: the recovered address is not the signer's";
    assert_eq!((status, &refused["error"]), (400, &json!(error)));
    assert!(elsewhere.demo.exchange.stop().success());
}

#[tokio::test]
async fn a_wrong_set_is_named_and_changes_nothing() {
    let maker = Maker::start().await;
    let yes = quote(Outcome::Yes, Side::Buy, 4_000, 1_000);
    maker.set(1, &[yes]).await;
    let before = maker.live().await;
    let terms = Terms::revision(2);
    let high = Quote {
        price: Price(4_050),
        ..yes
    };
    let empty = Quote {
        lots: Lots(0),
        ..yes
    };
    let cross = quote(Outcome::No, Side::Buy, 6_000, 1_000);
    let other = Quote {
        condition: 1,
        ..yes
    };
    for (quotes, error) in [
        (
            &[yes, high][..],
            "quotes[1].price is 0.405, allowed: multiples of 0.01 from 0.01 to 0.99",
        ),
        (
            &[empty],
            "quotes[0].size is 0, allowed: 1 to 100000000000 lots of 0.01 shares",
        ),
        (
            &[yes, yes],
            "quotes[1] is the same as quotes[0], allowed: a token, side and price once in a set",
        ),
        (
            &[yes, cross],
            "quotes[1].price is 0.6, allowed: bids below asks; it crosses quotes[0]",
        ),
        (&[yes, other], "quotes[1].condition is 1, allowed: 0 to 0"),
    ] {
        let (status, refused) = maker.post(&maker.body(terms, quotes)).await;
        assert_eq!((status, &refused["error"]), (400, &json!(error)));
    }
    let condition = ids::condition_id(&maker.demo.condition).unwrap();
    let unknown = ConditionId([0xff; 32]);
    let mut padded = yes.word();
    padded.0[31] = 1;
    for (conditions, words, error) in [
        (
            &[condition, unknown][..],
            &[][..],
            format!("conditions[1] is {unknown}, allowed: a market"),
        ),
        (
            &[unknown, condition],
            &[],
            format!("conditions[1] is {condition}, allowed: ids in ascending order, each once"),
        ),
        (
            &[condition],
            &[padded],
            "quotes[0].padding is 000000000000000000000000000001, allowed: 15 bytes of zero"
                .to_owned(),
        ),
    ] {
        let (status, refused) = maker.post(&maker.signed(terms, conditions, words)).await;
        assert_eq!((status, &refused["error"]), (400, &json!(error)));
    }
    let short = Terms {
        valid_ms: 0,
        ..terms
    };
    let (status, refused) = maker.post(&maker.body(short, &[yes])).await;
    assert_eq!(status, 400);
    assert!(
        refused["error"]
            .as_str()
            .unwrap()
            .starts_with("validUntil is "),
        "{refused}"
    );
    assert_eq!(maker.live().await, before);
    assert!(maker.demo.exchange.stop().success());
}

#[tokio::test]
async fn a_lease_and_a_limit_end_quotes() {
    let maker = Maker::start().await;
    let demo = &maker.demo;
    let yes = quote(Outcome::Yes, Side::Buy, 4_000, 1_000);
    let put = async |body: Value| {
        demo.signed(Method::PUT, "/quotes/groups/0", &body.to_string())
            .await
    };
    let beat = async |revision: u64| {
        let body = json!({ "group": 0, "revision": revision }).to_string();
        demo.signed(Method::POST, "/quotes/heartbeat", &body).await
    };
    let error = "lease_ms is allowed as 0 or 500 to 60000, window_ms as 0 or 100 to 60000, with a limit if and only if there is a window";
    assert_eq!(
        put(json!({ "lease_ms": 499 })).await,
        (400, json!({ "error": error }))
    );
    assert_eq!(
        put(json!({ "lease_ms": 60_000, "window_ms": 60_000, "shares": "4" }))
            .await
            .0,
        200
    );
    assert_eq!(
        beat(1).await,
        (409, json!({ "error": "group 0 has no live quotes" }))
    );
    maker
        .set(
            1,
            &[
                yes,
                Quote {
                    price: Price(3_900),
                    ..yes
                },
            ],
        )
        .await;
    let (status, lease) = beat(1).await;
    assert_eq!((status, &lease["live"]), (200, &json!(2)), "{lease}");
    assert_eq!(beat(2).await.0, 409);

    // Five shares reach the limit of four: the rest ends before anything else.
    demo.buy(&demo.other, 1, 500, 6_000).await;
    maker.until_empty().await;
    let (status, frozen) = maker.post(&maker.body(Terms::revision(2), &[yes])).await;
    assert_eq!(status, 409, "{frozen}");
    maker.set(2, &[]).await;
    assert_eq!(put(json!({ "lease_ms": 500, "reset": true })).await.0, 200);
    maker.set(3, &[yes]).await;
    // The quote ends by itself, its lease after the set.
    maker.until_empty().await;
    assert!(maker.demo.exchange.stop().success());
}

#[tokio::test]
async fn what_was_sold_is_not_offered_again_unseen() {
    let maker = Maker::start().await;
    let demo = &maker.demo;
    let yes = quote(Outcome::Yes, Side::Buy, 4_000, 1_000);
    let first = maker.set(1, &[yes]).await;
    demo.buy(&demo.other, 1, 500, 6_000).await;
    let filled = demo.sequence().await;
    let seen = |revision, seen| Terms {
        seen,
        ..Terms::revision(revision)
    };
    let larger = Quote {
        lots: Lots(1_500),
        ..yes
    };
    let set = first["sequence"].as_u64().unwrap();
    let (status, answer) = maker.post(&maker.body(seen(2, set), &[larger])).await;
    assert_eq!(status, 200, "{answer}");
    let refused = json!([{
        "quote": 0,
        "code": "filled_since",
        "error": "the group was filled at this token and side after `seen`",
    }]);
    assert_eq!(
        (counts(&answer), &answer["refused"]),
        ([0, 0, 1, 0], &refused)
    );
    let (_, answer) = maker.post(&maker.body(seen(3, filled), &[larger])).await;
    assert_eq!(counts(&answer), [0, 0, 0, 1]);
    assert!(maker.demo.exchange.stop().success());
}
