//! `GET /trades`: fills, newest first.

use std::ops::ControlFlow;

use foretell_model::quantity::MICROS_PER_LOT;
use foretell_model::{AccountNumber, Lots, MarketNumber, Micros};
use foretell_view::{Sought, TradeSlot, View};
use foretell_wire::data::{Minimum, Rows, TradesQuery};

use crate::answer::{Answer, Place};
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::resources::data::fills::{Fill, Receipts};
use crate::resources::data::lists::Lists;
use crate::resources::data::named::Named;
use crate::resources::data::{Markets, account_of, parameters};

/// Rows written before others get their turn on the thread.
const WRITTEN: usize = 512;
/// Rows found under one hold of the view's lock.
const FOUND: usize = 2_048;

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
            sought: sought(&wanted),
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
    /// In all markets.
    sought: Sought<'static>,
}

impl Asked {
    /// The markets whose lists are looked through, and what is sought in them. Rows of a wallet that few
    /// trades meet are nearer to each other in the list of all its trades than in those of many markets.
    fn way(&self) -> (Option<&[MarketNumber]>, Sought<'_>) {
        let (markets, sought) = (self.markets.distinct(), self.sought);
        match markets {
            Some(many) if self.user.is_some() && !sought.is_counted() && many.len() > 1 => {
                (None, Sought { markets, ..sought })
            }
            _ => (markets, sought),
        }
    }
}

impl Search {
    /// Looks at some thousand trades at most, those passed over by number apart; true when that was all.
    fn step(&mut self, app: &App) -> bool {
        let state = app.replica.read();
        let view = &state.view;
        self.place.get_or_insert(state.place());
        let Self { asked, page, .. } = self;
        let (listed, sought) = asked.way();
        let lists = self.lists.get_or_insert_with(|| {
            let mut lists = Lists::of(view, asked.user, listed);
            lists.pass(view, sought, &mut page.skip);
            lists
        });
        let enough = page.found.len() + FOUND;
        let needed = page.needed();
        let is_all = lists.find(view, sought, needed, |slot, rows| {
            page.consider(app, view, slot, rows);
            match page.is_full() || page.found.len() >= enough {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        is_all || page.is_full()
    }
}

/// The rows asked for.
fn sought(wanted: &TradesQuery) -> Sought<'static> {
    let (lots, value) = match wanted.minimum {
        None => (0, 0),
        Some(Minimum::Cash(least)) => (0, least),
        Some(Minimum::Tokens(least)) => (least.div_ceil(MICROS_PER_LOT), 0),
    };
    Sought {
        taker_only: wanted.taker_only,
        side: wanted.side,
        lots: Lots(lots),
        value: Micros(value),
        markets: None,
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

    /// Rows that are missing, those passed over among them.
    fn needed(&self) -> usize {
        self.skip + self.limit.saturating_sub(self.found.len())
    }

    /// Takes the rows of a trade, the taker's first, as far as they are on the page.
    fn consider(&mut self, app: &App, view: &View, slot: TradeSlot, rows: [bool; 2]) {
        let mut trade = None;
        for (place, _) in rows.iter().enumerate().filter(|(_, is_meant)| **is_meant) {
            if self.skip > 0 {
                self.skip -= 1;
                continue;
            }
            trade = trade.or_else(|| view.trade_glance(slot));
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
