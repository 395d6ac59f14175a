//! A market from idea to payout by the command line, with people who have names and roles.

mod people;
mod surfaces;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use foretell_model::{Side, TokenId};
use foretell_ops::trader::{Terms, Trader};
use foretell_tests::exchange::{Exchange, Options, PATIENCE};
use foretell_tests::operator;
use foretell_wire::text::decimal::uint256;
use hmac::{Hmac, KeyInit as _, Mac as _};
use people::{People, text};
use serde_json::{Value, json};
use sha2::Sha256;

/// Private keys of two traders.
const ALICE: &str = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";
const BOB: &str = "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a";
const ORACLE_SECRET: &str = "fedcba9876543210fedcba9876543210";

/// ISO 8601 of a time so many seconds from now.
fn in_seconds(seconds: u64) -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("after 1970");
    let at = i64::try_from(now.as_secs() + seconds).expect("seconds");
    jiff::Timestamp::from_second(at)
        .expect("a time")
        .to_string()
}

/// Waits until a read shows what is expected.
async fn wait_for(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while !holds().await {
        assert!(
            tokio::time::Instant::now() < deadline,
            "not in time: {what}"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn market(exchange: &Exchange, condition: &str) -> Value {
    let path = format!("/markets?condition_id={condition}");
    let (_, rows) = operator::get(exchange, &path).await;
    rows["markets"][0].clone()
}

async fn wait_status(exchange: &Exchange, condition: &str, status: &str) {
    wait_for(status, async || {
        market(exchange, condition).await["status"] == status
    })
    .await;
}

async fn account(exchange: &Exchange, wallet: &str) -> Value {
    operator::get(exchange, &format!("/accounts/{wallet}"))
        .await
        .1
}

fn token(row: &Value, outcome: usize) -> TokenId {
    TokenId(uint256(row["tokenIds"][outcome].as_str().expect("a token")).expect("digits"))
}

async fn catalog(exchange: &Exchange, path: &str) -> (u16, Value) {
    let response = reqwest::get(format!("{}{path}", exchange.catalog))
        .await
        .expect("an answer");
    let status = response.status().as_u16();
    (status, response.json().await.expect("JSON"))
}

fn start() -> (Exchange, tempfile::TempDir) {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let secret = folder.path().join("oracle.secret");
    std::fs::write(&secret, ORACLE_SECRET).expect("a file");
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).expect("a mode");
    let options = Options::default().with(
        "FORETELL_OPERATOR_ORACLE_SECRET_FILE",
        secret.to_str().expect("a path"),
    );
    (Exchange::start(&options), folder)
}

fn hire(people: &mut People) {
    for (name, role) in [
        ("ann", "markets"),
        ("ben", "resolver"),
        ("cid", "resolver"),
        ("dora", "cashier"),
        ("eve", "cashier"),
        ("oracle", "resolver"),
    ] {
        people.hire(name, role);
    }
}

/// Registers the plain market, which opens by itself, and returns its condition.
fn register_plain(people: &People) -> String {
    let file = people.file(
        "plain.json",
        &json!({
            "question": "Will the harvest be good?", "slug": "harvest", "tags": ["Farming"],
            "opens_at": in_seconds(1_800), "closes_at": in_seconds(3_600),
            "fee": { "rate_ppm": 40_000, "exponent": 1 }, "rebate_ppm": 250_000,
            "taker_delay_ms": 400, "minimum_order_size": "1", "end_date": in_seconds(7_200),
        }),
    );
    let registered = people.done(
        "ann",
        &[
            "market",
            "register",
            &file,
            "--reason",
            "idea of the season",
        ],
    );
    assert_eq!(registered["status"], "registered", "{registered}");
    text(&registered, "condition_id")
}

fn register_group(people: &People) -> (u64, Vec<String>) {
    let event = people.done("ann", &["market", "event", "new", "Which crop wins?"]);
    let event = event["event_id"].as_u64().expect("an id");
    let register = |crop: &str| {
        let market = json!({
            "question": format!("Will {crop} win?"), "slug": crop, "tags": ["Farming"],
            "event_id": event, "minimum_order_size": "1",
        });
        let file = people.file(&format!("{crop}.json"), &market);
        text(
            &people.done("ann", &["market", "register", &file]),
            "condition_id",
        )
    };
    let markets: Vec<String> = ["wheat", "rye", "oats"].into_iter().map(register).collect();
    for market in &markets {
        people.done("ann", &["market", "activate", market]);
    }
    (event, markets)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_market_lives_from_idea_to_payout() {
    let (exchange, _folder) = start();
    let mut people = People::new(&exchange);
    hire(&mut people);
    people.done(
        "admin",
        &[
            "market",
            "policy",
            "--second-person",
            "true",
            "--window",
            "1",
        ],
    );
    refusals(&people);
    surfaces::refusals(&exchange).await;
    surfaces::known_names(&exchange).await;
    surfaces::a_market_is_registered_closed(&exchange, &people).await;
    surfaces::the_page_has_one_address(&exchange).await;

    let plain = register_plain(&people);
    let (event, group) = register_group(&people);
    surfaces::a_group_has_words_and_tags(&exchange, &people, (event, &group)).await;
    own_markets_are_in_the_catalog(&exchange, &people, &plain, event).await;
    people.done(
        "ann",
        &["market", "terms", &plain, "--opens-at", &in_seconds(1)],
    );

    let alice = Trader::connect(&exchange.trading, ALICE, 0)
        .await
        .expect("alice");
    let bob = Trader::connect(&exchange.trading, BOB, 0)
        .await
        .expect("bob");
    for trader in [&alice, &bob] {
        people.done("dora", &["account", "deposit", &trader.address(), "1000"]);
    }
    trade_with_delay(&exchange, &plain, &alice, &bob).await;
    split(&group[0], &alice).await;
    clear_and_close(&exchange, &people, &plain, &bob).await;
    rebates_are_paid(&exchange, &people, &bob.address()).await;
    surfaces::pages_go_on_with_older_rows(&exchange).await;
    surfaces::rebates_are_read(&exchange, &plain, &bob.address()).await;
    resolve_plain(&exchange, &people, &plain).await;
    resolve_group(&exchange, &people, &group).await;
    all_holders_are_paid(&exchange, &[&alice.address(), &bob.address()]).await;
    withdraw_with_two_persons(&exchange, &people, &alice.address()).await;
    the_journal_tells_it(exchange, &people);
}

/// What roles and clocks do not allow.
fn refusals(people: &People) {
    let stale = people.file(
        "stale.json",
        &json!({ "question": "Q?", "slug": "stale", "end_date": "2020-01-01T00:00:00Z" }),
    );
    assert!(
        people
            .refused("ann", &["market", "register", &stale])
            .contains("past_end")
    );
    let contradiction = people.file(
        "contradiction.json",
        &json!({ "question": "Q?", "slug": "contradiction", "opens_at": in_seconds(90), "closes_at": in_seconds(60) }),
    );
    let refused = people.refused("ann", &["market", "register", &contradiction]);
    assert!(refused.contains("opens_at"), "{refused}");
    let refused = people.refused("ben", &["system", "mode", "paused"]);
    assert!(refused.contains("role is resolver"), "{refused}");
    let refused = people.refused("ann", &["operators", "add", "zoe", "admin"]);
    assert!(refused.contains("role is markets"), "{refused}");
    assert!(
        people
            .refused("admin", &["operators", "revoke", "admin"])
            .contains("last admin")
    );
}

async fn own_markets_are_in_the_catalog(
    exchange: &Exchange,
    people: &People,
    plain: &str,
    event: u64,
) {
    let (status, record) = catalog(exchange, "/markets/slug/harvest").await;
    assert_eq!(
        (status, &record["conditionId"]),
        (200, &json!(plain)),
        "{record}"
    );
    assert_eq!(record["question"], "Will the harvest be good?");
    let (status, record) = catalog(exchange, "/events/slug/which-crop-wins").await;
    assert_eq!(status, 200, "{record}");
    assert_eq!(record["markets"].as_array().map(Vec::len), Some(3));
    assert_eq!(record["id"], json!(event.to_string()));
    wait_for("the search", async || {
        let (_, found) = catalog(exchange, "/public-search?q=harvest").await;
        found["events"]
            .as_array()
            .is_some_and(|events| !events.is_empty())
    })
    .await;
    people.done(
        "ann",
        &[
            "market",
            "describe",
            plain,
            "--question",
            "Will the harvest be rich?",
            "--tag",
            "Weather",
        ],
    );
    let (_, record) = catalog(exchange, "/markets/slug/harvest").await;
    assert_eq!(record["question"], "Will the harvest be rich?");
}

async fn trade_with_delay(exchange: &Exchange, plain: &str, alice: &Trader, bob: &Trader) {
    wait_status(exchange, plain, "active").await;
    let row = market(exchange, plain).await;
    let ask = Terms::limit(token(&row, 1), false, Side::Buy, 10_000, 4_000);
    let (status, placed) = bob
        .place(&bob.sign(&ask).expect("signed"))
        .await
        .expect("placed");
    assert_eq!(
        (status, &placed["status"]),
        (200, &json!("live")),
        "{placed}"
    );
    let bid = Terms::limit(token(&row, 0), false, Side::Buy, 10_000, 6_000);
    let (status, placed) = alice
        .place(&alice.sign(&bid).expect("signed"))
        .await
        .expect("placed");
    assert_eq!(
        (status, &placed["status"]),
        (200, &json!("delayed")),
        "{placed}"
    );
    let wallet = alice.address();
    wait_for("the delayed order", async || {
        account(exchange, &wallet).await["positions"][0]["free"] == "100"
    })
    .await;
    assert_eq!(account(exchange, &bob.address()).await["accrued"], "0.24");
}

async fn split(condition: &str, trader: &Trader) {
    let sets = foretell_ops::trader::Sets {
        condition,
        lots: 500,
        reference: "s1",
    };
    let (status, answer) = trader.split(&sets).await.expect("split");
    assert_eq!(status, 200, "{answer}");
}

async fn clear_and_close(exchange: &Exchange, people: &People, plain: &str, bob: &Trader) {
    let row = market(exchange, plain).await;
    let rest = Terms::limit(token(&row, 1), false, Side::Buy, 1_000, 1_000);
    let (_, placed) = bob
        .place(&bob.sign(&rest).expect("signed"))
        .await
        .expect("placed");
    assert_eq!(placed["status"], "live", "{placed}");
    let start = in_seconds(2);
    people.done(
        "ann",
        &[
            "market",
            "terms",
            plain,
            "--game-start-time",
            &start,
            "--clear-book-on-start",
            "true",
        ],
    );
    let wallet = bob.address();
    wait_for("the clear", async || {
        account(exchange, &wallet).await["live_orders"] == 0
    })
    .await;
    assert_eq!(market(exchange, plain).await["status"], "active");
    people.done(
        "ann",
        &["market", "terms", plain, "--closes-at", &in_seconds(2)],
    );
    wait_status(exchange, plain, "closed").await;
}

async fn rebates_are_paid(exchange: &Exchange, people: &People, maker: &str) {
    people.done(
        "dora",
        &["system", "pay-rebates", "--reason", "weekly payment"],
    );
    wait_for("the rebate", async || {
        account(exchange, maker).await["accrued"] == "0"
    })
    .await;
    assert_eq!(account(exchange, maker).await["free"], "960.24");
    assert!(
        people
            .refused("dora", &["system", "pay-rebates"])
            .contains("no rebate")
    );
}

/// Number of the current proposal of a market, which a second person names.
async fn proposal_of(exchange: &Exchange, condition: &str) -> String {
    let (_, review) = operator::get(exchange, "/review").await;
    let rows = review["proposals"].as_array().expect("a list");
    let row = rows.iter().find(|row| row["condition_id"] == condition);
    row.expect("a proposal")["proposal"].to_string()
}

async fn resolve_plain(exchange: &Exchange, people: &People, plain: &str) {
    assert!(
        people
            .refused("ben", &["market", "resolve", plain, "yes"])
            .contains("two persons")
    );
    people.done(
        "ben",
        &[
            "market",
            "propose",
            plain,
            "no",
            "--source",
            "https://news.example/1",
            "--window",
            "60",
        ],
    );
    let refused = people.refused("ben", &["market", "finalise", plain]);
    assert!(refused.contains("proposal is missing"), "{refused}");
    let number = proposal_of(exchange, plain).await;
    let finalise = ["market", "finalise", plain, "--proposal", &number];
    let refused = people.refused("ben", &finalise);
    assert!(refused.contains("window is open"), "{refused}");
    people.done(
        "cid",
        &[
            "market",
            "dispute",
            plain,
            "--counter",
            "yes",
            "--reason",
            "the source says rich",
        ],
    );
    let (_, review) = operator::get(exchange, "/review").await;
    let proposal = &review["proposals"][0];
    assert_eq!(proposal["proposed_by"], "ben", "{review}");
    assert_eq!(proposal["dispute"]["disputed_by"], "cid");
    assert_eq!(proposal["dispute"]["reason"], "the source says rich");
    oracle_proposes(exchange, plain).await;
    let number = proposal_of(exchange, plain).await;
    let finalise = ["market", "finalise", plain, "--proposal", &number];
    wait_for("the end of the window", async || {
        people.run("ben", &finalise).is_ok()
    })
    .await;
    wait_status(exchange, plain, "resolved").await;
}

/// The webhook of the oracle's adapter, and its replays.
async fn oracle_proposes(exchange: &Exchange, plain: &str) {
    let disputed: u64 = (proposal_of(exchange, plain).await.parse()).expect("a number");
    let mut body =
        json!({ "condition_id": plain, "payout": "yes", "window_seconds": 1, "reference": "o1" });
    let unnamed = body.to_string();
    body["proposal"] = disputed.into();
    let body = body.to_string();
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("after 1970")
        .as_secs();
    let send = async |timestamp: u64, body: &str, secret: &str| {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key");
        mac.update(format!("{timestamp}.{body}").as_bytes());
        let request = reqwest::Client::new()
            .post(format!("{}/oracle/proposals", exchange.operator))
            .header("content-type", "application/json")
            .header("x-oracle-timestamp", timestamp.to_string())
            .header(
                "x-oracle-signature",
                hex::encode(mac.finalize().into_bytes()),
            )
            .body(body.to_owned());
        let response = request.send().await.expect("an answer");
        (
            response.status().as_u16(),
            response.json::<Value>().await.expect("JSON"),
        )
    };
    let (status, answer) = send(now, &body, "another secret of 32 characters!").await;
    assert_eq!(
        (status, &answer["code"]),
        (401, &json!("signature_invalid")),
        "{answer}"
    );
    let (status, answer) = send(now - 301, &body, ORACLE_SECRET).await;
    assert_eq!(
        (status, &answer["code"]),
        (401, &json!("timestamp_stale")),
        "{answer}"
    );
    let (status, answer) = send(now, &unnamed, ORACLE_SECRET).await;
    assert_eq!(
        (status, &answer["code"]),
        (409, &json!("proposal_disputed")),
        "{answer}"
    );
    let (status, answer) = send(now, &body, ORACLE_SECRET).await;
    assert_eq!(
        (status, &answer["duplicate"]),
        (200, &json!(false)),
        "{answer}"
    );
    let (status, answer) = send(now, &body, ORACLE_SECRET).await;
    assert_eq!(
        (status, &answer["duplicate"]),
        (200, &json!(true)),
        "{answer}"
    );
}

async fn resolve_group(exchange: &Exchange, people: &People, group: &[String]) {
    // The Yes closes the third question and pays its No.
    for (market, payout) in group.iter().zip(["no", "yes"]) {
        people.done("ann", &["market", "close", market]);
        people.done(
            "ben",
            &[
                "market",
                "propose",
                market,
                payout,
                "--reason",
                "harvest report",
            ],
        );
        let number = proposal_of(exchange, market).await;
        let finalise = ["market", "finalise", market, "--proposal", &number];
        let refused = people.refused("ben", &finalise);
        assert!(
            refused.contains("another operator") || refused.contains("window"),
            "{refused}"
        );
        wait_for("the end of the window", async || {
            people.run("cid", &finalise).is_ok()
        })
        .await;
        wait_status(exchange, market, "resolved").await;
    }
}

async fn all_holders_are_paid(exchange: &Exchange, wallets: &[&str]) {
    for wallet in wallets {
        wait_for("the settlement", async || {
            account(exchange, wallet).await["positions"] == json!([])
        })
        .await;
    }
    // 1,000 − 60 − the fee of 0.96 + 100 of Yes; the split came back as 5 of No of wheat.
    assert_eq!(account(exchange, wallets[0]).await["free"], "1039.04");
}

async fn withdraw_with_two_persons(exchange: &Exchange, people: &People, wallet: &str) {
    people.done("admin", &["system", "payments", "--withdrawal-limit", "50"]);
    let withdraw = ["account", "withdraw", wallet, "60", "--reference", "w1"];
    let first = people.done("dora", &withdraw);
    assert_eq!(first["waits"], true, "{first}");
    let (_, waiting) = operator::get(exchange, "/withdrawals").await;
    let row = &waiting["withdrawals"][0];
    assert_eq!(
        (&row["asked_by"], &row["needs_second_person"]),
        (&json!("dora"), &json!(true))
    );
    let number = first["sequence"].to_string();
    let pay = ["withdrawals", "pay", &number, "wire 1"];
    assert!(people.refused("dora", &pay).contains("another operator"));
    people.done("eve", &pay);
    let other = ["withdrawals", "pay", &number, "wire 2"];
    let claim = ["withdrawals", "claim", &number];
    for late in [&other[..], &claim] {
        let said = people.refused("dora", late);
        let paid = format!("withdrawal {number} was paid at ");
        let by = " by eve, payment reference: wire 1";
        assert!(said.contains(&paid) && said.contains(by), "{said}");
    }
    let given_up = ["account", "withdraw", wallet, "61", "--reference", "w2"];
    let second = people.done("dora", &given_up);
    people.done(
        "eve",
        &["withdrawals", "fail", &second["sequence"].to_string()],
    );
    let again = people.refused("dora", &given_up);
    assert!(again.contains("has failed"), "{again}");
    assert_eq!(account(exchange, wallet).await["free"], "979.04");
    people.done("admin", &["operators", "revoke", "eve", "--reason", "left"]);
    assert!(
        people
            .refused("eve", &["system", "pay-rebates"])
            .contains("unauthorized")
    );
}

fn the_journal_tells_it(exchange: Exchange, people: &People) {
    let data = exchange.data();
    let copy = tempfile::tempdir().expect("a folder");
    let journal = copy.path().join("journal");
    // The exchange is stopped, so that the copy is complete.
    let files = std::fs::read_dir(data.join("journal")).expect("a journal");
    std::fs::create_dir(&journal).expect("a folder");
    for file in files.map(|file| file.expect("a file")) {
        if file.file_type().expect("a type").is_file() {
            std::fs::copy(file.path(), journal.join(file.file_name())).expect("a copy");
        }
    }
    let journal = journal.to_str().expect("a path");
    let verified = people.audit(&["audit", "verify", "--signatures", "--journal", journal]);
    assert_eq!(verified.len(), 1, "{verified:?}");
    let acts = people.audit(&["audit", "operators", "--journal", journal]);
    let by = |name: &str, command: &str| {
        let acts = acts.iter();
        acts.filter(|act| act["operator"]["is"] == name && !act["command"][command].is_null())
            .count()
    };
    for (name, command, count) in [
        ("admin", "AddOperator", 6),
        ("admin", "SetPolicy", 2),
        ("admin", "RevokeOperator", 1),
        ("ann", "RegisterMarket", 5),
        ("ann", "DescribeMarket", 1),
        ("ann", "SetTerms", 3),
        ("ben", "Propose", 3),
        ("oracle", "Propose", 1),
        ("cid", "Dispute", 1),
        ("ben", "Finalise", 1),
        ("cid", "Finalise", 2),
        ("dora", "PayRebates", 1),
        ("eve", "PayWithdrawal", 1),
    ] {
        assert_eq!(by(name, command), count, "{name} {command}");
    }
    let reasons: Vec<&str> = acts
        .iter()
        .filter_map(|act| act["reason"].as_str())
        .collect();
    for reason in [
        "idea of the season",
        "weekly payment",
        "the source says rich",
        "left",
    ] {
        assert!(reasons.contains(&reason), "{reason}");
    }
    drop(exchange);
}
