//! Summaries of the stages, made at most every 50 ms.

use foretell_link::{Stage, StageSummary};
use foretell_stages::Durations;

/// How long summaries are good for: making them walks every bucket, about half a millisecond, so
/// that a flood of questions must not make them each time.
const AGE_NS: u64 = 50_000_000;

/// One summary a stage, in the order of [`Stage::ALL`].
type ByStage = [StageSummary; Stage::COUNT];

/// The newest summaries, and the monotonic reading when they were made.
#[derive(Debug, Default)]
pub(crate) struct Summaries(Option<(u64, ByStage, ByStage)>);

impl Summaries {
    /// Summaries since the start and of the last whole second, at most 50 ms old.
    pub(crate) fn at(&mut self, now: u64, durations: &Durations<Stage>) -> (ByStage, ByStage) {
        if let Some((made, since_start, second)) = self.0
            && now.saturating_sub(made) < AGE_NS
        {
            return (since_start, second);
        }
        let (mut since_start, mut second) = (ByStage::default(), ByStage::default());
        for (number, told) in durations.tell().into_iter().enumerate() {
            since_start[number] = told.since_start;
            second[number] = told.second;
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
        let mut summaries = Summaries::default();
        // now, the count that is told; one more is noted before each
        for (now, expected) in [(7, 1), (8, 1), (AGE_NS + 7, 3)] {
            durations.note(Stage::Apply, 1);
            let (since_start, _) = summaries.at(now, &durations);
            let apply = since_start[Stage::Apply as usize];
            assert_eq!(apply.count, expected, "at {now}");
        }
    }
}
