//! A gateway against a real engine, both in this process: every resource responds as documented,
//! from the first key to the last cancel.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by failing")]

use std::net::SocketAddr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use foretell_auth::KnownSigner;
use foretell_gateway::{Gateway, GatewayConfig, Surface};
use foretell_model::{Side, TimeMs, TokenId};
use foretell_ops::trader::{Terms, Trader, decimal};
use foretell_tests::in_process::{EngineThread, TOKEN, engine_config, gateway_config};
use foretell_view::Chunking;
use reqwest::Method;
use serde_json::{Value, json};

/// How long a view that cannot go on may take to stop.
const STOP_PATIENCE: Duration = Duration::from_secs(60);
const CONDITION: &str = "0x00000000000000000000000000000000000000000000000000000000000000c1";
const ALICE: &str = "0101010101010101010101010101010101010101010101010101010101010101";
const BOB: &str = "0202020202020202020202020202020202020202020202020202020202020202";
const YES: TokenId = TokenId([0x11; 32]);
const NO: TokenId = TokenId([0x22; 32]);
/// The owner that a trade shows of its counterparty.
const NOBODY: &str = "00000000-0000-0000-0000-000000000000";

/// An engine and a gateway on a directory of their own.
struct Site {
    chunking: Chunking,
    /// Nanoseconds that the wall clock of the engine is ahead of the machine's.
    clock: &'static AtomicI64,
    /// After its first start the gateway's own ports.
    listen: Vec<(Surface, SocketAddr)>,
    engine: Option<EngineThread>,
    gateway: Option<Gateway>,
    trading: String,
    operator: String,
    http: reqwest::Client,
    directory: tempfile::TempDir,
}

impl Site {
    fn start() -> Self {
        Self::with_history(Chunking::Standard)
    }

    /// With this chunking in the engine and in the gateway.
    fn with_history(chunking: Chunking) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut site = Self {
            directory,
            chunking,
            clock: Box::leak(Box::default()),
            listen: [Surface::Trading, Surface::Operator]
                .map(|surface| (surface, SocketAddr::from(([127, 0, 0, 1], 0))))
                .to_vec(),
            engine: None,
            gateway: None,
            trading: String::new(),
            operator: String::new(),
            http: foretell_operator_client::http_client()
                .no_proxy()
                .build()
                .unwrap(),
        };
        site.start_engine();
        site.start_gateway();
        site
    }

    fn start_gateway(&mut self) {
        let data = self.directory.path().join("data");
        let gateway = foretell_gateway::start(GatewayConfig {
            chunking: self.chunking,
            listen: self.listen.clone(),
            threads: 2,
            dev_auth_hints: true,
            ..gateway_config(&data)
        })
        .unwrap();
        let url = |surface| {
            let found = gateway
                .addresses()
                .iter()
                .find(|(listening, _)| *listening == surface);
            format!("http://{}", found.unwrap().1)
        };
        (self.trading, self.operator) = (url(Surface::Trading), url(Surface::Operator));
        self.listen = gateway.addresses().to_vec();
        self.gateway = Some(gateway);
    }

    fn start_engine(&mut self) {
        let mut config = engine_config(&self.directory.path().join("data"));
        config.publishing.chunking = self.chunking;
        config.wall_clock_error = Some(self.clock);
        self.engine = Some(EngineThread::start(config));
    }

    fn stop_engine(&mut self) {
        self.engine = None;
    }

    async fn operate(&self, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        let request = self
            .http
            .request(method, format!("{}{path}", self.operator));
        let request = request.bearer_auth(TOKEN);
        answer(match body {
            Some(body) => request.json(&body),
            None => request,
        })
        .await
    }

    async fn command(&self, path: &str, body: Value) -> Value {
        let (status, answer) = self.operate(Method::POST, path, Some(body)).await;
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    /// Polls until the gateway is ready.
    async fn ready(&self) {
        loop {
            let ready = answer(self.http.get(format!("{}/readyz", self.operator))).await;
            if ready.0 == 200 {
                return;
            }
            assert_eq!(ready.0, 503, "{}", ready.1);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// The value of a gateway's metric whose name and labels contain this.
    async fn metric(&self, name: &str) -> Option<u64> {
        let page = self.http.get(format!("{}/metrics", self.operator));
        // Without the token it may be half a second old.
        let page = page
            .bearer_auth(TOKEN)
            .send()
            .await
            .unwrap()
            .text()
            .await
            .unwrap();
        let is_it = |line: &&str| line.starts_with("foretell_gateway_") && line.contains(name);
        let line = page.lines().find(is_it)?;
        Some(line.rsplit_once(' ').unwrap().1.parse().unwrap())
    }

    /// Steps the engine's clock; polls until engine time does this about it. Returns engine time minus the machine's, in
    /// seconds, as `GET /time` and the status say it.
    async fn step_clock(&self, seconds: i64, state: &str) -> [i64; 2] {
        self.clock.store(seconds * 1_000_000_000, Ordering::Relaxed);
        let deadline = Instant::now() + STOP_PATIENCE;
        loop {
            let (ready, probe) = answer(self.http.get(format!("{}/readyz", self.operator))).await;
            assert_eq!(ready, 200, "a wrong clock stops no cancel");
            if probe["clock"] == state {
                let (_, time) = answer(self.http.get(format!("{}/time", self.trading))).await;
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
                let by_time = time.as_i64().unwrap() - now.as_secs().cast_signed();
                let (_, status) = self.operate(Method::GET, "/status", None).await;
                assert_eq!(status["engine"]["clock"], state);
                let by_status = status["engine"]["clockDifferenceMs"].as_i64().unwrap();
                return [by_time, by_status / 1_000];
            }
            assert!(Instant::now() < deadline, "still {}", probe["clock"]);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Polls until the gateway's view and the engine's publisher have stopped; returns their
    /// sequences.
    async fn stopped(&self) -> (u64, u64) {
        let deadline = Instant::now() + STOP_PATIENCE;
        loop {
            let (_, ready) = answer(self.http.get(format!("{}/readyz", self.operator))).await;
            let (_, status) = self.operate(Method::GET, "/status", None).await;
            let publisher = status["engine"]["viewStopped"].as_u64();
            if let (Some(view), Some(publisher @ 1..)) = (ready["view_stopped"].as_u64(), publisher)
            {
                assert_eq!(
                    (&ready["ready"], &ready["view"]),
                    (&json!(false), &json!(false))
                );
                return (view, publisher);
            }
            assert!(Instant::now() < deadline, "still running: {ready} {status}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn trader(&self, key: &str) -> Trader {
        let trader = Trader::connect(&self.trading, key, 0).await.unwrap();
        let deposit =
            json!({ "wallet": trader.address(), "amount": "100", "reference": trader.address() });
        let first = self.command("/accounts/deposit", deposit.clone()).await;
        assert_eq!(first["duplicate"], false);
        assert_eq!(
            self.command("/accounts/deposit", deposit).await["duplicate"],
            true
        );
        trader
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Some(gateway) = self.gateway.take() {
            gateway.stop().unwrap();
        }
    }
}

async fn answer(request: reqwest::RequestBuilder) -> (u16, Value) {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    (
        status,
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("no JSON: {status} {text}")),
    )
}

async fn ok(trader: &Trader, method: Method, path: &str, query: &str, body: Value) -> Value {
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let (status, answer) = trader.signed(method, path, query, &body).await.unwrap();
    assert_eq!(status, 200, "{path}{query}: {answer}");
    answer
}

async fn read(trader: &Trader, path: &str, query: &str) -> Value {
    ok(trader, Method::GET, path, query, Value::Null).await
}

fn limit(token: TokenId, side: Side, lots: u64, price: u16) -> Terms<'static> {
    Terms::limit(token, false, side, lots, price)
}

async fn register_market(site: &Site) {
    let market = json!({
        "condition_id": CONDITION, "token_ids": [decimal(YES), decimal(NO)],
        "question": "Will it rain?", "slug": "rain", "outcomes": ["Rain", "Sun"],
    });
    let registered = site.command("/markets", market.clone()).await;
    assert_eq!(
        (&registered["status"], &registered["duplicate"]),
        (&json!("active"), &json!(false))
    );
    let again = site.command("/markets", market).await;
    assert_eq!(
        (&again["status"], &again["duplicate"]),
        (&json!("active"), &json!(true))
    );
}

#[tokio::test]
async fn once_round_the_trading_surface() {
    let site = Site::start();
    site.ready().await;
    register_market(&site).await;
    let (alice, bob) = (site.trader(ALICE).await, site.trader(BOB).await);

    // A rests, B takes it: a mint.
    let resting = alice.sign(&limit(YES, Side::Buy, 1_000, 6_000)).unwrap();
    let (status, placed) = alice.place(&resting).await.unwrap();
    assert_eq!(
        (status, &placed["status"]),
        (200, &json!("live")),
        "{placed}"
    );
    assert_eq!(placed["orderID"], resting.id.to_string());
    let (_, again) = alice.place(&resting).await.unwrap();
    assert_eq!(
        (&again["duplicate"], &again["status"]),
        (&json!(true), &json!("live")),
        "{again}"
    );
    let meeting = bob.sign(&limit(NO, Side::Buy, 500, 4_000)).unwrap();
    let far = bob.sign(&limit(NO, Side::Buy, 500, 100)).unwrap();
    let (status, both) = bob
        .place_all(&[meeting.clone(), far.clone()])
        .await
        .unwrap();
    assert_eq!(status, 200, "{both}");
    assert_eq!(
        (&both[0]["status"], &both[1]["status"]),
        (&json!("matched"), &json!("live")),
        "{both}"
    );
    assert_eq!(
        (&both[0]["takingAmount"], &both[0]["makingAmount"]),
        (&json!("5"), &json!("2"))
    );
    let [receipt, trade] = ["transactionsHashes", "tradeIDs"].map(|list| both[0][list][0].clone());
    assert_eq!(receipt.as_str().unwrap().len(), 66, "{both}");

    // The book: the remaining lots, seen from both tokens, best level last.
    let (_, book) = bob
        .get(&format!("/book?token_id={}", decimal(YES)))
        .await
        .unwrap();
    assert_eq!(
        book["bids"],
        json!([{ "price": "0.6", "size": "5" }]),
        "{book}"
    );
    assert_eq!(book["asks"], json!([{ "price": "0.99", "size": "5" }]));
    assert_eq!(
        (&book["tick_size"], &book["last_trade_price"]),
        (&json!("0.01"), &json!("0.6"))
    );
    let (_, same) = bob
        .get(&format!("/book?token_id={CONDITION}:0"))
        .await
        .unwrap();
    assert_eq!(book, same);

    // Own orders and trades.
    let orders = read(&alice, "/data/orders", "").await;
    assert_eq!(
        (&orders["count"], &orders["next_cursor"]),
        (&json!(1), &json!("LTE=")),
        "{orders}"
    );
    let order = &orders["data"][0];
    assert_eq!(
        (&order["sizeMatched"], &order["original_size"]),
        (&json!("5"), &json!("10"))
    );
    assert_eq!(
        (&order["outcome"], &order["status"]),
        (&json!("Rain"), &json!("LIVE"))
    );
    assert_eq!(order["associateTrades"], json!([trade]));
    let one = read(&bob, &format!("/data/order/{}", meeting.id), "").await;
    assert_eq!(
        (&one["order"]["status"], &one["status"]),
        (&json!("MATCHED"), &json!("MATCHED"))
    );
    for (trader, kind) in [(&alice, "MAKER"), (&bob, "TAKER")] {
        let trades = read(trader, "/data/trades", "").await;
        let row = &trades["data"][0];
        assert_eq!(
            (&row["id"], &row["transaction_hash"]),
            (&trade, &receipt),
            "{trades}"
        );
        assert_eq!((&row["type"], &row["size"]), (&json!(kind), &json!("5")));
        let owners = [&row["owner"], &row["maker_orders"][0]["owner"]];
        assert_eq!(owners.iter().filter(|owner| **owner == NOBODY).count(), 1);
    }
    let named = format!("?id={}", trade.as_str().unwrap());
    assert_eq!(read(&bob, "/data/trades", &named).await["count"], 1);

    // Balances: total and free.
    let balance = read(&alice, "/balance-allowance", "?asset_type=COLLATERAL").await;
    assert_eq!(
        (&balance["balance"], &balance["available"]),
        (&json!("97000000"), &json!("94000000"))
    );
    let query = format!("?asset_type=CONDITIONAL&token_id={}", decimal(NO));
    assert_eq!(
        read(&bob, "/balance-allowance", &query).await["balance"],
        "5000000"
    );

    // Cancels.
    let wanted = json!([resting.id.to_string(), far.id.to_string(), "0x01"]);
    let answer = ok(&alice, Method::DELETE, "/orders", "", wanted).await;
    assert_eq!(
        answer["canceled"],
        json!([resting.id.to_string()]),
        "{answer}"
    );
    assert_eq!(
        answer["not_canceled"][far.id.to_string()],
        "order belongs to another account"
    );
    assert_eq!(
        answer["not_canceled"]["0x01"],
        "order can't be found - already canceled or matched"
    );
    let body = json!({ "market": CONDITION });
    let answer = ok(&bob, Method::DELETE, "/cancel-market-orders", "", body).await;
    assert_eq!(answer["canceled"], json!([far.id.to_string()]));
    let answer = ok(&bob, Method::DELETE, "/cancel-all", "", Value::Null).await;
    assert_eq!(answer, json!({ "canceled": [], "not_canceled": {} }));
    let (_, gone) = alice.place(&resting).await.unwrap();
    assert_eq!(
        (&gone["duplicate"], &gone["status"]),
        (&json!(true), &json!("matched"))
    );
}

#[tokio::test]
async fn what_a_write_took_is_told_stage_by_stage() {
    let site = Site::start();
    site.ready().await;
    register_market(&site).await;
    let alice = site.trader(ALICE).await;
    let order = alice.sign(&limit(YES, Side::Buy, 1_000, 6_000)).unwrap();
    let body = order.body.to_string();
    let place = |name: &'static str| {
        let mut request = site.http.post(format!("{}/order", site.trading));
        for (name, value) in alice.headers("POST", "/order", body.as_bytes()) {
            request = request.header(name, value);
        }
        request.header(name, "1").body(body.clone()).send()
    };
    let told = place("x-server-timing").await.unwrap();
    let timing = told.headers()["server-timing"].to_str().unwrap();
    let names: Vec<_> = timing
        .split(", ")
        .map(|entry| entry.split(';').next().unwrap())
        .collect();
    let every = [
        "hmac",
        "parse",
        "signature",
        "submit",
        "ring_wait",
        "apply",
        "encode",
        "sync_wait",
        "total",
    ];
    assert_eq!(names, every, "{timing}");
    let plain = place("x-other").await.unwrap();
    assert!(!plain.headers().contains_key("server-timing"));
    let read = format!("{}/book?token_id={}", site.trading, decimal(YES));
    let read = site.http.get(read).header("x-server-timing", "1");
    let read = read.send().await.unwrap();
    let timing = read.headers()["server-timing"].to_str().unwrap();
    assert!(timing.starts_with("total;dur="), "{timing}");

    let (_, status) = site.operate(Method::GET, "/status", None).await;
    for (process, stage, at_least) in [
        ("gateway", "hmac", 2),
        ("gateway", "signature", 2),
        ("gateway", "submit", 2),
        ("engine", "apply", 1),
        ("engine", "sync_wait", 1),
    ] {
        let stages = status[process]["stages"].as_array().unwrap();
        let row = stages.iter().find(|row| row["stage"] == stage).unwrap();
        assert!(
            row["count"].as_u64().unwrap() >= at_least,
            "{process} {row}"
        );
        assert!(row["lastSecond"]["count"].is_u64(), "{process} {row}");
    }
}

#[tokio::test]
async fn refusals_have_their_status_and_change_nothing() {
    let site = Site::start();
    site.ready().await;
    register_market(&site).await;
    let alice = site.trader(ALICE).await;
    let refused = async |terms: Terms<'_>, status: u16, text: &str| {
        let (found, answer) = alice.place(&alice.sign(&terms).unwrap()).await.unwrap();
        assert_eq!(found, status, "{answer}");
        let error = answer["error"].as_str().unwrap();
        assert!(error.contains(text), "{error}");
        assert_eq!(answer["errorMsg"], error);
    };
    refused(
        limit(YES, Side::Buy, 1_000, 6_050),
        400,
        "breaks minimum tick size rule: 0.01",
    )
    .await;
    refused(
        limit(YES, Side::Buy, 499, 6_000),
        400,
        "lower than the minimum: 5",
    )
    .await;
    refused(
        limit(YES, Side::Buy, 100_000, 6_000),
        400,
        "not enough balance / allowance",
    )
    .await;
    refused(
        limit(TokenId([3; 32]), Side::Buy, 1_000, 6_000),
        400,
        "tokenId is",
    )
    .await;
    let fok = Terms {
        order_type: "FOK",
        ..limit(YES, Side::Buy, 1_000, 6_000)
    };
    refused(fok, 400, "FOK orders are fully filled or killed").await;
    site.command("/markets/pause", json!({ "condition_id": CONDITION }))
        .await;
    refused(limit(YES, Side::Buy, 1_000, 6_000), 409, "condition_paused").await;
    site.command("/system/mode", json!({ "mode": "cancel_only" }))
        .await;
    refused(limit(YES, Side::Buy, 1_000, 6_000), 503, "cancel-only").await;

    // Bad credentials get one 401, also with a valid signature of another request.
    let order = alice
        .sign(&limit(YES, Side::Buy, 1_000, 6_000))
        .unwrap()
        .body
        .to_string();
    let mut headers = alice.headers("POST", "/orders", order.as_bytes());
    let post = |headers: &[(String, String)]| {
        let mut request = site
            .http
            .post(format!("{}/order", site.trading))
            .body(order.clone());
        for (name, value) in headers {
            request = request.header(name, value);
        }
        answer(request)
    };
    assert_eq!(post(&headers).await.0, 401);
    assert_eq!(post(&[]).await.0, 401);
    headers.push(("SERVICE_TIMESTAMP".to_owned(), "1".to_owned()));
    assert_eq!(
        post(&headers).await.0,
        401,
        "a header twice with different values"
    );

    // The transport.
    for (path, status) in [
        ("/nowhere", 404),
        ("/order", 405),
        ("//book", 404),
        ("/rewards/x", 404),
    ] {
        let (found, body) = alice.get(path).await.unwrap();
        assert_eq!(found, status, "{path}");
        assert!(body["error"].is_string(), "{path}: {body}");
    }
    let big = site
        .http
        .post(format!("{}/books", site.trading))
        .body(vec![b' '; 1 << 20]);
    assert_eq!(answer(big).await.0, 413);
    let text = site.http.post(format!("{}/books", site.trading)).body("[]");
    assert_eq!(
        answer(text.header("Content-Type", "text/plain")).await.0,
        415
    );
    let (found, ahead) = answer(
        site.http
            .get(format!("{}/book?token_id={CONDITION}:0", site.trading))
            .header("x-min-sequence", "9999999999"),
    )
    .await;
    assert_eq!(
        (
            found,
            ahead["error"].as_str().unwrap().contains("x-min-sequence")
        ),
        (400, true)
    );
    let (found, _) = answer(site.http.get(format!("{}/status", site.operator))).await;
    assert_eq!(found, 401, "the operator's surface without its token");
}

#[tokio::test]
async fn an_engine_that_comes_and_goes_is_followed() {
    let mut site = Site::start();
    site.ready().await;
    register_market(&site).await;
    let alice = site.trader(ALICE).await;
    let resting = alice.sign(&limit(YES, Side::Buy, 1_000, 6_000)).unwrap();
    assert_eq!(alice.place(&resting).await.unwrap().0, 200);
    site.stop_engine();
    let away = alice.sign(&limit(YES, Side::Buy, 1_000, 6_000)).unwrap();
    let (status, answer) = alice.place(&away).await.unwrap();
    assert_eq!(status, 503, "{answer}");
    let orders = read(&alice, "/data/orders", "").await;
    assert_eq!(orders["count"], 1, "reads go on without an engine");
    site.start_engine();
    site.ready().await;
    assert_eq!(
        alice.place(&away).await.unwrap().0,
        200,
        "the same order, once the engine is back"
    );
    assert_eq!(read(&alice, "/data/orders", "").await["count"], 2);
    let (_, status) = site.operate(Method::GET, "/status", None).await;
    assert_eq!(
        (&status["engine"]["epoch"], &status["gateway"]["ready"]),
        (&json!(2), &json!(true))
    );
    assert_eq!(status["exchange"]["collateral"], "100", "{status}");
}

#[tokio::test]
async fn a_wrong_clock_is_named_wherever_somebody_looks() {
    let site = Site::start();
    site.ready().await;
    register_market(&site).await;
    let alice = site.trader(ALICE).await;
    let place = async |signed_ahead: i64| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let signed = TimeMs((now.as_secs().cast_signed() + signed_ahead).cast_unsigned() * 1_000);
        let salt = u64::from(now.subsec_nanos());
        let order = alice.sign_exactly(&limit(YES, Side::Buy, 500, 6_000), salt, signed);
        let order = order.unwrap();
        let (status, answer) = alice.place(&order).await.unwrap();
        (status, answer, order.id.to_string())
    };
    let is_near = |by: [i64; 2], seconds: i64| by.iter().all(|by| (by - seconds).abs() <= 3);

    // Stepped: engine time goes on, and a client with a right clock trades.
    assert!(is_near(site.step_clock(1_200, "stepped").await, 0));
    let (status, placed, resting) = place(0).await;
    assert_eq!(status, 200, "{placed}");

    // It stands, so engine time follows it, and is ahead of a clock that is set right again.
    assert!(is_near(site.step_clock(1_200, "right").await, 1_200));
    site.step_clock(0, "stepped").await;
    assert!(is_near(site.step_clock(0, "ahead").await, 1_200));
    let (status, refused, _) = place(0).await;
    assert_eq!((status, &refused["code"]), (503, &json!("exchange_clock")));
    let text = refused["error"].as_str().unwrap();
    assert!(text.ends_with("s ahead of its host's"), "{text}");
    // Who goes by `GET /time` trades, and whoever has an order can end it.
    let (status, placed, _) = place(1_200).await;
    assert_eq!(status, 200, "{placed}");
    let answer = ok(
        &alice,
        Method::DELETE,
        "/order",
        "",
        json!({ "orderID": resting }),
    )
    .await;
    assert_eq!(answer["canceled"], json!([resting]), "{answer}");

    assert_eq!(site.metric("engine_clock_wrong").await, Some(1));
}

/// A table is built for whose orders the exchange accepts, and for nobody else. It decides as recovery does.
#[tokio::test]
async fn who_trades_often_becomes_a_known_signer() {
    const TABLES: &str = "signer_tables_built_total";
    const KNOWN: &str = "check=\"known\"";
    const RECOVERED: &str = "check=\"recovered\"";
    let site = Site::start();
    site.ready().await;
    register_market(&site).await;
    let (alice, bob) = (site.trader(ALICE).await, site.trader(BOB).await);
    let small = limit(YES, Side::Buy, 500, 1_000);

    // Signed, and refused by the engine.
    for _ in 0..100 {
        let order = bob.sign(&limit(YES, Side::Buy, 100_000, 9_000)).unwrap();
        assert_eq!(bob.place(&order).await.unwrap().0, 400);
    }
    // Accepted once, and answered a hundred times.
    let order = bob.sign(&small).unwrap();
    for _ in 0..100 {
        assert_eq!(bob.place(&order).await.unwrap().0, 200);
    }
    let deadline = Instant::now() + STOP_PATIENCE;
    while site.metric(KNOWN).await.is_none() {
        assert!(Instant::now() < deadline, "nobody became known");
        let order = alice.sign(&small).unwrap();
        let (status, placed) = alice.place(&order).await.unwrap();
        assert_eq!(status, 200, "{placed}");
        let cancel = json!({ "orderID": order.id.to_string() });
        ok(&alice, Method::DELETE, "/order", "", cancel).await;
    }
    assert_eq!(site.metric(TABLES).await, Some(1));
    let table = u64::try_from(KnownSigner::BYTES).unwrap();
    assert_eq!(site.metric("signer_table_bytes").await, Some(table));

    // What a known signer did not sign is refused as before, and each right signature is counted once.
    let counted = async || [site.metric(KNOWN).await, site.metric(RECOVERED).await];
    let [known, recovered] = counted().await.map(Option::unwrap);
    let order = alice.sign(&small).unwrap();
    let mut flipped = order.body.clone();
    let signature = flipped["order"]["signature"].as_str().unwrap();
    let (most, parity) = signature.split_at(signature.len() - 2);
    let other = if parity == "1b" { "1c" } else { "1b" };
    flipped["order"]["signature"] = format!("{most}{other}").into();
    let body = flipped.to_string();
    let sent = alice.signed(Method::POST, "/order", "", &body).await;
    let (status, refused) = sent.unwrap();
    assert_eq!(
        (status, &refused["code"]),
        (400, &json!("invalid_signature")),
        "{refused}"
    );
    assert_eq!(alice.place(&order).await.unwrap().0, 200);
    assert_eq!(bob.place(&bob.sign(&small).unwrap()).await.unwrap().0, 200);
    assert_eq!(counted().await, [Some(known + 1), Some(recovered + 1)]);
}

#[tokio::test]
async fn a_view_that_stopped_costs_reads_and_nothing_else() {
    const ROOM: u64 = 4;
    let mut site = Site::with_history(Chunking::Bounded {
        bits: 1,
        rows: ROOM,
    });
    site.ready().await;
    register_market(&site).await;
    let alice = site.trader(ALICE).await;
    let place = async |price: u16| {
        let order = alice.sign(&limit(YES, Side::Buy, 500, price)).unwrap();
        let (status, placed) = alice.place(&order).await.unwrap();
        assert_eq!(
            (status, &placed["status"]),
            (200, &json!("live")),
            "{placed}"
        );
        order.id.to_string()
    };
    let cancel = async |order: &str| {
        let body = json!({ "orderID": order });
        let answer = ok(&alice, Method::DELETE, "/order", "", body).await;
        assert_eq!(answer["canceled"], json!([order]), "{answer}");
    };
    // One row more than the history's capacity.
    for price in 0..=ROOM {
        let order = place(1_000 + 100 * u16::try_from(price).unwrap()).await;
        cancel(&order).await;
    }
    let (at, publishers) = site.stopped().await;
    assert_eq!(at, publishers, "they fold the same journal");

    let book = format!("/book?token_id={}", decimal(YES));
    for restarted in [false, true] {
        let (status, refused) = alice.get(&book).await.unwrap();
        let text = format!(
            "reads are stopped: this gateway cannot follow the journal at sequence {at}; cancels and orders are accepted"
        );
        assert_eq!((status, &refused["error"]), (503, &json!(text)));
        let (status, _) = alice
            .signed(Method::GET, "/data/orders", "", "")
            .await
            .unwrap();
        assert_eq!(status, 503);

        // Orders, cancels by id, cancels of several, and operator commands.
        let [first, _second] = [place(2_000).await, place(3_000).await];
        cancel(&first).await;
        let (path, body) = match restarted {
            false => ("/cancel-all", String::new()),
            true => (
                "/cancel-market-orders",
                json!({ "market": CONDITION }).to_string(),
            ),
        };
        let (status, done) = alice.signed(Method::DELETE, path, "", &body).await.unwrap();
        assert_eq!(status, 503, "{done}");
        let text = done["error"].as_str().unwrap();
        assert!(text.starts_with("applied at sequence "), "{text}");
        for payment in ["deposit", "withdraw"] {
            let reference = format!("{payment} {restarted}");
            let body = json!({ "wallet": alice.address(), "amount": "1", "reference": reference });
            site.command(&format!("/accounts/{payment}"), body).await;
        }
        for mode in ["cancel_only", "running"] {
            site.command("/system/mode", json!({ "mode": mode })).await;
        }
        for step in ["pause", "resume"] {
            let body = json!({ "condition_id": CONDITION });
            site.command(&format!("/markets/{step}"), body).await;
        }
        let (_, status) = site.operate(Method::GET, "/status", None).await;
        assert_eq!(status["engine"]["liveOrders"], 0, "{status}");
        assert_eq!(status["engine"]["viewStopped"], json!(at));
        assert_eq!(status["gateway"]["viewStopped"], json!(at));
        if !restarted {
            // Restart both from the journal: they reach the same state.
            site.gateway.take().unwrap().stop().unwrap();
            site.stop_engine();
            site.start_engine();
            site.start_gateway();
            // No connection to the gateway before.
            site.http = foretell_operator_client::http_client()
                .no_proxy()
                .build()
                .unwrap();
            while alice.get(&book).await.is_err() {}
            assert_eq!(site.stopped().await, (at, at));
        }
    }
}
