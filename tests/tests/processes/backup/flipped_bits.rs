//! A flipped bit in any file of a backup or an archive is found (promise 35).

use std::fs;
use std::path::{Path, PathBuf};

use foretell_tests::exchange::Exchange;
use foretell_tests::random::Random;

use crate::backup::site::{
    archive, audit, backup, check, deposit, on, refusal, small_segments, snapshot, text,
};

/// Flips of each by default; more by `FORETELL_FLIPS`.
fn flips() -> u64 {
    let given = std::env::var("FORETELL_FLIPS").ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(40)
}

/// The files below a directory, in order.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory").flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(files(&path)),
            path => found.push(path),
        }
    }
    found.sort();
    found
}

/// Flips random bits of random files, one at a time; `refused` sees each.
fn flip(directory: &Path, random: &mut Random, refused: impl Fn(&Path, usize)) {
    let files = files(directory);
    for round in 0..flips() {
        // Every file has its turn; small ones would seldom be drawn by their bytes.
        let file = &files[usize::try_from(round).expect("few") % files.len()];
        let mut bytes = fs::read(file).expect("a file");
        let at = usize::try_from(random.below(bytes.len() as u64)).expect("a place");
        let bit = 1 << random.below(8);
        bytes[at] ^= bit;
        fs::write(file, &bytes).expect("written");
        refused(file, at);
        bytes[at] ^= bit;
        fs::write(file, &bytes).expect("written");
    }
}

#[test]
fn a_flipped_bit_of_a_backup_or_an_archive_is_found() {
    let mut random = Random::new(Random::seed("FORETELL_FLIP_SEED"));
    let mut exchange = Exchange::start(&small_segments());
    let directory = tempfile::tempdir().expect("a directory");
    let [copy, shelf, new] = ["copy", "shelf", "new"].map(|name| directory.path().join(name));
    let data = exchange.data();
    // Each start begins a segment; of snapshots the engine keeps three, each of another frame.
    for _ in 0..4 {
        deposit(&exchange);
        exchange.kill_and_wait("engine");
        snapshot(&exchange);
    }
    backup(&data, &copy, &["--with-secrets"]);
    let archived = archive(|| on(&data, &["journal", "archive", "--to", text(&shelf)]));
    assert_ne!(archived["archived_through"], 0, "{archived}");

    flip(&copy, &mut random, |file, at| {
        let (code, said) = refusal(on(&new, &["restore", "--check", text(&copy)]));
        assert!(
            [3, 5].contains(&code),
            "{}, byte {at}: {code} {said}",
            file.display()
        );
        let (code, _) = refusal(on(&new, &["restore", text(&copy)]));
        assert!(
            [3, 5].contains(&code) && !new.exists(),
            "{}, byte {at}",
            file.display()
        );
        let left = new.with_file_name("new.restoring");
        assert!(!left.exists(), "a failed restore leaves {}", left.display());
    });
    check(&copy);

    flip(&shelf, &mut random, |file, at| {
        let verify = on(&data, &["audit", "--archive", text(&shelf), "verify"]);
        let output = { verify }.output().expect("a process");
        assert_eq!(
            output.status.code(),
            Some(3),
            "{}, byte {at}",
            file.display()
        );
    });
    audit(&data, &shelf);
    exchange.end();
}
