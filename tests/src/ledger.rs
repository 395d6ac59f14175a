//! Records the acknowledgements of the exchange outside of it, and compares them with its later
//! state.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use foretell_model::Sequence;
use foretell_ops::trader::{Answer, Trader};
use serde_json::Value;

use crate::exchange::PATIENCE;

/// Reads of a state that is at rest but for commands without response.
const READS: usize = 10;

/// One acknowledged order.
#[derive(Clone, Debug, Default)]
pub struct Acknowledged {
    /// Index of the trader who placed it.
    pub trader: usize,
    /// Trades named in the response.
    pub trades: BTreeSet<String>,
    /// Its cancel was acknowledged.
    pub cancelled: bool,
    /// Its response reported that it was killed.
    pub killed: bool,
}

/// All acknowledgements so far.
#[derive(Debug, Default)]
pub struct Ledger {
    /// By order id.
    pub orders: BTreeMap<String, Acknowledged>,
    /// Number of responses.
    pub answers: u64,
}

impl Ledger {
    /// Records the response to a placed order; rejections at admission leave nothing to record.
    pub fn note_order(&mut self, trader: usize, id: &str, answer: &Value) {
        self.answers += 1;
        let status = answer["status"].as_str().unwrap_or_default();
        let killed = [
            "crosses_book",
            "fok_not_filled",
            "fak_no_match",
            "too_many_fills",
        ];
        let is_killed = answer["code"]
            .as_str()
            .is_some_and(|code| killed.contains(&code));
        if !is_killed && !matches!(status, "live" | "matched" | "unmatched") {
            return;
        }
        let order = self.orders.entry(id.to_owned()).or_default();
        order.trader = trader;
        order.killed |= is_killed;
        order.trades.extend(texts(&answer["tradeIDs"]));
    }

    /// Records the response to a cancel.
    pub fn note_cancels(&mut self, answer: &Value) {
        self.answers += 1;
        for id in texts(&answer["canceled"]) {
            if let Some(order) = self.orders.get_mut(&id) {
                order.cancelled = true;
            }
        }
    }

    /// Compares all acknowledgements with the exchange's state; panics on a difference.
    ///
    /// # Panics
    /// An acknowledged order, trade or cancel is missing, changed or duplicated.
    pub async fn check(&self, traders: &[Trader]) {
        let (lists, answers) = of_one_state(traders, async |from| {
            let mut lists = Vec::new();
            for trader in traders {
                lists.push(all_pages((trader, from), "/data/trades").await);
            }
            let mut answers = Vec::new();
            for (id, order) in &self.orders {
                let path = format!("/data/order/{id}");
                answers.push(read((&traders[order.trader], from), &path, "").await);
            }
            (lists, answers)
        })
        .await;
        let mut sums: BTreeMap<String, f64> = BTreeMap::new();
        // A fill stands in the lists of both its owners.
        let (mut fills, mut found) = (BTreeMap::new(), BTreeSet::new());
        for list in lists {
            let mut ids = BTreeSet::new();
            for trade in list {
                let text = |value: &Value| value.as_str().expect("a text").to_owned();
                let id = text(&trade["id"]);
                assert!(ids.insert(id.clone()), "trade {id} is there twice");
                for maker in trade["maker_orders"].as_array().expect("makers") {
                    let orders = [&trade["taker_order_id"], &maker["order_id"]].map(text);
                    fills.insert((id.clone(), orders), number(&maker["matched_amount"]));
                }
            }
            found.append(&mut ids);
        }
        for ((_, orders), size) in fills {
            for order in orders {
                *sums.entry(order).or_default() += size;
            }
        }
        for ((id, order), (status, answer)) in self.orders.iter().zip(answers) {
            assert_eq!(
                status, 200,
                "order {id} was acknowledged ({order:?}) and is gone: {answer}"
            );
            let state = answer["status"].as_str().expect("a status");
            if order.cancelled {
                assert_eq!(state, "CANCELED", "order {id}: its cancel was acknowledged");
            }
            if order.killed {
                assert_eq!(state, "UNMATCHED", "order {id} was killed");
            }
            let trades: BTreeSet<String> = texts(&answer["associate_trades"]).collect();
            assert!(
                order.trades.is_subset(&trades),
                "order {id}: {:?} became {trades:?}",
                order.trades
            );
            let matched = number(&answer["size_matched"]);
            let traded = sums.get(id).copied().unwrap_or_default();
            assert!(
                (matched - traded).abs() < 1e-6,
                "order {id}: matched {matched}, its trades say {traded}"
            );
            for trade in &trades {
                assert!(
                    found.contains(trade),
                    "order {id}: trade {trade} is not to be found"
                );
            }
        }
    }
}

/// The highest sequence in any of their responses: another gateway may reach it a little later.
fn latest(traders: &[Trader]) -> Sequence {
    let seen = traders.iter().map(Trader::seen);
    seen.max().unwrap_or(Sequence(0))
}

/// The result of several reads of one state. A command without response may be visible at one
/// gateway before the other; then all reads are repeated.
///
/// # Panics
/// The state keeps changing.
async fn of_one_state<T>(traders: &[Trader], read: impl AsyncFn(Sequence) -> T) -> T {
    for _ in 0..READS {
        let from = latest(traders);
        let found = read(from).await;
        if latest(traders) == from {
            return found;
        }
    }
    panic!("the state does not come to rest");
}

/// Every item of a paged response, at or after sequence `from`.
/// All rows of a paged list, as the reader sees them at a sequence or later.
///
/// # Panics
/// A page is no page.
pub async fn all_pages(reader: (&Trader, Sequence), path: &str) -> Vec<Value> {
    let mut items = Vec::new();
    let mut cursor = "MA==".to_owned();
    while cursor != "LTE=" {
        let query = format!("?next_cursor={}", cursor.replace('=', "%3D"));
        let (status, page) = read(reader, path, &query).await;
        assert_eq!(status, 200, "{path}: {page}");
        items.extend(page["data"].as_array().expect("data").iter().cloned());
        cursor = page["next_cursor"].as_str().expect("a cursor").to_owned();
    }
    items
}

/// Checks that the traders' collateral and the collateral locked in sets add up to the deposits (in
/// micros), and that both tokens of every market have the same supply. `markets` are plain and
/// without fees.
///
/// # Panics
/// The sums differ.
pub async fn check_money(traders: &[Trader], markets: &[[String; 2]], paid_in: u64) {
    let (collateral, supplies) = of_one_state(traders, async |from| {
        let sum = async |query: String| {
            let mut sum = 0;
            for trader in traders {
                sum += balance((trader, from), &query).await;
            }
            sum
        };
        let collateral = sum("?asset_type=COLLATERAL&signature_type=0".to_owned()).await;
        let mut supplies = Vec::new();
        for token in markets.iter().flatten() {
            let query = format!("?asset_type=CONDITIONAL&token_id={token}&signature_type=0");
            supplies.push(sum(query).await);
        }
        (collateral, supplies)
    })
    .await;
    let mut locked = 0;
    for (tokens, supply) in markets.iter().zip(supplies.chunks(2)) {
        assert_eq!(
            supply[0], supply[1],
            "the two tokens of {tokens:?} differ in number"
        );
        locked += supply[0];
    }
    assert_eq!(
        collateral + locked,
        paid_in,
        "collateral {collateral} and locked {locked} are not what was paid in"
    );
}

/// A signed `GET`, repeated while the responding process is starting. No response may come from a
/// state that lacks an acknowledged sequence.
async fn read((trader, from): (&Trader, Sequence), path: &str, query: &str) -> Answer {
    let begun = Instant::now();
    loop {
        let answered = trader.read_from(from, path, query).await;
        match answered {
            Ok((425 | 503, _)) | Err(_) if begun.elapsed() < PATIENCE => {}
            Ok((425 | 503, _)) | Err(_) => {
                panic!("no answer to {path}{query} from {from}: {answered:?}")
            }
            Ok(answer) => return answer,
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

async fn balance(reader: (&Trader, Sequence), query: &str) -> u64 {
    let (status, answer) = read(reader, "/balance-allowance", query).await;
    assert_eq!(status, 200, "{answer}");
    answer["balance"]
        .as_str()
        .and_then(|text| text.parse().ok())
        .expect("a balance in micros")
}

fn texts(value: &Value) -> impl Iterator<Item = String> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
}

fn number(value: &Value) -> f64 {
    value
        .as_str()
        .and_then(|text| text.parse().ok())
        .expect("a decimal text")
}
