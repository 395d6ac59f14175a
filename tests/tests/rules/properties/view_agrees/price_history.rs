//! Price history compared with a naive one, which samples the midpoint of every requested bucket
//! from all midpoints.

use std::collections::BTreeMap;

use foretell_model::{MarketNumber, MarketState, Outcome};
use foretell_view::{Chunking, View, ViewSnapshot};

use crate::naive::Naive;
use crate::properties::journal::Journal;
use crate::properties::rng::Rng;
use crate::properties::twin_agrees::coverage::Counts;
use crate::properties::view_agrees::compare::compare_states;
use crate::properties::view_agrees::follow;
use crate::properties::walk::observer::{Observer, Step};

/// What answers show.
const POINTS: &str = "points of price history";
const GAPS: &str = "gaps of price history";
/// What a whole run shows at least.
pub(crate) const LEAST: &[(&str, u64)] = &[(POINTS, 15_000), (GAPS, 7_000)];

const MINUTE_NS: u64 = 60_000_000_000;
/// Queries about each sequence, of each length.
const QUESTIONS: u64 = 6;
/// Lengths of buckets in minutes: those that are stored, multiples of them, and others.
const LENGTHS: [u32; 10] = [1, 5, 7, 10, 30, 60, 180, 720, 1_440, 1_441];
/// Maximum number of buckets of a query.
const MOST: u64 = 60;

/// Observations of a market.
#[derive(Default)]
struct Story {
    /// After each frame: time, and best bid plus best ask in Yes prices.
    midpoints: Vec<(u64, Option<i128>)>,
    closed: Option<u64>,
}

impl Story {
    /// The midpoint at the end of a bucket.
    fn at_end_of(&self, bucket: u64, minutes: u64) -> Option<i128> {
        let end = u128::from(bucket + 1) * u128::from(minutes * MINUTE_NS);
        if self
            .closed
            .is_some_and(|closed| closed / (minutes * MINUTE_NS) < bucket)
        {
            return None;
        }
        let before = self
            .midpoints
            .iter()
            .rev()
            .find(|(time, _)| u128::from(*time) < end);
        before.and_then(|(_, midpoint)| *midpoint)
    }

    /// Bucket starts in seconds, and midpoints in 0.00005.
    fn points(&self, outcome: Outcome, minutes: u64, (from, to): (u64, u64)) -> Vec<(u64, i128)> {
        let seconds = minutes * 60;
        let last = to / seconds;
        let first = from.div_ceil(seconds).min(last);
        let buckets = (first..=last).filter(|_| from <= to);
        buckets
            .filter_map(|bucket| {
                let midpoint = self.at_end_of(bucket, minutes)?;
                let midpoint = match outcome {
                    Outcome::Yes => midpoint,
                    Outcome::No => 20_000 - midpoint,
                };
                Some((bucket * seconds, midpoint))
            })
            .collect()
    }
}

/// Records the books after a frame.
fn observe(stories: &mut BTreeMap<MarketNumber, Story>, naive: &Naive) {
    for (number, market) in (0..).zip(&naive.markets) {
        let story = stories.entry(MarketNumber(number)).or_default();
        if market.state == MarketState::Closed || market.pays.is_some() {
            story.closed.get_or_insert(naive.now.0);
        } else {
            let [bid, ask] = naive.best_of_yes(number as usize);
            let midpoint = bid.zip(ask).map(|(bid, ask)| bid + ask);
            story.midpoints.push((naive.now.0, midpoint));
        }
    }
}

/// The view restored from its own image.
fn revived(view: &View) -> View {
    let ViewSnapshot { sections, .. } = view.snapshot().expect("no frame was refused");
    let section = |name: &str| {
        let found = sections.iter().find(|(known, _)| *known == name);
        found.map(|(_, bytes)| bytes.as_slice())
    };
    let chunk = |chunk: foretell_view::ChunkRef| view.chunk_bytes(chunk.log, chunk.number);
    View::from_snapshot(section, chunk).unwrap_or_else(|error| panic!("{error}"))
}

/// A view that is asked for its prices at the end, and what it saw.
pub(crate) struct History {
    rng: Rng,
    view: View,
    naive: Naive,
    stories: BTreeMap<MarketNumber, Story>,
}

impl History {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            rng: Rng::new(seed ^ 0xBEEF),
            view: View::with_chunking([3; 32], Chunking::Bits(2)),
            naive: Naive::default(),
            stories: BTreeMap::new(),
        }
    }
}

impl Observer for History {
    fn name(&self) -> &'static str {
        "price history"
    }

    fn see(&mut self, step: &Step<'_>, _counts: &mut Counts<&'static str>) -> Result<(), String> {
        let Some(frame) = step.frame else {
            return Ok(());
        };
        follow(&mut self.view, &frame.as_ref(), step.verdict)?;
        compare_states(&self.view, step.state)?;
        self.naive.fold(frame);
        observe(&mut self.stories, &self.naive);
        if self.rng.percent(6) {
            self.view = revived(&self.view);
        }
        Ok(())
    }

    /// Samples the midpoint at the end of every bucket.
    fn end(&mut self, _journal: &Journal, counts: &mut Counts<&'static str>) -> Result<(), String> {
        let Self {
            rng, view, stories, ..
        } = self;
        for (market, story) in stories {
            for _ in 0..QUESTIONS {
                for minutes in LENGTHS {
                    let range = any_range(rng, story, minutes);
                    let outcome = rng.pick(&[Outcome::Yes, Outcome::No]);
                    let naive = story.points(outcome, minutes.into(), range);
                    let history = view.price_history(*market, outcome, minutes, range);
                    let history = history.expect("the market is there");
                    let answer: Vec<_> = (history.points().iter())
                        .map(|point| (point.start, i128::from(point.midpoint.half_units())))
                        .collect();
                    assert_eq!(
                        answer, naive,
                        "market {market}, {minutes} minutes, {range:?}"
                    );
                    assert_eq!(history.first(), history.points().first().copied());
                    assert!(answer.len() <= history.buckets());
                    assert!(history.buckets() <= history.visits());
                    let gaps = history.buckets() - answer.len();
                    *counts.entry(GAPS).or_default() += gaps as u64;
                    *counts.entry(POINTS).or_default() += answer.len() as u64;
                }
            }
        }
        Ok(())
    }
}

/// A range around a recorded change, in seconds.
fn any_range(rng: &mut Rng, story: &Story, minutes: u32) -> (u64, u64) {
    let seconds = u64::from(minutes) * 60;
    let about = match story.midpoints.len() {
        0 => 0,
        moves => story.midpoints[rng.index(moves)].0 / 1_000_000_000,
    };
    let to = about + rng.below(seconds * 6);
    let from = to.saturating_sub(rng.below(seconds * MOST));
    if rng.percent(2) {
        (to, from)
    } else {
        (from, to)
    }
}
