//! An activity of a wallet as a row: a fill, a trade, or an account action.

use std::sync::Arc;

use foretell_journal::Frames;
use foretell_model::{
    AccountNumber, FramePosition, Micros, Outcome, Sequence, TimeNs, WalletAddress,
};
use foretell_view::{Action, ActionKind, NO_MARKET, SideColumns, TradeColumns, TradeSlot, View};
use foretell_wire::Decimal;
use foretell_wire::data::{ActivityFilter, ActivityKind, ActivityRow, Fill, FrameRow, MarketText};
use foretell_wire::orders::fill_id::FillId;
use foretell_wire::orders::trade::average_price;

use crate::app::App;
use crate::catalog::profiles::ProfileTexts;
use crate::resources::data::MarketFilter;
use crate::resources::data::rows::market_texts::MarketTexts;

/// An entry of a list, from one state of the view.
pub(crate) struct ActivityEntry {
    kind: ActivityKind,
    wallet: WalletAddress,
    market: Option<Arc<MarketText>>,
    outcome: Option<Outcome>,
    fill: Option<Fill>,
    size: Decimal,
    value: Micros,
    time: TimeNs,
    place: FramePosition,
    pub(crate) at: FrameRow,
}

impl ActivityEntry {
    /// One side of a fill; where takers have one row a trade, the whole trade.
    pub(crate) fn of_side(
        app: &App,
        view: &View,
        texts: &mut MarketTexts,
        trade: &TradeColumns,
        side: &SideColumns,
    ) -> Option<Self> {
        let is_whole = app.compatibility.has_whole_trades() && trade.is_taker(side);
        let sum = trade.amounts(side, is_whole);
        Some(Self {
            kind: ActivityKind::Trade,
            wallet: view.accounts().get(side.account)?.wallet,
            market: Some(texts.of(app, view, trade.market)?),
            outcome: Some(side.outcome),
            fill: Some(Fill {
                id: FillId {
                    trade: trade.id.0,
                    index: (!is_whole).then_some(trade.index.0),
                },
                side: side.side,
                price: match is_whole {
                    true => average_price(sum.value, sum.lots),
                    false => side.price.into(),
                },
                fee: sum.fee,
            }),
            size: sum.lots.into(),
            value: sum.value,
            time: trade.time,
            place: trade.place,
            at: FrameRow {
                sequence: trade.sequence.0,
                index: trade.index.0,
                side: usize::from(!trade.is_taker(side)),
            },
        })
    }

    /// A trade from the side of an account; from the taker's side when the account has both.
    pub(crate) fn of_trade(
        app: &App,
        view: &View,
        texts: &mut MarketTexts,
        account: AccountNumber,
        slot: TradeSlot,
    ) -> Option<Self> {
        let trade = view.trade_columns(slot)?;
        Self::of_side(app, view, texts, &trade, side_of(&trade, account))
    }

    /// An action of a wallet.
    pub(crate) fn of_action(
        app: &App,
        view: &View,
        texts: &mut MarketTexts,
        wallet: WalletAddress,
        action: &Action,
    ) -> Option<Self> {
        let is_money = action.market == NO_MARKET;
        Some(Self {
            kind: kind_of(action.kind),
            wallet,
            market: match is_money {
                true => None,
                false => Some(texts.of(app, view, action.market)?),
            },
            outcome: action.outcome,
            fill: None,
            size: match is_money {
                true => action.collateral.into(),
                false => action.lots.into(),
            },
            value: action.collateral,
            time: action.time,
            place: action.place,
            at: FrameRow {
                sequence: action.sequence.0,
                index: action.index(),
                side: 0,
            },
        })
    }

    /// The row; its receipt is looked up outside of the view's lock.
    pub(crate) fn row<'a>(
        &'a self,
        profiles: &'a ProfileTexts,
        receipts: &mut ReceiptReader<'_>,
    ) -> ActivityRow<'a> {
        ActivityRow {
            kind: self.kind,
            wallet: self.wallet,
            profile: profiles.profile(&self.wallet),
            market: self.market.as_deref(),
            outcome: self.outcome,
            fill: self.fill,
            size: self.size,
            value: self.value,
            time: self.time.seconds(),
            receipt: receipts.of((self.place, Sequence(self.at.sequence))),
        }
    }
}

/// The side of an account in a trade; the taker's when it has both.
pub(crate) fn side_of(trade: &TradeColumns, account: AccountNumber) -> &SideColumns {
    match trade.taker.account == account {
        true => &trade.taker,
        false => &trade.maker,
    }
}

/// All kinds but trades.
const ACTIONS: [ActivityKind; 7] = [
    ActivityKind::Split,
    ActivityKind::Merge,
    ActivityKind::Redeem,
    ActivityKind::Conversion,
    ActivityKind::MakerRebate,
    ActivityKind::Deposit,
    ActivityKind::Withdrawal,
];

const fn kind_of(action: ActionKind) -> ActivityKind {
    match action {
        ActionKind::Split => ActivityKind::Split,
        ActionKind::Merge => ActivityKind::Merge,
        ActionKind::Redeem => ActivityKind::Redeem,
        ActionKind::Convert => ActivityKind::Conversion,
        ActionKind::Rebate => ActivityKind::MakerRebate,
        ActionKind::Deposit => ActivityKind::Deposit,
        ActionKind::Withdrawal => ActivityKind::Withdrawal,
    }
}

/// Whether a query includes any kind of action.
pub(crate) fn has_actions(wanted: &ActivityFilter) -> bool {
    ACTIONS.iter().any(|kind| wanted.has_kind(*kind))
}

/// Whether a query includes an action.
pub(crate) fn admits(wanted: &ActivityFilter, markets: &MarketFilter, action: &Action) -> bool {
    let (kind, time) = (kind_of(action.kind), action.time.seconds());
    markets.contains(action.market) && wanted.admits(kind, time)
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
    fn of(&mut self, (place, sequence): (FramePosition, Sequence)) -> [u8; 32] {
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
