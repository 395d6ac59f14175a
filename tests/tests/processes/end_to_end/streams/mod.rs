//! Streams over processes: what clients on two gateways read is what the journal did, whatever cuts
//! their connections (docs/api/streams.md).

mod cuts;
mod disconnects;
mod filters;
mod lives;
mod load;
mod replays;
mod secrets;
mod worked_flow;

use std::collections::HashSet;
use std::sync::Arc;

use foretell_ops::demo::wallets::VISITORS;
use foretell_ops::trader::Trader;
use foretell_tests::demo::visitors;
use foretell_tests::exchange::{Exchange, Options};
use foretell_tests::load::{LoadMarket, Shared};
use foretell_tests::random::Random;
use foretell_tests::streams::{Connection, End, number, sequence, timeless};
use foretell_tests::{ledger, operator};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Interval of the heartbeats that tell a test how far a connection is.
const HEARTBEAT_MS: u64 = 500;

/// An exchange of two gateways, the demo's wallets, and markets of the test's own.
struct Site {
    exchange: Exchange,
    traders: Arc<Vec<Trader>>,
    /// `auth` of each trader.
    auths: Vec<Value>,
}

/// A market that nobody else uses.
struct Market {
    condition: String,
    tokens: [String; 2],
}

impl Site {
    async fn start(options: Options) -> Self {
        let exchange = Exchange::start(&options);
        let traders = visitors(&exchange, VISITORS.len()).await;
        let mut auths = Vec::new();
        for trader in &traders {
            let (_, auth) = trader.derive_key(0).await.expect("the key");
            auths.push(auth);
        }
        Self {
            exchange,
            traders: Arc::new(traders),
            auths,
        }
    }

    async fn two_gateways() -> Self {
        Self::start(Options::two_gateways()).await
    }

    /// The condition of the market with this index.
    fn condition(index: u64) -> String {
        format!("0x{:064x}", 0x5742_0000 + index)
    }

    /// Registers a market; every gateway shows it when this returns to whoever names a sequence.
    async fn market(&self, index: u64) -> Market {
        let condition = Self::condition(index);
        let tokens = [1, 2].map(|outcome| (900_000 + 10 * index + outcome).to_string());
        let body = json!({
            "condition_id": condition,
            "token_ids": tokens,
            "question": "Will it rain in Oslo on 1 October 2026?",
            "slug": format!("rain-oslo-{index}"),
        });
        operator::done(&self.exchange, "/markets", &body).await;
        self.shown(&tokens[0]).await;
        Market { condition, tokens }
    }

    /// The answer of `GET /book`, and the sequence that it shows, on a gateway that has the market.
    async fn shown(&self, token: &str) -> (Value, u64) {
        let at = operator::sequence(&self.exchange).await;
        book(&self.exchange.trading, token, at).await
    }

    /// A subscription to both tokens of a market, with heartbeats.
    fn both(market: &Market) -> Value {
        json!({ "type": "market", "assets_ids": market.tokens, "heartbeat_ms": HEARTBEAT_MS })
    }

    /// A trader's subscription to the user channel, with heartbeats.
    fn own(&self, trader: usize) -> Value {
        json!({ "type": "user", "auth": self.auths[trader], "heartbeat_ms": HEARTBEAT_MS })
    }

    /// An order of a trader.
    async fn read(&self, trader: usize, order: &str) -> (u16, Value) {
        let path = format!("/data/order/{order}");
        let answer = self.traders[trader].signed(reqwest::Method::GET, &path, "", "");
        answer.await.expect("an answer")
    }

    async fn connect(&self, subscription: &Value) -> Connection {
        let channel = subscription["type"].as_str().expect("a channel");
        Connection::subscribe(&self.exchange.trading, channel, subscription).await
    }

    /// Records a subscription that is in force when this returns.
    async fn record(&self, subscription: &Value) -> Recording {
        let mut connection = self.connect(subscription).await;
        let mut read = connection.until_type("subscribed").await;
        let (goal, goals) = watch::channel(u64::MAX);
        let task = tokio::spawn(async move {
            let end = follow(&mut connection, &mut read, &goals).await.err();
            (read, end)
        });
        Recording { goal, task }
    }

    /// Lets all traders place and cancel random orders in the markets.
    fn load(&self, markets: &[&Market], random: &mut Random) -> Load {
        let shared = Shared::default();
        let markets: Arc<Vec<LoadMarket>> = Arc::new(
            markets
                .iter()
                .map(|market| LoadMarket::new(market.tokens.clone()))
                .collect(),
        );
        let tasks = foretell_tests::load::start(&self.traders, &markets, &shared, random);
        Load { shared, tasks }
    }

    /// All trades of a trader, as `/data/trades` lists them at a sequence or later.
    async fn trades(&self, trader: usize, at: u64) -> Vec<Value> {
        let reader = (&self.traders[trader], foretell_model::Sequence(at));
        ledger::all_pages(reader, "/data/trades").await
    }
}

/// Running random orders.
struct Load {
    shared: Shared,
    tasks: Vec<JoinHandle<()>>,
}

impl Load {
    async fn end(self) {
        self.shared.stop.send_replace(true);
        for task in self.tasks {
            task.await.expect("the load saw nothing wrong");
        }
    }
}

/// The messages of one connection, read by a task.
struct Recording {
    goal: watch::Sender<u64>,
    task: JoinHandle<(Vec<Value>, Option<End>)>,
}

impl Recording {
    /// All messages up to a heartbeat at `goal` or later; what ended the connection, if anything did.
    async fn end(self, goal: u64) -> (Vec<Value>, Option<End>) {
        self.goal.send_replace(goal);
        self.task.await.expect("no panic")
    }
}

/// Reads until everything up to the goal was sent: a heartbeat says so, or a message after it.
async fn follow(
    connection: &mut Connection,
    read: &mut Vec<Value>,
    goals: &watch::Receiver<u64>,
) -> Result<(), End> {
    loop {
        let message = connection.next().await?;
        let (at, goal) = (sequence(&message), *goals.borrow());
        let is_complete = match message["event_type"] == "heartbeat" {
            true => at >= goal,
            false => is_common(&message) && at > goal,
        };
        read.push(message);
        if is_complete {
            return Ok(());
        }
    }
}

/// Whether every receiver reads the message alike: a link of the chain or an own record.
fn is_common(message: &Value) -> bool {
    let is_record = matches!(message["event_type"].as_str(), Some("order" | "trade"));
    is_record || !message["prev_sequence"].is_null()
}

/// What every receiver reads alike after a sequence, by frames: confirmations come later, and a resume
/// repeats them.
fn common(read: &[Value], after: u64) -> Vec<Value> {
    let common = read
        .iter()
        .filter(|message| is_common(message) && sequence(message) > after);
    let mut common: Vec<_> = common.map(timeless).collect();
    common.sort_by_key(sequence);
    let mut confirmed = HashSet::new();
    common.retain(|it| it["status"] != "CONFIRMED" || confirmed.insert(it.to_string()));
    common.dedup();
    common
}

/// Everything up to here was received: from a heartbeat, or the frame before the newest message.
fn complete(read: &[Value]) -> u64 {
    let known = read
        .iter()
        .filter_map(|message| match message["event_type"].as_str()? {
            "heartbeat" => Some(sequence(message)),
            "book" if message["prev_sequence"].is_null() => None,
            "subscribed" | "error" | "system_status" | "market_status" => None,
            "resumed" => Some(number(message, "from")),
            _ => Some(sequence(message) - 1),
        });
    known.max().unwrap_or(0)
}

/// `GET /book` at a sequence or later, and the sequence of the answer.
async fn book(trading: &str, token: &str, at: u64) -> (Value, u64) {
    let answer = reqwest::Client::new()
        .get(format!("{trading}/book?token_id={token}"))
        .header("x-min-sequence", at)
        .send()
        .await
        .expect("an answer");
    let shown = answer.headers()["x-sequence"].to_str().expect("digits");
    let shown = shown.parse().expect("a sequence");
    (answer.json().await.expect("JSON"), shown)
}

/// A count of repetitions: `ordinary` by default, more by an environment variable.
fn count(variable: &str, ordinary: u64) -> u64 {
    let given = std::env::var(variable).ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(ordinary)
}
