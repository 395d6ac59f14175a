//! What looks at a sequence, and what all of them have seen.

use foretell_matching::Exchange as Core;
use foretell_model::state::StateRecord;
use foretell_model::{Event, Verdict};

use crate::properties::data_agrees::sums::Sums;
use crate::properties::generator::Sent;
use crate::properties::journal::{Frame, Journal};
use crate::properties::restore_agrees::Restores;
use crate::properties::stream_agrees::Streams;
use crate::properties::twin_agrees::coverage::{Counts, Coverage, add};
use crate::properties::view_agrees::Follower;
use crate::properties::view_agrees::price_history::History;
use crate::properties::view_images::Images;
use crate::properties::{restore_agrees, stream_agrees, view_agrees, view_images};

/// A command, and what core and twin made of it.
pub(crate) struct Step<'a> {
    pub(crate) sent: &'a Sent,
    pub(crate) verdict: &'a Verdict,
    pub(crate) events: &'a [Event],
    /// After it; it changes with a frame only.
    pub(crate) state: &'a [StateRecord],
    pub(crate) core: &'a Core,
    /// Its frame, when it was applied.
    pub(crate) frame: Option<&'a Frame>,
}

/// Looks at one sequence. A difference is an error or a panic.
pub(crate) trait Observer {
    fn name(&self) -> &'static str;

    /// Looks at a command.
    fn see(&mut self, _step: &Step<'_>, _counts: &mut Counts<&'static str>) -> Result<(), String> {
        Ok(())
    }

    /// Looks at the whole journal after the last command.
    fn end(
        &mut self,
        _journal: &Journal,
        _counts: &mut Counts<&'static str>,
    ) -> Result<(), String> {
        Ok(())
    }
}

/// The observers of a sequence. One that costs much looks at every k-th.
pub(crate) fn observers_of(seed: u64) -> Vec<Box<dyn Observer>> {
    let mut observers: Vec<Box<dyn Observer>> = vec![Box::new(Follower::new())];
    if seed.is_multiple_of(10) {
        observers.push(Box::new(Restores::new(seed)));
    }
    if seed % 10 == 3 {
        observers.push(Box::new(Streams));
    }
    if seed % 10 == 7 {
        observers.push(Box::new(History::new(seed)));
    }
    if seed.is_multiple_of(4) {
        observers.push(Box::new(Images { seed }));
    }
    if seed % 20 < 3 {
        observers.push(Box::new(Sums));
    }
    observers
}

/// Whether the descriptions of a sequence change the words of its markets.
pub(crate) const fn has_new_words(seed: u64) -> bool {
    !(seed / 10).is_multiple_of(4)
}

/// What sequences have shown.
#[derive(Default, Debug)]
pub(crate) struct Seen {
    pub(crate) coverage: Coverage,
    pub(crate) counts: Counts<&'static str>,
}

impl Seen {
    pub(crate) fn merge(&mut self, other: Self) {
        self.coverage.merge(other.coverage);
        add(&mut self.counts, other.counts);
    }

    /// Asserts that every observer has seen enough.
    pub(crate) fn assert_wide(&self) {
        self.coverage.assert_wide();
        for least in [
            restore_agrees::LEAST,
            stream_agrees::LEAST,
            view_agrees::price_history::LEAST,
            view_images::LEAST,
        ] {
            assert_enough(&self.counts, least);
        }
    }
}

/// Asserts that each count is at least as large as it must be.
pub(crate) fn assert_enough(counts: &Counts<&'static str>, least: &[(&'static str, u64)]) {
    for (what, least) in least {
        let count = counts.get(what).copied().unwrap_or(0);
        assert!(count > *least, "{count} {what}: too few to tell");
    }
}
