//! A list of trades, or a part of one, as it stands.

use crate::list::List;
use crate::span::{Sought, Span};
use crate::trade::TradeSlot;

/// Trades that have something in common, oldest first; reaching any place takes time logarithmic
/// in the length of the whole list.
#[derive(Clone, Copy, Debug)]
pub struct Slots<'a> {
    list: List<'a, Span>,
    from: u32,
    to: u32,
}

impl<'a> Slots<'a> {
    /// A whole list.
    pub(crate) fn of(list: List<'a, Span>) -> Self {
        Self {
            list,
            from: 0,
            to: list.len(),
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        (self.to - self.from) as usize
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.from == self.to
    }

    /// The one at a place, the oldest at 0.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<TradeSlot> {
        let rank = u32::try_from(index).ok()?.checked_add(self.from)?;
        if rank >= self.to {
            return None;
        }
        self.list.get(rank).map(TradeSlot)
    }

    /// All of them, from new to old.
    pub fn newest_first(&self) -> impl Iterator<Item = TradeSlot> + use<'a> {
        let entries = self.list.newest_first(self.to);
        entries.take(self.len()).map(TradeSlot)
    }

    /// From new to old, those that may have what is looked for; what is left out has not.
    pub fn newest_first_of(&self, sought: Sought) -> impl Iterator<Item = TradeSlot> + use<'a> {
        let range = (self.from, self.to);
        let entries = self
            .list
            .newest_first_where(range, move |span| span.may_have(&sought));
        entries.map(TradeSlot)
    }

    /// Those from one place on, and before another, the oldest at 0.
    #[must_use]
    pub fn between(self, from: usize, to: usize) -> Self {
        let count = |places: usize| u32::try_from(places.min(self.len())).unwrap_or(u32::MAX);
        let at = |places: usize| self.from.saturating_add(count(places));
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

    fn point(&self, early: impl Fn(TradeSlot) -> bool) -> u32 {
        let point = self.list.partition_point(|target| early(TradeSlot(target)));
        point.clamp(self.from, self.to)
    }
}
