//! A read view of a list of trades, or of a part of it.

use std::ops::ControlFlow;

use crate::rows::row_filter::RowFilter;
use crate::rows::trade_slot::TradeSlot;
use crate::rows::trade_summary::{SummaryFilter, TradeSummary};
use crate::storage::list::{List, Probe, Summary, Walk, WalkPosition};
use crate::storage::slot::count;

/// Trades of one list, oldest first. Reaching an index takes time logarithmic in the length of the
/// whole list.
#[derive(Clone, Copy, Debug)]
pub struct TradeList<'a, S: Summary = ()> {
    list: List<'a, S>,
    from: u64,
    to: u64,
}

/// Trades whose nodes have filter columns and summaries.
pub type FilterableTrades<'a> = TradeList<'a, TradeSummary>;

impl<'a, S: Summary> TradeList<'a, S> {
    /// A whole list.
    pub(crate) fn of(list: List<'a, S>) -> Self {
        Self {
            list,
            from: 0,
            to: list.len(),
        }
    }

    /// Number of trades.
    #[must_use]
    pub fn len(&self) -> usize {
        count(self.to - self.from)
    }

    /// Whether it has no trades.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.from == self.to
    }

    /// The trade at an index, the oldest at 0.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<TradeSlot> {
        let rank = self.from.checked_add(index as u64)?;
        if rank >= self.to {
            return None;
        }
        self.list.get(rank).map(TradeSlot)
    }

    /// All trades, newest first.
    pub fn newest_first(&self) -> impl Iterator<Item = TradeSlot> + use<'a, S> {
        let entries = self.list.newest_first(self.to);
        entries.take(self.len()).map(TradeSlot)
    }

    /// The trades with indexes `from..to`, the oldest at 0.
    #[must_use]
    pub fn between(self, from: usize, to: usize) -> Self {
        let at = |places: usize| self.from + places.min(self.len()) as u64;
        Self {
            from: at(from).min(at(to)),
            to: at(to),
            ..self
        }
    }

    /// The `count` oldest trades, or all if there are fewer.
    #[must_use]
    pub fn oldest(self, count: usize) -> Self {
        self.between(0, count)
    }

    /// The trades older than `bound`.
    #[must_use]
    pub fn older_than(self, bound: TradeSlot) -> Self {
        self.until(|slot| slot < bound)
    }

    /// The trades from the first that is not `early`, which must hold for a prefix of the list.
    pub(crate) fn since(self, early: impl Fn(TradeSlot) -> bool) -> Self {
        Self {
            from: self.point(early),
            ..self
        }
    }

    /// The trades before the first that is not `early`, which must hold for a prefix of the list.
    pub(crate) fn until(self, early: impl Fn(TradeSlot) -> bool) -> Self {
        Self {
            to: self.point(early),
            ..self
        }
    }

    fn point(&self, early: impl Fn(TradeSlot) -> bool) -> u64 {
        let point = self.list.partition_point(|target| early(TradeSlot(target)));
        point.clamp(self.from, self.to)
    }
}

impl<'a> FilterableTrades<'a> {
    /// Searches them for matching rows, newest first.
    #[must_use]
    pub fn search<'s>(&self, filter: RowFilter<'s>) -> TradeSearch<'a, 's> {
        self.search_along(Walk::of(self.list, (self.from, self.to)), filter)
    }

    /// Continues a search over the same trades.
    pub(crate) fn resume<'s>(
        &self,
        position: WalkPosition,
        filter: RowFilter<'s>,
    ) -> TradeSearch<'a, 's> {
        self.search_along(Walk::resume(self.list, position), filter)
    }

    fn search_along<'s>(
        &self,
        walk: Walk<'a, TradeSummary>,
        filter: RowFilter<'s>,
    ) -> TradeSearch<'a, 's> {
        TradeSearch {
            walk,
            from: self.from,
            summary_filter: SummaryFilter::of(&filter),
            filter,
        }
    }
}

/// A search over some trades, newest first; its position can be kept as a number.
#[derive(Clone, Debug)]
pub struct TradeSearch<'a, 's> {
    walk: Walk<'a, TradeSummary>,
    from: u64,
    summary_filter: SummaryFilter,
    filter: RowFilter<'s>,
}

/// A trade with a matching row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TradeMatch {
    /// The trade.
    pub(crate) slot: TradeSlot,
    /// Its index among the searched trades, the oldest at 0.
    pub(crate) place: usize,
    /// Whether the list has the taker's row and it matches; the same for the maker's.
    pub(crate) rows: [bool; 2],
}

impl TradeSearch<'_, '_> {
    /// The current position.
    pub(crate) fn position(&self) -> WalkPosition {
        self.walk.position()
    }

    /// Probes the next trade, or several at once, and returns a match. Breaks at the end.
    pub(crate) fn probe(&mut self) -> ControlFlow<(), Option<TradeMatch>> {
        let may_match = |summary: &TradeSummary| summary.may_match(&self.summary_filter);
        match self.walk.probe(may_match, |rows| self.filter.of(rows)) {
            Probe::Match(rank, target, rows) => ControlFlow::Continue(Some(TradeMatch {
                slot: TradeSlot(target),
                place: count(rank - self.from),
                rows,
            })),
            Probe::NoMatch => ControlFlow::Continue(None),
            Probe::End => ControlFlow::Break(()),
        }
    }

    /// The newest remaining trade, whether it matches or not.
    pub(crate) fn newest(&self) -> Option<TradeSlot> {
        self.walk.target().map(TradeSlot)
    }

    /// Number of oldest trades that remain.
    #[must_use]
    pub fn remaining(&self) -> usize {
        count(self.walk.end().saturating_sub(self.from))
    }

    /// Skips up to `rows` matching rows, whole trades only, and lowers `rows` by the number skipped,
    /// in time logarithmic in the length of the list. The stored counts cover filters by side and
    /// role; with any other filter it skips nothing.
    pub fn skip(&mut self, rows: &mut usize) {
        if self.filter.is_countable() {
            self.walk
                .skip(rows, |summary| summary.count(&self.summary_filter));
        }
    }
}
