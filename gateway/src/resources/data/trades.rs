//! `GET /trades`: fills, newest first.

use foretell_model::quantity::MICROS_PER_LOT;
use foretell_model::{AccountNumber, Lots, MarketNumber, Micros};
use foretell_view::{Merged, Sought, TradeSlot, View};
use foretell_wire::data::{Minimum, Rows, TradesQuery};

use crate::answer::{Answer, Place};
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::resources::data::fills::{Fill, Receipts};
use crate::resources::data::lists::{List, Of};
use crate::resources::data::named::Named;
use crate::resources::data::{LOOKS, Markets, account_of, parameters};

/// Rows written before others get their turn on the thread.
const WRITTEN: usize = 512;
/// Rows found under one hold of the view's lock.
const FOUND: usize = 2_048;
/// Looks at a list that take as long as reading a trade.
const LOOKS_OF_A_READ: usize = 4;
/// Several times those that take as long as finding the place in a list where the last step ended.
const LOOKS_OF_A_START: usize = 128;

/// `GET /trades`.
pub(crate) async fn list(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let wanted = parameters(&call, TradesQuery::of)?;
    app.fresh(&call).await?;
    let user = match wanted.user {
        None => None,
        Some(wallet) => match account_of(app, wallet).await? {
            Some(account) => Some(account),
            // Nobody has no trades.
            None => return Ok(Answer::json("[]").at(app.replica.read().place())),
        },
    };
    let mut search = Search {
        page: PageOfFills {
            skip: wanted.page.offset,
            limit: wanted.page.limit,
            named: Named::default(),
            found: Vec::new(),
        },
        asked: Asked {
            user,
            markets: Markets::of(app, &wanted.markets).await?,
            wanted,
        },
        lists: None,
        place: None,
    };
    while !search.step(app) {
        tokio::task::yield_now().await;
    }
    let found = &search.page.found;
    let mut rows = Rows::with_capacity(found.len());
    let (mut people, mut receipts) = (app.profiles.people(), Receipts::new(app));
    for fills in found.chunks(WRITTEN) {
        for fill in fills {
            fill.row(&mut people, &mut receipts).write(&mut rows);
        }
        tokio::task::yield_now().await;
    }
    let place = search.place.unwrap_or_else(|| app.replica.read().place());
    Ok(Answer::json(rows.finish()).at(place))
}

/// A page being looked for, from the newest trade backwards.
struct Search {
    asked: Asked,
    page: PageOfFills,
    /// Where rows are looked for, and how far that has come; `None` before the first step.
    lists: Option<Lists>,
    /// The state it began with.
    place: Option<Place>,
}

/// What is asked for.
struct Asked {
    user: Option<AccountNumber>,
    markets: Markets,
    wanted: TradesQuery,
}

/// Lists that hold every trade that is asked for, and what of it they do not tell by themselves.
struct Lists {
    all: Vec<List>,
    /// Their trades may be of other markets.
    has_other_markets: bool,
    /// Their rows may be those of others.
    has_others: bool,
}

impl Search {
    /// Looks at some thousand trades at most; true when that was all.
    fn step(&mut self, app: &App) -> bool {
        let state = app.replica.read();
        let view = &state.view;
        self.place.get_or_insert(state.place());
        let Self { asked, page, .. } = self;
        let lists = self.lists.get_or_insert_with(|| asked.lists(view, page));
        let user = asked.user.filter(|_| lists.has_others);
        let looks = match user {
            // To begin again in many lists takes as long as many looks.
            None => LOOKS.max(LOOKS_OF_A_START * lists.all.len()),
            Some(_) => LOOKS / LOOKS_OF_A_READ,
        };
        let enough = page.found.len() + FOUND;
        let sought = asked.sought(lists.has_other_markets);
        let left = lists.all.iter().map(|list| list.left(view));
        let mut merged = Merged::new(left, sought, looks);
        let is_all = loop {
            if page.is_full() {
                break true;
            }
            if page.found.len() >= enough {
                break false;
            }
            match merged.next() {
                Some(found) => page.consider(app, view, found, user),
                None => break !merged.is_stuck(),
            }
        };
        for (list, ahead) in lists.all.iter_mut().zip(merged.ahead()) {
            list.ahead = *ahead;
        }
        is_all
    }
}

impl Asked {
    /// The lists with the fewest rows of the side that hold all that is asked for. What of the page's offset is known by number
    /// they leave behind them.
    fn lists(&self, view: &View, page: &mut PageOfFills) -> Lists {
        let of_markets = self.of_markets(view);
        let of_user = self.user.map(|user| List::of(view, Of::Account(user)));
        let mut lists = match (of_user, of_markets) {
            (None, None) => Lists::exactly(vec![List::of(view, Of::All)]),
            (Some(user), None) => Lists::exactly(vec![user]),
            (None, Some(markets)) => Lists::exactly(markets),
            (Some(user), Some(markets)) => {
                let rows = |list: &List| list.rows(view, self.sought(false));
                let reads: usize = markets.iter().map(rows).sum();
                if reads.saturating_mul(LOOKS_OF_A_READ) < rows(&user) {
                    Lists {
                        has_others: true,
                        ..Lists::exactly(markets)
                    }
                } else {
                    Lists {
                        has_other_markets: true,
                        ..Lists::exactly(vec![user])
                    }
                }
            }
        };
        if let ([list], false) = (&mut lists.all[..], lists.has_others) {
            list.pass(view, self.sought(lists.has_other_markets), &mut page.skip);
        }
        lists
    }

    /// The lists of the markets asked for; not of those the user has never traded in.
    fn of_markets(&self, view: &View) -> Option<Vec<List>> {
        let traded = |market: &MarketNumber| {
            let turnover = view.turnover();
            self.user
                .is_none_or(|user| turnover.has_traded(user, *market))
        };
        let named = self.markets.named.as_ref()?.iter().copied();
        let lists = named.filter(traded);
        Some(
            lists
                .map(|market| List::of(view, Of::Market(market)))
                .collect(),
        )
    }

    fn sought(&self, has_other_markets: bool) -> Sought<'_> {
        let (lots, value) = match self.wanted.minimum {
            None => (0, 0),
            Some(Minimum::Cash(least)) => (0, least),
            Some(Minimum::Tokens(least)) => (least.div_ceil(MICROS_PER_LOT), 0),
        };
        Sought {
            taker_only: self.wanted.taker_only,
            side: self.wanted.side,
            lots: Lots(lots),
            value: Micros(value),
            markets: self.markets.sorted().filter(|_| has_other_markets),
        }
    }
}

impl Lists {
    /// Lists that hold nothing but what is asked for.
    fn exactly(all: Vec<List>) -> Self {
        Self {
            all,
            has_other_markets: false,
            has_others: false,
        }
    }
}

/// What was found.
struct PageOfFills {
    /// Rows still to be passed over.
    skip: usize,
    /// Most rows.
    limit: usize,
    named: Named,
    found: Vec<Fill>,
}

impl PageOfFills {
    fn is_full(&self) -> bool {
        self.found.len() >= self.limit
    }

    /// Takes the rows of a trade, the taker's first, as far as they are on the page; those of a user
    /// only, if one is given.
    fn consider(
        &mut self,
        app: &App,
        view: &View,
        (slot, mut rows): (TradeSlot, [bool; 2]),
        user: Option<AccountNumber>,
    ) {
        let read = || view.trade_glance(slot);
        let mut trade = None;
        if let Some(user) = user {
            trade = read();
            let accounts = trade.map(|trade| [trade.taker.account, trade.maker.account]);
            for (place, is_meant) in rows.iter_mut().enumerate() {
                *is_meant &= accounts.is_some_and(|accounts| accounts[place] == user);
            }
        }
        for (place, _) in rows.iter().enumerate().filter(|(_, is_meant)| **is_meant) {
            if self.skip > 0 {
                self.skip -= 1;
                continue;
            }
            trade = trade.or_else(read);
            if let Some(trade) = trade.filter(|_| !self.is_full()) {
                let side = if place == 0 {
                    &trade.taker
                } else {
                    &trade.maker
                };
                let fill = Fill::of(app, view, &mut self.named, &trade, side);
                self.found.extend(fill);
            }
        }
    }
}
