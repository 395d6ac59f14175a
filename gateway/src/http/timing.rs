//! Stage durations of requests: histograms of the process, and `Server-Timing` (W3C) in an answer
//! when its client sends `x-server-timing`.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use foretell_link::{Reply, Timing as EngineTiming};
use foretell_stages::{Durations, Stages};
use http::{HeaderName, HeaderValue};
use parking_lot::Mutex;

/// Request header that, with any value, asks for the request's durations.
pub(crate) const X_SERVER_TIMING: HeaderName = HeaderName::from_static("x-server-timing");
/// Response header with the durations.
pub(crate) const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// A stage of a write in the gateway.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// The credentials: window, key, HMAC.
    Hmac,
    /// Parsing the body.
    Parse,
    /// The check of an order's signature, including the wait for its turn.
    Signature,
    /// From sending a command to the engine until its reply.
    Submit,
}

impl Stages for Stage {
    const ALL: &'static [Self] = &[Self::Hmac, Self::Parse, Self::Signature, Self::Submit];

    fn number(self) -> usize {
        self as usize
    }

    fn name(self) -> &'static str {
        match self {
            Self::Hmac => "hmac",
            Self::Parse => "parse",
            Self::Signature => "signature",
            Self::Submit => "submit",
        }
    }
}

/// The durations of one request. In a batch the signatures are summed, and of the engine's waits
/// the longest counts.
pub(crate) struct Timing {
    durations: Arc<Durations<Stage>>,
    began: Instant,
    noted: Mutex<RecordedTimes>,
    acted: AtomicBool,
}

#[derive(Clone, Copy, Default)]
struct RecordedTimes {
    /// Indexed in the order of [`Stages::ALL`].
    stages: [Option<Duration>; 4],
    engine: EngineTiming,
}

impl Timing {
    pub(crate) fn new(durations: &Arc<Durations<Stage>>, began: Instant) -> Arc<Self> {
        Arc::new(Self {
            durations: Arc::clone(durations),
            began,
            noted: Mutex::default(),
            acted: AtomicBool::new(false),
        })
    }

    /// The time at which the request's head was complete.
    pub(crate) fn began(&self) -> Instant {
        self.began
    }

    /// Records a stage that began at `since` and ends now.
    pub(crate) fn note(&self, stage: Stage, since: Instant) {
        let took = since.elapsed();
        self.durations.record(stage, nanos(took));
        let noted = &mut self.noted.lock().stages[stage.number()];
        *noted = Some(noted.unwrap_or_default() + took);
    }

    pub(crate) fn measure<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let result = work();
        self.note(stage, began);
        result
    }

    /// Records that a command of the request was sent to the engine.
    pub(crate) fn submitted(&self) {
        self.acted.store(true, Relaxed);
    }

    /// Whether the request may have changed state.
    pub(crate) fn has_acted(&self) -> bool {
        self.acted.load(Relaxed)
    }

    /// Records the engine's reply to a command sent at `sent`.
    pub(crate) fn answered(&self, sent: Instant, reply: &Reply) {
        let took = sent.elapsed();
        self.durations.record(Stage::Submit, nanos(took));
        let mut noted = self.noted.lock();
        let longest = &mut noted.stages[Stage::Submit.number()];
        if longest.is_none_or(|longest| longest < took) {
            *longest = Some(took);
            noted.engine = reply.timing;
        }
    }

    /// The stages by name in milliseconds, the engine's stages within `submit`, and the total. A
    /// request with invalid credentials gets only the total, which it can measure itself.
    pub(crate) fn server_timing(&self) -> HeaderValue {
        let noted = *self.noted.lock();
        let mut text = String::new();
        if noted.stages[Stage::Hmac.number()].is_some() {
            for stage in Stage::ALL {
                if let Some(took) = noted.stages[stage.number()] {
                    entry(&mut text, stage.name(), took);
                }
            }
            if noted.stages[Stage::Submit.number()].is_some() {
                let EngineTiming {
                    ring_wait,
                    apply,
                    encode,
                    sync_wait,
                } = noted.engine;
                let engine = [
                    (foretell_link::Stage::RingWait, ring_wait),
                    (foretell_link::Stage::Apply, apply),
                    (foretell_link::Stage::Encode, encode),
                    (foretell_link::Stage::SyncWait, sync_wait),
                ];
                for (stage, took) in engine {
                    entry(&mut text, stage.name(), Duration::from_nanos(took.into()));
                }
            }
        }
        entry(&mut text, "total", self.began.elapsed());
        HeaderValue::from_str(&text).expect("words and numbers")
    }
}

fn entry(text: &mut String, name: &str, took: Duration) {
    let comma = if text.is_empty() { "" } else { ", " };
    let millis = took.as_secs_f64() * 1_000.0;
    write!(text, "{comma}{name};dur={millis:.6}").expect("a String takes every write");
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use foretell_model::{CommandOutcome, FramePosition, Sequence, Verdict};

    use super::*;

    fn reply(apply: u32) -> Reply {
        Reply {
            request: 0,
            verdict: Verdict::Applied(CommandOutcome::Done),
            sequence: Sequence(1),
            last_sequence: Sequence(1),
            epoch: 1,
            place: FramePosition::default(),
            timing: EngineTiming {
                ring_wait: 1,
                apply,
                encode: 3_000,
                sync_wait: 4_000_000,
            },
        }
    }

    fn names(timing: &Timing) -> Vec<String> {
        let text = timing.server_timing();
        let entries = text.to_str().expect("ASCII").split(", ");
        entries
            .map(|entry| entry.split(";dur=").next().expect("a name").to_owned())
            .collect()
    }

    #[test]
    fn an_answer_names_the_stages_it_passed() {
        let durations = Arc::default();
        let began = Instant::now();
        let timing = Timing::new(&durations, began);
        timing.measure(Stage::Parse, || ());
        assert_eq!(names(&timing), ["total"], "nobody has proved who asks");
        timing.note(Stage::Hmac, began);
        assert_eq!(names(&timing), ["hmac", "parse", "total"]);
        timing.note(Stage::Signature, began);
        let earlier = began.checked_sub(Duration::from_secs(1)).expect("uptime");
        timing.answered(earlier, &reply(2_000));
        timing.answered(Instant::now(), &reply(9_000));
        let every = [
            "hmac",
            "parse",
            "signature",
            "submit",
            "ring_wait",
            "apply",
            "encode",
            "sync_wait",
            "total",
        ];
        assert_eq!(names(&timing), every);
        let text = timing.server_timing();
        let text = text.to_str().expect("ASCII");
        assert!(
            text.contains("ring_wait;dur=0.000001, apply;dur=0.002000, encode;dur=0.003000, sync_wait;dur=4.000000"),
            "of the command that took longest: {text}"
        );
        let submits = durations.summaries()[Stage::Submit.number()].since_start;
        assert_eq!(submits.count, 2, "each command counts");
    }
}
