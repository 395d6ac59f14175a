//! A position of the view as a row.

use std::sync::Arc;

use foretell_model::{AccountNumber, MarketNumber, Outcome, TimeSeconds, WalletAddress};
use foretell_view::{ClosedPosition, OpenPosition, View};
use foretell_wire::data::{
    CurPrice, MarketText, PositionFigures, PositionRow, RoundedFigures, RowWriter,
};

use crate::app::App;
use crate::http::answer::{Answer, StatePosition};

pub(crate) struct PositionEntry {
    market: Arc<MarketText>,
    outcome: Outcome,
    shown: RoundedFigures,
    redeemable: bool,
    mergeable: bool,
    neg_risk: Option<bool>,
    time: TimeSeconds,
}

impl PositionEntry {
    pub(crate) fn open(
        app: &App,
        view: &View,
        account: AccountNumber,
        (market, outcome): (MarketNumber, Outcome),
        open: &OpenPosition,
    ) -> Option<Self> {
        let listed = view.markets().get(market)?;
        let other = view.holdings().open(account, market, outcome.opposite());
        Some(Self {
            market: app.market_texts.of(listed, &app.descriptions),
            outcome,
            shown: figures(view, (market, outcome), &open.position)?.shown(),
            redeemable: listed.payout.is_some(),
            mergeable: other.is_some(),
            neg_risk: Some(listed.is_neg_risk()),
            time: open.time.seconds(),
        })
    }

    pub(crate) fn closed(app: &App, view: &View, closed: &ClosedPosition) -> Option<Self> {
        let listed = view.markets().get(closed.market)?;
        let token = (closed.market, closed.outcome);
        Some(Self {
            market: app.market_texts.of(listed, &app.descriptions),
            outcome: closed.outcome,
            shown: figures(view, token, &closed.position)?.shown(),
            redeemable: false,
            mergeable: false,
            neg_risk: None,
            time: closed.time.seconds(),
        })
    }

    /// The JSON row for a wallet.
    pub(crate) fn row(&self, wallet: WalletAddress) -> PositionRow<'_> {
        PositionRow {
            wallet,
            market: &self.market,
            outcome: self.outcome,
            shown: self.shown,
            redeemable: self.redeemable,
            mergeable: self.mergeable,
            neg_risk: self.neg_risk,
            time: self.time,
        }
    }
}

/// The answer with a wallet's rows, as of a state.
pub(crate) fn answer(
    shown: &[PositionEntry],
    wallet: WalletAddress,
    position: StatePosition,
) -> Answer {
    let mut rows = RowWriter::with_capacity(shown.len());
    for held in shown {
        held.row(wallet).write(&mut rows);
    }
    Answer::json(rows.finish()).at(position)
}

/// The figures shown for a position.
pub(crate) fn figures(
    view: &View,
    (market, outcome): (MarketNumber, Outcome),
    position: &foretell_view::Position,
) -> Option<PositionFigures> {
    let price = view.current_price(market, outcome)?;
    Some(PositionFigures {
        lots: position.lots().0,
        cost: position.cost(),
        bought: position.bought(),
        spent: position.spent(),
        realized: position.realized(),
        price: CurPrice::half_units(price.half_units()),
    })
}
