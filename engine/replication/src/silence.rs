//! How long the leader has been silent.

use std::time::Duration;

use crate::records::Heartbeat;

/// Counts silence while the host can read the log to its end. Time in which it could not read, or
/// did not run, is not silence of the leader.
#[derive(Debug)]
pub struct Silence {
    /// The longest time that one look adds.
    longest: Duration,
    silent: Duration,
    last_look: Option<Duration>,
    beat: Option<(u64, u64)>,
}

impl Silence {
    /// Counts from looks that are at most `longest` apart.
    #[must_use]
    pub const fn new(longest: Duration) -> Self {
        Self {
            longest,
            silent: Duration::ZERO,
            last_look: None,
            beat: None,
        }
    }

    /// The leader published, or the host could not read the log.
    pub const fn reset(&mut self) {
        self.silent = Duration::ZERO;
        self.last_look = None;
    }

    /// The log was read to its end at `now`, and `beat` is its newest heartbeat. Returns for how
    /// long nothing has changed. A heartbeat of an earlier term than `term`, the log's, is no sign of
    /// life.
    pub fn look(&mut self, now: Duration, beat: Option<&Heartbeat>, term: u64) -> Duration {
        let alive = beat.filter(|beat| beat.term >= term && !beat.resigned);
        let seen = alive.map(Heartbeat::age);
        if seen.is_some() && seen != self.beat {
            self.beat = seen;
            self.silent = Duration::ZERO;
        } else if let Some(last) = self.last_look {
            self.silent += now.saturating_sub(last).min(self.longest);
        }
        self.last_look = Some(now);
        self.silent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beat(term: u64, count: u64, resigned: bool) -> Heartbeat {
        Heartbeat {
            host: "a".to_owned(),
            address: String::new(),
            term,
            count,
            sequence: 0,
            wall_ms: 0,
            time_ms: 0,
            heard: Vec::new(),
            resigned,
        }
    }

    #[test]
    fn silence_is_counted_only_while_the_log_is_read() {
        let ms = Duration::from_millis;
        let mut silence = Silence::new(ms(500));
        // At, heartbeat, silent for; `None` = the log could not be read.
        let rows = [
            (0, Some(beat(3, 1, false)), Some(0)),
            (250, Some(beat(3, 1, false)), Some(250)),
            (500, Some(beat(3, 2, false)), Some(0)),
            (750, Some(beat(3, 2, false)), Some(250)),
            // The host was suspended: one look adds at most the longest step.
            (60_000, Some(beat(3, 2, false)), Some(750)),
            (60_100, None, None),
            (60_200, Some(beat(3, 2, false)), Some(0)),
            (60_400, Some(beat(3, 2, false)), Some(200)),
            // A leader of an earlier term that does not know yet.
            (60_600, Some(beat(2, 9, false)), Some(400)),
            (60_800, Some(beat(3, 3, true)), Some(600)),
            (61_000, Some(beat(4, 1, false)), Some(0)),
        ];
        for (at, seen, silent) in rows {
            match silent {
                Some(silent) => {
                    let counted = silence.look(ms(at), seen.as_ref(), 3);
                    assert_eq!(counted, ms(silent), "at {at}");
                }
                None => silence.reset(),
            }
        }
    }
}
