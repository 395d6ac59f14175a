//! `GET /builder/trades`: trades whose orders carry a builder, newest first, for anyone to read
//! (protocol 11).

use foretell_model::TimeNs;
use foretell_view::{Slots, TradeRecord, TradeSlot, View};
use foretell_wire::json_text;
use foretell_wire::page::{BARE_BUILDER_ROWS, PAGE_ROWS, Page};
use foretell_wire::query::TradesQuery;
use foretell_wire::time::TimeForm;
use foretell_wire::trade::{BuilderTrade, Trade, TradeFacts};

use crate::answer::{Answer, Place};
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::replica::State;
use crate::trade_rows::{Filter, facts, receipts};

/// Trades looked at under one hold of the lock on the view: anybody may ask, for what is rare too.
const STEP: usize = 4_096;

/// A bare array as the interface says; a page for clients that name a builder.
pub(crate) async fn list(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let wanted = TradesQuery::of(&call.query()?)?;
    let paged = wanted.builder.is_some() || has_builder_headers(&call);
    app.fresh(&call).await?;
    let limit = if paged { PAGE_ROWS } else { BARE_BUILDER_ROWS };
    let mut search = Search::new(&wanted, limit);
    while !search.step(app) {
        tokio::task::yield_now().await;
    }
    let more = search.found.len() > limit;
    search.found.truncate(limit);
    receipts(
        app,
        search.found.iter_mut().map(|(record, row)| (&*record, row)),
    );
    let place = search.place.unwrap_or_else(|| app.replica.read().place());
    let rows = search.found.into_iter().map(|(_, row)| row);
    let body = if paged {
        let rows: Vec<_> = rows
            .map(|row| BuilderTrade::new(row, TimeForm::Iso))
            .collect();
        let total = wanted.cursor.offset() + rows.len() + usize::from(more);
        json_text(&Page::new(rows, wanted.cursor, limit, total))
    } else {
        let rows: Vec<_> = rows.map(|row| Trade::new(row, TimeForm::Iso)).collect();
        json_text(&rows)
    };
    Ok(Answer::json(body).at(place))
}

/// Builders' clients sign with keys of their own; nobody has one here, and nothing is secret.
fn has_builder_headers(call: &Call) -> bool {
    let mut names = call.head.headers.keys();
    names.any(|name| name.as_str().ends_with("_builder_api_key"))
}

/// A page being looked for, from the newest trade backwards.
struct Search<'q> {
    wanted: &'q TradesQuery,
    limit: usize,
    /// Matches still to be passed over.
    skip: usize,
    /// Trades of the list not looked at yet: it only grows at its end.
    left: usize,
    /// One more than the page holds when there are more.
    found: Vec<(TradeRecord, TradeFacts)>,
    /// The state it began with.
    place: Option<Place>,
}

impl<'q> Search<'q> {
    fn new(wanted: &'q TradesQuery, limit: usize) -> Self {
        Self {
            wanted,
            limit,
            skip: wanted.cursor.offset(),
            left: usize::MAX,
            found: Vec::new(),
            place: None,
        }
    }

    /// Looks at up to [`STEP`] trades; true when that was all.
    fn step(&mut self, app: &App) -> bool {
        let state = app.replica.read();
        self.place.get_or_insert(state.place());
        self.look(app, &state).is_none() || self.left == 0 || self.found.len() > self.limit
    }

    /// The next trades to look at, from new to old.
    fn slots(&mut self, view: &View, filter: &Filter<'_>) -> Vec<TradeSlot> {
        if let Some(id) = filter.id {
            self.left = 0;
            return Vec::from_iter(view.trade_by_id(id));
        }
        let slots = within(view, self.wanted, filter).oldest(self.left);
        self.left = slots.len().saturating_sub(STEP);
        slots.newest_first().take(STEP).collect()
    }

    /// `None` when nothing can match.
    fn look(&mut self, app: &App, state: &State) -> Option<()> {
        let view = &state.view;
        let filter = Filter::new(view, self.wanted)?;
        for slot in self.slots(view, &filter) {
            let record = view.trade(slot)?;
            let Some(builder) = builder_of(&record, self.wanted) else {
                continue;
            };
            if !filter.takes(view, &record) || !is_after(&record, &filter) {
                continue;
            }
            if self.skip > 0 {
                self.skip -= 1;
                continue;
            }
            let mut row = facts(view, &app.descriptions, None, &record)?;
            row.builder = builder;
            self.found.push((record, row));
            if self.found.len() > self.limit {
                break;
            }
        }
        Some(())
    }
}

/// The trades to look at: of the builder asked for or of all, in the time asked for.
fn within<'v>(view: &'v View, wanted: &TradesQuery, filter: &Filter<'_>) -> Slots<'v> {
    let slots = match &wanted.builder {
        Some(code) => view.trades_of_builder(code),
        None => view.trades().built(),
    };
    let from = filter.after.unwrap_or_default();
    let before = filter.before.unwrap_or(TimeNs(u64::MAX));
    view.trades_within(slots, from, before)
}

fn is_after(record: &TradeRecord, filter: &Filter<'_>) -> bool {
    filter.after.is_none_or(|after| record.time > after)
}

/// The builder a trade is shown for: the one asked for if it carries it, else the taker's, else
/// the maker's.
fn builder_of(record: &TradeRecord, wanted: &TradesQuery) -> Option<[u8; 32]> {
    let carried = [record.taker.builder, record.maker.builder];
    match wanted.builder {
        Some(code) => carried.contains(&Some(code)).then_some(code),
        None => carried.into_iter().flatten().next(),
    }
}
