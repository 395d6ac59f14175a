//! Durations of each stage of a request, in nanoseconds: since the process started, in the last
//! whole second, and per second in a file (HdrHistogram log, version 2).
//!
//! The engine and every gateway measure their own stages. [`Recorder`] never waits for readers.

mod durations;
mod recorder;
mod rotation;

use core::fmt::Debug;

pub use durations::{Durations, StageDurations};
pub use recorder::Recorder;
pub use rotation::{RotationThread, StageLog};

/// The stages of one kind of process, numbered from 0.
pub trait Stages: Copy + Eq + Debug + Send + Sync + 'static {
    /// Every stage, in processing order; each at the index of its number.
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
