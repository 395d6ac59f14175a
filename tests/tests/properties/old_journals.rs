//! A small recorded journal of each rules number replays to its recorded events and digest, in the
//! core and in its twin.
//!
//! Each file of `old_journals` holds frames without gaps, then the digest of the last state. A file of
//! released rules never changes; `FORETELL_BLESS=1` writes those that are missing.

use std::collections::HashSet;
use std::path::PathBuf;

use foretell_journal::frame::{Frame, Scratch, encode, length};
use foretell_model::limits::NEWEST_RULES;
use foretell_model::{Command, CommandStamp, Event, Sequence, Verdict};

use crate::generator::Generator;
use crate::twin_agrees::pair::Pair;

/// Commands of a recorded journal.
const FRAMES: usize = 70;
/// Seeds to choose the most various journal from.
const SEEDS: u64 = 400;
const DIGEST: usize = 32;

fn path(rules: u32) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/properties/old_journals");
    folder.join(format!("rules_{rules}.frames"))
}

#[test]
fn recorded_journals_of_each_rules_number_replay_to_their_digests() {
    let bless = std::env::var_os("FORETELL_BLESS").is_some();
    for rules in 1..=NEWEST_RULES {
        let path = path(rules);
        if bless && !path.exists() {
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder");
            std::fs::write(&path, record(rules)).expect("written");
        }
        let file = std::fs::read(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        replay(rules, &file).unwrap_or_else(|difference| panic!("{path:?}: {difference}"));
    }
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
        let verdict = pair.step(known.command, stamp)?;
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
    if (pair.rules(), count) != (rules, FRAMES) {
        return Err(format!("{count} frames of rules {}", pair.rules()));
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
    best.expect("one switches to these rules").1
}

/// The first commands of a random sequence that switches to these rules at once, with the number of
/// different commands and events; `None` for other sequences.
fn journal(rules: u32, seed: u64) -> Option<(usize, Vec<u8>)> {
    let mut pair = Pair::cramped(1);
    let mut generator = match rules {
        NEWEST_RULES => Generator::with_market_life(seed),
        _ => Generator::new(seed),
    };
    let (mut seen, mut file) = (HashSet::new(), Vec::new());
    let (mut applied, mut time) = (0, 0);
    while applied < FRAMES {
        let (command, stamp) = generator.next_stamped()?;
        let verdict = pair.step(&command, stamp).expect("they agree");
        generator.observe(&command, pair.state());
        if pair.rules() > rules {
            return None;
        }
        if let Verdict::Applied(_) = verdict {
            applied += 1;
            time = stamp.time.0.max(time);
            let stamp = CommandStamp {
                time: foretell_model::TimeNs(time),
                ..stamp
            };
            seen.insert((true, command.code()));
            seen.extend(
                pair.events()
                    .iter()
                    .map(|event| (false, u16::from(event.code()))),
            );
            push(&mut file, rules, (applied, stamp), &command, pair.events());
        }
    }
    (pair.rules() == rules).then(|| {
        file.extend(pair.digest());
        (seen.len(), file)
    })
}

/// Appends a frame in the version of its rules.
fn push(
    file: &mut Vec<u8>,
    rules: u32,
    (number, stamp): (usize, CommandStamp),
    command: &Command,
    events: &[Event],
) {
    const VERSION_AT: usize = 6;
    let start = file.len();
    file.resize(start + length(events.len(), 0), 0);
    let frame = &mut file[start..];
    encode(frame, Sequence(number as u64), stamp, command, events, &[]);
    frame[VERSION_AT] = u8::try_from(rules).expect("frames and rules of one number came together");
}
