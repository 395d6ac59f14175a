//! `GET /data/trades`: trades of every wallet bound to the owner of the caller's key, newest first
//! (protocol 6, 11).

use foretell_model::{AccountNumber, TimeNs};
use foretell_view::{TradeRecord, TradeSlot, View};
use foretell_wire::json_text;
use foretell_wire::page::{PAGE_ROWS, Page};
use foretell_wire::query::TradesQuery;
use foretell_wire::trade::{Trade, TradeFacts};

use crate::answer::{Answer, Place};
use crate::app::App;
use crate::auth::Level;
use crate::call::Call;
use crate::failure::Failure;
use crate::trade_rows::{Filter, facts, is_of, receipts};

/// Trades looked at under one hold of the lock on the view: a bot has millions, and may ask for
/// what none of them is.
const STEP: usize = 4_096;

/// `GET /data/trades`.
pub(crate) async fn list(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let caller = app.auth.l2(&call, Level::Read).await?;
    let wanted = TradesQuery::of(&call.query()?)?;
    app.fresh(&call).await?;
    let mut search = Search::new(caller.owner, &wanted);
    while !search.step(app) {
        tokio::task::yield_now().await;
    }
    let more = search.found.len() > PAGE_ROWS;
    search.found.truncate(PAGE_ROWS);
    receipts(
        app,
        search.found.iter_mut().map(|(record, row)| (&*record, row)),
    );
    let place = search.place.unwrap_or_else(|| app.replica.read().place());
    let rows: Vec<Trade> = search
        .found
        .into_iter()
        .map(|(_, row)| Trade::new(row, caller.times))
        .collect();
    let total = wanted.cursor.offset() + rows.len() + usize::from(more);
    let page = Page::new(rows, wanted.cursor, PAGE_ROWS, total);
    Ok(Answer::json(json_text(&page)).at(place))
}

/// A page being looked for, from the newest trade backwards.
struct Search<'q> {
    owner: AccountNumber,
    wanted: &'q TradesQuery,
    /// Matches still to be passed over.
    skip: usize,
    /// The oldest trade looked at.
    last: Option<TradeSlot>,
    /// One more than the page holds when there are more.
    found: Vec<(TradeRecord, TradeFacts)>,
    /// The state it began with.
    place: Option<Place>,
}

impl<'q> Search<'q> {
    fn new(owner: AccountNumber, wanted: &'q TradesQuery) -> Self {
        Self {
            owner,
            wanted,
            skip: wanted.cursor.offset(),
            last: None,
            found: Vec::new(),
            place: None,
        }
    }

    /// Looks at up to [`STEP`] trades; true when that was all.
    fn step(&mut self, app: &App) -> bool {
        let state = app.replica.read();
        self.place.get_or_insert(state.place());
        let Some(filter) = Filter::new(&state.view, self.wanted) else {
            return true;
        };
        let slots = self.slots(&state.view, &filter);
        let looked_at_all = slots.len() < STEP;
        for slot in slots {
            self.last = Some(slot);
            self.consider(app, &state.view, &filter, slot);
            if self.found.len() > PAGE_ROWS {
                return true;
            }
        }
        looked_at_all
    }

    /// The next trades to look at: the one asked for, or those of the owner in the time asked for.
    fn slots(&self, view: &View, filter: &Filter<'_>) -> Vec<TradeSlot> {
        match filter.id {
            Some(id) => Vec::from_iter(view.trade_by_id(id)),
            None => {
                let from = filter.after.unwrap_or_default();
                let before = filter.before.unwrap_or(TimeNs(u64::MAX));
                view.trades_of_owner(self.owner, from..before, self.last)
                    .take(STEP)
                    .collect()
            }
        }
    }

    fn consider(&mut self, app: &App, view: &View, filter: &Filter<'_>, slot: TradeSlot) {
        let Some(record) = view.trade(slot) else {
            return;
        };
        let mine = [&record.taker, &record.maker]
            .into_iter()
            .any(|side| is_of(view, self.owner, side));
        let is_after = filter.after.is_none_or(|after| record.time > after);
        if !(mine && is_after && filter.takes(view, &record)) {
            return;
        }
        if self.skip > 0 {
            self.skip -= 1;
        } else if let Some(row) = facts(view, &app.descriptions, Some(self.owner), &record) {
            self.found.push((record, row));
        }
    }
}
