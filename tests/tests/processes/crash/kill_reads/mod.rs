//! SIGKILL gateways under load while images are published. After every kind of start a gateway
//! shows only books that equal the journal's at the sequence it names, and never goes back;
//! acknowledged commands stay (promises 1, 3, 20, 22).

mod naive;
mod watcher;

use std::collections::BTreeMap;
use std::path::Path;

use foretell_journal::{Follower, Next, Scratch};
use foretell_model::Sequence;
use foretell_ops::trader::token;
use foretell_tests::operator;
use foretell_tests::random::Random;
use naive::Books;
use serde_json::json;
use watcher::{Seen, Watcher};

/// Number of readers during the kills.
const WATCHERS: usize = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_book_is_one_the_journal_had() {
    let rounds = crate::crash::busy::rounds(5);
    let mut random = Random::new(Random::seed("FORETELL_KILL_SEED"));
    let mut site = crate::crash::busy::Site::start(&mut random).await;
    let address = (site.exchange.trading.strip_prefix("http://")).expect("a plain URL");
    let texts = site.tokens().into_iter().flatten();
    let tokens: Vec<_> = texts
        .map(|text| (token(&text).expect("a token"), text))
        .collect();
    let watchers: Vec<_> = (0..WATCHERS)
        .map(|_| Watcher::start(address, tokens.clone()))
        .collect();
    for round in 0..rounds {
        site.shared.wait_answers(20 + random.below(200)).await;
        operator::done(&site.exchange, "/snapshot", &json!({})).await;
        site.shared.wait_answers(random.below(100)).await;
        let name = *random.pick(&["gateway-1", "gateway-2"]);
        site.exchange.kill_and_wait(name);
        if round % 2 == 0 {
            site.check().await;
        }
    }
    site.shared.wait_answers(50).await;
    let seen: Vec<Seen> = watchers.into_iter().flat_map(Watcher::end).collect();
    let compared = compare(&site.exchange.data().join("journal"), &seen);
    println!("{compared} books at {} sequences", seen.len());
    assert!(compared > 100, "{compared} books: too few to tell");
    site.finish().await;
}

/// Folds the journal and compares every observed book with the book at its sequence.
fn compare(journal: &Path, seen: &[Seen]) -> usize {
    let mut at: BTreeMap<Sequence, Vec<&Seen>> = BTreeMap::new();
    for book in seen {
        at.entry(Sequence(book.sequence)).or_default().push(book);
    }
    let mut follower = Follower::open(journal, Sequence(0)).expect("the journal");
    let (mut scratch, mut books, mut compared) = (Scratch::default(), Books::default(), 0);
    while let Some((&sequence, _)) = at.first_key_value() {
        let frame = match follower.next_frame().expect("a sound journal") {
            Next::Frame(frame) => frame.decode(&mut scratch).expect("a frame"),
            other => panic!("a gateway showed {sequence:?}, the journal has {other:?}"),
        };
        books.fold(&frame);
        for book in at.remove(&frame.sequence).unwrap_or_default() {
            assert_eq!(
                book.levels,
                books.levels(book.token),
                "at {:?}",
                frame.sequence
            );
            compared += 1;
        }
    }
    compared
}
