//! SIGKILL the engine and the gateways while two processes of one maker replace each other's quotes: what
//! is live is what the newest set wants, and silence ends it (docs/verify/rules.md §32).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use foretell_model::quote::Quote;
use foretell_model::{ConditionId, Outcome, Side};
use foretell_ops::trader::Trader;
use foretell_tests::demo::{buy, market, visitor, visitor_with};
use foretell_tests::exchange::{Exchange, Options, PATIENCE};
use foretell_tests::load::Shared;
use foretell_tests::quotes::{Terms, body, now_ms, quote};
use foretell_tests::random::Random;
use foretell_wire::text::decimal::fixed_point;
use foretell_wire::text::ids;
use parking_lot::Mutex;
use reqwest::Method;
use serde_json::{Value, json};

const PROCESSES: [&str; 3] = ["engine", "gateway-1", "gateway-2"];
const LEASE_MS: u64 = 5_000;
/// Before an unclear request is sent again.
const PAUSE: Duration = Duration::from_millis(20);

/// Outcome index and price in 0.0001, to lots.
type Sizes = BTreeMap<(usize, u64), u64>;

/// Every set that was sent, by revision: its sizes, and whether its answer came.
type Sent = Arc<Mutex<BTreeMap<u64, (Sizes, bool)>>>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_live_is_what_the_newest_set_wants() {
    let rounds = crate::crash::busy::rounds(9);
    let mut random = Random::new(Random::seed("FORETELL_KILL_SEED"));
    let mut exchange = Exchange::start(&Options::two_gateways());
    let market = market();
    let condition = ids::condition_id(&market.condition_id()).expect("a condition");
    let makers = [
        visitor(&exchange, 0).await,
        visitor_with(&exchange, 0, 1).await,
    ];
    let limits = json!({ "lease_ms": LEASE_MS }).to_string();
    let set = makers[0]
        .signed(Method::PUT, "/quotes/groups/0", "", &limits)
        .await;
    assert_eq!(set.expect("an answer").0, 200);
    let (makers, sent) = (Arc::new(makers), Sent::default());
    let mut with_quotes = 0;
    for (round, name) in (1..=rounds).zip(PROCESSES.iter().cycle()) {
        let shared = Shared::default();
        let tasks = [0, 1].map(|process| {
            let (makers, shared, sent) = (Arc::clone(&makers), shared.clone(), Arc::clone(&sent));
            let random = Random::new(random.draw());
            tokio::spawn(async move {
                replace(process, &makers[process], condition, &shared, &sent, random).await;
            })
        });
        shared.wait_answers(10 + random.below(100)).await;
        exchange.kill_and_wait(name);
        shared.wait_answers(4).await;
        shared.stop.send_replace(true);
        for task in tasks {
            task.await.expect("the maker saw nothing wrong");
        }
        with_quotes += u64::from(compare(&makers[0], &market.token_ids(), &sent).await);
        println!("round {round}, {name}: {} sets", sent.lock().len());
    }
    // A machine that is late may lose some leases, not most.
    assert!(
        2 * with_quotes > rounds,
        "{with_quotes} of {rounds} rounds saw quotes"
    );
    fall_silent(&mut exchange, &makers[0]).await;
    let taker = visitor(&exchange, 1).await;
    buy(&taker, &market.token_ids()[0], 1_000, 9_000).await;
    let (_, trades) = persist(&taker, Method::GET, "/data/trades", "").await;
    assert_eq!(
        trades["data"],
        json!([]),
        "a quote that had ended was taken"
    );
    audit(&exchange);
    assert!(exchange.stop().success(), "a clean stop");
}

/// One process of the maker: a new set after each answer.
async fn replace(
    process: usize,
    maker: &Trader,
    condition: ConditionId,
    shared: &Shared,
    sent: &Sent,
    mut random: Random,
) {
    let mut last = 0;
    while !*shared.stop.borrow() {
        // Each process has revisions of its own, all of them rising with time.
        let revision = (now_ms() * 1_000 - 2 + process as u64).max(last + 2);
        last = revision;
        let separator = loop {
            match maker.quotes_separator().await {
                Ok(separator) => break separator,
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        };
        let quotes = random_quotes(&mut random);
        let sizes = quotes.iter().map(|quote| {
            let key = (quote.outcome.index(), u64::from(quote.price.0));
            (key, quote.lots.0)
        });
        sent.lock().insert(revision, (sizes.collect(), false));
        let words: Vec<_> = quotes.iter().map(Quote::word).collect();
        let set = body(
            maker,
            &separator,
            Terms::revision(revision),
            &[condition],
            &words,
        );
        let (status, answer) = persist(maker, Method::POST, "/quotes", &set.to_string()).await;
        match status {
            200 => {
                if let Some((_, is_answered)) = sent.lock().get_mut(&revision) {
                    *is_answered = true;
                }
                assert!(
                    answer["duplicate"] == true || answer["refused"] == json!([]),
                    "{answer}"
                );
            }
            // The other process was faster.
            409 => drop(sent.lock().remove(&revision)),
            _ => panic!("{status}: {answer}"),
        }
        shared.answers.send_modify(|answers| *answers += 1);
    }
}

/// Bids at random prices, a few of them the same as in other sets.
fn random_quotes(random: &mut Random) -> Vec<Quote> {
    let mut quotes = Vec::new();
    for outcome in [Outcome::Yes, Outcome::No] {
        for cents in 20..26 {
            if random.below(3) > 0 {
                let lots = 500 * (1 + random.below(3));
                quotes.push(Quote {
                    grow_tail: random.below(2) == 0,
                    ..quote(outcome, Side::Buy, cents * 100, lots)
                });
            }
        }
    }
    quotes
}

/// Sends a request until its response is clear.
async fn persist(trader: &Trader, method: Method, path: &str, body: &str) -> (u16, Value) {
    loop {
        match trader.signed(method.clone(), path, "", body).await {
            Ok((status, answer)) if status < 500 && status != 425 => return (status, answer),
            Ok((status, answer)) => assert!(matches!(status, 425 | 503), "{status}: {answer}"),
            Err(_) => {}
        }
        // A process starts again: a connection is refused at once.
        tokio::time::sleep(PAUSE).await;
    }
}

/// Live lots of the maker by outcome and price.
async fn live(maker: &Trader, tokens: &[String; 2]) -> Sizes {
    let (_, page) = persist(maker, Method::GET, "/data/orders", "").await;
    let mut sizes = Sizes::new();
    for order in page["data"].as_array().expect("orders") {
        let text = |name: &str| order[name].as_str().expect("a text");
        let outcome = usize::from(text("asset_id") != tokens[0]);
        let number = |name: &str, places| fixed_point(text(name), places).expect("a number");
        let key = (outcome, number("price", 4));
        *sizes.entry(key).or_default() += number("original_size", 2);
    }
    sizes
}

/// The live quotes are those of the newest set that counted. Every answered set is final: its lease may
/// have ended it all. Whether there are any.
async fn compare(maker: &Trader, tokens: &[String; 2], sent: &Sent) -> bool {
    let live = live(maker, tokens).await;
    let sent = sent.lock();
    let (newest, (sizes, is_answered)) = sent.last_key_value().expect("a set");
    assert!(is_answered, "{newest} has no answer");
    assert!(
        live == *sizes || live.is_empty(),
        "{newest}: {live:?}, wanted {sizes:?}"
    );
    !live.is_empty()
}

/// The engine is dead while the lease falls due: the quotes end before anything else.
async fn fall_silent(exchange: &mut Exchange, maker: &Trader) {
    exchange.kill_and_wait("engine");
    let begun = std::time::Instant::now();
    loop {
        let (_, page) = persist(maker, Method::GET, "/data/orders", "").await;
        if page["data"] == json!([]) {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{page}");
        tokio::time::sleep(PAUSE).await;
    }
}

fn audit(exchange: &Exchange) {
    let journal = exchange.data().join("journal");
    let journal = journal.to_str().expect("a path");
    let mut audit = exchange.foretell(&["audit", "--journal", journal, "verify"]);
    let audited = audit.args(["--signatures", "--reference"]).output();
    let audited = audited.expect("a process");
    let text = String::from_utf8_lossy(&audited.stdout);
    assert!(audited.status.success(), "{text}");
}
