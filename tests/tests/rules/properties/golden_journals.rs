//! A small recorded journal of each rules number replays to its recorded events and digest, in the
//! core and in its twin, and a change that these files show has another format id.
//!
//! `golden/rules_N.frames` holds frames without gaps, then the digest of the last state.
//! `golden/format` holds the format id and the hash of all golden files. After a change raise
//! `FORMAT_ID` (docs/internals/decisions/0008) and run this test with `FORETELL_BLESS=1`.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use foretell_journal::frame::{Frame, Scratch, encode, length};
use foretell_model::limits::{FIRST_RULES, FORMAT_ID, NEWEST_RULES};
use foretell_model::state::StateRecord;
use foretell_model::{
    Command, CommandKind, CommandStamp, Event, EventKind, Sequence, TimeNs, Verdict,
};

use crate::properties::generator::{Generator, Sent};
use crate::properties::twin_agrees::pair::Pair;

/// Commands of a recorded journal.
const FRAMES: usize = 150;
/// Seeds to choose the most various journal from.
const SEEDS: u64 = 400;
const DIGEST: usize = 32;
/// Hashes of the journals of released rules numbers, from 1. They never change.
const RELEASED: &[&str] = &[];

fn golden(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/rules/properties/golden");
    folder.join(name)
}

fn journal_of(rules: u32) -> PathBuf {
    golden(&format!("rules_{rules}.frames"))
}

fn is_released(rules: u32) -> bool {
    usize::try_from(rules).expect("32 bits") <= RELEASED.len()
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// With `FORETELL_BLESS` and a raised `FORMAT_ID`, journals of unreleased numbers and the hash are
/// written first.
#[test]
fn golden_journals_replay_and_a_change_of_formats_has_another_format_id() {
    let path = golden("format");
    let known = String::from_utf8(read(&path)).expect("text");
    let (id, known) = known.trim().split_once(' ').expect("an id and a hash");
    let is_raised = id.parse() != Ok(FORMAT_ID);
    let blesses = std::env::var_os("FORETELL_BLESS").is_some() && is_raised;
    for rules in FIRST_RULES..=NEWEST_RULES {
        let path = journal_of(rules);
        if blesses && !is_released(rules) {
            fs::write(&path, record(rules)).expect("written");
        }
        replay(rules, &read(&path)).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    }
    let hash = hash_of_formats();
    if blesses {
        fs::write(&path, format!("{FORMAT_ID} {hash}\n")).expect("written");
        return;
    }
    assert_eq!(
        (id.to_owned(), known),
        (FORMAT_ID.to_string(), hash.as_str()),
        "rules or formats changed: raise FORMAT_ID, then run with FORETELL_BLESS=1"
    );
}

#[test]
fn released_journals_are_those_of_their_release() {
    check_released(RELEASED).unwrap();
    let other = ["00"; 1];
    assert!(check_released(&other).is_err(), "another hash is refused");
}

fn check_released(hashes: &[&str]) -> Result<(), String> {
    for (rules, hash) in (FIRST_RULES..).zip(hashes) {
        let found = blake3::hash(&read(&journal_of(rules))).to_hex();
        if found.as_str() != *hash {
            return Err(format!("the journal of released rules {rules} changed"));
        }
    }
    Ok(())
}

/// Of every golden file and of the tables of records.
fn hash_of_formats() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files: Vec<PathBuf> = fs::read_dir(root.join("journal/tests/golden"))
        .expect("golden files of the journal")
        .map(|entry| entry.expect("readable").path())
        .chain((FIRST_RULES..=NEWEST_RULES).map(journal_of))
        .chain([root.join("engine/model/tests/state_records/golden.txt")])
        .collect();
    files.sort();
    let mut hasher = blake3::Hasher::new();
    for file in files {
        hasher.update(blake3::hash(&read(&file)).as_bytes());
    }
    hasher.update(format!("{:?} {:?}", CommandKind::RECORDS, EventKind::RECORDS).as_bytes());
    hasher.finalize().to_hex().to_string()
}

fn replay(rules: u32, file: &[u8]) -> Result<(), String> {
    let (mut frames, digest) = file.split_at(file.len() - DIGEST);
    let (mut pair, mut scratch) = (Pair::cramped(1), Scratch::default());
    let mut count = 0;
    while !frames.is_empty() {
        let frame = Frame::parse(frames, 1, 0).map_err(|error| error.to_string())?;
        let used = usize::try_from(frame.place().length).expect("32 bits");
        let stamp = frame.stamp();
        let known = frame
            .decode(&mut scratch)
            .map_err(|error| error.to_string())?;
        let verdict = pair.step(known.command, known.evidence, stamp)?;
        if !matches!(verdict, Verdict::Applied(_)) || pair.events() != known.events {
            let events = pair.events();
            return Err(format!(
                "frame {count}: {:?}\n  {verdict:?} {events:?}\n  recorded {:?}",
                known.command, known.events
            ));
        }
        frames = &frames[used..];
        count += 1;
    }
    let last = pair.state().first();
    let found = match last {
        Some(StateRecord::System(system)) => system.rules,
        other => return Err(format!("{other:?} is first")),
    };
    if (found, count) != (rules, FRAMES) {
        return Err(format!("{count} frames of rules {found}"));
    }
    if pair.digest() != digest {
        return Err(format!("digest {}", hex::encode(pair.digest())));
    }
    Ok(())
}

/// The most various of some random journals, as a file.
fn record(rules: u32) -> Vec<u8> {
    let journals = (0..SEEDS).filter_map(|seed| journal(rules, seed));
    let best = journals.max_by_key(|(variety, _)| *variety);
    best.expect("a sequence is long enough").1
}

/// The first commands of a random sequence, with the number of different commands and events; `None`
/// when too few are applied.
fn journal(rules: u32, seed: u64) -> Option<(usize, Vec<u8>)> {
    let mut pair = Pair::cramped(1);
    let mut generator = Generator::new(seed);
    let (mut seen, mut file) = (HashSet::new(), Vec::new());
    let (mut applied, mut time) = (0, 0);
    while applied < FRAMES {
        let switch =
            (applied == 0 && rules > FIRST_RULES).then_some(Command::SwitchRules { rules });
        let Sent {
            command: next,
            beside,
            stamp,
        } = generator.next_sent()?;
        let command = switch.unwrap_or(next);
        let verdict = pair.step(&command, &beside, stamp).expect("they agree");
        generator.observe(&command, pair.state());
        if let Verdict::Applied(_) = verdict {
            applied += 1;
            time = stamp.time.0.max(time);
            let stamp = CommandStamp {
                time: TimeNs(time),
                ..stamp
            };
            let codes = pair.events().iter().map(Event::code);
            seen.insert((true, command.code()));
            seen.extend(codes.map(|code| (false, code)));
            push(
                &mut file,
                (applied, stamp),
                &command,
                pair.events(),
                &beside,
            );
        }
    }
    file.extend(pair.digest());
    Some((seen.len(), file))
}

fn push(
    file: &mut Vec<u8>,
    (number, stamp): (usize, CommandStamp),
    command: &Command,
    events: &[Event],
    beside: &[u8],
) {
    let start = file.len();
    file.resize(start + length(events.len(), beside.len()), 0);
    let frame = &mut file[start..];
    let sequence = Sequence(number as u64);
    encode(frame, sequence, stamp, command, events, beside);
}
