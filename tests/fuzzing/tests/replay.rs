//! Every seed, and every input of the committed corpora, passes its target. The corpora contain the
//! inputs that a fuzzer once found, as regression tests.

use std::fs;
use std::path::{Path, PathBuf};

use foretell_fuzzing::{TARGETS, Target};

/// Maximum total size of all corpora in bytes.
const MOST: usize = 1 << 20;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz")
}

/// The committed inputs of a target, by name.
fn corpus(target: &Target) -> Vec<(String, Vec<u8>)> {
    let folder = fuzz().join("corpus").join(target.name);
    let Ok(entries) = fs::read_dir(&folder) else {
        panic!("{} is not there", folder.display());
    };
    let mut inputs: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            let bytes = fs::read(&path).expect("an input");
            (path.display().to_string(), bytes)
        })
        .collect();
    inputs.sort();
    inputs
}

#[test]
fn every_seed_keeps_the_promises() {
    for target in TARGETS {
        for (name, bytes) in (target.seeds)() {
            println!("{} of {}", name, target.name);
            (target.run)(&bytes);
        }
    }
}

#[test]
fn every_committed_input_keeps_the_promises() {
    let mut total = 0;
    for target in TARGETS {
        for (name, bytes) in corpus(target) {
            println!("{name}");
            total += bytes.len();
            (target.run)(&bytes);
        }
    }
    assert!(total <= MOST, "{total} bytes of corpora: minimize them");
}

#[test]
fn there_is_a_program_for_every_target() {
    for target in TARGETS {
        let program = fuzz().join("targets").join(format!("{}.rs", target.name));
        assert!(program.is_file(), "{} is not there", program.display());
    }
}
