//! The data surface agrees with the journal. Every field of every row of every endpoint is compared
//! with a recomputation that shares no code with the views, on random journals with all kinds of
//! commands, over HTTP.
//!
//! Half of the journals are those of the comparison of core and twin. The others trade, split,
//! merge, convert, resolve and redeem all the time.

mod asset_forms;
pub(crate) mod busy;
mod deep;
mod family;
mod filters;
pub(crate) mod journal;
mod pages;
mod plain;
mod positions;
mod positions_two;
mod questions;
mod rows;
pub(crate) mod site;
mod sums;
mod version_two;
mod wallet;

use journal::Journal;
use plain::Plain;
use site::Site;

/// Number of busy journals, each queried in full over HTTP.
const BUSY: u64 = 12;
/// Number of wide journals whose sums are checked, and how many of them are queried in full.
const WIDE: u64 = 300;
const WIDE_ASKED: usize = 16;

#[test]
fn every_row_is_what_the_journal_says() {
    let mut seen = Seen::default();
    for seed in 0..BUSY {
        let journal = busy::journal(seed);
        seen.add(&agrees(&format!("busy journal {seed}"), &journal));
    }
    println!("{seen:?}");
    assert!(
        seen.fills > 500 && seen.closed > 100 && seen.actions[..4].iter().all(|count| *count > 10),
        "{seen:?}: too few to tell"
    );
    let asked = (0..WIDE)
        .map(|seed| (seed, Journal::wide(seed)))
        .filter(|(_, journal)| Plain::of(journal).actions.len() > 2)
        .take(WIDE_ASKED);
    for (seed, journal) in asked {
        agrees(&format!("wide journal {seed}"), &journal);
    }
}

#[test]
fn nothing_comes_from_nowhere() {
    for seed in 0..WIDE {
        sums::hold(&format!("wide journal {seed}"), &Journal::wide(seed));
        sums::hold(
            &format!("journal with new words {seed}"),
            &Journal::with_new_words(seed),
        );
    }
    for seed in 0..BUSY * 4 {
        sums::hold(&format!("busy journal {seed}"), &busy::journal(seed));
    }
}

/// Serves a journal and queries all of it.
fn agrees(name: &str, journal: &Journal) -> Plain {
    let plain = Plain::of(journal);
    let site = Site::serve(journal);
    questions::ask(name, &site, &plain);
    plain
}

/// Content of the queried journals.
#[derive(Default, Debug)]
struct Seen {
    fills: usize,
    closed: usize,
    /// Splits, merges, redeems, converts, rebates; the last are in journals of lives.
    actions: [usize; 5],
}

impl Seen {
    fn add(&mut self, plain: &Plain) {
        self.fills += plain.fills.len();
        self.closed += plain.closed.len();
        for action in &plain.actions {
            let kinds = ["SPLIT", "MERGE", "REDEEM", "CONVERSION", "MAKER_REBATE"];
            let kind = kinds.iter().position(|kind| *kind == action.kind);
            self.actions[kind.expect("a known kind")] += 1;
        }
    }
}
