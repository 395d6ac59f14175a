//! Checkpoints stored elsewhere detect changes that a journal alone cannot show: truncation, or a
//! rewrite with a new chain.

use std::fs;
use std::path::Path;

use foretell_checkpoint::{Checkpoint, SignedCheckpoint, Signer};
use foretell_model::command::Begin;
use foretell_model::{Sequence, TimeMs};
use foretell_wire::checkpoint::CheckpointRow;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::audit::run::{DAMAGED, FORGED, SOUND, UNREADABLE, audit};
use crate::audit::seal::{GENESIS, Loose, seal};
use crate::audit::site::busy;

const SECRET: [u8; 32] = [0x42; 32];

fn sealed(frames: &[Loose]) -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    seal(directory.path(), frames);
    directory
}

/// A checkpoint at the end of a frame's batch, from the auditor's output.
fn checkpoint(journal: &Path, sequence: u64) -> SignedCheckpoint {
    let (_, shown) = audit(journal, &["show", &sequence.to_string()]);
    let last = shown["inclusion"]["last_sequence"]
        .as_u64()
        .expect("a number");
    let (_, replayed) = audit(journal, &["replay", "--until", &last.to_string()]);
    let hash = |value: &Value| {
        let mut bytes = [0; 32];
        let text = value.as_str().expect("hex");
        hex::decode_to_slice(text, &mut bytes).expect("64 digits");
        bytes
    };
    let checkpoint = Checkpoint {
        sequence: Sequence(last),
        chain: hash(&shown["inclusion"]["hash"]),
        digest: hash(&replayed["digest"]),
        time: TimeMs(1),
    };
    Signer::from_secret(&SECRET).sign(&GENESIS, checkpoint)
}

/// Verifies a journal against checkpoints; returns the exit code and the texts of the findings.
fn verify(journal: &Path, checkpoints: &[SignedCheckpoint]) -> (i32, String) {
    let rows = checkpoints.iter();
    let rows: Vec<_> = rows
        .map(|signed| CheckpointRow::new(&GENESIS, &Begin::default(), signed))
        .collect();
    verify_rows(journal, &rows)
}

fn verify_rows(journal: &Path, rows: &[CheckpointRow]) -> (i32, String) {
    verify_text(journal, &json!({ "data": rows }).to_string())
}

fn verify_text(journal: &Path, text: &str) -> (i32, String) {
    let kept = tempfile::tempdir().expect("a directory");
    let [file, key] = ["kept.json", "key"].map(|name| kept.path().join(name));
    fs::write(&file, text).expect("a file");
    let public = hex::encode(Signer::from_secret(&SECRET).public_key());
    fs::write(&key, format!("{public}\n")).expect("a file");
    let [file, key] = [&file, &key].map(|path| path.to_str().expect("UTF-8"));
    let arguments = ["verify", "--checkpoints", file, "--checkpoint-key", key];
    let (code, report) = audit(journal, &arguments);
    (code, report.to_string())
}

#[test]
fn a_journal_agrees_with_what_was_signed_of_it_and_of_its_beginning() {
    let site = busy();
    let journal = sealed(&site.frames);
    let last = site.frames.len() as u64;
    let kept = [1, last / 2, last].map(|sequence| checkpoint(journal.path(), sequence));
    let (code, report) = verify(journal.path(), &kept);
    assert_eq!(code, SOUND, "{report}");
    assert!(report.contains("\"checkpoints\":3"), "{report}");
}

#[test]
fn a_journal_that_was_cut_or_written_anew_is_found() {
    let site = busy();
    let whole = sealed(&site.frames);
    let last = site.frames.len() as u64;
    let kept = checkpoint(whole.path(), last);

    let cut = sealed(&site.frames[..site.frames.len() - 9]);
    let (code, report) = verify(cut.path(), &[kept]);
    assert_eq!(code, DAMAGED, "{report}");
    assert!(report.contains("it was cut"), "{report}");

    // The same commands, with one engine time later by a nanosecond: valid in itself.
    let mut frames = busy().frames;
    let end = frames.last_mut().expect("frames");
    end.stamp.time.0 += 1;
    let anew = sealed(&frames);
    assert_eq!(audit(anew.path(), &["verify"]).0, SOUND, "nothing shows it");
    let (code, report) = verify(anew.path(), &[kept]);
    assert_eq!(code, DAMAGED, "{report}");
    assert!(report.contains("signed checkpoint"), "{report}");
}

#[test]
fn only_what_the_key_signed_for_this_journal_counts() {
    let site = busy();
    let journal = sealed(&site.frames);
    let kept = checkpoint(journal.path(), 3);
    let other_key = Signer::from_secret(&[1; 32]).sign(&GENESIS, kept.checkpoint);
    let (code, text) = verify(journal.path(), &[other_key]);
    assert_eq!(code, UNREADABLE, "{text}");
    assert!(text.contains("another key"), "{text}");
    let other_journal = Signer::from_secret(&SECRET).sign(&[9; 32], kept.checkpoint);
    let mut forged = kept;
    forged.checkpoint.time.0 += 1;
    let mut of_nothing = kept.checkpoint;
    of_nothing.sequence.0 = 0;
    let of_nothing = Signer::from_secret(&SECRET).sign(&GENESIS, of_nothing);
    for signed in [other_journal, forged, of_nothing] {
        // The invalid checkpoint is not counted and does not affect the valid one.
        let (code, text) = verify(journal.path(), &[signed, kept]);
        assert_eq!(code, FORGED, "{text}");
        assert_eq!(text.matches("\"exit_code\":5").count(), 2, "{text}");
        assert!(text.contains("proves nothing"), "{text}");
        assert!(text.contains("\"checkpoints\":1,"), "{text}");
        assert!(text.contains("\"checkpoints_given\":2"), "{text}");
    }
}

/// The same frames under another genesis: a checkpoint names its journal.
#[test]
fn a_journal_made_anew_under_another_name_is_not_the_one_that_was_signed() {
    let site = busy();
    let journal = sealed(&site.frames);
    let kept = checkpoint(journal.path(), 3);
    let other = Signer::from_secret(&SECRET).sign(&[9; 32], kept.checkpoint);
    let (code, text) = verify_rows(
        journal.path(),
        &[CheckpointRow::new(&[9; 32], &Begin::default(), &other)],
    );
    assert_eq!(code, DAMAGED, "{text}");
    assert!(text.contains("another journal was signed"), "{text}");
}

/// Checkpoints up to the damage are compared; later ones are not reported as compared.
#[test]
fn a_damaged_journal_is_held_against_the_checkpoints_before_the_damage() {
    let site = busy();
    let journal = sealed(&site.frames);
    let last = site.frames.len() as u64;
    let kept = [1, last / 2, last].map(|sequence| checkpoint(journal.path(), sequence));
    let path = foretell_journal::segment::path(journal.path(), 1);
    let sound = fs::read(&path).expect("a segment");
    // The last batch of a journal without a watermark may be a torn tail: such a journal is read to
    // its end and reported as cut.
    let places = [(100, 0), (4_096 + 130, 0), (sound.len() - 3 * 4_096, 2)];
    for (place, compared) in places.into_iter().chain([(sound.len() - 4_096, 3)]) {
        let mut bytes = sound.clone();
        bytes[place] ^= 1;
        fs::write(&path, &bytes).expect("written");
        let (code, text) = verify(journal.path(), &kept);
        assert_eq!(code, DAMAGED, "byte {place}: {text}");
        let counted = format!("\"checkpoints\":{compared},\"checkpoints_given\":3");
        assert!(text.contains(&counted), "byte {place}: {text}");
        assert_eq!(text.contains("it was cut"), compared == 3, "{text}");
    }
}

#[test]
fn what_is_no_checkpoint_is_said_to_be_none() {
    let journal = sealed(&busy().frames);
    for (given, said) in [("{}", "missing field `sequence`"), ("[]", "no checkpoint")] {
        let (code, text) = verify_text(journal.path(), given);
        assert_eq!(code, UNREADABLE, "{text}");
        assert!(text.contains(said), "{text}");
    }
}
