//! The messages of the streams agree with the journal: a twin derives the whole stream of every
//! subscription from the frames, with plain maps of orders and its own texts, and clients fold the
//! messages into books.

mod client;
mod replayed;
mod twin_messages;
mod twin_user_messages;
mod worked_flow;

use foretell_gateway::{StreamFold, StreamMessage, StreamReceiver};
use foretell_model::TimeMs;

use crate::naive::Naive;
use crate::properties::data_agrees::busy;
use crate::properties::journal::{Frame, Journal};
use crate::properties::spread::over_cores;
use crate::properties::twin_agrees::coverage::{Counts, add, count};
use crate::properties::walk::observer::{Observer, assert_enough};
use client::Clients;

const GENESIS: [u8; 32] = [3; 32];
/// Busy journals.
const BUSY: u64 = 24;

/// What journals show; each is read with both bounds.
const FRAMES: &str = "frames of streams";
const MARKET: &str = "messages of markets";
const USER: &str = "messages of users";
const PRICE_CHANGES: &str = "price changes";
const LARGE_BOOKS: &str = "large books";
const DELAYED: &str = "delayed orders";
const STAGES: &str = "stages of resolutions";

/// What a whole run shows at least.
pub(crate) const LEAST: &[(&str, u64)] = &[
    (FRAMES, 20_000),
    (USER, 10_000),
    (PRICE_CHANGES, 10_000),
    (DELAYED, 200),
    (STAGES, 200),
];

/// Bounds of [`StreamFold`]: those of a gateway, and small ones that random books exceed.
const LIMITS: [(usize, usize); 2] = [(1_000, 4_096), (5, 480)];

/// Writes the messages of frames from the naive model.
struct Twin {
    naive: Naive,
    limits: (usize, usize),
}

fn time_of(frame: &Frame) -> TimeMs {
    TimeMs(frame.sequence.0 * 7)
}

fn receipt(frame: &Frame) -> [u8; 32] {
    *blake3::hash(&frame.sequence.0.to_le_bytes()).as_bytes()
}

fn folded(fold: &mut StreamFold, frame: &Frame, receipt: [u8; 32]) -> Vec<StreamMessage> {
    let messages = fold.fold(&frame.as_ref(), receipt, time_of(frame));
    messages.expect("a frame that follows")
}

fn agrees(what: &str, journal: &Journal, limits: (usize, usize), counts: &mut Counts<&str>) {
    let mut fold = StreamFold::new(GENESIS, limits.0, limits.1);
    let mut twin = Twin {
        naive: Naive::new(GENESIS),
        limits,
    };
    let mut clients = Clients::default();
    for frame in &journal.frames {
        let sent = folded(&mut fold, frame, receipt(frame));
        let expected = twin.frame(frame, receipt(frame), time_of(frame));
        let at = |why: &str| format!("{what}, frame {}, {:?}: {why}", frame.sequence.0, frame);
        for (sent, expected) in sent.iter().zip(&expected) {
            assert_eq!(sent, expected, "{}", at("the messages differ"));
        }
        assert_eq!(sent.len(), expected.len(), "{}", at("the numbers differ"));
        clients
            .read(&fold, &sent)
            .unwrap_or_else(|why| panic!("{}", at(&why)));
        count(counts, FRAMES);
        for message in &sent {
            shown(message, limits, counts);
        }
    }
    twin.is_whole(&fold);
}

/// Counts what a message shows.
fn shown(message: &StreamMessage, limits: (usize, usize), counts: &mut Counts<&str>) {
    let text = &message.text;
    let is = |event: &str| text.starts_with(&format!(r#"{{"event_type":"{event}""#));
    let is_in = |state: &str| text.contains(&format!(r#""state":"{state}""#));
    let stages = ["proposed", "disputed", "settled"];
    let is_users = matches!(message.receiver, StreamReceiver::Key(..));
    for (what, is_shown) in [
        (USER, is_users),
        (MARKET, !is_users),
        (PRICE_CHANGES, is("price_change")),
        (DELAYED, is_in("DELAYED")),
        (STAGES, is("market_status") && stages.into_iter().any(is_in)),
        (LARGE_BOOKS, is("book") && text.len() > limits.1),
    ] {
        if is_shown {
            count(counts, what);
        }
    }
}

/// The streams of the walk's journals.
pub(crate) struct Streams;

impl Observer for Streams {
    fn name(&self) -> &'static str {
        "streams"
    }

    fn end(&mut self, journal: &Journal, counts: &mut Counts<&'static str>) -> Result<(), String> {
        for limits in LIMITS {
            agrees("the walk's journal", journal, limits, counts);
        }
        Ok(())
    }
}

#[test]
fn the_streams_are_what_busy_journals_say() {
    let seen = over_cores(BUSY, |seed, counts| {
        let journal = busy::journal(seed);
        for limits in LIMITS {
            agrees(&format!("busy journal {seed}"), &journal, limits, counts);
        }
        Ok::<_, ()>(())
    });
    let mut counts = Counts::new();
    let seen = seen.expect("a difference is a panic");
    seen.into_iter().for_each(|seen| add(&mut counts, seen));
    println!("{counts:?}");
    assert_enough(
        &counts,
        &[(USER, 10_000), (PRICE_CHANGES, 5_000), (LARGE_BOOKS, 100)],
    );
}
