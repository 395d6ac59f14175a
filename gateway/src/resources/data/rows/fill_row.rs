//! A trade of the view from the side of one of its two wallets.

use std::sync::Arc;

use foretell_journal::Frames;
use foretell_model::{
    FramePosition, Lots, Outcome, Price, Sequence, Side, TimeSeconds, WalletAddress,
};
use foretell_view::{SideColumns, TradeColumns, View};
use foretell_wire::data::{FillRow, MarketText};

use crate::app::App;
use crate::catalog::profiles::ProfileTexts;
use crate::resources::data::rows::answer_market_texts::MarketTextIndex;

pub(crate) struct FillEntry {
    wallet: WalletAddress,
    side: Side,
    market: Arc<MarketText>,
    outcome: Outcome,
    lots: Lots,
    price: Price,
    time: TimeSeconds,
    frame: (FramePosition, Sequence),
}

impl FillEntry {
    /// The row for one side of a trade.
    pub(crate) fn of(
        app: &App,
        view: &View,
        named: &mut MarketTextIndex,
        trade: &TradeColumns,
        side: &SideColumns,
    ) -> Option<Self> {
        let market = named.index(app, view, trade.market, None)?;
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

    /// The JSON row; its receipt is looked up outside of the view's lock.
    pub(crate) fn row<'a>(
        &'a self,
        profiles: &'a mut ProfileTexts,
        receipts: &mut ReceiptReader<'_>,
    ) -> FillRow<'a> {
        FillRow {
            who: profiles.text(self.wallet),
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

/// A lookup of frame receipts that reuses the last one, because rows of one frame are adjacent.
pub(crate) struct ReceiptReader<'a> {
    app: &'a App,
    last: Option<(Sequence, [u8; 32])>,
    frames: Option<Frames>,
}

impl<'a> ReceiptReader<'a> {
    pub(crate) fn new(app: &'a App) -> Self {
        Self {
            app,
            last: None,
            frames: None,
        }
    }

    /// The receipt of a frame; zeros when its bytes are gone.
    pub(crate) fn of(&mut self, (place, sequence): (FramePosition, Sequence)) -> [u8; 32] {
        let known = self.last.filter(|(last, _)| *last == sequence);
        let receipt = match known {
            Some((_, receipt)) => receipt,
            None => {
                let shared_view = &self.app.shared_view;
                let found = shared_view.receipt_by(&mut self.frames, place, sequence);
                found.unwrap_or_default()
            }
        };
        self.last = Some((sequence, receipt));
        receipt
    }
}
