//! A position of the view as its row shows it.

use std::sync::Arc;

use foretell_model::{AccountNumber, MarketNumber, Outcome, TimeSeconds, WalletAddress};
use foretell_view::{ClosedPosition, OpenPosition, View};
use foretell_wire::data::{CurPrice, Figures, MarketText, Position, Rows, Shown};

use crate::answer::{Answer, Place};
use crate::app::App;

/// One row.
pub(super) struct Held {
    market: Arc<MarketText>,
    outcome: Outcome,
    shown: Shown,
    redeemable: bool,
    mergeable: bool,
    neg_risk: Option<bool>,
    time: TimeSeconds,
}

impl Held {
    /// An open position.
    pub(super) fn open(
        app: &App,
        view: &View,
        account: AccountNumber,
        (market, outcome): (MarketNumber, Outcome),
        open: &OpenPosition,
    ) -> Option<Self> {
        let listed = view.markets().get(market)?;
        let other = view.positions().open(account, market, outcome.opposite());
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

    /// A closed one.
    pub(super) fn closed(app: &App, view: &View, closed: &ClosedPosition) -> Option<Self> {
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

    /// The row of a wallet.
    pub(super) fn row(&self, wallet: WalletAddress) -> Position<'_> {
        Position {
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

/// The answer with these rows of a wallet, as of a state.
pub(super) fn answer(shown: &[Held], wallet: WalletAddress, place: Place) -> Answer {
    let mut rows = Rows::with_capacity(shown.len());
    for held in shown {
        held.row(wallet).write(&mut rows);
    }
    Answer::json(rows.finish()).at(place)
}

/// What a position is shown from.
pub(super) fn figures(
    view: &View,
    (market, outcome): (MarketNumber, Outcome),
    position: &foretell_view::Position,
) -> Option<Figures> {
    let price = view.current_price(market, outcome)?;
    Some(Figures {
        lots: position.lots().0,
        cost: position.cost(),
        bought: position.bought(),
        spent: position.spent(),
        realized: position.realized(),
        price: CurPrice::half_units(price.half_units()),
    })
}
