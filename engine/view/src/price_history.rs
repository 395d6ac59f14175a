//! Price history: the points of one token and bucket size (protocol 11).

use foretell_model::{MarketNumber, Outcome};

use crate::list::List;
use crate::log::Log;
use crate::midpoints::{BucketSize, Current, Midpoint, Turn, minute_of};
use crate::view::View;

/// A bucket with a midpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PricePoint {
    /// Where it begins, in unix seconds.
    pub start: u64,
    /// The asked token's midpoint at its end; of the newest bucket, as it stands.
    pub midpoint: Midpoint,
}

/// Consecutive buckets of a token's price history: from the first that has a midpoint on, and not
/// past the close of the market.
#[derive(Clone, Copy, Debug)]
pub struct PriceHistory<'a> {
    turns: &'a Log<Turn>,
    list: List<'a>,
    current: Current,
    size: BucketSize,
    outcome: Outcome,
    /// The first bucket asked for that can have a point.
    first: u32,
    /// The bucket after the last.
    end: u32,
}

impl View {
    /// The price history of a token: the buckets that start in `from..=to` (unix seconds), but at
    /// least the one that `to` falls in; none when `from` is after `to`. `to` is not after now, for
    /// the midpoint that stands is carried on up to there. `None` when there is no such market.
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
        let list = self.midpoints.turns_of(market, size);
        let turns = &self.midpoints.turns;
        let seconds = u64::from(size.minutes()) * 60;
        let bucket = |number: u64| u32::try_from(number).unwrap_or(u32::MAX - 1);
        let (begins, ends) = (bucket(from.div_ceil(seconds)), bucket(to / seconds));

        let known = match list.get(0).and_then(|slot| turns.get(slot)) {
            Some(turn) => Some(turn.bucket),
            None => current.midpoint.map(|_| size.bucket(current.minute)),
        };
        let last = closed.map_or(ends, |minute| ends.min(size.bucket(minute)));
        let (first, end) = match known {
            Some(known) if from <= to => (begins.min(ends).max(known), last + 1),
            _ => (0, 0),
        };
        Some(PriceHistory {
            turns,
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
    /// How many buckets they are: no fewer than there are points.
    #[must_use]
    pub fn buckets(&self) -> usize {
        (self.end - self.first) as usize
    }

    /// The buckets that end with both sides of the book there, ascending. The work is that of
    /// [`Self::buckets`].
    #[must_use]
    pub fn points(&self) -> Vec<PricePoint> {
        let mut points = Vec::with_capacity(self.buckets());
        let mut end = self.end;
        let open = Turn {
            bucket: self.size.bucket(self.current.minute),
            midpoint: self.current.midpoint,
        };
        for turn in std::iter::once(open).chain(self.turns_before(end)) {
            if turn.bucket < end {
                let from = turn.bucket.max(self.first);
                if let Some(midpoint) = turn.midpoint {
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

    /// Turns in buckets before `end`, newest first.
    fn turns_before(&self, end: u32) -> impl Iterator<Item = Turn> {
        let turns = self.turns;
        let before = |slot| turns.get(slot).is_some_and(|turn| turn.bucket < end);
        let newest_first = self.list.newest_first(self.list.partition_point(before));
        newest_first.map_while(|slot| turns.get(slot))
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
