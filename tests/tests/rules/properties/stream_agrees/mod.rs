//! The messages of the streams agree with the journal: a twin derives the whole stream of every
//! subscription from the frames, with plain maps of orders and its own texts, and clients fold the
//! messages into books.

mod client;
mod replayed;
mod text;
mod twin;
mod twin_messages;
mod twin_user_messages;
mod worked_flow;

use foretell_gateway::{StreamFold, StreamMessage, StreamReceiver};
use foretell_model::{FramePosition, FrameRef, TimeMs};

use crate::properties::data_agrees::busy;
use crate::properties::data_agrees::journal::{Frame, Journal};
use client::Clients;
use twin::Twin;

const GENESIS: [u8; 32] = [3; 32];
/// Journals of each kind.
const BUSY: u64 = 24;
const WIDE: u64 = 100;
const LIVES: u64 = 300;

/// Bounds of [`StreamFold`]: those of a gateway, and small ones that random books exceed.
const LIMITS: [(usize, usize); 2] = [(1_000, 4_096), (5, 480)];

fn time_of(frame: &Frame) -> TimeMs {
    TimeMs(frame.sequence.0 * 7)
}

fn receipt(frame: &Frame) -> [u8; 32] {
    *blake3::hash(&frame.sequence.0.to_le_bytes()).as_bytes()
}

fn folded(fold: &mut StreamFold, frame: &Frame, receipt: [u8; 32]) -> Vec<StreamMessage> {
    let folded = FrameRef {
        operator: foretell_model::OperatorNumber::NONE,
        touched: 0,
        sequence: frame.sequence,
        time: frame.time,
        command: &frame.command,
        events: &frame.events,
        evidence: &frame.evidence,
        place: FramePosition::default(),
    };
    let messages = fold.fold(&folded, receipt, time_of(frame));
    messages.expect("a frame that follows")
}

/// How much the journals showed.
#[derive(Default, Debug)]
struct Seen {
    frames: usize,
    market: usize,
    user: usize,
    price_changes: usize,
    large_books: usize,
    delayed: usize,
    stages: usize,
}

fn agrees(what: &str, journal: &Journal, limits: (usize, usize), seen: &mut Seen) {
    let mut fold = StreamFold::new(GENESIS, limits.0, limits.1);
    let mut twin = Twin::new(GENESIS, limits);
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
        seen.frames += 1;
        for message in &sent {
            match message.receiver {
                StreamReceiver::Key(..) => seen.user += 1,
                _ => seen.market += 1,
            }
            let is = |event: &str| {
                message
                    .text
                    .starts_with(&format!(r#"{{"event_type":"{event}""#))
            };
            seen.price_changes += usize::from(is("price_change"));
            seen.delayed += usize::from(message.text.contains(r#""state":"DELAYED""#));
            let stages = ["proposed", "disputed", "settled"];
            let begins = |stage| message.text.contains(&format!(r#""state":"{stage}""#));
            seen.stages += usize::from(is("market_status") && stages.into_iter().any(begins));
            seen.large_books += usize::from(is("book") && message.text.len() > limits.1);
        }
    }
    twin.is_whole(&fold);
}

#[test]
fn the_streams_are_what_the_journal_says() {
    let mut seen = [Seen::default(), Seen::default()];
    for seed in 0..BUSY {
        let journal = busy::journal(seed);
        for (limits, seen) in LIMITS.into_iter().zip(&mut seen) {
            agrees(&format!("busy journal {seed}"), &journal, limits, seen);
        }
    }
    for seed in 0..WIDE {
        let journal = Journal::wide(seed);
        for (limits, seen) in LIMITS.into_iter().zip(&mut seen) {
            agrees(&format!("wide journal {seed}"), &journal, limits, seen);
        }
    }
    for seed in 0..LIVES {
        let journal = Journal::with_new_words(seed);
        for (limits, seen) in LIMITS.into_iter().zip(&mut seen) {
            agrees(&format!("journal of lives {seed}"), &journal, limits, seen);
        }
    }
    println!("{seen:?}");
    for seen in &seen {
        assert!(
            seen.frames > 10_000 && seen.user > 5_000 && seen.price_changes > 5_000,
            "{seen:?}: too few to tell"
        );
    }
    assert!(seen[1].large_books > 100, "{seen:?}: too few to tell");
    let lives = seen[0].delayed > 100 && seen[0].stages > 100;
    assert!(lives, "{seen:?}: too few to tell");
}
