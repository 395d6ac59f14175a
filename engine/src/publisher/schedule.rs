//! When the next image is due.

use std::time::Duration;

use foretell_model::Sequence;

use crate::config::Publishing;

/// An image is due a while, or so many frames, after the last one, or after the last try. Moments are
/// readings of the monotonic clock.
#[derive(Debug)]
pub(super) struct Schedule {
    interval: Duration,
    frames: u64,
    /// The newest image.
    image: Sequence,
    /// The last frame whose effects the newest image has: behind its own, attestations alone.
    reflected: Sequence,
    /// Where and when one was tried last, or the publisher began.
    tried: (Sequence, u64),
}

impl Schedule {
    /// A schedule that begins at an image.
    pub(super) fn new(publishing: &Publishing, image: Sequence, now: u64) -> Self {
        Self {
            interval: publishing.interval,
            frames: publishing.frames.max(1),
            image,
            reflected: image,
            tried: (image, now),
        }
    }

    /// The newest image; 0 when there is none.
    pub(super) const fn image(&self) -> Sequence {
        self.image
    }

    /// Whether an image of the state at `at` is due now.
    pub(super) fn is_due(&self, at: Sequence, now: u64) -> bool {
        let frames = at.0.saturating_sub(self.tried.0.0);
        let is_long_ago = self.since_tried(now) >= self.interval;
        !self.is_reflected(at) && (frames >= self.frames || is_long_ago)
    }

    /// How long until the state at `at` is due; `None` when it is published.
    pub(super) fn until_due(&self, at: Sequence, now: u64) -> Option<Duration> {
        (!self.is_reflected(at)).then(|| self.interval.saturating_sub(self.since_tried(now)))
    }

    const fn since_tried(&self, now: u64) -> Duration {
        Duration::from_nanos(now.saturating_sub(self.tried.1))
    }

    /// An image at `at` was tried; without success it is due as late again.
    pub(super) const fn tried(&mut self, at: Sequence, now: u64) {
        self.tried = (at, now);
    }

    /// There is an image at `at` now.
    pub(super) const fn published(&mut self, at: Sequence) {
        self.image = at;
        self.reflected = at;
    }

    /// The frame at `at` only attests an image: an idle exchange needs no other for it.
    pub(super) fn skip_attestation(&mut self, at: Sequence) {
        if at == self.reflected.next() {
            self.reflected = at;
        }
    }

    /// Whether the newest image has all effects of the frames up to `at`.
    pub(super) fn is_reflected(&self, at: Sequence) -> bool {
        at <= self.reflected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_due_after_a_while_or_so_many_frames_if_anything_happened() {
        let publishing = Publishing {
            interval: Duration::from_secs(60),
            frames: 1_000,
            ..Publishing::default()
        };
        const SECOND: u64 = 1_000_000_000;
        let mut schedule = Schedule::new(&publishing, Sequence(500), 7 * SECOND);
        // at, seconds, due, seconds until it is; then what was done: nothing, tried, published
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
