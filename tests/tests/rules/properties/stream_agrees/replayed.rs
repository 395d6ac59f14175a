//! Messages rendered again from the journal are those sent at first, but for `server_ts_ms`.

use foretell_gateway::{StreamFold, StreamMessage};
use foretell_model::Sequence;

use crate::properties::data_agrees::busy;
use crate::properties::data_agrees::site::Writer;
use crate::properties::stream_agrees::folded;

/// Journals, and resume points of each.
const JOURNALS: u64 = 3;
const POINTS: u64 = 6;

fn without_server_time(message: &StreamMessage) -> (String, &str) {
    let (text, _) = message
        .text
        .split_once(r#","server_ts_ms""#)
        .expect("a stamp");
    (format!("{:?}", message.receiver), text)
}

#[test]
fn a_replay_is_what_was_sent_at_first() {
    for seed in 0..JOURNALS {
        let journal = busy::journal(seed);
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("journal");
        std::fs::create_dir(&path).expect("a directory");
        let (_writer, receipts) = Writer::write(&path, &journal);
        let genesis = foretell_journal::genesis(&path).expect("a journal");
        let mut fold = StreamFold::new(genesis, 1_000, 4_096);
        let mut sent = Vec::new();
        for frame in &journal.frames {
            let receipt = foretell_wire::text::ids::bytes32(&receipts[&frame.sequence.0]);
            let messages = folded(&mut fold, frame, receipt.expect("32 bytes"));
            sent.extend(
                messages
                    .into_iter()
                    .map(|message| (frame.sequence, message)),
            );
        }
        let last = fold.view().sequence().0;
        for point in 0..=POINTS {
            let after = Sequence(last * point / POINTS);
            let slice = usize::try_from(1 + point * 50).expect("small");
            let replayed = fold.replay(&path, &directory.path().join("none"), after, slice);
            let replayed = replayed.expect("it reaches back to the first frame");
            let expected = sent.iter().filter(|(sequence, _)| *sequence > after);
            let expected: Vec<_> = expected.map(|(_, message)| message).collect();
            assert_eq!(
                replayed.len(),
                expected.len(),
                "journal {seed} after {after:?}"
            );
            for (replayed, expected) in replayed.iter().zip(expected) {
                assert_eq!(without_server_time(replayed), without_server_time(expected));
            }
        }
        assert!(sent.len() > 300, "{}: too few to tell", sent.len());
    }
}
