//! `check_start` finds every refusal of a start on the same directory, and changes nothing.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use foretell_engine::{
    CHECKPOINTS_NAME, Checkpoints, ClusterRole, EXIT_REFUSED, EngineConfig, EngineError,
    FORMAT_NAME, JOURNAL_DIRECTORY, SNAPSHOT_DIRECTORY, SigningDomain, check_start,
};
use foretell_journal::archive::remove_archived;
use foretell_journal::disk::RealDisk;
use foretell_journal::{JournalError, marker_path, replica, segment, watermark};
use foretell_link::Role;
use foretell_model::event::Deposited;
use foretell_model::{Command, DomainNumber, Event, Micros, TimeNs};

use crate::harness::{Engine, config};
use crate::restart::{doctored_journal, journal_of, journal_of_rows, now};
use crate::snapshots::snapshot;
use crate::world::World;

/// A directory in which a start ends with a refusal: the refusal's name and what makes it.
type Case = (&'static str, fn(&Path, &mut EngineConfig));

const CASES: &[Case] = &[
    ("OtherFormat", |data, _| {
        fs::write(data.join(FORMAT_NAME), "1\n").unwrap();
    }),
    ("Checkpoints", |data, config| {
        let file = data.join(CHECKPOINTS_NAME);
        fs::write(&file, [7; 64]).unwrap();
        config.checkpoints = Some(Checkpoints {
            signer: foretell_checkpoint::Signer::from_secret(&[7; 32]),
            file,
            interval: std::time::Duration::from_secs(60),
        });
    }),
    ("Diverged", |data, _| {
        fs::remove_dir_all(data).unwrap();
        doctored_journal(data);
    }),
    ("ReplayRefused", |data, _| {
        fs::remove_dir_all(data).unwrap();
        journal_of_rows(data, now(), &[(Command::Continue, Vec::new())]);
    }),
    ("ClockJumped", |data, _| {
        fs::remove_dir_all(data).unwrap();
        let week = TimeNs(now().0 - 8 * 86_400 * 1_000_000_000);
        journal_of(data, week, |account| {
            Event::Deposited(Deposited {
                account,
                amount: Micros(100),
            })
        });
    }),
    ("Configuration", |data, config| {
        config.domains = vec![domain(5)];
        Engine::start(config.clone()).stop();
        config.domains = vec![domain(6)];
        assert!(data.exists());
    }),
    ("Journal::Io", |data, _| {
        fs::create_dir(marker_path(&data.join(JOURNAL_DIRECTORY))).unwrap();
    }),
    ("Journal::Unsafe", |data, _| {
        symlink("elsewhere", data.join(JOURNAL_DIRECTORY).join("link")).unwrap();
    }),
    ("Journal::Unsafe", |data, _| {
        symlink("elsewhere", data.join(SNAPSHOT_DIRECTORY).join("link")).unwrap();
    }),
    ("Journal::AfterIoError", |data, _| {
        fs::write(marker_path(&data.join(JOURNAL_DIRECTORY)), "a test").unwrap();
    }),
    ("Journal::Replica", |data, _| {
        fs::write(replica::marker_path(&data.join(JOURNAL_DIRECTORY)), "").unwrap();
    }),
    ("Journal::Damaged", |data, _| {
        let second = segment::path(&data.join(JOURNAL_DIRECTORY), 2);
        overwrite(&second, 4_096 + 200);
    }),
    ("Journal::Damaged", |data, _| {
        // Before the newest snapshot, with no snapshot to start from.
        fs::remove_dir_all(data.join(SNAPSHOT_DIRECTORY)).unwrap();
        overwrite(
            &segment::path(&data.join(JOURNAL_DIRECTORY), 1),
            4_096 + 200,
        );
    }),
    ("Journal::Missing", |data, _| {
        fs::remove_file(segment::path(&data.join(JOURNAL_DIRECTORY), 1)).unwrap();
    }),
    ("Journal::Foreign", |data, _| {
        let journal = data.join(JOURNAL_DIRECTORY);
        let first = segment::path(&journal, 1);
        fs::remove_file(segment::path(&journal, 2)).unwrap();
        fs::copy(first, segment::path(&journal, 2)).unwrap();
    }),
    ("Journal::Watermark", |data, _| {
        fs::remove_file(watermark::path(&data.join(JOURNAL_DIRECTORY))).unwrap();
    }),
    ("Journal::Archived", |data, _| {
        remove_archived(&RealDisk, &data.join(JOURNAL_DIRECTORY), 1).unwrap();
        fs::remove_dir_all(data.join(SNAPSHOT_DIRECTORY)).unwrap();
    }),
    ("Journal::Options", |_, config| {
        config.journal.segment_bytes = 1;
    }),
];

/// The name of a refusal, `None` of an end that no directory causes at a start. Exhaustive, so that a new error needs
/// a case.
fn name(error: &EngineError) -> Option<&'static str> {
    Some(match error {
        EngineError::OtherFormat { .. } => "OtherFormat",
        EngineError::Checkpoints(_) => "Checkpoints",
        EngineError::Diverged { .. } => "Diverged",
        EngineError::ReplayRefused { .. } => "ReplayRefused",
        EngineError::ClockJumped { .. } => "ClockJumped",
        EngineError::Configuration { .. } => "Configuration",
        EngineError::Journal(error) => return journal_name(error),
        // Another engine runs, which the doctor says; a system call fails; an engine that runs ends.
        EngineError::InUse(_)
        | EngineError::Process { .. }
        | EngineError::PublisherDiverged { .. }
        | EngineError::Impossible { .. }
        | EngineError::Superseded(_)
        | EngineError::Failed(_) => return None,
        // Below, and by the log, which `check_start` does not ask.
        EngineError::Cluster(_) => return None,
    })
}

fn journal_name(error: &JournalError) -> Option<&'static str> {
    Some(match error {
        JournalError::Io { .. } => "Journal::Io",
        JournalError::Unsafe { .. } => "Journal::Unsafe",
        JournalError::AfterIoError(_) => "Journal::AfterIoError",
        JournalError::Replica(_) => "Journal::Replica",
        JournalError::Damaged { .. } => "Journal::Damaged",
        JournalError::Missing(_) => "Journal::Missing",
        JournalError::Foreign(_) => "Journal::Foreign",
        JournalError::Watermark { .. } => "Journal::Watermark",
        JournalError::Archived { .. } => "Journal::Archived",
        JournalError::Options(_) => "Journal::Options",
        // As `Foreign`, of a version that does not exist.
        JournalError::Newer { .. } => return None,
        JournalError::Locked(_)
        | JournalError::Ahead { .. }
        | JournalError::Stopped { .. }
        | JournalError::Poisoned(_)
        | JournalError::NoEngine(_)
        | JournalError::NoFrame { .. }
        | JournalError::NotInLog(_) => return None,
    })
}

fn domain(separator: u8) -> SigningDomain {
    SigningDomain {
        number: DomainNumber(1),
        separator: [separator; 32],
        text: "a domain".to_owned(),
    }
}

fn overwrite(file: &Path, at: usize) {
    let mut bytes = fs::read(file).unwrap();
    bytes[at] ^= 1;
    fs::remove_file(file).unwrap();
    fs::write(file, bytes).unwrap();
}

/// Every file below a directory with its content.
fn contents(directory: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() && !path.is_symlink() {
                true => directories.push(path),
                false => found.push((path.clone(), fs::read(path).unwrap_or_default())),
            }
        }
    }
    found.sort();
    found
}

/// A stopped exchange: a snapshot after the first segment, and commands after it.
fn stopped_exchange(data: &Path) {
    let engine = Engine::start(config(data));
    World::build(&engine);
    engine.stop();
    let engine = Engine::start(config(data));
    let mut client = engine.client(Role::Operator);
    client.ask(
        foretell_fixtures::deposit(foretell_model::WalletAddress([8; 20]), Micros(5), [8; 32]),
        &[0; 2],
    );
    snapshot(&mut client);
    engine.stop();
}

#[test]
fn check_start_finds_every_refusal_of_a_start_and_changes_nothing() {
    for (number, (expected, damage)) in CASES.iter().enumerate() {
        let parent = tempfile::tempdir().unwrap();
        let data = parent.path().join("data");
        fs::create_dir(&data).unwrap();
        stopped_exchange(&data);
        let mut config = config(&data);
        assert!(check_start(&config, None).unwrap().journal.is_some());
        damage(&data, &mut config);
        let before = contents(&data);
        let checked = check_start(&config, None).err();
        let checked = checked.unwrap_or_else(|| panic!("{number} {expected} is not found"));
        assert_eq!(contents(&data), before, "{expected} changed a file");
        let started = match Engine::try_start(config) {
            Err(error) => error,
            // The publisher ends an engine that serves already.
            Ok(engine) => engine.end().unwrap_err(),
        };
        assert_eq!(name(&started), Some(*expected), "{started:?}");
        assert_eq!(started.exit_code(), EXIT_REFUSED);
        // The text of a clock names the second.
        match started {
            EngineError::ClockJumped { days, .. } => assert!(
                matches!(checked, EngineError::ClockJumped { days: found, .. } if found == days),
                "{checked}"
            ),
            started => assert_eq!(checked.to_string(), started.to_string()),
        }
    }
}

#[test]
fn check_start_finds_a_restored_copy_that_would_found_a_log() {
    let data = tempfile::tempdir().unwrap();
    stopped_exchange(data.path());
    let journal = data.path().join(JOURNAL_DIRECTORY);
    let config = config(data.path());
    check_start(&config, Some(ClusterRole::Leader)).unwrap();
    let copy = format!("1 {}\n", "ab".repeat(32));
    fs::write(journal.join("RESTORED"), copy).unwrap();
    check_start(&config, Some(ClusterRole::Standby)).unwrap();
    let refused = check_start(&config, Some(ClusterRole::Leader)).unwrap_err();
    assert!(matches!(refused, EngineError::Cluster(_)), "{refused:?}");
    assert_eq!(refused.exit_code(), EXIT_REFUSED);
}
