//! A trade of the view as one of its two wallets sees it.

use std::sync::Arc;

use foretell_journal::Frames;
use foretell_model::{
    FramePlace, Lots, Outcome, Price, Sequence, Side, TimeSeconds, WalletAddress,
};
use foretell_view::{SideGlance, TradeGlance, View};
use foretell_wire::data::{MarketText, Trade};

use crate::app::App;
use crate::profiles::People;
use crate::resources::data::named::Named;

/// One row.
pub(super) struct Fill {
    wallet: WalletAddress,
    side: Side,
    market: Arc<MarketText>,
    outcome: Outcome,
    lots: Lots,
    price: Price,
    time: TimeSeconds,
    frame: (FramePlace, Sequence),
}

impl Fill {
    /// That of one side of a trade.
    pub(super) fn of(
        app: &App,
        view: &View,
        named: &mut Named,
        trade: &TradeGlance,
        side: &SideGlance,
    ) -> Option<Self> {
        let market = named.place(app, view, trade.market, None)?;
        Some(Self {
            wallet: view.accounts().get(side.account)?.wallet,
            side: side.side,
            market: named.shared(market),
            outcome: side.outcome,
            lots: trade.lots,
            price: side.price,
            time: trade.time.seconds(),
            frame: (trade.place, trade.sequence),
        })
    }

    /// The row; its receipt is looked up without the lock on the view.
    pub(super) fn row<'a>(
        &'a self,
        people: &'a mut People,
        receipts: &mut Receipts<'_>,
    ) -> Trade<'a> {
        Trade {
            who: people.text(self.wallet),
            side: self.side,
            market: &self.market,
            outcome: self.outcome,
            lots: self.lots,
            price: self.price,
            time: self.time,
            receipt: receipts.of(self.frame),
        }
    }
}

/// Receipts of frames; rows of one frame stand together.
pub(super) struct Receipts<'a> {
    app: &'a App,
    last: Option<(Sequence, [u8; 32])>,
    frames: Option<Frames>,
}

impl<'a> Receipts<'a> {
    pub(super) fn new(app: &'a App) -> Self {
        Self {
            app,
            last: None,
            frames: None,
        }
    }

    /// That of a frame; zeros when its bytes are gone.
    pub(super) fn of(&mut self, (place, sequence): (FramePlace, Sequence)) -> [u8; 32] {
        let known = self.last.filter(|(last, _)| *last == sequence);
        let receipt = match known {
            Some((_, receipt)) => receipt,
            None => {
                let replica = &self.app.replica;
                let found = replica.receipt_by(&mut self.frames, place, sequence);
                found.unwrap_or_default()
            }
        };
        self.last = Some((sequence, receipt));
        receipt
    }
}
