//! Latencies of one run's requests, each from its due time.

use hdrhistogram::Histogram;

use super::clock::SECOND;
use super::request_mix::RequestKind;

/// Longer times are clamped to this: a minute.
const LONGEST: u64 = 60 * SECOND;

/// Histogram up to a minute with three digits.
pub(super) fn histogram() -> Histogram<u64> {
    Histogram::new_with_max(LONGEST, 3).expect("the bounds are sound")
}

/// Latencies of the requests due from `begin` on; earlier ones are the warm-up.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct LatencyRecord {
    begin: u64,
    kinds: [Histogram<u64>; RequestKind::ALL.len()],
    /// By the second in which a request was due.
    pub(super) seconds: Vec<Histogram<u64>>,
    /// Generator lateness for requests that could be sent at once.
    pub(super) lateness: Histogram<u64>,
    pub(super) answered: u64,
    pub(super) unanswered: u64,
    /// Times of the first and the last answer.
    first: u64,
    last: u64,
    /// When the last request was due.
    last_due: u64,
}

impl LatencyRecord {
    pub(super) fn new(begin: u64) -> Self {
        Self {
            begin,
            kinds: std::array::from_fn(|_| histogram()),
            seconds: Vec::new(),
            lateness: histogram(),
            answered: 0,
            unanswered: 0,
            first: u64::MAX,
            last: begin,
            last_due: begin,
        }
    }

    fn note(&mut self, kind: RequestKind, due: u64, until: u64) -> bool {
        let Some(since_begin) = due.checked_sub(self.begin) else {
            return false;
        };
        self.last_due = self.last_due.max(due);
        let took = until.saturating_sub(due);
        self.kinds[kind as usize].saturating_record(took);
        let second = usize::try_from(since_begin / SECOND).unwrap_or(usize::MAX);
        while self.seconds.len() <= second {
            self.seconds.push(histogram());
        }
        self.seconds[second].saturating_record(took);
        true
    }

    pub(super) fn answered(&mut self, kind: RequestKind, due: u64, done: u64) {
        if self.note(kind, due, done) {
            self.answered += 1;
            self.first = self.first.min(done);
            self.last = self.last.max(done);
        }
    }

    /// Records an unanswered request with its wait so far.
    pub(super) fn unanswered(&mut self, kind: RequestKind, due: u64, now: u64) {
        if self.note(kind, due, now) {
            self.unanswered += 1;
        }
    }

    /// Records that a request was sent `late` nanoseconds after it could have been.
    pub(super) fn sent(&mut self, due: u64, late: u64) {
        if due >= self.begin {
            self.lateness.saturating_record(late);
        }
    }

    /// Adds the figures of another sender.
    pub(super) fn add(&mut self, other: &Self) {
        let same = "all have the same bounds";
        for (kind, others) in self.kinds.iter_mut().zip(&other.kinds) {
            kind.add(others).expect(same);
        }
        while self.seconds.len() < other.seconds.len() {
            self.seconds.push(histogram());
        }
        for (second, others) in self.seconds.iter_mut().zip(&other.seconds) {
            second.add(others).expect(same);
        }
        self.lateness.add(&other.lateness).expect(same);
        self.answered += other.answered;
        self.unanswered += other.unanswered;
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.last_due = self.last_due.max(other.last_due);
    }

    /// Answers per second, from the first to the last.
    #[allow(
        clippy::cast_precision_loss,
        reason = "counts and times far below 2^53"
    )]
    pub(super) fn achieved(&self) -> f64 {
        let took = self.last.saturating_sub(self.first).max(1);
        self.answered.saturating_sub(1) as f64 * SECOND as f64 / took as f64
    }

    /// Time from the last due request to the last answer.
    pub(super) fn overtime(&self) -> u64 {
        self.last.saturating_sub(self.last_due)
    }

    /// Latencies of all requests.
    pub(super) fn all(&self) -> Histogram<u64> {
        let mut all = histogram();
        for kind in &self.kinds {
            all.add(kind).expect("all have the same bounds");
        }
        all
    }

    /// Latencies of the kinds that were sent.
    pub(super) fn kinds(&self) -> impl Iterator<Item = (RequestKind, &Histogram<u64>)> {
        let kinds = RequestKind::ALL.into_iter().zip(&self.kinds);
        kinds.filter(|(_, times)| !times.is_empty())
    }

    /// Latencies of orders: single ones if any, else batches, else the next kind that was sent.
    pub(super) fn orders(&self) -> &Histogram<u64> {
        let first = self.kinds().next();
        first.map_or(&self.kinds[0], |(_, times)| times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latency_starts_at_the_due_time_even_without_an_answer() {
        let mut record = LatencyRecord::new(10 * SECOND);
        record.answered(RequestKind::Place, 9 * SECOND, 11 * SECOND);
        record.answered(RequestKind::Place, 10 * SECOND, 10 * SECOND + 1_000);
        record.answered(RequestKind::Read, 12 * SECOND, 12 * SECOND + 1_000);
        let mut other = LatencyRecord::new(10 * SECOND);
        other.unanswered(RequestKind::Read, 11 * SECOND, 14 * SECOND);
        record.add(&other);
        assert_eq!((record.answered, record.unanswered), (2, 1));
        assert_eq!(record.all().len(), 3);
        assert!(record.all().max() >= 3 * SECOND);
        assert_eq!(record.kinds().count(), 2);
        // One answer in the two seconds after the first.
        assert!((record.achieved() - 0.5).abs() < 0.01);
        assert_eq!(record.overtime(), 1_000);
        let counts: Vec<_> = record.seconds.iter().map(Histogram::len).collect();
        assert_eq!(counts, [1, 1, 1]);
    }
}
