//! Checkpoints kept elsewhere catch what a journal cannot show by itself: that it was cut, or
//! written anew with a chain of its own.

use std::fs;
use std::path::Path;

use foretell_checkpoint::{Checkpoint, Signed, Signer};
use foretell_model::{Sequence, TimeMs};
use foretell_wire::checkpoint::CheckpointRow;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::run::{DAMAGED, FORGED, SOUND, UNREADABLE, audit};
use crate::seal::{GENESIS, Loose, seal};
use crate::site::busy;

const SECRET: [u8; 32] = [0x42; 32];

fn sealed(frames: &[Loose]) -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    seal(directory.path(), frames);
    directory
}

/// A checkpoint of the end of the batch a frame is in, from what the auditor shows.
fn checkpoint(journal: &Path, sequence: u64) -> Signed {
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

/// Verifies a journal against checkpoints; the exit code and the texts of what was found.
fn verify(journal: &Path, checkpoints: &[Signed]) -> (i32, String) {
    let rows: Vec<_> = checkpoints
        .iter()
        .map(|signed| CheckpointRow::new(&GENESIS, signed))
        .collect();
    let kept = tempfile::tempdir().expect("a directory");
    let [file, key] = ["kept.json", "key"].map(|name| kept.path().join(name));
    fs::write(&file, json!({ "data": rows }).to_string()).expect("a file");
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

    // The same commands, one engine time later by a nanosecond: sound in itself.
    let mut frames = busy().frames;
    let end = frames.last_mut().expect("frames");
    end.time.0 += 1;
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
    for signed in [other_journal, forged] {
        let (code, text) = verify(journal.path(), &[signed]);
        assert_eq!(code, FORGED, "{text}");
        assert!(text.contains("proves nothing"), "{text}");
    }
}
