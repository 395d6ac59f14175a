//! Lists of trades, and how far a page that is looked for has come in them.

use foretell_model::{AccountNumber, Lots, MarketNumber, Micros};
use foretell_view::{Sought, ToldSlots, View};

/// A list of trades that is looked through from new to old, under several holds of the view's lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    of: Of,
    /// How many of its oldest are still ahead: places stay what they are while a list grows.
    pub(super) ahead: usize,
}

/// Which trades.
#[derive(Clone, Copy, Debug)]
pub(super) enum Of {
    All,
    Account(AccountNumber),
    Market(MarketNumber),
}

impl List {
    /// All of a list.
    pub(super) fn of(view: &View, of: Of) -> Self {
        let ahead = of.trades(view).len();
        Self { of, ahead }
    }

    /// What is left of it.
    pub(super) fn left<'v>(&self, view: &'v View) -> ToldSlots<'v> {
        self.of.trades(view).oldest(self.ahead)
    }

    /// How many rows it has, as far as what is sought is known by number: at least those that are sought.
    pub(super) fn rows(&self, view: &View, sought: Sought<'_>) -> usize {
        let counted = Sought {
            lots: Lots::default(),
            value: Micros::default(),
            markets: None,
            ..sought
        };
        let mut left = usize::MAX;
        self.left(view).search(counted).pass(&mut left);
        usize::MAX - left
    }

    /// Passes over trades as long as their rows are no more than `rows`, of which they are taken; only
    /// where all that is sought is known by number.
    pub(super) fn pass(&mut self, view: &View, sought: Sought<'_>, rows: &mut usize) {
        let mut search = self.left(view).search(sought);
        search.pass(rows);
        self.ahead = search.ahead();
    }
}

impl Of {
    fn trades(self, view: &View) -> ToldSlots<'_> {
        let trades = view.trades();
        match self {
            Self::All => trades.told(),
            Self::Account(account) => trades.of_account(account),
            Self::Market(market) => trades.of_market(market),
        }
    }
}
