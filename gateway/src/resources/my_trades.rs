//! `GET /data/trades`: trades of every wallet bound to the owner of the caller's key, newest first
//! (protocol 6, 11).

use foretell_view::{TradeRecord, TradeSlot, View};
use foretell_wire::json_text;
use foretell_wire::page::{PAGE_ROWS, Page};
use foretell_wire::query::TradesQuery;
use foretell_wire::trade::{Trade, TradeFacts};

use crate::answer::Answer;
use crate::auth::{Caller, Level};
use crate::call::Call;
use crate::failure::Failure;
use crate::trade_rows::{Filter, facts, is_of, receipts};

/// `GET /data/trades`.
pub(crate) async fn list(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let caller = app.auth.l2(&call, Level::Read).await?;
    let wanted = TradesQuery::of(&call.query()?)?;
    app.fresh(&call).await?;
    let (records, more, mut rows, place) = {
        let state = app.replica.read();
        let (records, more) = page(&state.view, &caller, &wanted);
        let reader = Some(caller.owner);
        let facts = |record| facts(&state.view, &app.descriptions, reader, record);
        let rows: Vec<TradeFacts> = records.iter().filter_map(facts).collect();
        (records, more, rows, state.place())
    };
    receipts(app, records.iter().zip(&mut rows));
    let rows: Vec<Trade> = rows
        .into_iter()
        .map(|row| Trade::new(row, caller.times))
        .collect();
    let total = wanted.cursor.offset() + rows.len() + usize::from(more);
    let page = Page::new(rows, wanted.cursor, PAGE_ROWS, total);
    Ok(Answer::json(json_text(&page)).at(place))
}

/// The trades of one page, and whether there are more.
fn page(view: &View, caller: &Caller, wanted: &TradesQuery) -> (Vec<TradeRecord>, bool) {
    let Some(filter) = Filter::new(view, wanted) else {
        return (Vec::new(), false);
    };
    let slots: Box<dyn Iterator<Item = TradeSlot>> = match filter.id {
        Some(id) => Box::new(view.trade_by_id(id).into_iter()),
        None => Box::new(view.trades_of_owner(caller.owner)),
    };
    let mut records: Vec<_> = slots
        .filter_map(|slot| view.trade(slot))
        // Newest first: nothing that is older than `after` comes after the first such.
        .take_while(|record| filter.after.is_none_or(|after| record.time > after))
        .filter(|record| is_mine(view, caller, record) && filter.takes(view, record))
        .skip(wanted.cursor.offset())
        .take(PAGE_ROWS + 1)
        .collect();
    let more = records.len() > PAGE_ROWS;
    records.truncate(PAGE_ROWS);
    (records, more)
}

/// Whether one of the caller's wallets is taker or maker.
fn is_mine(view: &View, caller: &Caller, record: &TradeRecord) -> bool {
    [&record.taker, &record.maker]
        .into_iter()
        .any(|side| is_of(view, caller.owner, side))
}
