//! Converts trades of the view for the wire (docs/api/market-data.md §6).

use foretell_model::{AccountNumber, ApiKey, Outcome};
use foretell_view::{TradeRecord, TradeSide, View};
use foretell_wire::orders::trade::{TradeFacts, TradeFill, TradeParty};

use crate::catalog::descriptions::Descriptions;

/// Whether one side of a trade is this owner's.
pub(crate) fn is_of(view: &View, owner: AccountNumber, side: &TradeSide) -> bool {
    view.accounts()
        .get(side.account)
        .is_some_and(|account| account.owner == owner)
}

/// Fills of one trade as their reader may see them: owners see only their own keys. The receipt is added
/// later, outside of the view's lock.
pub(crate) fn trade_facts(
    view: &View,
    descriptions: &Descriptions,
    reader: Option<AccountNumber>,
    fills: &[TradeRecord],
) -> Option<TradeFacts> {
    let first = fills.first()?;
    let market = view.markets().get(first.market)?;
    let labels = [Outcome::Yes, Outcome::No].map(|outcome| descriptions.label(market, outcome));
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
            outcome: labels[side.outcome.index()].clone(),
            index: side.outcome,
            side: side.side,
        })
    };
    let fill = |fill: &TradeRecord| {
        Some(TradeFill {
            lots: fill.lots,
            price: fill.taker.price,
            fee: fill.fee,
            maker: party(&fill.maker)?,
            maker_price: fill.maker.price,
        })
    };
    Some(TradeFacts {
        id: first.id.to_string(),
        market: market.condition,
        time: first.time,
        receipt: [0; 32],
        builder: first.taker.builder.unwrap_or_default(),
        taker: party(&first.taker)?,
        fills: fills.iter().map(fill).collect::<Option<_>>()?,
        as_maker: reader.is_some() && !mine(&first.taker),
    })
}
