//! Price history: the points of one token and bucket length (docs/api/market-data.md §4).

use foretell_model::{MarketNumber, Outcome};

use crate::rows::midpoints::{
    BucketSize, CurrentMidpoint, Midpoint, MidpointChange, list_of, minute_of,
};
use crate::storage::listed_log::ListedLog;
use crate::storage::slot::count;
use crate::view::View;

/// A bucket with a midpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PricePoint {
    /// Its start, in unix seconds.
    pub start: u64,
    /// The midpoint of the requested token at its end; for the newest bucket, the current one.
    pub midpoint: Midpoint,
}

/// Consecutive buckets of a token's price history, from the first with a midpoint to the close of
/// the market.
#[derive(Clone, Copy, Debug)]
pub struct PriceHistory<'a> {
    changes: &'a ListedLog<MidpointChange>,
    /// The list of the changes of its market, in buckets of the stored size.
    list: usize,
    current: CurrentMidpoint,
    /// The buckets of which rows are kept.
    stored: BucketSize,
    /// Length of a bucket, a multiple of the stored ones.
    minutes: u32,
    outcome: Outcome,
    /// The first requested bucket that can have a point.
    first: u32,
    /// The bucket after the last.
    end: u32,
}

impl View {
    /// The price history of a token in buckets of some minutes, at least one: those that start in `from..=to` (unix
    /// seconds), and at least the one that contains `to`; none when `from` is after `to`. `to` must
    /// not be after now, because the current midpoint is extended to it. `None` when there is no such
    /// market.
    #[must_use]
    pub fn price_history(
        &self,
        market: MarketNumber,
        outcome: Outcome,
        minutes: u32,
        (from, to): (u64, u64),
    ) -> Option<PriceHistory<'_>> {
        let closed = self.markets.get(market)?.closed.map(minute_of);
        let current = *self.midpoints().current.get(market)?;
        let minutes = minutes.max(1);
        let stored = BucketSize::dividing(minutes);
        let mut history = PriceHistory {
            changes: &self.midpoints().changes,
            list: list_of(market, stored),
            current,
            stored,
            minutes,
            outcome,
            first: 0,
            end: 0,
        };
        let seconds = u64::from(minutes) * 60;
        let bucket = |number: u64| u32::try_from(number).unwrap_or(u32::MAX - 1);
        let (begins, ends) = (bucket(from.div_ceil(seconds)), bucket(to / seconds));
        let known = match history.change(0) {
            Some(change) => Some(change.bucket),
            None => current.midpoint.map(|_| history.open().bucket),
        };
        let last = closed.map_or(ends, |minute| ends.min(minute / minutes));
        if let Some(known) = known.filter(|_| from <= to) {
            history.first = begins.min(ends).max(known);
            history.end = (last + 1).max(history.first);
        }
        Some(history)
    }
}

impl PriceHistory<'_> {
    /// Number of buckets; there are no more points than this.
    #[must_use]
    pub fn buckets(&self) -> usize {
        (self.end - self.first) as usize
    }

    /// The buckets, or the stored changes in them if these are more: the cost of [`Self::points`].
    #[must_use]
    pub fn visits(&self) -> usize {
        let rows = self.changes_until(self.end) - self.changes_until(self.first);
        self.buckets().max(count(rows))
    }

    /// The buckets that end with a two-sided book, ascending.
    #[must_use]
    pub fn points(&self) -> Vec<PricePoint> {
        let mut points = Vec::with_capacity(self.buckets());
        let mut end = self.end;
        for change in std::iter::once(self.open()).chain(self.changes_before(end)) {
            if change.bucket < end {
                let from = change.bucket.max(self.first);
                if let Some(midpoint) = change.midpoint {
                    points.extend((from..end).rev().map(|bucket| self.point(bucket, midpoint)));
                }
                end = from;
            }
            if end <= self.first {
                break;
            }
        }
        points.reverse();
        points
    }

    /// The first of [`Self::points`]; it visits no bucket after it.
    #[must_use]
    pub fn first(&self) -> Option<PricePoint> {
        let open = self.open();
        let mut bucket = self.first;
        while bucket < self.end {
            let is_open = open.bucket <= bucket;
            let rows = self.changes_until(bucket + 1);
            let stored = rows.checked_sub(1).and_then(|last| self.change(last));
            let change = if is_open { Some(open) } else { stored };
            if let Some(midpoint) = change.and_then(|change| change.midpoint) {
                return Some(self.point(bucket, midpoint));
            }
            if is_open {
                return None;
            }
            bucket = self
                .change(rows)
                .map_or(open.bucket, |change| change.bucket);
        }
        None
    }

    /// The newest point before or in the last bucket: of that bucket, or of the last before it that
    /// has a midpoint.
    #[must_use]
    pub fn last(&self) -> Option<PricePoint> {
        let mut end = self.end;
        for change in std::iter::once(self.open()).chain(self.changes_before(end)) {
            if change.bucket < end {
                if let Some(midpoint) = change.midpoint {
                    return (end > self.first).then(|| self.point(end - 1, midpoint));
                }
                end = change.bucket;
            }
        }
        None
    }

    /// The open bucket as a row.
    fn open(&self) -> MidpointChange {
        MidpointChange {
            bucket: self.current.minute / self.minutes,
            midpoint: self.current.midpoint,
        }
    }

    /// The change at an index, the oldest at 0.
    fn change(&self, index: u64) -> Option<MidpointChange> {
        let row = self.changes.get(self.list, index);
        row.map(|row| self.widened(row))
    }

    /// A row with the bucket that contains its stored one. Of several in a bucket the newest counts.
    fn widened(&self, row: MidpointChange) -> MidpointChange {
        let minute = row.bucket.saturating_mul(self.stored.minutes());
        MidpointChange {
            bucket: minute / self.minutes,
            ..row
        }
    }

    /// Rows of buckets before `end`, newest first.
    fn changes_before(&self, end: u32) -> impl Iterator<Item = MidpointChange> {
        let newest_first = (self.changes).newest_first(self.list, self.changes_until(end));
        newest_first.map(|row| self.widened(row))
    }

    /// Number of rows of buckets before `end`.
    fn changes_until(&self, end: u32) -> u64 {
        let before = |row: &MidpointChange| self.widened(*row).bucket < end;
        self.changes.count_while(self.list, before)
    }

    fn point(&self, bucket: u32, midpoint: Midpoint) -> PricePoint {
        PricePoint {
            start: u64::from(bucket) * u64::from(self.minutes) * 60,
            midpoint: match self.outcome {
                Outcome::Yes => midpoint,
                Outcome::No => midpoint.complement(),
            },
        }
    }
}
