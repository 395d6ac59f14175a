//! `GET /data/trades`: trades of every wallet bound to the owner of the caller's key, newest first
//! (protocol 6, 11).

use foretell_model::{ApiKey, MarketNumber, Outcome, TimeNs};
use foretell_view::{TradeId, TradeRecord, TradeSide, TradeSlot, View};
use foretell_wire::json_text;
use foretell_wire::page::{PAGE_ROWS, Page};
use foretell_wire::query::TradesQuery;
use foretell_wire::trade::{Party, Trade, TradeFacts};

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Caller, Level};
use crate::call::Call;
use crate::descriptions::Descriptions;
use crate::failure::Failure;
use crate::resources::market_of;

/// `GET /data/trades`.
pub(crate) async fn list(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let caller = app.auth.l2(&call, Level::Read).await?;
    let wanted = TradesQuery::of(&call.query()?)?;
    app.fresh(&call).await?;
    let (records, more, mut rows, place) = {
        let state = app.replica.read();
        let (records, more) = page(&state.view, &caller, &wanted);
        let facts = |record| facts(&state.view, &app.descriptions, &caller, record);
        let rows: Vec<TradeFacts> = records.iter().filter_map(facts).collect();
        (records, more, rows, state.place())
    };
    receipts(app, &records, &mut rows);
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
        .filter(|record| is_of(view, caller, record) && filter.takes(view, record))
        .skip(wanted.cursor.offset())
        .take(PAGE_ROWS + 1)
        .collect();
    let more = records.len() > PAGE_ROWS;
    records.truncate(PAGE_ROWS);
    (records, more)
}

/// Whether one of the caller's wallets is taker or maker.
fn is_of(view: &View, caller: &Caller, record: &TradeRecord) -> bool {
    [&record.taker, &record.maker]
        .into_iter()
        .any(|side| is_mine(view, caller, side))
}

fn is_mine(view: &View, caller: &Caller, side: &TradeSide) -> bool {
    view.accounts()
        .get(side.account)
        .is_some_and(|account| account.owner == caller.owner)
}

/// What a query asks for, with names already looked up.
struct Filter<'q> {
    wanted: &'q TradesQuery,
    id: Option<TradeId>,
    market: Option<MarketNumber>,
    token: Option<(MarketNumber, Outcome)>,
    before: Option<TimeNs>,
    after: Option<TimeNs>,
}

impl<'q> Filter<'q> {
    /// `None` when it names something that does not exist, so that nothing can match.
    fn new(view: &View, wanted: &'q TradesQuery) -> Option<Self> {
        let id = match &wanted.id {
            Some(text) => Some(TradeId::parse(text)?),
            None => None,
        };
        let market = match &wanted.market {
            Some(condition) => Some(view.markets().by_condition(condition)?.0),
            None => None,
        };
        let token = match &wanted.asset {
            Some(token) => Some(market_of(view, token)?),
            None => None,
        };
        let before = wanted.before.map(|before| before.start());
        let after = wanted.after.map(|after| after.start());
        Some(Self {
            wanted,
            id,
            market,
            token,
            before,
            after,
        })
    }

    fn takes(&self, view: &View, record: &TradeRecord) -> bool {
        let wallet = |side: &TradeSide| view.accounts().get(side.account).map(|it| it.wallet);
        let (taker, maker) = (wallet(&record.taker), wallet(&record.maker));
        let of = |side: &TradeSide| (record.market, side.outcome);
        let wanted = self.wanted;
        wanted.taker.is_none_or(|wallet| taker == Some(wallet))
            && wanted.maker.is_none_or(|wallet| maker == Some(wallet))
            && wanted
                .maker_address
                .is_none_or(|wallet| taker == Some(wallet) || maker == Some(wallet))
            && self.market.is_none_or(|market| market == record.market)
            && self
                .token
                .is_none_or(|token| of(&record.taker) == token || of(&record.maker) == token)
            && self.before.is_none_or(|before| record.time < before)
    }
}

fn facts(
    view: &View,
    descriptions: &Descriptions,
    caller: &Caller,
    record: &TradeRecord,
) -> Option<TradeFacts> {
    let market = view.markets().get(record.market)?;
    let mine = |side: &TradeSide| is_mine(view, caller, side);
    let party = |side: &TradeSide| {
        Some(Party {
            order: side.order_id,
            owner: if mine(side) {
                view.keys().get(side.key)?.api_key
            } else {
                ApiKey::ZERO
            },
            wallet: view.accounts().get(side.account)?.wallet,
            token: market.token(side.outcome),
            outcome: descriptions.label(market, side.outcome),
            side: side.side,
            price: side.price,
        })
    };
    Some(TradeFacts {
        id: record.id.to_string(),
        market: market.condition,
        lots: record.lots,
        fee: record.fee,
        time: record.time,
        receipt: [0; 32],
        builder: record.taker.builder.unwrap_or_default(),
        taker: party(&record.taker)?,
        maker: party(&record.maker)?,
        as_maker: !mine(&record.taker),
    })
}

/// Fills in the receipts, outside the lock on the view. Trades of one frame stand together.
fn receipts(app: &App, records: &[TradeRecord], rows: &mut [TradeFacts]) {
    let mut last = None;
    for (record, row) in records.iter().zip(rows) {
        row.receipt = match last {
            Some((sequence, receipt)) if sequence == record.sequence => receipt,
            _ => app
                .replica
                .receipt(record.place, record.sequence)
                .unwrap_or_default(),
        };
        last = Some((record.sequence, row.receipt));
    }
}
