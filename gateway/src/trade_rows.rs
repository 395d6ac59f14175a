//! Trades of the view as the wire wants them, and which of them a query asks for (protocol 11).

use foretell_model::{AccountNumber, ApiKey, MarketNumber, Outcome, TimeNs};
use foretell_view::{TradeId, TradeRecord, TradeSide, View};
use foretell_wire::query::TradesQuery;
use foretell_wire::trade::{Party, TradeFacts};

use crate::app::App;
use crate::descriptions::Descriptions;
use crate::resources::market_of;

/// What a query asks for, with names already looked up.
pub(crate) struct Filter<'q> {
    wanted: &'q TradesQuery,
    pub(crate) id: Option<TradeId>,
    market: Option<MarketNumber>,
    token: Option<(MarketNumber, Outcome)>,
    pub(crate) before: Option<TimeNs>,
    pub(crate) after: Option<TimeNs>,
}

impl<'q> Filter<'q> {
    /// `None` when it names something that does not exist, so that nothing can match.
    pub(crate) fn new(view: &View, wanted: &'q TradesQuery) -> Option<Self> {
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

    /// Whether a trade matches; that it is after `after` is the caller's to see.
    pub(crate) fn takes(&self, view: &View, record: &TradeRecord) -> bool {
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

/// Whether one side of a trade is this owner's.
pub(crate) fn is_of(view: &View, owner: AccountNumber, side: &TradeSide) -> bool {
    view.accounts()
        .get(side.account)
        .is_some_and(|account| account.owner == owner)
}

/// A trade as its reader may see it: an owner sees its own keys, nobody sees those of others. The
/// receipt is missing yet ([`receipts`]).
pub(crate) fn facts(
    view: &View,
    descriptions: &Descriptions,
    reader: Option<AccountNumber>,
    record: &TradeRecord,
) -> Option<TradeFacts> {
    let market = view.markets().get(record.market)?;
    let mine = |side: &TradeSide| reader.is_some_and(|owner| is_of(view, owner, side));
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
        as_maker: mine(&record.maker) && !mine(&record.taker),
    })
}

/// Fills in the receipts, outside the lock on the view. Trades of one frame stand together.
pub(crate) fn receipts<'a>(
    app: &App,
    rows: impl Iterator<Item = (&'a TradeRecord, &'a mut TradeFacts)>,
) {
    let mut last = None;
    for (record, row) in rows {
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
