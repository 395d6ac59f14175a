//! Periodic terminal line with the bots' activity and response times.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

/// Interval between lines.
const EVERY: Duration = Duration::from_secs(5);
/// Largest response time in the histogram: one minute, in microseconds.
const LONGEST_MICROS: u64 = 60_000_000;

/// Counts of one period; prints nothing if standard error is not a terminal.
#[derive(Debug)]
pub(crate) struct Summary {
    began: Instant,
    orders: u64,
    trades: u64,
    answers: Histogram<u64>,
    shown: bool,
}

impl Summary {
    pub(crate) fn new() -> Self {
        let answers = Histogram::new_with_bounds(1, LONGEST_MICROS, 2)
            .expect("bounds and precision are constants the histogram takes");
        Self {
            began: Instant::now(),
            orders: 0,
            trades: 0,
            answers,
            shown: std::io::stderr().is_terminal(),
        }
    }

    /// Counts a response to this many orders with its trades and duration.
    pub(crate) fn note(&mut self, orders: usize, trades: usize, took: Duration) {
        self.orders += crate::output::count(orders);
        self.trades += crate::output::count(trades);
        let micros = u64::try_from(took.as_micros())
            .unwrap_or(u64::MAX)
            .clamp(1, LONGEST_MICROS);
        self.answers.saturating_record(micros);
    }

    /// Prints the line if it is due and starts the next period.
    pub(crate) fn draw_if_due(&mut self) {
        if self.began.elapsed() < EVERY {
            return;
        }
        if self.shown {
            // Trading continues if the terminal is gone.
            let _ = writeln!(std::io::stderr(), "{}", self.line());
        }
        (self.began, self.orders, self.trades) = (Instant::now(), 0, 0);
        self.answers.reset();
    }

    fn line(&self) -> String {
        let millis = |quantile: f64| self.answers.value_at_quantile(quantile) as f64 / 1_000.0;
        format!(
            "bots: {} orders, {} trades in {} s; answers p50 {:.2} ms, p99 {:.2} ms",
            self.orders,
            self.trades,
            EVERY.as_secs(),
            millis(0.5),
            millis(0.99)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_counts_and_quantiles() {
        let mut summary = Summary::new();
        for millis in 1..=100 {
            summary.note(2, 1, Duration::from_millis(millis));
        }
        let line = summary.line();
        assert!(
            line.starts_with("bots: 200 orders, 100 trades in 5 s; answers p50 50"),
            "{line}"
        );
        assert!(
            line.contains("p99 99") || line.contains("p99 100"),
            "{line}"
        );
    }
}
