//! Lists of trades, and how far a page that is looked for has come in them.

use std::ops::ControlFlow;

use foretell_model::{AccountNumber, MarketNumber, TimeNs};
use foretell_view::{Merged, Paused, Sought, ToldSlots, TradeSlot, View, pass_newest};

use crate::resources::data::LOOKS;

/// Trades of each of several lists that are found before they are asked for.
const BEFOREHAND: usize = 16;
/// Parts of a single list that are looked through at once for what few of its trades meet: nearly every
/// look waits for memory, and a processor can wait for about so many.
const WAYS: usize = 8;
/// Trades of all those parts: some at first, for a page is often short, then more and more.
const FIRST_WINDOW: usize = 1_024;
const LAST_WINDOW: usize = 262_144;

/// Lists that share no trade, looked through as one from new to old, under several holds of the view's
/// lock.
#[derive(Debug)]
pub(super) struct Lists {
    /// Those looked through now.
    all: Vec<List>,
    /// What comes behind them.
    older: Option<List>,
    beforehand: usize,
    /// Trades cut off for the parts so far.
    searched: usize,
    /// Trades of the last window, and the rows found in it.
    last: (usize, usize),
    /// How far they were looked through under the last hold.
    paused: Option<Paused>,
}

/// A part of a list.
#[derive(Clone, Copy, Debug)]
struct List {
    of: Of,
    /// Places from its oldest: they stay what they are while it grows.
    from: usize,
    /// Where what is still ahead ends.
    to: usize,
}

/// Which trades.
#[derive(Clone, Copy, Debug)]
enum Of {
    All,
    Account(AccountNumber),
    Market(MarketNumber),
    AccountIn(AccountNumber, MarketNumber),
}

impl Lists {
    /// The trades of a wallet, or of everybody, in some markets, or in all.
    pub(super) fn of(
        view: &View,
        user: Option<AccountNumber>,
        markets: Option<&[MarketNumber]>,
    ) -> Self {
        let whole = |of: Of| List {
            of,
            from: 0,
            to: of.trades(view).len(),
        };
        let in_market = |market: &MarketNumber| match user {
            Some(user) => Of::AccountIn(user, *market),
            None => Of::Market(*market),
        };
        let lists = match (markets, user) {
            (Some(markets), _) => markets.iter().map(in_market).map(whole).collect(),
            (None, Some(user)) => vec![whole(Of::Account(user))],
            (None, None) => vec![whole(Of::All)],
        };
        Self::through(lists)
    }

    fn through(all: Vec<List>) -> Self {
        let all = all.into_iter().filter(|list| list.to > 0);
        Self {
            all: all.collect(),
            older: None,
            beforehand: BEFOREHAND,
            searched: 0,
            last: (0, 0),
            paused: None,
        }
    }

    /// Nothing.
    pub(super) fn none() -> Self {
        Self::through(Vec::new())
    }

    /// Only what happened from `from` on and before `before`.
    pub(super) fn within(mut self, view: &View, from: TimeNs, before: TimeNs) -> Self {
        for list in &mut self.all {
            let all = list.of.trades(view);
            let earlier_than = |time| view.trades_within(all, TimeNs(0), time).len();
            list.to = earlier_than(before);
            list.from = earlier_than(from).min(list.to);
        }
        self
    }

    /// How many rows there are, where nothing is sought that is not known by number.
    pub(super) fn rows(&self, view: &View, sought: Sought<'_>) -> usize {
        let of_list = |list: ToldSlots<'_>| {
            let mut left = usize::MAX;
            list.search(sought).pass(&mut left);
            usize::MAX - left
        };
        self.left(view).map(of_list).sum()
    }

    /// Passes over the newest trades as far as their rows are known by number and no more than `rows`,
    /// of which they are taken.
    pub(super) fn pass(&mut self, view: &View, sought: Sought<'_>, rows: &mut usize) {
        let ahead = pass_newest(self.left(view), sought, rows);
        for (list, ahead) in self.all.iter_mut().zip(ahead) {
            list.to = list.from + ahead;
        }
    }

    /// Leaves out as many of the oldest of `rows` rows; how many, for that is none where a trade has more
    /// rows than one.
    pub(super) fn leave_out(
        &mut self,
        view: &View,
        sought: Sought<'_>,
        (rows, oldest): (usize, usize),
    ) -> usize {
        let oldest = oldest.min(rows);
        let mut newer = rows - oldest;
        let ahead = pass_newest(self.left(view), sought, &mut newer);
        if newer > 0 {
            return 0;
        }
        for (list, ahead) in self.all.iter_mut().zip(ahead) {
            list.from += ahead;
        }
        oldest
    }

    /// Goes on to the rows that are sought, from new to old, as far as the view may be held or until
    /// `take` breaks, as it will after about `needed` rows; true when nothing is left.
    pub(super) fn find(
        &mut self,
        view: &View,
        sought: Sought<'_>,
        needed: usize,
        mut take: impl FnMut(TradeSlot, [bool; 2]) -> ControlFlow<()>,
    ) -> bool {
        let paused = self.paused.take();
        if paused.is_none() && !sought.is_counted() {
            self.cut(needed);
        }
        let reach = (self.beforehand, LOOKS);
        let mut found = match paused {
            None => Merged::new(self.left(view), sought, reach),
            Some(paused) => Merged::resume(self.left(view), sought, paused, reach),
        };
        let (_, rows_found) = &mut self.last;
        let is_broken = found.try_for_each(|(slot, rows)| {
            *rows_found += rows.iter().filter(|is_meant| **is_meant).count();
            take(slot, rows)
        });
        if is_broken.is_break() || found.is_stuck() {
            self.paused = Some(found.pause());
            return false;
        }
        self.all.clear();
        self.all.extend(self.older.take());
        self.all.is_empty()
    }

    /// Cuts the newest part of a single list, of which few trades may be meant, into several, to look
    /// through them at once.
    fn cut(&mut self, needed: usize) {
        let [list] = self.all[..] else {
            return;
        };
        let start = list.to.saturating_sub(self.window(needed)).max(list.from);
        self.last = (list.to - start, 0);
        self.searched += list.to - start;
        let stride = (list.to - start).div_ceil(WAYS).max(1);
        let starts = (start..list.to).step_by(stride);
        let part = |from: usize| List {
            from,
            to: list.to.min(from + stride),
            ..list
        };
        self.all = starts.map(part).collect();
        let older = List { to: start, ..list };
        self.older = (older.from < older.to).then_some(older);
        self.beforehand = usize::MAX;
    }

    /// As many trades as were looked through before, but not many more than will hold what is needed if
    /// they are like the last: what a page does not need is looked through in vain.
    fn window(&self, needed: usize) -> usize {
        let as_before = self.searched.clamp(FIRST_WINDOW, LAST_WINDOW);
        let (last, found) = self.last;
        let enough = needed.saturating_mul(last).checked_div(found);
        enough.map_or(as_before, |enough| {
            as_before.min(enough + enough / 16 + FIRST_WINDOW)
        })
    }

    fn left<'v>(&self, view: &'v View) -> impl Iterator<Item = ToldSlots<'v>> {
        let left = |list: &List| list.of.trades(view).between(list.from, list.to);
        self.all.iter().map(left)
    }
}

impl Of {
    fn trades(self, view: &View) -> ToldSlots<'_> {
        let trades = view.trades();
        match self {
            Self::All => trades.told(),
            Self::Account(account) => trades.of_account(account),
            Self::Market(market) => trades.of_market(market),
            Self::AccountIn(account, market) => trades.of_account_in(account, market),
        }
    }
}
