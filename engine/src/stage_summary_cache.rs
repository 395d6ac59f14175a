//! Caches the summaries of the stages for 50 ms.

use foretell_link::{Stage, StageSummary};
use foretell_stages::Durations;

/// Maximum age of a summary. Computing one reads every bucket and takes about 0.5 ms, too long to
/// do for each request of a flood.
const MAX_AGE_NS: u64 = 50_000_000;

/// One summary a stage, in the order of [`Stage::ALL`].
type StageSummaries = [StageSummary; Stage::COUNT];

/// The newest summaries, with the monotonic reading of their computation.
#[derive(Debug, Default)]
pub(crate) struct StageSummaryCache(Option<(u64, StageSummaries, StageSummaries)>);

impl StageSummaryCache {
    /// Summaries since the start and of the last whole second, at most 50 ms old.
    pub(crate) fn at(
        &mut self,
        now: u64,
        durations: &Durations<Stage>,
    ) -> (StageSummaries, StageSummaries) {
        if let Some((made, since_start, second)) = self.0
            && now.saturating_sub(made) < MAX_AGE_NS
        {
            return (since_start, second);
        }
        let (mut since_start, mut second) = (StageSummaries::default(), StageSummaries::default());
        for (number, summary) in durations.summaries().into_iter().enumerate() {
            since_start[number] = summary.since_start;
            second[number] = summary.second;
        }
        self.0 = Some((now, since_start, second));
        (since_start, second)
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
            let (since_start, _) = cache.at(now, &durations);
            let apply = since_start[Stage::Apply as usize];
            assert_eq!(apply.count, expected, "at {now}");
        }
    }
}
