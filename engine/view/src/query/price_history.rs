//! Price history: the points of one token and bucket size (docs/api/market-data.md §4).

use foretell_model::{MarketNumber, Outcome};

use crate::rows::midpoints::{BucketSize, CurrentMidpoint, Midpoint, MidpointChange, minute_of};
use crate::storage::list::List;
use crate::storage::log::Log;
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
    changes: &'a Log<MidpointChange>,
    list: List<'a>,
    current: CurrentMidpoint,
    size: BucketSize,
    outcome: Outcome,
    /// The first requested bucket that can have a point.
    first: u32,
    /// The bucket after the last.
    end: u32,
}

impl View {
    /// The price history of a token: the buckets that start in `from..=to` (unix seconds), and at
    /// least the one that contains `to`; none when `from` is after `to`. `to` must not be after
    /// now, because the current midpoint is extended to it. `None` when there is no such market.
    #[must_use]
    pub fn price_history(
        &self,
        market: MarketNumber,
        outcome: Outcome,
        size: BucketSize,
        (from, to): (u64, u64),
    ) -> Option<PriceHistory<'_>> {
        let closed = self.markets.get(market)?.closed.map(minute_of);
        let current = *self.midpoints.current.get(market)?;
        let list = self.midpoints.changes_of(market, size);
        let changes = &self.midpoints.changes;
        let seconds = u64::from(size.minutes()) * 60;
        let bucket = |number: u64| u32::try_from(number).unwrap_or(u32::MAX - 1);
        let (begins, ends) = (bucket(from.div_ceil(seconds)), bucket(to / seconds));

        let known = match list.get(0).and_then(|slot| changes.get(slot)) {
            Some(change) => Some(change.bucket),
            None => current.midpoint.map(|_| size.bucket(current.minute)),
        };
        let last = closed.map_or(ends, |minute| ends.min(size.bucket(minute)));
        let (first, end) = match known {
            Some(known) if from <= to => (begins.min(ends).max(known), last + 1),
            _ => (0, 0),
        };
        Some(PriceHistory {
            changes,
            list,
            current,
            size,
            outcome,
            first,
            end: end.max(first),
        })
    }
}

impl PriceHistory<'_> {
    /// Number of buckets; there are no more points than this.
    #[must_use]
    pub fn buckets(&self) -> usize {
        (self.end - self.first) as usize
    }

    /// The buckets that end with a two-sided book, ascending. The cost is that of
    /// [`Self::buckets`].
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
            bucket: self.size.bucket(self.current.minute),
            midpoint: self.current.midpoint,
        }
    }

    /// Rows of buckets before `end`, newest first.
    fn changes_before(&self, end: u32) -> impl Iterator<Item = MidpointChange> {
        let changes = self.changes;
        let before = |slot| changes.get(slot).is_some_and(|change| change.bucket < end);
        let newest_first = self.list.newest_first(self.list.partition_point(before));
        newest_first.map_while(|slot| changes.get(slot))
    }

    fn point(&self, bucket: u32, midpoint: Midpoint) -> PricePoint {
        PricePoint {
            start: u64::from(bucket) * u64::from(self.size.minutes()) * 60,
            midpoint: match self.outcome {
                Outcome::Yes => midpoint,
                Outcome::No => midpoint.complement(),
            },
        }
    }
}
