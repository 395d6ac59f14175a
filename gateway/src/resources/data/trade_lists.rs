//! Lists of trades, and the progress of a page's search in them.

use std::ops::ControlFlow;

use foretell_model::{AccountNumber, MarketNumber, Sequence, TimeNs, TradeIndex};
use foretell_view::{
    FilterableTrades, MergePosition, MergedSearch, RowFilter, TradeSlot, View, skip_newest,
};

use crate::resources::data::MAX_VISITED_ROWS;

/// Trades prefetched from each of several lists.
const PREFETCHED: usize = 16;
/// Parts of a single list searched in parallel when few trades match. Nearly every visit is a cache
/// miss, and a processor has about this many misses in flight.
const PARALLEL_SEEKS: usize = 8;
/// Trades of all those parts: few at first, because most pages are short, then growing.
const FIRST_WINDOW: usize = 1_024;
const LAST_WINDOW: usize = 262_144;

/// Disjoint lists of trades, searched as one from new to old over several lock holds.
#[derive(Debug)]
pub(crate) struct TradeLists {
    all: Vec<ListRange>,
    /// The older rest of a list that [`Self::split`] split; searched after `all`.
    older: Option<ListRange>,
    prefetched: usize,
    /// Number of trades in all windows so far.
    searched: usize,
    /// Trades of the last window, and the rows found in it.
    last: (usize, usize),
    /// Position of the search at the end of the last lock hold.
    paused: Option<MergePosition>,
}

#[derive(Clone, Copy, Debug)]
struct ListRange {
    of: TradeSelection,
    /// Positions from its oldest, which stay valid while it grows.
    from: usize,
    /// End of the part not yet visited.
    to: usize,
}

#[derive(Clone, Copy, Debug)]
enum TradeSelection {
    All,
    Account(AccountNumber),
    Market(MarketNumber),
    AccountIn(AccountNumber, MarketNumber),
}

impl TradeLists {
    /// The trades of one wallet or of all, in some markets or in all.
    pub(crate) fn of(
        view: &View,
        user: Option<AccountNumber>,
        markets: Option<&[MarketNumber]>,
    ) -> Self {
        let whole = |of: TradeSelection| ListRange {
            of,
            from: 0,
            to: of.trades(view).len(),
        };
        let in_market = |market: &MarketNumber| match user {
            Some(user) => TradeSelection::AccountIn(user, *market),
            None => TradeSelection::Market(*market),
        };
        let lists = match (markets, user) {
            (Some(markets), _) => markets.iter().map(in_market).map(whole).collect(),
            (None, Some(user)) => vec![whole(TradeSelection::Account(user))],
            (None, None) => vec![whole(TradeSelection::All)],
        };
        Self::from_ranges(lists)
    }

    fn from_ranges(all: Vec<ListRange>) -> Self {
        let all = all.into_iter().filter(|list| list.to > 0);
        Self {
            all: all.collect(),
            older: None,
            prefetched: PREFETCHED,
            searched: 0,
            last: (0, 0),
            paused: None,
        }
    }

    pub(crate) fn none() -> Self {
        Self::from_ranges(Vec::new())
    }

    /// Restricts to trades at or after `from` and before `before`.
    pub(crate) fn within(mut self, view: &View, from: TimeNs, before: TimeNs) -> Self {
        for list in &mut self.all {
            let all = list.of.trades(view);
            let earlier_than = |time| view.trades_within(all, TimeNs(0), time).len();
            list.to = earlier_than(before);
            list.from = earlier_than(from).min(list.to);
        }
        self
    }

    /// Restricts to trades before a fill of a frame.
    pub(crate) fn before(mut self, view: &View, fill: (Sequence, TradeIndex)) -> Self {
        for list in &mut self.all {
            list.to = list.to.min(list.count_before(view, fill)).max(list.from);
        }
        self
    }

    /// Restricts to trades from a fill of a frame on.
    pub(crate) fn since(mut self, view: &View, fill: (Sequence, TradeIndex)) -> Self {
        for list in &mut self.all {
            list.from = list.from.max(list.count_before(view, fill)).min(list.to);
        }
        self
    }

    /// The number of matching rows, if the filter needs only counted properties.
    pub(crate) fn count_rows(&self, view: &View, sought: RowFilter<'_>) -> usize {
        let of_list = |list: FilterableTrades<'_>| {
            let mut left = usize::MAX;
            list.search(sought).skip(&mut left);
            usize::MAX - left
        };
        self.remaining(view).map(of_list).sum()
    }

    /// Skips the newest trades as far as their row counts are known, at most `rows` rows, and
    /// subtracts these from `rows`.
    pub(crate) fn skip_newest(&mut self, view: &View, sought: RowFilter<'_>, rows: &mut usize) {
        let ahead = skip_newest(self.remaining(view), sought, rows);
        for (list, ahead) in self.all.iter_mut().zip(ahead) {
            list.to = list.from + ahead;
        }
    }

    /// Drops the `oldest` of `rows` rows and returns how many; none where a trade has more than one
    /// row.
    pub(crate) fn skip_oldest(
        &mut self,
        view: &View,
        sought: RowFilter<'_>,
        (rows, oldest): (usize, usize),
    ) -> usize {
        let oldest = oldest.min(rows);
        let mut newer = rows - oldest;
        let ahead = skip_newest(self.remaining(view), sought, &mut newer);
        if newer > 0 {
            return 0;
        }
        for (list, ahead) in self.all.iter_mut().zip(ahead) {
            list.from += ahead;
        }
        oldest
    }

    /// Passes matching rows to `take`, from new to old, until the lock hold's budget is used or
    /// `take` breaks, as it does after about `needed` rows; true at the end of the lists.
    pub(crate) fn find(
        &mut self,
        view: &View,
        sought: RowFilter<'_>,
        needed: usize,
        mut take: impl FnMut(TradeSlot, [bool; 2]) -> ControlFlow<()>,
    ) -> bool {
        let paused = self.paused.take();
        if paused.is_none() && !sought.is_countable() {
            self.split(needed);
        }
        let reach = (self.prefetched, MAX_VISITED_ROWS);
        let mut found = match paused {
            None => MergedSearch::new(self.remaining(view), sought, reach),
            Some(paused) => MergedSearch::resume(self.remaining(view), sought, paused, reach),
        };
        let (_, rows_found) = &mut self.last;
        let is_broken = found.try_for_each(|(slot, rows)| {
            *rows_found += rows.iter().filter(|is_meant| **is_meant).count();
            take(slot, rows)
        });
        if is_broken.is_break() || found.is_out_of_probes() {
            self.paused = Some(found.position());
            return false;
        }
        self.all.clear();
        self.all.extend(self.older.take());
        self.all.is_empty()
    }

    /// Splits the newest window of a single list into parts that are searched in parallel, because
    /// few trades may match.
    fn split(&mut self, needed: usize) {
        let [list] = self.all[..] else {
            return;
        };
        let start = list.to.saturating_sub(self.window(needed)).max(list.from);
        self.last = (list.to - start, 0);
        self.searched += list.to - start;
        let stride = (list.to - start).div_ceil(PARALLEL_SEEKS).max(1);
        let starts = (start..list.to).step_by(stride);
        let part = |from: usize| ListRange {
            from,
            to: list.to.min(from + stride),
            ..list
        };
        self.all = starts.map(part).collect();
        let older = ListRange { to: start, ..list };
        self.older = (older.from < older.to).then_some(older);
        self.prefetched = usize::MAX;
    }

    /// Size of the next window: as many trades as were searched before, but not many more than the
    /// match rate of the last window requires, because visits after the page's end are wasted.
    fn window(&self, needed: usize) -> usize {
        let as_before = self.searched.clamp(FIRST_WINDOW, LAST_WINDOW);
        let (last, found) = self.last;
        let enough = needed.saturating_mul(last).checked_div(found);
        enough.map_or(as_before, |enough| {
            as_before.min(enough + enough / 16 + FIRST_WINDOW)
        })
    }

    fn remaining<'v>(&self, view: &'v View) -> impl Iterator<Item = FilterableTrades<'v>> {
        let left = |list: &ListRange| list.of.trades(view).between(list.from, list.to);
        self.all.iter().map(left)
    }
}

impl ListRange {
    /// Number of trades of its whole list before a fill of a frame.
    fn count_before(&self, view: &View, fill: (Sequence, TradeIndex)) -> usize {
        view.trades_before(self.of.trades(view), fill).len()
    }
}

impl TradeSelection {
    fn trades(self, view: &View) -> FilterableTrades<'_> {
        let trades = view.trades();
        match self {
            Self::All => trades.filterable(),
            Self::Account(account) => trades.of_account(account),
            Self::Market(market) => trades.of_market(market),
            Self::AccountIn(account, market) => view.trades_of_account_in(account, market),
        }
    }
}
