//! A question that nobody knew when its group opened wins: whatever is killed during the payout, every
//! holder is paid once.

use std::time::{Duration, Instant};

use foretell_ops::demo::wallets::VISITORS;
use foretell_ops::trader::{Sets, Trader};
use foretell_tests::exchange::{Exchange, Options, PATIENCE};
use foretell_tests::operator;
use foretell_tests::random::Random;
use reqwest::Method;
use serde_json::{Value, json};

use crate::end_to_end::catalog::upstream::{Upstream, event};
use crate::end_to_end::catalog::{ended, foretell, get, run, runtime};

const GROUPS: u64 = 40;
const QUESTIONS: u64 = 3;
/// The family's indexes, with gaps.
const INDEXES: [u8; 4] = [0, 2, 5, 9];
/// Shares that a trader converts in each group.
const LOTS: u64 = 500;
const DEPOSIT: u64 = 1_000_000_000;
/// Kills of the sync or the engine during the payout.
const KILLS: usize = 6;

#[test]
fn a_late_winner_is_paid_once_whatever_is_killed() {
    let mut random = Random::new(Random::seed("FORETELL_TEST_SEED"));
    let mut exchange = Exchange::start(&Options::default());
    let upstream = Upstream::start();
    let runtime = runtime();
    *upstream.events.lock() = (1..=GROUPS).map(|id| group(id, false)).collect();
    sync(&exchange, &upstream);
    let traders = runtime.block_on(convert_everywhere(&exchange));

    *upstream.events.lock() = (1..=GROUPS).map(|id| group(id, true)).collect();
    for _ in 0..KILLS {
        let target = random.below(GROUPS * QUESTIONS);
        let mut syncing = start(&exchange, &upstream);
        runtime.block_on(until_resolved(&exchange, &mut syncing, target));
        if random.below(3) == 0 {
            exchange.kill_and_wait("engine");
            ended(syncing);
        } else {
            // It may have ended already.
            let _ = syncing.kill();
            syncing.wait().expect("a child");
        }
    }
    sync(&exchange, &upstream);
    runtime.block_on(async {
        let offered = unresolved(&exchange).await;
        assert_eq!(
            offered.len() as u64,
            GROUPS / 2,
            "the groups without an Other"
        );
        for condition in offered {
            outside_won(&exchange, &condition).await;
            // In the middle of the payments that follow.
            if random.below(4) == 0 {
                exchange.kill_and_wait("engine");
            }
        }
        for trader in &traders {
            paid_in_full(trader).await;
        }
        // Who won has a name.
        let last = format!("/activity?user={}&type=REDEEM&limit=1", VISITORS[0].address);
        let (_, paid) = get(&format!("{}{last}", exchange.data_surface), None).await;
        assert_eq!(paid[0]["title"], "None of the listed questions", "{paid}");
    });
    // Money and shares add up after every command, and re-execution agrees.
    let (is_sound, report) = run(&exchange, &["audit", "verify"]);
    assert!(is_sound, "{report}");
}

/// Every second group lists an Other. When it has ended, every listed question lost, and a late one won.
fn group(id: u64, has_ended: bool) -> Value {
    let mut event = event(
        id,
        true,
        QUESTIONS + u64::from(has_ended),
        10 + u64::from(has_ended),
    );
    let markets = event["markets"].as_array_mut().expect("markets");
    markets[2]["negRiskOther"] = id.is_multiple_of(2).into();
    for (market, index) in markets.iter_mut().zip(INDEXES) {
        market["questionID"] = format!("0x{id:062x}{index:02x}").into();
    }
    if has_ended {
        for (place, market) in markets.iter_mut().enumerate() {
            let prices = match place {
                3 => r#"["1", "0"]"#,
                _ => r#"["0", "1"]"#,
            };
            market["closed"] = true.into();
            market["umaResolutionStatus"] = "resolved".into();
            market["outcomePrices"] = prices.into();
        }
    }
    event
}

fn start(exchange: &Exchange, upstream: &Upstream) -> std::process::Child {
    foretell(exchange, &["catalog", "sync", &upstream.base])
        .env("FORETELL_CATALOG_RESOLVE", "true")
        .spawn()
        .expect("the binary starts")
}

/// A whole round; findings make it a failure with a report.
fn sync(exchange: &Exchange, upstream: &Upstream) {
    let (_, report) = ended(start(exchange, upstream));
    assert!(report["exchange"].is_object(), "{report}");
}

/// Waits until so many questions are resolved, or the sync ends.
async fn until_resolved(exchange: &Exchange, sync: &mut std::process::Child, target: u64) {
    let all = GROUPS * QUESTIONS;
    while sync.try_wait().expect("a child").is_none() {
        let open = unresolved(exchange).await.len() as u64;
        if all - open.min(all) >= target {
            return;
        }
    }
}

/// Resolves the last question of a group for outside, whatever happens to the answer.
async fn outside_won(exchange: &Exchange, condition: &str) {
    let deadline = Instant::now() + PATIENCE;
    let outside = json!({ "condition_id": condition, "payout": "outside" });
    loop {
        let (status, answer) = operator::post(exchange, "/markets/resolve", &outside).await;
        // Also when it is resolved already, by a command whose answer was lost.
        if status == 200 {
            return;
        }
        assert!(status >= 500 && Instant::now() < deadline, "{answer}");
    }
}

/// Conditions of the questions without a payout.
async fn unresolved(exchange: &Exchange) -> Vec<String> {
    let (status, answer) = operator::get(exchange, "/markets").await;
    if status != 200 {
        return vec![String::new(); 1_000];
    }
    let rows = answer["markets"].as_array().expect("rows");
    let open = rows.iter().filter(|row| row["payout"].is_null());
    open.map(|row| row["conditionId"].as_str().expect("a text").to_owned())
        .collect()
}

/// In each group one trader converts the No of its second question. Whoever wins, that pays the trader
/// what it cost.
async fn convert_everywhere(exchange: &Exchange) -> Vec<Trader> {
    let mut traders = Vec::new();
    for visitor in VISITORS {
        let deposit = json!({ "wallet": visitor.address, "amount": "1000",
            "reference": format!("for {}", visitor.address) });
        operator::done(exchange, "/accounts/deposit", &deposit).await;
        let trader = Trader::connect(&exchange.trading, visitor.private_key, 0).await;
        traders.push(trader.expect("a key"));
    }
    for (id, trader) in (1..=GROUPS).zip(traders.iter().cycle()) {
        let condition = format!("0x{:064x}", id * 100 + 1);
        let reference = format!("split {id}");
        let sets = Sets {
            condition: &condition,
            lots: LOTS,
            reference: &reference,
        };
        let (status, answer) = trader.split(&sets).await.expect("an answer");
        assert_eq!(status, 200, "{answer}");
        let converted = trader
            .convert(id, 1 << INDEXES[1], LOTS, &format!("convert {id}"))
            .await;
        let (status, answer) = converted.expect("an answer");
        assert_eq!(status, 200, "{answer}");
        assert_eq!(
            answer["shares"].as_array().map(Vec::len),
            Some(4),
            "{answer}"
        );
    }
    traders
}

/// Waits until a wallet has its deposit back, and no more.
async fn paid_in_full(trader: &Trader) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let query = "?asset_type=COLLATERAL&signature_type=0";
        let answer = trader
            .signed(Method::GET, "/balance-allowance", query, "")
            .await;
        let (status, answer) = answer.expect("an answer");
        assert_eq!(status, 200, "{answer}");
        let free: u64 = answer["available"]
            .as_str()
            .expect("a text")
            .parse()
            .expect("micros");
        assert!(free <= DEPOSIT, "paid {free}");
        if free == DEPOSIT {
            return;
        }
        assert!(Instant::now() < deadline, "{free} of {DEPOSIT}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
