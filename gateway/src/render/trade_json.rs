//! Converts trades of the view for the wire (docs/api/market-data.md §6).

use foretell_model::{AccountNumber, ApiKey};
use foretell_view::{TradeRecord, TradeSide, View};
use foretell_wire::orders::trade::{TradeFacts, TradeParty};

use crate::app::App;
use crate::catalog::descriptions::Descriptions;

/// Whether one side of a trade is this owner's.
fn is_of(view: &View, owner: AccountNumber, side: &TradeSide) -> bool {
    view.accounts()
        .get(side.account)
        .is_some_and(|account| account.owner == owner)
}

/// A trade as its reader may see it: owners see only their own keys. The receipt is added later
/// ([`add_receipts`]).
pub(crate) fn trade_facts(
    view: &View,
    descriptions: &Descriptions,
    reader: Option<AccountNumber>,
    record: &TradeRecord,
) -> Option<TradeFacts> {
    let market = view.markets().get(record.market)?;
    let mine = |side: &TradeSide| reader.is_some_and(|owner| is_of(view, owner, side));
    let party = |side: &TradeSide| {
        Some(TradeParty {
            order: side.order_id,
            owner: if mine(side) {
                view.keys().get(side.key)?.api_key
            } else {
                ApiKey::ZERO
            },
            wallet: view.accounts().get(side.account)?.wallet,
            token: market.token(side.outcome),
            outcome: descriptions.label(market, side.outcome),
            index: side.outcome,
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
        as_maker: mine(&record.maker) && !mine(&record.taker),
    })
}

/// Adds the receipts, outside of the view's lock. Trades of one frame are adjacent.
pub(crate) fn add_receipts<'a>(
    app: &App,
    rows: impl Iterator<Item = (&'a TradeRecord, &'a mut TradeFacts)>,
) {
    let mut last = None;
    for (record, row) in rows {
        row.receipt = match last {
            Some((sequence, receipt)) if sequence == record.sequence => receipt,
            _ => app
                .shared_view
                .receipt(record.place, record.sequence)
                .unwrap_or_default(),
        };
        last = Some((record.sequence, row.receipt));
    }
}
