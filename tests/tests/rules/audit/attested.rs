//! An attested state must equal the state of re-execution.

use foretell_matching::{Capacity, Exchange};
use foretell_model::command::AttestState;
use foretell_model::{Command, Sequence, Verdict};
use serde_json::Value;

use crate::audit::run::{CONTRADICTS, SOUND, audit};
use crate::audit::seal::{Loose, seal};
use crate::audit::site::{Site, busy};

/// A site that attested its first states, one of them twice, and the one right before a frame; and
/// the sequences of the attestations.
fn attesting() -> (Site, Vec<u64>) {
    let mut site = busy();
    let states = site.digests();
    let last = states.len() - 1;
    let attested = [0, 1, last / 2, last / 2, last];
    let by = attested.map(|sequence| {
        let command = Command::AttestState(AttestState {
            sequence: Sequence(sequence as u64),
            state: states[sequence],
            snapshot: [1; 32],
        });
        site.apply(command, b"")
    });
    site.idle();
    (site, by.to_vec())
}

fn verify(frames: &[Loose], arguments: &[&str]) -> (i32, Value) {
    let directory = tempfile::tempdir().expect("a directory");
    seal(directory.path(), frames);
    audit(directory.path(), &[&["verify"], arguments].concat())
}

#[test]
fn attested_states_are_those_of_re_execution() {
    let (site, by) = attesting();
    let (code, report) = verify(&site.frames, &[]);
    assert_eq!(code, SOUND, "{report:#}");
    assert_eq!(report["attested_states"], by.len());
    let (code, report) = verify(&site.frames, &["--no-attestations"]);
    assert_eq!((code, &report["attested_states"]), (SOUND, &Value::Null));
}

#[test]
fn a_wrong_attested_state_is_found_wherever_it_stands() {
    let (site, by) = attesting();
    for wrong in by {
        let mut frames = site.frames.clone();
        let place = usize::try_from(wrong - 1).expect("small");
        let Command::AttestState(AttestState {
            sequence, state, ..
        }) = &mut frames[place].command
        else {
            panic!("an attested state");
        };
        let text = format!("the attested state after sequence {sequence} is not");
        state[7] ^= 1;
        let (code, report) = verify(&frames, &[]);
        assert_eq!(code, CONTRADICTS, "{report:#}");
        let findings = report["findings"].as_array().expect("findings");
        assert_eq!(findings.len(), 1, "{report:#}");
        assert_eq!(findings[0]["sequence"], wrong, "{report:#}");
        let found = findings[0]["text"].as_str().expect("a text");
        assert!(found.starts_with(&text), "{found}");
        let (code, report) = verify(&frames, &["--no-attestations"]);
        assert_eq!(code, SOUND, "nobody asked");
        let left = report["not_checked"].as_array().expect("a list");
        assert!(left.contains(&"attested states".into()), "{report:#}");
    }
}

/// The frames of the same commands and of one more before them at a place, as a forger would write
/// them.
fn with_command(frames: &[Loose], place: usize, command: Command) -> Vec<Loose> {
    let mut exchange = Exchange::new(Capacity::default(), 7);
    let added = Loose {
        command,
        evidence: Vec::new(),
        ..frames[place].clone()
    };
    let (before, after) = frames.split_at(place);
    let all = before.iter().chain([&added]).chain(after);
    let execute = |frame: &Loose| {
        let mut events = Vec::new();
        let verdict = exchange.apply(&frame.command, frame.stamp, &mut events);
        assert!(matches!(verdict, Verdict::Applied(_)), "{frame:?}");
        Loose {
            sequence: exchange.sequence().0,
            events,
            ..frame.clone()
        }
    };
    all.map(execute).collect()
}

#[test]
fn an_invented_deposit_is_found_by_the_states_attested_after_it() {
    let (site, _) = attesting();
    let mut frames = site.frames.iter();
    let place = frames.position(|frame| matches!(frame.command, Command::PlaceOrder(_)));
    let invented = foretell_fixtures::deposit(site.wallet(0), 500_000, [0xDE; 32]);
    let forged = with_command(&site.frames, place.expect("an order"), invented);
    let (code, report) = verify(&forged, &[]);
    assert_eq!(code, CONTRADICTS, "{report:#}");
    let (code, report) = verify(&forged, &["--no-attestations"]);
    assert_eq!(code, SOUND, "nothing else shows it");
    assert_eq!(report["counts"]["deposits"], 5, "the report counts them");
}
