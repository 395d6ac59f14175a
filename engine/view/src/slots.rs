//! A list of trades, or a part of one, as it stands.

use std::ops::ControlFlow;

use crate::list::{List, Look, Pause, Summary, Walk};
use crate::slot::count;
use crate::sought::Sought;
use crate::span::{Bounds, Span};
use crate::trade::TradeSlot;

/// Trades that have something in common, oldest first; reaching any place takes time logarithmic
/// in the length of the whole list.
#[derive(Clone, Copy, Debug)]
pub struct Slots<'a, S: Summary = ()> {
    list: List<'a, S>,
    from: u64,
    to: u64,
}

/// Trades whose rows can be filtered and counted where they are listed.
pub type ToldSlots<'a> = Slots<'a, Span>;

impl<'a, S: Summary> Slots<'a, S> {
    /// A whole list.
    pub(crate) fn of(list: List<'a, S>) -> Self {
        Self {
            list,
            from: 0,
            to: list.len(),
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        count(self.to - self.from)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.from == self.to
    }

    /// The one at a place, the oldest at 0.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<TradeSlot> {
        let rank = self.from.checked_add(index as u64)?;
        if rank >= self.to {
            return None;
        }
        self.list.get(rank).map(TradeSlot)
    }

    /// All of them, from new to old.
    pub fn newest_first(&self) -> impl Iterator<Item = TradeSlot> + use<'a, S> {
        let entries = self.list.newest_first(self.to);
        entries.take(self.len()).map(TradeSlot)
    }

    /// Those from one place on, and before another, the oldest at 0.
    #[must_use]
    pub fn between(self, from: usize, to: usize) -> Self {
        let at = |places: usize| self.from + places.min(self.len()) as u64;
        Self {
            from: at(from).min(at(to)),
            to: at(to),
            ..self
        }
    }

    /// The `count` oldest, or all when there are not so many.
    #[must_use]
    pub fn oldest(self, count: usize) -> Self {
        self.between(0, count)
    }

    /// Those older than a trade.
    #[must_use]
    pub fn older_than(self, bound: TradeSlot) -> Self {
        self.until(|slot| slot < bound)
    }

    /// Those from the first on that is not `early`, which none after it is.
    pub(crate) fn since(self, early: impl Fn(TradeSlot) -> bool) -> Self {
        Self {
            from: self.point(early),
            ..self
        }
    }

    /// Those before the first that is not `early`, which none after it is.
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

impl<'a> ToldSlots<'a> {
    /// Looks through them, from new to old, for rows that are sought.
    #[must_use]
    pub fn search<'s>(&self, sought: Sought<'s>) -> Search<'a, 's> {
        Search {
            walk: Walk::of(self.list, (self.from, self.to)),
            from: self.from,
            bounds: Bounds::of(&sought),
            sought,
        }
    }

    /// Goes on with a search through the same trades.
    pub(crate) fn resume<'s>(&self, pause: Pause, sought: Sought<'s>) -> Search<'a, 's> {
        Search {
            walk: Walk::resume(self.list, pause),
            from: self.from,
            bounds: Bounds::of(&sought),
            sought,
        }
    }
}

/// A way from new to old through some trades; where it came to can be kept as a number.
#[derive(Clone, Debug)]
pub struct Search<'a, 's> {
    walk: Walk<'a, Span>,
    from: u64,
    bounds: Bounds,
    sought: Sought<'s>,
}

/// A trade with a row that is sought.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    /// Which trade.
    pub(crate) slot: TradeSlot,
    /// Its place among those looked through, the oldest at 0.
    pub(crate) place: usize,
    /// Whether the taker's row is sought, and listed, and the maker's.
    pub(crate) rows: [bool; 2],
}

impl Search<'_, '_> {
    /// Where it would go on.
    pub(crate) fn pause(&self) -> Pause {
        self.walk.pause()
    }

    /// Looks at the next trade, or at several at once; what is found there. Breaks when nothing is left.
    pub(crate) fn look(&mut self) -> ControlFlow<(), Option<Found>> {
        let may_be = |span: &Span| span.may_have(&self.bounds);
        match self.walk.look(may_be, |rows| self.sought.of(rows)) {
            Look::Meant(rank, target, rows) => ControlFlow::Continue(Some(Found {
                slot: TradeSlot(target),
                place: count(rank - self.from),
                rows,
            })),
            Look::Passed => ControlFlow::Continue(None),
            Look::End => ControlFlow::Break(()),
        }
    }

    /// The newest trade that is still ahead, sought or not.
    pub(crate) fn newest(&self) -> Option<TradeSlot> {
        self.walk.target().map(TradeSlot)
    }

    /// How many of the oldest are still ahead.
    #[must_use]
    pub fn ahead(&self) -> usize {
        count(self.walk.end().saturating_sub(self.from))
    }

    /// Passes over trades as long as their rows are no more than `rows`, of which they are taken, in
    /// time logarithmic in the length of the list. Where more is sought than a side or takers nothing
    /// is known by number: nothing is passed over.
    pub fn pass(&mut self, rows: &mut usize) {
        if self.sought.is_counted() {
            self.walk.pass(rows, |span| span.count(&self.bounds));
        }
    }
}
