//! A market with a delay, a fee and a rebate over a live exchange: delayed orders, replaces, rebates,
//! proposal and settlement, on REST and on both channels.

use foretell_model::Side;
use foretell_ops::trader::{SignedOrder, Terms, Trader, token};
use foretell_tests::operator;
use foretell_tests::streams::Connection;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Market, Site};

/// Long enough to look at an order that waits, on a busy machine.
const DELAY_MS: u64 = 2_500;

/// A bid for whole lots at a price in units of 0.0001 of the first or second token.
fn bid(trader: &Trader, market: &Market, outcome: usize, lots: u64, price: u16) -> SignedOrder {
    let token = token(&market.tokens[outcome]).expect("a token");
    let terms = Terms::limit(token, false, Side::Buy, lots, price);
    trader.sign(&terms).expect("a signature")
}

async fn placed(trader: &Trader, order: &SignedOrder, status: &str) {
    let (code, answer) = trader.place(order).await.expect("an answer");
    assert_eq!((code, &answer["status"]), (200, &json!(status)), "{answer}");
    assert_eq!(answer["success"], true);
}

async fn order(trader: &Trader, order: &SignedOrder) -> Value {
    let path = format!("/data/order/{}", order.id);
    let answer = trader.signed(Method::GET, &path, "", "").await;
    answer.expect("an answer").1["order"].clone()
}

async fn change(site: &Site, market: &Market, path: &str, fields: Value) {
    let mut body = json!({ "condition_id": market.condition });
    let fields = fields.as_object().expect("fields").clone();
    body.as_object_mut().expect("an object").extend(fields);
    operator::done(&site.exchange, path, &body).await;
}

async fn detail(site: &Site, market: &Market) -> Value {
    site.shown(&market.tokens[0]).await;
    let path = format!("{}/markets/{}", site.exchange.trading, market.condition);
    let response = reqwest::get(path).await.expect("an answer");
    response.json().await.expect("JSON")
}

async fn with_terms(site: &Site, index: u64) -> Market {
    let market = site.market(index).await;
    let fee = json!({ "rate_ppm": 40_000, "exponent": 1 });
    change(site, &market, "/markets/fee", fee).await;
    let terms = json!({ "taker_delay_ms": DELAY_MS, "rebate_ppm": 250_000 });
    change(site, &market, "/markets/terms", terms).await;
    market
}

#[tokio::test]
async fn a_taker_waits_and_its_maker_accrues_a_rebate() {
    let site = Site::two_gateways().await;
    let market = with_terms(&site, 1).await;
    let [alice, bob] = [&site.traders[0], &site.traders[1]];
    let mut own = site.connect(&site.own(0)).await;
    own.until_type("subscribed").await;

    let maker = bid(bob, &market, 1, 10_000, 4_000);
    placed(bob, &maker, "live").await;
    let taker = bid(alice, &market, 0, 10_000, 6_000);
    placed(alice, &taker, "delayed").await;
    assert_eq!(order(alice, &taker).await["status"], "DELAYED");
    let placement = own.until_type("order").await.pop().expect("a message");
    assert_eq!(
        (
            &placement["type"],
            &placement["status"],
            &placement["state"]
        ),
        (&json!("PLACEMENT"), &json!("LIVE"), &json!("DELAYED")),
        "{placement}"
    );
    // A repeat names the present status.
    let (_, again) = alice.place(&taker).await.expect("an answer");
    assert_eq!(
        (&again["status"], &again["duplicate"]),
        (&json!("delayed"), &json!(true))
    );

    let filled =
        own.until(|message| message["status"] == "MATCHED" && message["event_type"] == "order");
    filled.await;
    assert_eq!(order(alice, &taker).await["status"], "MATCHED");
    let rows = rebates(&site, bob).await;
    assert_eq!(rows[0]["condition_id"], market.condition, "{rows}");
    assert_eq!(rows[0]["rebated_fees_usdc"], "0.24", "{rows}");
    assert_eq!(rebates(&site, alice).await, json!([]));
}

/// What a wallet accrued today.
async fn rebates(site: &Site, of: &Trader) -> Value {
    let today = jiff::Timestamp::now().to_string();
    let query = format!("date={}&maker_address={}", &today[..10], of.address());
    let base = &site.exchange.trading;
    let url = format!("{base}/rebates/current?{query}");
    let sequence = operator::sequence(&site.exchange).await;
    let request = reqwest::Client::new().get(url);
    let request = request.header("x-min-sequence", sequence.to_string());
    request
        .send()
        .await
        .expect("an answer")
        .json()
        .await
        .expect("JSON")
}

#[tokio::test]
async fn cancels_of_a_delayed_order_say_so_and_its_rest_does_not_rest() {
    let site = Site::two_gateways().await;
    let market = with_terms(&site, 1).await;
    let [alice, bob] = [&site.traders[0], &site.traders[1]];
    placed(bob, &bid(bob, &market, 1, 1_000, 4_000), "live").await;
    let taker = bid(alice, &market, 0, 3_000, 6_000);
    placed(alice, &taker, "delayed").await;
    let id = taker.id.to_string();
    let reason = json!({ &id: "order is delayed" });
    let named = json!({ "orderId": id }).to_string();
    let of_market = json!({ "market": market.condition }).to_string();
    for (path, body) in [
        ("/order", named.as_str()),
        ("/cancel-all", ""),
        ("/cancel-market-orders", &of_market),
        ("/order", &named),
    ] {
        let answer = alice.signed(Method::DELETE, path, "", body).await;
        let (status, answer) = answer.expect("an answer");
        assert_eq!(
            (status, &answer["canceled"]),
            (200, &json!([])),
            "{path}: {answer}"
        );
        assert_eq!(answer["not_canceled"], reason, "{path}");
    }
    wait_for(async || order(alice, &taker).await["status"] == "CANCELED").await;
    assert_eq!(order(alice, &taker).await["sizeMatched"], "10");
}

async fn wait_for(mut holds: impl AsyncFnMut() -> bool) {
    let patience = foretell_tests::exchange::PATIENCE;
    let deadline = tokio::time::Instant::now() + patience;
    while !holds().await {
        assert!(tokio::time::Instant::now() < deadline, "not in time");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

async fn replace(trader: &Trader, body: &Value) -> (u16, Value) {
    let body = body.to_string();
    let answer = trader.signed(Method::POST, "/replace", "", &body);
    answer.await.expect("an answer")
}

#[tokio::test]
async fn a_replace_cancels_and_places_together_or_refuses_the_whole() {
    let site = Site::two_gateways().await;
    let market = site.market(1).await;
    let alice = &site.traders[0];
    let old = bid(alice, &market, 0, 1_000, 4_000);
    placed(alice, &old, "live").await;
    let new = bid(alice, &market, 0, 1_000, 4_100);

    // One bad signature refuses the whole.
    let mut forged = bid(alice, &market, 0, 1_000, 4_200).body;
    forged["order"]["signature"] = new.body["order"]["signature"].clone();
    let body = json!({ "cancel": [old.id.to_string()], "place": [new.body, forged] });
    let (status, answer) = replace(alice, &body).await;
    assert_eq!((status, &answer["place"]), (400, &json!(1)), "{answer}");
    assert_eq!(answer["code"], "invalid_signature");
    assert_eq!(order(alice, &old).await["status"], "LIVE");

    let body = json!({ "cancel": [old.id.to_string()], "place": [new.body] });
    let (status, answer) = replace(alice, &body).await;
    assert_eq!(
        (status, &answer["canceled"]),
        (200, &json!([old.id.to_string()])),
        "{answer}"
    );
    assert_eq!(answer["orders"][0]["status"], "live");
    assert_eq!(order(alice, &old).await["status"], "CANCELED");

    // The same again: the cancel finds nothing, and the order is known.
    let (_, answer) = replace(alice, &body).await;
    assert_eq!(answer["orders"][0]["duplicate"], true, "{answer}");
    assert_eq!(
        answer["not_canceled"].as_object().map(serde_json::Map::len),
        Some(1)
    );

    let other = bid(alice, &market, 0, 1_000, 4_300);
    let body =
        json!({ "cancel": [old.id.to_string()], "place": [other.body], "if_all_canceled": true });
    let (status, answer) = replace(alice, &body).await;
    assert_eq!(
        (status, &answer["orders"][0]["code"]),
        (200, &json!("not_all_canceled")),
        "{answer}"
    );

    let stranger = &site.traders[1];
    let body = json!({ "cancel": [new.id.to_string()] });
    let (_, answer) = replace(stranger, &body).await;
    assert_eq!(
        answer["not_canceled"][new.id.to_string()],
        "order belongs to another account"
    );
    for (body, text) in [
        (json!({}), "cancel is missing"),
        (json!({ "cancel": ["x"] }), "cancel is 'x'"),
        (json!({ "place": [{}] }), "order is missing"),
    ] {
        let (status, answer) = replace(alice, &body).await;
        let error = answer["error"].as_str().expect("a text");
        assert!(status == 400 && error.contains(text), "{body}: {answer}");
    }
}

#[tokio::test]
async fn every_stage_of_a_market_is_on_its_channel_and_in_its_detail() {
    let site = Site::two_gateways().await;
    let market = with_terms(&site, 1).await;
    let shown = detail(&site, &market).await;
    assert_eq!(shown["seconds_delay"], 3, "{shown}");
    assert_eq!(shown["life"]["taker_delay_ms"], DELAY_MS);
    assert_eq!(shown["life"]["rebate_rate"], 0.25);
    let alice = &site.traders[0];
    let sets = foretell_ops::trader::Sets {
        condition: &market.condition,
        lots: 1_000,
        reference: "a holder",
    };
    alice.split(&sets).await.expect("an answer");
    let mut public = site.connect(&Site::both(&market)).await;
    public.until_type("subscribed").await;

    change(&site, &market, "/markets/close", json!({})).await;
    assert_eq!(stage(&mut public).await["state"], "closed");
    let proposal = json!({ "payout": "no", "window_seconds": 3_600, "reference": "p1", "source": "https://news.example/1" });
    change(&site, &market, "/markets/propose", proposal).await;
    let proposed = stage(&mut public).await;
    assert_eq!(
        (&proposed["state"], &proposed["payout"]),
        (&json!("proposed"), &json!("no"))
    );
    assert!(proposed["challenge_ends"].is_string(), "{proposed}");
    change(
        &site,
        &market,
        "/markets/dispute",
        json!({ "counter": "yes" }),
    )
    .await;
    let disputed = stage(&mut public).await;
    assert_eq!(
        (&disputed["state"], &disputed["counter"]),
        (&json!("disputed"), &json!("yes"))
    );
    let life = detail(&site, &market).await["life"].clone();
    assert_eq!(
        (&life["stage"], &life["proposal"]["counter"]),
        (&json!("disputed"), &json!("yes"))
    );
    assert_eq!(life["proposal"]["source"], "https://news.example/1");
    // The proposer replaces it with another payout, and withdraws that one.
    let (_, review) = operator::get(&site.exchange, "/review").await;
    let number = &review["proposals"][0]["proposal"];
    let other = json!({ "payout": "half", "proposal": number, "reference": "another" });
    change(&site, &market, "/markets/propose", other).await;
    assert_eq!(stage(&mut public).await["state"], "proposed");
    change(&site, &market, "/markets/withdraw-proposal", json!({})).await;
    assert_eq!(stage(&mut public).await["state"], "closed");
    change(
        &site,
        &market,
        "/markets/resolve",
        json!({ "payout": "yes" }),
    )
    .await;
    let resolved = stage(&mut public).await;
    assert_eq!(
        (&resolved["state"], &resolved["payout"]),
        (&json!("resolved"), &json!("yes"))
    );
    assert_eq!(stage(&mut public).await["state"], "settled");
    let life = detail(&site, &market).await["life"].clone();
    assert_eq!(life["stage"], "settled");
    let (status, answer) = alice
        .redeem(&market.condition, "late")
        .await
        .expect("an answer");
    assert_eq!(
        (status, &answer["collateral"]),
        (200, &json!("0")),
        "{answer}"
    );
}

/// The next `market_status`.
async fn stage(connection: &mut Connection) -> Value {
    connection
        .until_type("market_status")
        .await
        .pop()
        .expect("a message")
}
