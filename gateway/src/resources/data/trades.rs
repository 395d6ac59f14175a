//! `GET /trades`: fills, newest first.

use std::collections::BinaryHeap;

use foretell_model::quantity::MICROS_PER_LOT;
use foretell_model::{AccountNumber, Lots, Micros};
use foretell_view::{Slots, Sought, TradeGlance, TradeSlot, View};
use foretell_wire::data::{Minimum, Rows, TradesQuery};

use crate::answer::{Answer, Place};
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::resources::data::fills::{Fill, Receipts};
use crate::resources::data::named::Named;
use crate::resources::data::{Markets, STEP, account_of, parameters};

/// Rows written before others get their turn on the thread.
const WRITTEN: usize = 512;

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
        user,
        markets: Markets::of(app, &wanted.markets).await?,
        skip: wanted.page.offset,
        window: wanted.page.limit.clamp(1, STEP),
        wanted,
        named: Named::default(),
        last: None,
        found: Vec::new(),
        place: None,
    };
    while !search.step(app) {
        tokio::task::yield_now().await;
    }
    let mut rows = Rows::with_capacity(search.found.len());
    let (mut people, mut receipts) = (app.profiles.people(), Receipts::new(app));
    for fills in search.found.chunks(WRITTEN) {
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
    wanted: TradesQuery,
    user: Option<AccountNumber>,
    markets: Markets,
    named: Named,
    /// Rows still to be passed over.
    skip: usize,
    /// The oldest trade looked at.
    last: Option<TradeSlot>,
    /// How many trades are looked at next.
    window: usize,
    found: Vec<Fill>,
    /// The state it began with.
    place: Option<Place>,
}

impl Search {
    /// Looks at up to [`STEP`] trades, fewer at first; true when that was all.
    fn step(&mut self, app: &App) -> bool {
        let state = app.replica.read();
        self.place.get_or_insert(state.place());
        if self.is_full() {
            return true;
        }
        let window = self.window;
        let slots = self.slots(&state.view);
        self.window = (window * 2).min(STEP);
        for slot in &slots {
            self.last = Some(*slot);
            if let Some(trade) = state.view.trade_glance(*slot) {
                self.consider(app, &state.view, &trade);
            }
            if self.is_full() {
                return true;
            }
        }
        slots.len() < window
    }

    fn is_full(&self) -> bool {
        self.found.len() >= self.wanted.page.limit
    }

    /// The next trades to look at, out of the shortest lists that hold all that is asked for,
    /// without the stretches of them that have nothing of it.
    fn slots(&mut self, view: &View) -> Vec<TradeSlot> {
        let trades = view.trades();
        let sought = self.sought();
        let of_user = self.user.map(|user| match self.wanted.taker_only {
            true => trades.of_taker(user),
            false => trades.of_account(user),
        });
        let of_markets = self.of_markets(view);
        let mut lists = match (of_user, of_markets) {
            (None, None) => {
                let all = trades.newest_first_of(sought, self.last);
                return all.skip(self.places_to_skip()).take(self.window).collect();
            }
            (Some(user), None) => vec![user],
            (None, Some(markets)) => markets,
            (Some(user), Some(markets)) => {
                if markets.iter().map(Slots::len).sum::<usize>() < user.len() {
                    markets
                } else {
                    vec![user]
                }
            }
        };
        match (self.last, &mut lists[..]) {
            (Some(last), lists) => {
                for list in lists {
                    *list = list.older_than(last);
                }
            }
            (None, [list]) => *list = list.oldest(list.len().saturating_sub(self.places_to_skip())),
            (None, _) => {}
        }
        match &lists[..] {
            [list] => list.newest_first_of(sought).take(self.window).collect(),
            lists => merged(lists, sought).take(self.window).collect(),
        }
    }

    /// The lists of the markets asked for; not of those the user has never traded in.
    fn of_markets<'v>(&self, view: &'v View) -> Option<Vec<Slots<'v>>> {
        let traded = |market| {
            let turnover = view.turnover();
            self.user
                .is_none_or(|user| turnover.has_traded(user, market))
        };
        let named = self.markets.named.as_ref()?.iter().copied();
        let lists = named.filter(|market| traded(*market));
        Some(
            lists
                .map(|market| view.trades().of_market(market))
                .collect(),
        )
    }

    /// What is asked for, as far as stretches of trades are known by it.
    fn sought(&self) -> Sought {
        let (lots, value) = match self.wanted.minimum {
            None => (0, 0),
            Some(Minimum::Cash(least)) => (0, least),
            Some(Minimum::Tokens(least)) => (least.div_ceil(MICROS_PER_LOT), 0),
        };
        Sought {
            side: self.wanted.side,
            lots: Lots(lots),
            value: Micros(value),
            market: self.markets.only(),
        }
    }

    /// The offset, if it is a place in the list that is looked at: every trade of it is one row.
    /// Nothing is left to be passed over then.
    fn places_to_skip(&mut self) -> usize {
        let wanted = &self.wanted;
        let filters = wanted.minimum.is_some() || wanted.side.is_some();
        let is_one = match self.user {
            Some(_) => self.markets.named.is_none(),
            None => wanted.taker_only,
        };
        match is_one && !filters {
            true => std::mem::take(&mut self.skip),
            false => 0,
        }
    }

    fn consider(&mut self, app: &App, view: &View, trade: &TradeGlance) {
        if !self.markets.contains(trade.market) {
            return;
        }
        let sides = [(&trade.taker, true), (&trade.maker, false)];
        for (side, takes) in sides {
            let wanted = &self.wanted;
            let is_wanted = (takes || !wanted.taker_only)
                && self.user.is_none_or(|user| user == side.account)
                && wanted.side.is_none_or(|wanted| wanted == side.side)
                && (wanted.minimum).is_none_or(|least| least.admits(trade.lots, side.price));
            if !is_wanted || self.is_full() {
                continue;
            }
            if self.skip > 0 {
                self.skip -= 1;
            } else if let Some(fill) = Fill::of(app, view, &mut self.named, trade, side) {
                self.found.push(fill);
            }
        }
    }
}

/// The trades of several lists that share none and may have what is looked for, newest first.
fn merged(lists: &[Slots<'_>], sought: Sought) -> impl Iterator<Item = TradeSlot> {
    let lists = lists.iter().map(|list| list.newest_first_of(sought));
    let mut lists: Vec<_> = lists.collect();
    let heads = lists.iter_mut().enumerate();
    let mut heads: BinaryHeap<_> = heads
        .filter_map(|(number, list)| Some((list.next()?, number)))
        .collect();
    core::iter::from_fn(move || {
        let (newest, number) = heads.pop()?;
        heads.extend(lists[number].next().map(|next| (next, number)));
        Some(newest)
    })
}
