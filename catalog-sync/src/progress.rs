//! What a person at a terminal sees of long work; nothing elsewhere.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// How often the line is drawn anew while nothing arrives.
const TICK: Duration = Duration::from_millis(200);

/// A line on standard error that says what is being done and how far it is.
#[derive(Clone, Debug)]
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A line that is drawn when standard error is a terminal.
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
        bar.enable_steady_tick(TICK);
        Self { bar }
    }

    /// A line that is never drawn.
    #[must_use]
    pub fn hidden() -> Self {
        Self {
            bar: ProgressBar::hidden(),
        }
    }

    /// Begins something, counting from zero.
    pub fn begin(&self, what: impl Into<String>) {
        self.bar.reset();
        self.bar.set_message(what.into());
    }

    /// So many records further.
    pub fn advance(&self, records: usize) {
        self.bar.inc(u64::try_from(records).unwrap_or(u64::MAX));
    }

    /// Says something above the line.
    pub fn say(&self, text: &str) {
        self.bar.suspend(|| tracing::warn!("{text}"));
    }

    /// Takes the line away.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}
