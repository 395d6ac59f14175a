//! What one run's requests took, each from the time it was due.

use hdrhistogram::Histogram;

use super::clock::SECOND;
use super::mix::Kind;

/// Longer times count as this: a minute.
const LONGEST: u64 = 60 * SECOND;

/// Times of up to a minute, three digits each.
pub(super) fn histogram() -> Histogram<u64> {
    Histogram::new_with_max(LONGEST, 3).expect("the bounds are sound")
}

/// Latencies of the requests due from `begin` on; earlier ones are the warm-up.
pub(super) struct Record {
    begin: u64,
    kinds: [Histogram<u64>; Kind::ALL.len()],
    /// By the second in which a request was due.
    seconds: Vec<Histogram<u64>>,
    /// How late the generator itself sent what could be sent at once.
    lateness: Histogram<u64>,
    pub(super) answered: u64,
    pub(super) unanswered: u64,
    /// When the first and the last answer came.
    first: u64,
    last: u64,
    /// When the last request was due.
    last_due: u64,
}

impl Record {
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

    fn note(&mut self, kind: Kind, due: u64, until: u64) -> bool {
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

    /// An answer came.
    pub(super) fn answered(&mut self, kind: Kind, due: u64, done: u64) {
        if self.note(kind, due, done) {
            self.answered += 1;
            self.first = self.first.min(done);
            self.last = self.last.max(done);
        }
    }

    /// Nobody waits any longer for an answer: it counts with what it has waited.
    pub(super) fn unanswered(&mut self, kind: Kind, due: u64, now: u64) {
        if self.note(kind, due, now) {
            self.unanswered += 1;
        }
    }

    /// A request left `late` nanoseconds after it could have.
    pub(super) fn sent(&mut self, due: u64, late: u64) {
        if due >= self.begin {
            self.lateness.saturating_record(late);
        }
    }

    /// Takes the figures of another sender in.
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

    /// Answers a second, from the first to the last.
    #[allow(
        clippy::cast_precision_loss,
        reason = "counts and times far below 2^53"
    )]
    pub(super) fn achieved(&self) -> f64 {
        let took = self.last.saturating_sub(self.first).max(1);
        self.answered.saturating_sub(1) as f64 * SECOND as f64 / took as f64
    }

    /// From when the last request was due to the last answer.
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

    /// Latencies of each kind that was asked.
    pub(super) fn kinds(&self) -> Vec<(Kind, Histogram<u64>)> {
        let kinds = Kind::ALL.into_iter().zip(&self.kinds);
        let asked = kinds.filter(|(_, times)| !times.is_empty());
        asked.map(|(kind, times)| (kind, times.clone())).collect()
    }

    /// Latencies of all requests second by second, and the generator's lateness.
    pub(super) fn into_parts(self) -> (Vec<Histogram<u64>>, Histogram<u64>) {
        (self.seconds, self.lateness)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_due_counts_from_then_whether_it_was_answered_or_not() {
        let mut record = Record::new(10 * SECOND);
        record.answered(Kind::Place, 9 * SECOND, 11 * SECOND);
        record.answered(Kind::Place, 10 * SECOND, 10 * SECOND + 1_000);
        record.answered(Kind::Read, 12 * SECOND, 12 * SECOND + 1_000);
        let mut other = Record::new(10 * SECOND);
        other.unanswered(Kind::Read, 11 * SECOND, 14 * SECOND);
        record.add(&other);
        assert_eq!((record.answered, record.unanswered), (2, 1));
        assert_eq!(record.all().len(), 3);
        assert!(record.all().max() >= 3 * SECOND);
        assert_eq!(record.kinds().len(), 2);
        // One answer in the two seconds after the first.
        assert!((record.achieved() - 0.5).abs() < 0.01);
        assert_eq!(record.overtime(), 1_000);
        let (seconds, _) = record.into_parts();
        let counts: Vec<_> = seconds.iter().map(Histogram::len).collect();
        assert_eq!(counts, [1, 1, 1]);
    }
}
