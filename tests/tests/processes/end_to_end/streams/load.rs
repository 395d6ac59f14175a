//! Random orders of four wallets on two markets over two gateways: every connection reads the same
//! chain, the folded book is `GET /book`, trades are those of `/data/trades`, and a wallet reads its own
//! records only.

use std::collections::{BTreeMap, BTreeSet};

use foretell_tests::operator;
use foretell_tests::random::Random;
use foretell_tests::streams::{Books, number, sequence};
use serde_json::Value;

use super::{Market, Site, book, common, count};

/// Responses of the random load.
const COMMANDS: u64 = 300;
/// Market connections of each kind; the kernel distributes them over both gateways.
const READERS: usize = 4;

/// An answer of `GET /book`: token, sequence, hash.
type Shown = (String, u64, String);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_tell_what_the_reads_show() {
    let mut random = Random::new(Random::seed("FORETELL_STREAM_SEED"));
    let site = Site::two_gateways().await;
    let markets = [site.market(1).await, site.market(2).await];
    let mut public = Vec::new();
    for _ in 0..READERS {
        public.push(site.record(&Site::both(&markets[0])).await);
    }
    let mut own = Vec::new();
    for trader in 0..site.traders.len() {
        own.push(site.record(&site.own(trader)).await);
    }
    let load = site.load(&[&markets[0], &markets[1]], &mut random);
    let mut shown = Vec::new();
    for round in 0..count("FORETELL_STREAM_COMMANDS", COMMANDS) / 10 {
        load.shared.wait_answers(10).await;
        let token = &markets[0].tokens[usize::from(round % 2 == 1)];
        let (answer, at) = book(&site.exchange.trading, token, 0).await;
        shown.push((token.clone(), at, hash(&answer)));
    }
    load.end().await;
    for token in &markets[0].tokens {
        let (answer, at) = site.shown(token).await;
        shown.push((token.clone(), at, hash(&answer)));
    }
    let goal = operator::sequence(&site.exchange).await;
    let mut chains = Vec::new();
    for recording in public {
        let (read, end) = recording.end(goal).await;
        assert_eq!(end, None);
        chains.push(check_books(&read, &shown, &markets[0]));
    }
    let from = chains
        .iter()
        .map(|(first, _)| *first)
        .max()
        .expect("readers");
    let alike: Vec<_> = chains.iter().map(|(_, read)| common(read, from)).collect();
    assert!(alike.iter().all(|read| *read == alike[0]), "readers differ");
    assert!(
        alike[0].len() > 100,
        "{} messages: too few to tell",
        alike[0].len()
    );
    for (trader, recording) in own.into_iter().enumerate() {
        let (read, end) = recording.end(goal).await;
        assert_eq!(end, None);
        check_own(&site, trader, &read);
        check_trades(&read, &site.trades(trader, goal).await);
    }
    assert!(site.exchange.stop().success());
}

fn hash(book: &Value) -> String {
    book["hash"].as_str().expect("a hash").to_owned()
}

/// Folds the messages of a connection, and compares the book with every answer of `GET /book`. Returns
/// the sequence of the first book, and the messages.
fn check_books(read: &[Value], shown: &[Shown], market: &Market) -> (u64, Vec<Value>) {
    let mut books = Books::default();
    for message in read {
        assert!(
            message["market"].is_null() || message["market"] == *market.condition,
            "{message}"
        );
        books.fold(message);
    }
    let first = read.iter().find(|message| message["event_type"] == "book");
    let first = sequence(first.expect("a first book"));
    let mut compared = 0;
    for (token, at, hash) in shown.iter().filter(|(_, at, _)| *at >= first) {
        assert_eq!(
            books.hash_at(token, *at),
            Some(hash.as_str()),
            "{token} at {at}"
        );
        compared += 1;
    }
    println!(
        "{compared} answers compared, {} hashes proved",
        books.hashes()
    );
    assert!(compared > shown.len() / 2, "{compared} of {}", shown.len());
    (first, read.to_vec())
}

/// Every record is the trader's own, and in the order of the journal.
fn check_own(site: &Site, trader: usize, read: &[Value]) {
    let key = site.traders[trader].api_key();
    let address = site.traders[trader].address().to_lowercase();
    let mut newest = 0;
    for message in read {
        match message["event_type"].as_str().expect("a type") {
            "order" => assert!(
                message["owner"] == key && message["maker_address"] == *address,
                "{message}"
            ),
            "trade" => {
                let taken = message["maker_address"] == *address;
                for maker in message["maker_orders"].as_array().expect("fills") {
                    let made = maker["maker_address"] == *address;
                    assert!(taken || made, "{message}");
                    assert_eq!(maker["owner"] == key, made, "{message}");
                }
                let role = if taken { "TAKER" } else { "MAKER" };
                assert_eq!(message["trader_side"], role, "{message}");
                assert_eq!(message["owner"], key, "{message}");
            }
            _ => continue,
        }
        if message["status"] == "CONFIRMED" {
            continue;
        }
        assert!(sequence(message) >= newest, "{message} after {newest}");
        newest = sequence(message);
    }
}

/// Each trade of `/data/trades` has one message a status, with the same content; there is no other.
fn check_trades(read: &[Value], listed: &[Value]) {
    for status in ["MATCHED", "CONFIRMED"] {
        let mut told: BTreeMap<&str, &Value> = BTreeMap::new();
        for message in read {
            if message["event_type"] == "trade" && message["status"] == status {
                let again = told.insert(message["id"].as_str().expect("an id"), message);
                assert!(again.is_none(), "{status} twice: {message}");
            }
        }
        let ids: BTreeSet<_> = listed.iter().filter_map(|row| row["id"].as_str()).collect();
        assert_eq!(
            told.keys().copied().collect::<BTreeSet<_>>(),
            ids,
            "{status}"
        );
        for row in listed {
            let message = told[row["id"].as_str().expect("an id")];
            for field in [
                "taker_order_id",
                "market",
                "asset_id",
                "side",
                "price",
                "size",
                "outcome",
            ] {
                assert_eq!(message[field], row[field], "{field}: {message} {row}");
            }
            for field in [
                "order_id",
                "asset_id",
                "matched_amount",
                "price",
                "side",
                "owner",
            ] {
                let of = |trade: &Value| -> Vec<Value> {
                    let fills = trade["maker_orders"].as_array().expect("fills").iter();
                    fills.map(|fill| fill[field].clone()).collect()
                };
                assert_eq!(of(message), of(row), "{field}: {message} {row}");
            }
            assert_eq!(
                number(message, "match_time"),
                number(message, "timestamp") / 1_000,
                "{message}"
            );
        }
    }
}
