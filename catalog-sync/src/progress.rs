//! Progress of long work for a person at a terminal; no output elsewhere.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Redraw interval while nothing arrives.
const REDRAW_INTERVAL: Duration = Duration::from_millis(200);

/// A line on standard error with the current work and its count.
#[derive(Clone, Debug)]
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A line that is drawn if standard error is a terminal.
    #[must_use]
    pub fn on_terminal() -> Self {
        let bar = ProgressBar::new_spinner();
        let style = ProgressStyle::with_template(
            "{spinner} {msg}: {human_pos} records, {per_sec}, {elapsed}",
        );
        let bar = match style {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        };
        bar.enable_steady_tick(REDRAW_INTERVAL);
        Self { bar }
    }

    /// A line that is never drawn.
    #[must_use]
    pub fn hidden() -> Self {
        Self {
            bar: ProgressBar::hidden(),
        }
    }

    /// Starts a piece of work with a count of zero.
    pub fn begin(&self, what: impl Into<String>) {
        self.bar.reset();
        self.bar.set_message(what.into());
    }

    /// Adds `records` to the count.
    pub fn advance(&self, records: usize) {
        self.bar.inc(u64::try_from(records).unwrap_or(u64::MAX));
    }

    /// Prints a warning above the line.
    pub fn warn(&self, text: &str) {
        self.bar.suspend(|| tracing::warn!("{text}"));
    }

    /// Removes the line.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}
