//! Traders that keep an exchange under load during a test, and record every response.

use std::sync::Arc;

use foretell_model::{Side, TokenId};
use foretell_ops::trader::{SignedOrder, Terms, Trader, token};
use parking_lot::Mutex;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::ledger::Ledger;
use crate::random::Random;

/// A market to trade in.
#[derive(Clone, Debug)]
pub struct LoadMarket {
    /// Token ids in the format of the API.
    pub texts: [String; 2],
    tokens: [TokenId; 2],
}

impl LoadMarket {
    /// A plain market without fees, from its two token ids.
    ///
    /// # Panics
    /// They are not token ids.
    #[must_use]
    pub fn new(texts: [String; 2]) -> Self {
        let tokens = [token(&texts[0]), token(&texts[1])].map(|token| token.expect("a token id"));
        Self { texts, tokens }
    }
}

/// Shared by the load's tasks.
#[derive(Clone)]
pub struct Shared {
    /// Acknowledgements.
    pub ledger: Arc<Mutex<Ledger>>,
    /// Number of responses, so that a test can act after N of them.
    pub answers: watch::Sender<u64>,
    /// Stops the tasks.
    pub stop: watch::Sender<bool>,
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            ledger: Arc::default(),
            answers: watch::Sender::new(0),
            stop: watch::Sender::new(false),
        }
    }
}

impl Shared {
    /// Returns after `more` further responses.
    ///
    /// # Panics
    /// The load ended.
    pub async fn wait_answers(&self, more: u64) {
        let mut answers = self.answers.subscribe();
        let goal = *answers.borrow_and_update() + more;
        answers
            .wait_for(|count| *count >= goal)
            .await
            .expect("the load goes on");
    }

    /// Counts a response.
    pub fn counted(&self) {
        self.answers.send_modify(|count| *count += 1);
    }
}

/// Lets each trader trade until it is stopped.
#[must_use]
pub fn start(
    traders: &Arc<Vec<Trader>>,
    markets: &Arc<Vec<LoadMarket>>,
    shared: &Shared,
    random: &mut Random,
) -> Vec<JoinHandle<()>> {
    let start = |number| {
        let (traders, markets) = (Arc::clone(traders), Arc::clone(markets));
        let (shared, random) = (shared.clone(), Random::new(random.draw()));
        tokio::spawn(async move {
            trade(number, &traders[number], &markets, &shared, random).await;
        })
    };
    (0..traders.len()).map(start).collect()
}

/// Trades until stopped: places, crosses, cancels one, cancels all. Resends requests without a
/// clear response, as a client after a lost connection does.
/// Panics when a response is wrong: a 5xx other than 503, or a resent order that is not the first one.
async fn trade(
    number: usize,
    trader: &Trader,
    markets: &[LoadMarket],
    shared: &Shared,
    mut random: Random,
) {
    let mut mine: Vec<String> = Vec::new();
    while !*shared.stop.borrow() {
        match random.below(20) {
            0 => {
                let answer = persist(shared, trader, Method::DELETE, "/cancel-all", "").await;
                shared.ledger.lock().note_cancels(&answer);
                mine.clear();
            }
            1..=4 if !mine.is_empty() => {
                let index = usize::try_from(random.below(mine.len() as u64)).unwrap_or(0);
                let body = json!({ "orderID": mine.swap_remove(index) }).to_string();
                let answer = persist(shared, trader, Method::DELETE, "/order", &body).await;
                shared.ledger.lock().note_cancels(&answer);
            }
            5..=7 => place_batch(number, trader, markets, shared, &mut random, &mut mine).await,
            _ => {
                let order = trader
                    .sign(&terms(markets, &mut random))
                    .expect("a signature");
                let answer = persist(
                    shared,
                    trader,
                    Method::POST,
                    "/order",
                    &order.body.to_string(),
                )
                .await;
                note(number, &order, &answer, shared, &mut mine);
            }
        }
        shared.counted();
    }
}

async fn place_batch(
    number: usize,
    trader: &Trader,
    markets: &[LoadMarket],
    shared: &Shared,
    random: &mut Random,
    mine: &mut Vec<String>,
) {
    let count = 1 + random.below(15);
    let orders: Vec<SignedOrder> = (0..count)
        .map(|_| trader.sign(&terms(markets, random)).expect("a signature"))
        .collect();
    let bodies: Vec<&Value> = orders.iter().map(|order| &order.body).collect();
    let answer = persist(
        shared,
        trader,
        Method::POST,
        "/orders",
        &json!(bodies).to_string(),
    )
    .await;
    let Some(results) = answer.as_array() else {
        return;
    };
    assert_eq!(results.len(), orders.len(), "one result an order: {answer}");
    for (order, result) in orders.iter().zip(results) {
        note(number, order, result, shared, mine);
    }
}

fn note(
    number: usize,
    order: &SignedOrder,
    answer: &Value,
    shared: &Shared,
    mine: &mut Vec<String>,
) {
    let id = order.id.to_string();
    if answer["success"] == true {
        assert_eq!(answer["orderID"], id, "{answer}");
        mine.push(id.clone());
    }
    shared.ledger.lock().note_order(number, &id, answer);
}

/// Sends the same request until the response is clear. A 503 or a broken connection leaves the
/// outcome unknown, and so does a lost element of a batch.
async fn persist(
    shared: &Shared,
    trader: &Trader,
    method: Method,
    path: &str,
    body: &str,
) -> Value {
    loop {
        match trader.signed(method.clone(), path, "", body).await {
            Ok((status, answer))
                if status < 500 && status != 425 && !has_unclear_element(&answer) =>
            {
                return answer;
            }
            Ok((status, answer)) => assert!(
                matches!(status, 200 | 425 | 503),
                "{method} {path}: {status} {answer}"
            ),
            Err(_) => {}
        }
        if *shared.stop.borrow() {
            return Value::Null;
        }
        // The responding process is restarting: a connection is refused at once.
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

fn has_unclear_element(answer: &Value) -> bool {
    answer.as_array().into_iter().flatten().any(|result| {
        let text = result["errorMsg"].as_str().unwrap_or_default();
        ["outcome unknown", "engine is", "not reachable", "busy"]
            .iter()
            .any(|part| text.contains(part))
    })
}

fn terms<'a>(markets: &[LoadMarket], random: &mut Random) -> Terms<'a> {
    let market = random.pick(markets);
    let outcome = usize::from(random.below(2) == 1);
    let side = if random.below(4) == 0 {
        Side::Sell
    } else {
        Side::Buy
    };
    let price = u16::try_from(4_500 + 100 * random.below(11)).expect("a price");
    let lots = 500 + 100 * random.below(10);
    let mut terms = Terms::limit(market.tokens[outcome], false, side, lots, price);
    terms.order_type = *random.pick(&["GTC", "GTC", "GTC", "FAK", "FOK"]);
    terms
}
