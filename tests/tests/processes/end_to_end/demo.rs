//! The demo's bots against real processes: short markets open and end, and every account action
//! occurs.

use std::process::{Child, Stdio};
use std::time::Instant;

use foretell_ops::demo::wallets::BOTS;
use foretell_tests::demo::MARKET;
use foretell_tests::exchange::{Exchange, Options, PATIENCE};
use foretell_tests::operator;
use serde_json::{Value, json};

/// The bots' process; dropping it ends it.
struct Bots(Child);

impl Bots {
    fn start(exchange: &Exchange) -> Self {
        Self::start_with(exchange, 1, &[])
    }

    /// With a first round of this many seconds, and settings by their variables.
    fn start_with(exchange: &Exchange, seconds: u64, settings: &[(&str, &str)]) -> Self {
        let child = exchange
            .foretell(&["demo-bots", "--trading", &exchange.trading])
            .args(["--first-round-seconds", &seconds.to_string()])
            .args(["--round-seconds", "2"])
            .envs(settings.iter().copied())
            .stdout(Stdio::null())
            .spawn();
        Self(child.expect("the binary starts"))
    }

    fn is_running(&mut self) -> bool {
        self.0.try_wait().expect("it can be asked").is_none()
    }
}

impl Drop for Bots {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The rounds the exchange lists.
async fn rounds(exchange: &Exchange) -> Vec<Value> {
    let (status, listed) = operator::get(exchange, "/markets").await;
    assert_eq!(status, 200, "{listed}");
    let markets = listed["markets"].as_array().expect("a list").iter();
    let is_round = |market: &&Value| {
        let slug = market["slug"].as_str();
        slug.is_some_and(|slug| slug.starts_with("demo-round-"))
    };
    markets.filter(is_round).cloned().collect()
}

/// Whether a bot still holds shares of a market.
async fn holds(exchange: &Exchange, market: &Value) -> bool {
    for bot in BOTS {
        let (status, account) =
            operator::get(exchange, &format!("/accounts/{}", bot.address)).await;
        assert_eq!(status, 200, "{account}");
        let positions = account["positions"].as_array().expect("a list");
        if positions
            .iter()
            .any(|held| held["condition_id"] == market["conditionId"])
        {
            return true;
        }
    }
    false
}

/// Polls until there is a result.
async fn until<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(Instant::now() < deadline, "{what}");
    }
}

async fn until_resolved(exchange: &Exchange, round: &Value) {
    until("the round ends", async || {
        let rounds = rounds(exchange).await;
        let again = rounds.iter().find(|again| again["slug"] == round["slug"]);
        again
            .filter(|round| round["status"] == "resolved")
            .map(|_| ())
    })
    .await;
}

#[tokio::test]
async fn rounds_open_and_end_and_are_redeemed_for_ever() {
    let exchange = Exchange::demo();
    let mut bots = Bots::start(&exchange);
    let resolved = |rounds: &[Value]| {
        rounds
            .iter()
            .filter(|round| round["status"] == "resolved")
            .count()
    };
    until("two rounds end and another is open", async || {
        let rounds = rounds(&exchange).await;
        (resolved(&rounds) >= 2 && rounds.iter().any(|it| it["status"] == "active")).then_some(())
    })
    .await;
    let ended = rounds(&exchange).await;
    for round in ended.iter().filter(|round| round["status"] == "resolved") {
        until("what is held of it is redeemed", async || {
            (!holds(&exchange, round).await).then_some(())
        })
        .await;
    }
    assert!(bots.is_running());
    every_market_is_shown_once(&exchange).await;
    drop(bots);

    // An aborted run left a round open; the next run ends it.
    let open = until("a round is open", async || {
        let rounds = rounds(&exchange).await;
        rounds
            .into_iter()
            .find(|round| round["status"] != "resolved")
    })
    .await;
    let _bots = Bots::start(&exchange);
    until_resolved(&exchange, &open).await;
    assert!(exchange.stop().success());
}

/// No surface shows a condition twice or an event without a market, and the rounds are the operator's own.
async fn every_market_is_shown_once(exchange: &Exchange) {
    let read = async |path: &str| -> Value {
        let answer = reqwest::get(path).await.expect("an answer");
        answer.json().await.expect("JSON")
    };
    let (catalog, trading) = (&exchange.catalog, &exchange.trading);
    let events = read(&format!("{catalog}/events?limit=500")).await;
    let events = events.as_array().expect("events");
    let of_events = events.iter().flat_map(|event| {
        let markets = event["markets"].as_array().expect("markets");
        assert!(!markets.is_empty(), "an event without markets: {event}");
        markets
    });
    let listed = read(&format!("{catalog}/markets?limit=500")).await;
    let keyset = read(&format!("{catalog}/markets/keyset?limit=500")).await;
    let markets = read(&format!("{trading}/markets")).await;
    let rows = |value: &Value| value.as_array().expect("rows").clone();
    for (surface, rows, field) in [
        ("events", of_events.cloned().collect(), "conditionId"),
        ("list", rows(&listed), "conditionId"),
        ("keyset", rows(&keyset["markets"]), "conditionId"),
        ("trading", rows(&markets["data"]), "condition_id"),
    ] {
        let mut conditions: Vec<_> = rows.iter().map(|row| row[field].to_string()).collect();
        let all = conditions.len();
        conditions.sort_unstable();
        conditions.dedup();
        assert_eq!((conditions.len(), all > 20), (all, true), "{surface}");
    }
    let listed = rows(&listed);
    let rounds = listed.iter().filter(|row| {
        row["slug"]
            .as_str()
            .is_some_and(|slug| slug.starts_with("demo-round-"))
    });
    let mut seen = 0;
    for round in rounds {
        let by_condition = read(&format!(
            "{catalog}/markets/{}",
            round["conditionId"].as_str().expect("an id")
        ))
        .await;
        let by_slug = read(&format!(
            "{catalog}/markets/slug/{}",
            round["slug"].as_str().expect("a slug")
        ))
        .await;
        assert_eq!(
            (&by_condition["id"], &by_slug["id"]),
            (&round["id"], &round["id"])
        );
        let id: u64 = round["id"]
            .as_str()
            .and_then(|id| id.parse().ok())
            .expect("a number");
        assert!(id >= foretell_model::limits::OWN_CATALOG_IDS, "{round}");
        seen += 1;
    }
    assert!(seen >= 2, "{seen} rounds");
}

/// The operator surface's data of a market.
async fn shown(exchange: &Exchange, market: &Value) -> Value {
    let condition = market["conditionId"].as_str().expect("an id");
    let (status, market) = operator::get(exchange, &format!("/markets/{condition}")).await;
    assert_eq!(status, 200, "{market}");
    market
}

#[tokio::test]
async fn a_round_goes_on_to_its_end_in_the_next_run() {
    let exchange = Exchange::demo();
    let bots = Bots::start_with(&exchange, 5, &[]);
    let open = until("a round is open", async || {
        rounds(&exchange).await.into_iter().next()
    })
    .await;
    let before = shown(&exchange, &open).await;
    drop(bots);
    let _bots = Bots::start(&exchange);
    until_resolved(&exchange, &open).await;
    let ends = before["end_date_iso"].as_str().expect("a time");
    let ends: jiff::Timestamp = ends.parse().expect("a time");
    assert!(jiff::Timestamp::now() >= ends, "it ended before {ends}");
    let after = shown(&exchange, &open).await;
    assert_eq!(after["end_date_iso"], before["end_date_iso"]);
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn what_an_operator_ends_is_ended_in_the_catalog_too() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().join("data");
    let start = || Exchange::start_at(&Options::demo(), &data);
    let exchange = start();
    let bots = Bots::start(&exchange);
    let (_, listed) = operator::get(&exchange, "/markets").await;
    let markets = listed["markets"].as_array().expect("a list");
    let market = markets.iter().find(|market| market["slug"] == MARKET);
    let named = json!({ "condition_id": market.expect("the sample has it")["conditionId"] });
    let mut resolution = named.clone();
    resolution["payout"] = "yes".into();
    for (action, body) in [("close", named), ("resolve", resolution)] {
        until("the exchange does it", async || {
            let path = format!("/markets/{action}");
            let (status, _) = operator::post(&exchange, &path, &body).await;
            (status == 200).then_some(())
        })
        .await;
    }
    let listed = async |exchange: &Exchange| {
        let url = format!("{}/markets/slug/{MARKET}", exchange.catalog);
        let answer = reqwest::get(url).await.expect("an answer");
        answer.json::<Value>().await.expect("a market")
    };
    until("the catalog is told", async || {
        (listed(&exchange).await["closed"] == true).then_some(())
    })
    .await;
    drop(bots);
    assert!(exchange.stop().success());
    let exchange = start();
    assert_eq!(
        listed(&exchange).await["closed"],
        true,
        "also after a start"
    );
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn the_bots_sign_for_the_chain_of_the_settings() {
    let settings = [
        ("FORETELL_SIGNING_CHAIN", "137"),
        ("FORETELL_SIGNING_ALLOW_SHARED_DOMAIN", "true"),
    ];
    let options = settings.iter();
    let options = options.fold(Options::demo(), |options, (name, value)| {
        options.with(name, value)
    });
    let exchange = Exchange::start(&options);
    let mut bots = Bots::start_with(&exchange, 60, &settings);
    let deadline = Instant::now() + PATIENCE;
    let quotes =
        async || operator::get(&exchange, "/status").await.1["exchange"]["live_orders"].as_u64();
    while quotes().await == Some(0) {
        assert!(
            bots.is_running() && Instant::now() < deadline,
            "no bot quotes"
        );
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    drop(bots);
    assert!(exchange.stop().success());
}
