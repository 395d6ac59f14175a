//! Caches the summaries of the stages for 50 ms.

use foretell_link::{Stage, StageBuckets, StageSummary};
use foretell_stages::Durations;

/// Maximum age of a summary. Computing one reads every bucket and takes about 0.5 ms, too long to
/// do for each request of a flood.
const MAX_AGE_NS: u64 = 50_000_000;

/// What is told of each stage, in the order of [`Stage::ALL`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StageFigures {
    pub(crate) since_start: [StageSummary; Stage::COUNT],
    /// Of the last whole second.
    pub(crate) second: [StageSummary; Stage::COUNT],
    pub(crate) buckets: [StageBuckets; Stage::COUNT],
}

/// The newest figures, with the monotonic reading of their computation.
#[derive(Debug, Default)]
pub(crate) struct StageSummaryCache(Option<(u64, StageFigures)>);

impl StageSummaryCache {
    /// The figures, at most 50 ms old.
    pub(crate) fn at(&mut self, now: u64, durations: &Durations<Stage>) -> StageFigures {
        if let Some((made, figures)) = self.0
            && now.saturating_sub(made) < MAX_AGE_NS
        {
            return figures;
        }
        let mut figures = StageFigures::default();
        for (number, of_stage) in durations.summaries().into_iter().enumerate() {
            figures.since_start[number] = of_stage.since_start;
            figures.second[number] = of_stage.second;
            figures.buckets[number] = of_stage.buckets;
        }
        self.0 = Some((now, figures));
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_questions_is_answered_from_one_summary() {
        let durations = Durations::default();
        let mut cache = StageSummaryCache::default();
        // now, expected count; each row notes one more
        for (now, expected) in [(7, 1), (8, 1), (MAX_AGE_NS + 7, 3)] {
            durations.record(Stage::Apply, 1);
            let apply = cache.at(now, &durations).since_start[Stage::Apply as usize];
            assert_eq!(apply.count, expected, "at {now}");
        }
    }
}
