//! How long each stage of a request's way takes, in nanoseconds: since the process started, in the
//! last whole second, and second by second in a file (HdrHistogram log, version 2).
//!
//! The engine and every gateway measure their own stages with this. Whoever records never waits
//! for whoever reads.

mod durations;
mod recorder;
mod seconds;

use core::fmt::Debug;

pub use durations::{Durations, Told};
pub use recorder::Recorder;
pub use seconds::{Seconds, StageLog};

/// The stages of one kind of process, numbered from 0.
pub trait Stages: Copy + Eq + Debug + Send + Sync + 'static {
    /// Every stage, in the order a request passes them; each stands at its own number.
    const ALL: &'static [Self];

    /// Its number.
    fn number(self) -> usize;

    /// Its name in logs and metrics.
    fn name(self) -> &'static str;
}

impl Stages for foretell_link::Stage {
    const ALL: &'static [Self] = &Self::ALL;

    fn number(self) -> usize {
        self as usize
    }

    fn name(self) -> &'static str {
        Self::name(self)
    }
}
