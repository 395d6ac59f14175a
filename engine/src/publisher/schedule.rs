//! When the next snapshot is due.

use std::time::Duration;

use foretell_model::{Sequence, TimeNs};

use crate::config::Publishing;

/// A snapshot is due an interval, or a number of frames, after the last attempt. Times are readings
/// of the monotonic clock.
#[derive(Debug)]
pub(super) struct SnapshotSchedule {
    interval: Duration,
    frames: u64,
    newest: Sequence,
    /// The last frame whose effects are in the newest snapshot: only attestations lie between the
    /// two.
    reflected: Sequence,
    /// Sequence and time of the last attempt, or of the publisher's start.
    tried: (Sequence, u64),
    /// In a cluster: the step of the last frame, and whether a step has ended.
    steps: Option<(Option<Step>, bool)>,
}

/// Number of intervals of engine time, and of numbers of frames, before a frame.
type Step = (u64, u64);

impl SnapshotSchedule {
    /// A schedule that begins at a snapshot.
    pub(super) fn new(publishing: &Publishing, newest: Sequence, now: u64) -> Self {
        Self {
            interval: publishing.interval,
            frames: publishing.frames.max(1),
            newest,
            reflected: newest,
            tried: (newest, now),
            steps: None,
        }
    }

    /// The schedule of a host of a cluster: a snapshot is due at the first frame of each step, so that
    /// every host publishes the same ones.
    pub(super) fn aligned(mut self) -> Self {
        self.steps = Some((None, false));
        self
    }

    pub(super) const fn is_aligned(&self) -> bool {
        self.steps.is_some()
    }

    /// Notes a frame. Returns whether a snapshot is due right after it, in a cluster.
    pub(super) fn note_frame(&mut self, at: Sequence, time: TimeNs) -> bool {
        let interval = u64::try_from(self.interval.as_nanos())
            .unwrap_or(u64::MAX)
            .max(1);
        let step = (time.0 / interval, at.0 / self.frames);
        let Some((last, is_due)) = &mut self.steps else {
            return false;
        };
        let begins = last.is_some_and(|last| last != step);
        *last = Some(step);
        *is_due |= begins;
        begins
    }

    /// The newest snapshot; 0 when there is none.
    pub(super) const fn newest(&self) -> Sequence {
        self.newest
    }

    /// Whether a snapshot of the state at `at` is due.
    pub(super) fn is_due(&self, at: Sequence, now: u64) -> bool {
        if let Some((_, is_due)) = self.steps {
            return is_due && !self.is_reflected(at);
        }
        let frames = at.0.saturating_sub(self.tried.0.0);
        let is_long_ago = self.since_tried(now) >= self.interval;
        !self.is_reflected(at) && (frames >= self.frames || is_long_ago)
    }

    /// Time until a snapshot of the state at `at` is due; `None` when it is published.
    pub(super) fn until_due(&self, at: Sequence, now: u64) -> Option<Duration> {
        let waits = self.steps.is_none() && !self.is_reflected(at);
        waits.then(|| self.interval.saturating_sub(self.since_tried(now)))
    }

    const fn since_tried(&self, now: u64) -> Duration {
        Duration::from_nanos(now.saturating_sub(self.tried.1))
    }

    /// Records an attempt at `at`. After a failure the next is due after the same interval.
    pub(super) const fn tried(&mut self, at: Sequence, now: u64) {
        self.tried = (at, now);
        if let Some((_, is_due)) = &mut self.steps {
            *is_due = false;
        }
    }

    /// Records the snapshot at `at`.
    pub(super) const fn published(&mut self, at: Sequence) {
        self.newest = at;
        self.reflected = at;
    }

    /// The frame at `at` is an attestation, so an idle exchange needs no further snapshot for it.
    pub(super) fn skip_attestation(&mut self, at: Sequence) {
        if at == self.reflected.next() {
            self.reflected = at;
        }
    }

    /// Whether the newest snapshot includes all effects of the frames up to `at`.
    pub(super) fn is_reflected(&self, at: Sequence) -> bool {
        at <= self.reflected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_a_cluster_publish_at_the_same_frames() {
        let publishing = Publishing {
            interval: Duration::from_secs(60),
            frames: 1_000,
            ..Publishing::default()
        };
        const SECOND: u64 = 1_000_000_000;
        // One has read from the start, one begins in the middle; their own clocks differ.
        let begun = [(0, 5 * SECOND), (40, 9 * SECOND)];
        let due = begun.map(|(newest, now)| {
            let schedule = SnapshotSchedule::new(&publishing, Sequence(newest), now);
            let mut schedule = schedule.aligned();
            let mut due = Vec::new();
            for at in newest + 1..=2_500 {
                let (sequence, time) = (Sequence(at), TimeNs(at * SECOND / 10));
                if schedule.note_frame(sequence, time) && schedule.is_due(sequence, now) {
                    schedule.tried(sequence, now);
                    schedule.published(sequence);
                    due.push(at);
                }
            }
            due
        });
        assert_eq!(due[0], [600, 1_000, 1_200, 1_800, 2_000, 2_400]);
        assert_eq!(due[1], due[0]);
    }

    #[test]
    fn an_image_is_due_after_a_while_or_so_many_frames_if_anything_happened() {
        let publishing = Publishing {
            interval: Duration::from_secs(60),
            frames: 1_000,
            ..Publishing::default()
        };
        const SECOND: u64 = 1_000_000_000;
        let mut schedule = SnapshotSchedule::new(&publishing, Sequence(500), 7 * SECOND);
        // sequence, seconds, is due, seconds until due; then an action: none, tried, attested,
        // published
        let rows = [
            (500, 0, false, None, ""),
            (500, 900, false, None, ""),
            (501, 0, false, Some(60), ""),
            (501, 59, false, Some(1), ""),
            (501, 60, true, Some(0), ""),
            (1_499, 1, false, Some(59), ""),
            (1_500, 1, true, Some(59), "tried"),
            (1_500, 1, false, Some(60), ""),
            (2_499, 60, false, Some(1), ""),
            (2_500, 60, true, Some(1), "tried"),
            (2_501, 61, false, Some(59), ""),
            (2_501, 120, true, Some(0), "published"),
            (2_501, 500, false, None, ""),
            (2_502, 500, true, Some(0), "attested"),
            (2_502, 500, false, None, ""),
            (2_504, 500, true, Some(0), "attested"),
            (2_504, 500, true, Some(0), ""),
        ];
        for (at, seconds, due, until, done) in rows {
            let (at, now) = (Sequence(at), (7 + seconds) * SECOND);
            assert_eq!(schedule.is_due(at, now), due, "{at:?} at {seconds} s");
            let expected = until.map(Duration::from_secs);
            assert_eq!(
                schedule.until_due(at, now),
                expected,
                "{at:?} at {seconds} s"
            );
            match done {
                "tried" => schedule.tried(at, now),
                "attested" => schedule.skip_attestation(at),
                "published" => {
                    schedule.tried(at, now);
                    schedule.published(at);
                }
                _ => {}
            }
        }
    }
}
