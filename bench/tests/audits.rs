//! The audit of a long journal comes to the states of a replay of one frame after the other.

use std::path::Path;

use foretell_audit::{Options, SavedCheckpoint, verify};
use foretell_bench::workloads::journals::{Contents, with_journal};
use foretell_checkpoint::{Checkpoint, Signer};
use foretell_journal::{Scratch, genesis, scan};
use foretell_matching::{Capacity, Exchange, Replay};
use foretell_model::{Sequence, TimeMs};

/// Sequences at and beside the ends of the batches that the audit executes, and one in one.
const SAVED: [u64; 7] = [1, 2, 1_023, 1_024, 1_025, 2_048, 20_001];

/// Checkpoints there, with the digests of a replay and a chain of nothing.
fn saved(journal: &Path) -> Vec<SavedCheckpoint> {
    let genesis = genesis(journal).expect("a journal");
    let mut replay = Replay::new(Exchange::new(Capacity::default(), 1));
    let (mut scratch, mut checkpoints) = (Scratch::default(), Vec::new());
    scan(journal, Sequence(0), &mut |frame| {
        let sequence = frame.sequence();
        let frame = frame.decode(&mut scratch).expect("a frame");
        replay.execute(&frame).expect("the same events");
        if SAVED.contains(&sequence.0) {
            let checkpoint = Checkpoint {
                sequence,
                chain: [0; 32],
                digest: replay.exchange.digest(),
                time: TimeMs(1),
            };
            checkpoints.push(SavedCheckpoint {
                signed: Signer::from_secret(&[7; 32]).sign(&genesis, checkpoint),
                genesis: None,
            });
        }
        Ok(())
    })
    .expect("a sound journal");
    checkpoints
}

#[test]
fn the_states_of_a_long_journal_are_those_of_one_frame_after_the_other() {
    let run = |journal: &Path| {
        let checkpoints = saved(journal);
        for reference in [false, true] {
            let options = Options {
                checkpoints: checkpoints.clone(),
                reference,
                ..Options::default()
            };
            let report = verify(journal, &options).expect("a journal");
            assert_eq!(report.checkpoints, SAVED.len());
            assert_eq!(report.counts.commands, report.last_sequence.0);
            let texts = report.findings.iter().map(|found| &found.text[..]);
            let chain = "the chain is not the one of a signed checkpoint";
            assert!(texts.eq([chain; SAVED.len()]), "{report}");
        }
    };
    with_journal(&std::env::temp_dir(), 25_000, Contents::Stream, run).expect("a journal");
}
