//! The demo's bots against real processes: short markets open and end, and everything an account
//! can do with its shares is seen to be done.

use std::process::{Child, Command, Stdio};
use std::time::Instant;

use foretell_ops::demo::wallets::BOTS;
use foretell_tests::exchange::{Exchange, Options, PATIENCE};
use foretell_tests::operator;
use serde_json::Value;

/// The bots' process; dropping it ends it.
struct Bots(Child);

impl Bots {
    fn start(exchange: &Exchange) -> Self {
        let operator = exchange.operator.trim_start_matches("http://");
        let child = Command::new(env!("CARGO_BIN_EXE_foretell-under-test"))
            .arg("demo-bots")
            .args([
                "--trading",
                &exchange.trading,
                "--operator-listen",
                operator,
            ])
            .args(["--first-round-seconds", "1", "--round-seconds", "2"])
            .arg("--data")
            .arg(exchange.data())
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
        // It may be gone already.
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

/// Whether a bot still holds something of a market.
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

/// Asks until there is an answer.
async fn until<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(Instant::now() < deadline, "{what}");
    }
}

#[tokio::test]
async fn rounds_open_and_end_and_are_redeemed_for_ever() {
    let exchange = Exchange::start(env!("CARGO_BIN_EXE_foretell-under-test"), &Options::demo());
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
    drop(bots);

    // A run that broke off left a round open; the next ends it.
    let open = until("a round is open", async || {
        let rounds = rounds(&exchange).await;
        rounds
            .into_iter()
            .find(|round| round["status"] != "resolved")
    })
    .await;
    let _bots = Bots::start(&exchange);
    until("the round left over ends", async || {
        let rounds = rounds(&exchange).await;
        let again = rounds.iter().find(|round| round["slug"] == open["slug"]);
        again
            .filter(|round| round["status"] == "resolved")
            .map(|_| ())
    })
    .await;
    assert!(exchange.stop().success());
}
