//! The data surface agrees with the journal. Every field of every row of every endpoint is compared
//! with a recomputation that shares no code with the views, on random journals with all kinds of
//! commands, over HTTP.
//!
//! Some journals are those of the walk, which looks at the sums of many more. The others trade, split,
//! merge, convert, resolve and redeem all the time.

mod asset_forms;
pub(crate) mod busy;
mod deep;
mod family;
mod filters;
mod pages;
mod positions_two;
mod questions;
pub(crate) mod rows;
pub(crate) mod site;
pub(crate) mod sums;
mod version_two;
mod wallet;

use std::sync::atomic::{AtomicUsize, Ordering};

use foretell_gateway::Compatibility;

use crate::naive::Naive;
use crate::properties::journal::Journal;
use crate::properties::spread::over_cores;
use site::Site;

/// Number of busy journals, each queried in full over HTTP.
const BUSY: u64 = 12;
/// Number of wide journals to choose from, and how many of them are queried in full.
const WIDE: u64 = 300;
const WIDE_ASKED: usize = 16;

#[test]
fn every_row_is_what_the_journal_says() {
    let seen = over_cores(BUSY, |seed, seen: &mut Seen| {
        let journal = busy::journal(seed);
        let forms = match seed % 2 {
            0 => Compatibility::Interface,
            _ => Compatibility::Polymarket,
        };
        seen.add(&agrees(&format!("busy journal {seed}"), &journal, forms));
        Ok::<_, ()>(())
    });
    let seen = seen.expect("a difference is a panic");
    let seen = seen.iter().fold(Seen::default(), Seen::with);
    println!("{seen:?}");
    assert!(
        seen.fills > 500 && seen.closed > 100 && seen.actions[..4].iter().all(|count| *count > 10),
        "{seen:?}: too few to tell"
    );
    let asked = AtomicUsize::new(0);
    let all = over_cores(WIDE, |seed, _: &mut ()| {
        let journal = Journal::wide(seed);
        let has_actions = Naive::of(&journal).actions.len() > 2;
        if has_actions && asked.fetch_add(1, Ordering::Relaxed) < WIDE_ASKED {
            let name = format!("wide journal {seed}");
            agrees(&name, &journal, Compatibility::Interface);
        }
        // Enough ends the search.
        match asked.load(Ordering::Relaxed) < WIDE_ASKED {
            true => Ok(()),
            false => Err(()),
        }
    });
    assert!(all.is_err(), "{asked:?}: too few to tell");
}

#[test]
fn nothing_comes_from_nowhere() {
    for seed in 0..BUSY * 4 {
        sums::hold(&format!("busy journal {seed}"), &busy::journal(seed));
    }
}

/// Serves a journal and queries all of it.
fn agrees(name: &str, journal: &Journal, compatibility: Compatibility) -> Naive {
    let site = Site::serve_as(journal, compatibility);
    let plain = Naive::written(journal, site.genesis);
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
    fn with(self, other: &Self) -> Self {
        let mut actions = self.actions;
        for (sum, more) in actions.iter_mut().zip(other.actions) {
            *sum += more;
        }
        Self {
            fills: self.fills + other.fills,
            closed: self.closed + other.closed,
            actions,
        }
    }

    fn add(&mut self, plain: &Naive) {
        self.fills += plain.fills.len();
        self.closed += plain.closed.len();
        for action in &plain.actions {
            let kinds = ["SPLIT", "MERGE", "REDEEM", "CONVERSION", "MAKER_REBATE"];
            let kind = kinds.iter().position(|kind| *kind == action.kind);
            self.actions[kind.expect("a known kind")] += 1;
        }
    }
}
