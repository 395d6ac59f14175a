//! `GET /trades`: fills, newest first.

use std::collections::BinaryHeap;

use foretell_model::AccountNumber;
use foretell_view::{Slots, TradeRecord, TradeSlot, View};
use foretell_wire::data::{Rows, TradesQuery};

use crate::answer::{Answer, Place};
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::resources::data::fills::{Fill, Receipts};
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
        wanted,
        last: None,
        found: Vec::new(),
        place: None,
    };
    while !search.step(app) {
        tokio::task::yield_now().await;
    }
    let mut rows = Rows::with_capacity(search.found.len());
    let mut receipts = Receipts::new(app);
    for fills in search.found.chunks(WRITTEN) {
        fills
            .iter()
            .for_each(|fill| fill.row(&mut receipts).write(&mut rows));
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
    /// Rows still to be passed over.
    skip: usize,
    /// The oldest trade looked at.
    last: Option<TradeSlot>,
    found: Vec<Fill>,
    /// The state it began with.
    place: Option<Place>,
}

impl Search {
    /// Looks at up to [`STEP`] trades; true when that was all.
    fn step(&mut self, app: &App) -> bool {
        let state = app.replica.read();
        self.place.get_or_insert(state.place());
        if self.is_full() {
            return true;
        }
        let slots = self.slots(&state.view);
        for slot in &slots {
            self.last = Some(*slot);
            if let Some(trade) = state.view.trade(*slot) {
                self.consider(app, &state.view, &trade);
            }
            if self.is_full() {
                return true;
            }
        }
        slots.len() < STEP
    }

    fn is_full(&self) -> bool {
        self.found.len() >= self.wanted.page.limit
    }

    /// The next trades to look at, out of the shortest lists that hold all that is asked for.
    fn slots(&mut self, view: &View) -> Vec<TradeSlot> {
        let trades = view.trades();
        let of_markets = self.markets.named.as_ref();
        let of_markets = of_markets.map(|named| {
            let lists = named.iter().map(|market| trades.of_market(*market));
            lists.collect::<Vec<_>>()
        });
        let of_user = self.user.map(|user| trades.of_account(user));
        let mut lists = match (of_user, of_markets) {
            (None, None) => {
                let all = trades.newest_first(self.last);
                return all.take(STEP).collect();
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
            (None, [list]) if self.each_is_one_row() => {
                *list = list.oldest(list.len().saturating_sub(self.skip));
                self.skip = 0;
            }
            (None, _) => {}
        }
        merged(&lists).take(STEP).collect()
    }

    /// Whether every trade of the one list looked at is one row, so that an offset is a place in it.
    fn each_is_one_row(&self) -> bool {
        let wanted = &self.wanted;
        let filters = wanted.minimum.is_some() || wanted.side.is_some();
        let is_one = match self.user {
            Some(_) => !wanted.taker_only && self.markets.named.is_none(),
            None => wanted.taker_only,
        };
        is_one && !filters
    }

    fn consider(&mut self, app: &App, view: &View, trade: &TradeRecord) {
        if !self.markets.contains(trade.market) {
            return;
        }
        let maker = (!self.wanted.taker_only).then_some(&trade.maker);
        for side in [Some(&trade.taker), maker].into_iter().flatten() {
            let wanted = &self.wanted;
            let is_wanted = self.user.is_none_or(|user| user == side.account)
                && wanted.side.is_none_or(|wanted| wanted == side.side)
                && (wanted.minimum).is_none_or(|least| least.admits(trade.lots, side.price));
            if !is_wanted || self.is_full() {
                continue;
            }
            if self.skip > 0 {
                self.skip -= 1;
            } else if let Some(fill) = Fill::of(app, view, trade, side) {
                self.found.push(fill);
            }
        }
    }
}

/// The trades of several lists that share none, newest first.
fn merged(lists: &[Slots<'_>]) -> impl Iterator<Item = TradeSlot> {
    let mut lists: Vec<_> = lists.iter().map(Slots::newest_first).collect();
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
