//! The clock of a sandbox: all that is due happens before the answer, clients keep their own clocks, and a restart
//! keeps the offset.

use foretell_model::{Outcome, Side, TokenId};
use foretell_ops::trader::{Terms, Trader};
use foretell_tests::quotes::{self, body, now_ms, quote};
use foretell_tests::sandbox::Sandbox;
use foretell_wire::text::decimal::uint256;
use foretell_wire::text::ids;
use jiff::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};

const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 24 * HOUR_MS;

fn token(text: &str) -> TokenId {
    TokenId(uint256(text).expect("digits"))
}

/// ISO 8601 of a time so long after now.
fn after(ms: u64) -> String {
    let at = i64::try_from(now_ms() + ms).expect("milliseconds");
    Timestamp::from_millisecond(at).expect("a time").to_string()
}

async fn advance(sandbox: &Sandbox, ms: u64) -> Value {
    sandbox
        .done("/sandbox/clock", json!({ "advance_ms": ms }))
        .await
}

/// How often a move says so.
fn count(moved: &Value, what: &str, detail: &str) -> usize {
    let happened = moved["happened"].as_array().expect("a list").iter();
    let is_so = |it: &&Value| it["what"] == what && it["detail"] == detail;
    happened.filter(is_so).count()
}

async fn post(trader: &Trader, path: &str, body: &Value) {
    let body = body.to_string();
    let sent = trader.signed(Method::POST, path, "", &body);
    let (status, answer) = sent.await.expect("an answer");
    assert_eq!(status, 200, "{path}: {answer}");
}

async fn place(trader: &Trader, terms: &Terms<'_>) -> Value {
    let order = trader.sign(terms).expect("a body");
    let (status, placed) = trader.place(&order).await.expect("an answer");
    assert_eq!(status, 200, "{placed}");
    placed
}

#[tokio::test]
async fn what_falls_due_happens_before_the_answer() {
    let mut sandbox = Sandbox::start(&[]);
    let trader = sandbox.trader().await;
    // Opens in one hour and closes in four.
    let times = json!({ "opens_at": after(HOUR_MS), "closes_at": after(4 * HOUR_MS) });
    let (condition, [yes, _]) = sandbox.market(times).await;
    let moved = advance(&sandbox, HOUR_MS + 1_000).await;
    assert_eq!(count(&moved, "market_changed", "active"), 1, "{moved}");

    // Expires in two hours of engine time, one minute earlier for safety.
    let gtd = Terms {
        order_type: "GTD",
        expiration: now_ms() / 1_000 + 3 * 3_600,
        ..Terms::limit(token(&yes), false, Side::Buy, 1_000, 1_000)
    };
    place(&trader, &gtd).await;
    place(
        &trader,
        &Terms::limit(token(&yes), false, Side::Buy, 1_000, 2_000),
    )
    .await;
    let moved = advance(&sandbox, 2 * HOUR_MS).await;
    assert_eq!(count(&moved, "order_expired", "Expired"), 1, "{moved}");
    let moved = advance(&sandbox, HOUR_MS).await;
    assert_eq!(count(&moved, "market_changed", "closed"), 1, "{moved}");
    assert_eq!(
        count(&moved, "order_cancelled", "MarketClosed"),
        1,
        "{moved}"
    );

    // A proposal that its challenge window finalises.
    let policy = json!({ "by_time": true, "minimum_window_seconds": 3_600 });
    sandbox.done("/policy", policy).await;
    let proposal = json!({
        "condition_id": condition, "payout": "Yes", "window_seconds": 3_600, "reference": "p1",
    });
    sandbox.done("/markets/propose", proposal).await;
    let moved = advance(&sandbox, 2 * HOUR_MS).await;
    assert_eq!(count(&moved, "market_resolved", "yes"), 1, "{moved}");

    audit(&mut sandbox);
}

#[tokio::test]
async fn a_missed_heartbeat_a_lease_and_a_delay_end_with_the_moved_clock() {
    let mut sandbox = Sandbox::start(&[]);
    let (maker, taker) = (sandbox.trader().await, sandbox.trader().await);
    let delayed = json!({ "taker_delay_ms": 3_000, "fee": { "rate_ppm": 0, "exponent": 0 } });
    let (condition, [yes, no]) = sandbox.market(delayed).await;
    place(
        &maker,
        &Terms::limit(token(&yes), false, Side::Buy, 1_000, 4_000),
    )
    .await;
    post(&maker, "/v1/heartbeats", &json!({})).await;
    let crossing = Terms::limit(token(&no), false, Side::Buy, 500, 6_000);
    let waits = place(&taker, &crossing).await;
    assert_eq!(waits["status"], "delayed", "{waits}");
    advance(&sandbox, 4_000).await;
    let (_, shares) = sandbox
        .get(&format!("/positions?user={}", taker.address()))
        .await;
    assert_eq!(shares[0]["size"], 5.0, "{shares}");

    let separator = maker.quotes_separator().await.expect("a separator");
    let words = [quote(Outcome::Yes, Side::Buy, 3_000, 1_000).word()];
    let conditions = [ids::condition_id(&condition).expect("a condition")];
    let set = body(
        &maker,
        &separator,
        quotes::Terms::revision(1),
        &conditions,
        &words,
    );
    // Its lease ends with the moved clock, and so does the chain of heartbeats.
    let limits = json!({ "lease_ms": 5_000 }).to_string();
    let limited = maker.signed(Method::PUT, "/quotes/groups/0", "", &limits);
    assert_eq!(limited.await.expect("an answer").0, 200);
    post(&maker, "/quotes", &set).await;

    let moved = advance(&sandbox, 6_000).await;
    assert_eq!(count(&moved, "order_cancelled", "LeaseEnded"), 1, "{moved}");
    let moved = advance(&sandbox, 10_000).await;
    assert!(
        count(&moved, "order_cancelled", "Heartbeat") >= 1,
        "{moved}"
    );
    audit(&mut sandbox);
}

#[tokio::test]
async fn clients_trade_by_their_own_clocks_after_every_jump() {
    let mut sandbox = Sandbox::start(&[]);
    let trader = sandbox.trader().await;
    let (_, [yes, _]) = sandbox.market(json!({})).await;
    for (jump, price) in [
        (2 * HOUR_MS, 1_000),
        (3 * DAY_MS, 1_100),
        (40 * DAY_MS, 1_200),
    ] {
        advance(&sandbox, jump).await;
        let placed = place(
            &trader,
            &Terms::limit(token(&yes), false, Side::Buy, 500, price),
        )
        .await;
        assert_eq!(placed["status"], "live");
        // A new key and a new client: its credentials carry its own time.
        let other = sandbox.trader().await;
        place(
            &other,
            &Terms::limit(token(&yes), false, Side::Buy, 500, price),
        )
        .await;
    }
    let (_, clock) = sandbox.get("/sandbox/clock").await;
    assert_eq!(clock["frozen"], false);
    sandbox
        .done("/sandbox/clock", json!({ "frozen": true }))
        .await;
    place(
        &trader,
        &Terms::limit(token(&yes), false, Side::Buy, 500, 1_300),
    )
    .await;
    audit(&mut sandbox);
}

/// Moves that arrive together follow each other: none is lost in the burst that has them all.
#[tokio::test]
async fn moves_that_arrive_together_add_up() {
    let mut sandbox = Sandbox::start(&[]);
    for _ in 0..5 {
        let next = || advance(&sandbox, 1_000_000);
        tokio::join!(next(), next(), next(), next());
    }
    let drift = sandbox.ahead_ms().await.abs_diff(20_000_000);
    assert!(drift < 1_000, "{drift} ms");
    audit(&mut sandbox);
}

#[tokio::test]
async fn days_of_lists_follow_engine_time() {
    let sandbox = Sandbox::start(&[]);
    let (alice, bob) = (sandbox.trader().await, sandbox.trader().await);
    let (_, [yes, no]) = sandbox.market(json!({})).await;
    place(
        &alice,
        &Terms::limit(token(&yes), false, Side::Buy, 1_000, 5_000),
    )
    .await;
    place(
        &bob,
        &Terms::limit(token(&no), false, Side::Buy, 1_000, 5_000),
    )
    .await;
    let ranked = async || {
        let url = format!(
            "{}/v1/leaderboard?timePeriod=DAY&orderBy=VOL",
            sandbox.url("data")
        );
        let rows: Value = reqwest::get(url)
            .await
            .expect("an answer")
            .json()
            .await
            .expect("JSON");
        rows.as_array().unwrap_or_else(|| panic!("{rows}")).len()
    };
    assert_eq!(ranked().await, 2);
    advance(&sandbox, 2 * DAY_MS).await;
    assert_eq!(ranked().await, 0);
}

#[tokio::test]
async fn a_restart_keeps_the_offset_and_a_stopped_clock() {
    let folder = tempfile::tempdir().expect("a directory");
    let data = folder.path().join("data");
    let arguments = ["--data", data.to_str().expect("a path")];
    let mut sandbox = Sandbox::start(&arguments);
    advance(&sandbox, 3 * DAY_MS).await;
    assert!(sandbox.end().0.success());

    let mut sandbox = Sandbox::start(&arguments);
    let drift = sandbox.ahead_ms().await.abs_diff(3 * 24 * 3_600_000);
    assert!(drift < 1_000, "{drift} ms");
    sandbox
        .done("/sandbox/clock", json!({ "frozen": true }))
        .await;
    let (_, stopped) = sandbox.get("/sandbox/clock").await;
    assert!(sandbox.end().0.success());

    let mut sandbox = Sandbox::start(&arguments);
    let (_, still) = sandbox.get("/sandbox/clock").await;
    assert_eq!(still["now"], stopped["now"]);
    assert_eq!(still["frozen"], true);
    sandbox
        .done(
            "/sandbox/clock",
            json!({ "frozen": false, "advance_ms": 1 }),
        )
        .await;
    audit(&mut sandbox);
}

#[tokio::test]
async fn a_move_that_is_wrong_names_what_is_allowed() {
    let sandbox = Sandbox::start(&[]);
    for (body, code) in [
        (json!({ "to": "2020-01-01T00:00:00Z" }), "clock_in_past"),
        (json!({ "advance_ms": u64::MAX }), "clock_too_far"),
        (json!({ "advance_ms": -1 }), "invalid_field"),
        (json!({ "to": "tomorrow" }), "invalid_field"),
        (json!({ "hours": 2 }), "invalid_content"),
        (
            json!({ "advance_ms": 1, "to": after(DAY_MS) }),
            "invalid_content",
        ),
    ] {
        let (status, refused) = sandbox.post("/sandbox/clock", body.clone()).await;
        assert_eq!(
            (status, &refused["code"]),
            (400, &json!(code)),
            "{body}: {refused}"
        );
    }
    let nothing = sandbox.done("/sandbox/clock", json!({})).await;
    assert_eq!(nothing["happened"], json!([]));
}

/// Ends a sandbox; its journal proves sound, with signatures and by the reference.
fn audit(sandbox: &mut Sandbox) {
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
    std::fs::remove_dir_all(directory).expect("it can be removed");
}
