//! An activity of a wallet as a row.

use std::sync::Arc;

use foretell_model::{
    AccountNumber, FramePosition, Lots, Micros, Sequence, TimeSeconds, WalletAddress,
};
use foretell_view::{Action, ActionKind, TradeSlot, View};
use foretell_wire::data::{ActivityFilter, ActivityKind, ActivityRow, MarketText};

use crate::app::App;
use crate::catalog::profiles::ProfileTexts;
use crate::resources::data::MarketFilter;
use crate::resources::data::rows::answer_market_texts::MarketTextIndex;
use crate::resources::data::rows::fill_row::{FillEntry, ReceiptReader};

/// An entry of the list.
pub(crate) enum ActivityEntry {
    Traded(FillEntry),
    Acted {
        kind: ActivityKind,
        market: Arc<MarketText>,
        lots: Lots,
        collateral: Micros,
        time: TimeSeconds,
        frame: (FramePosition, Sequence),
    },
    Rebated {
        collateral: Micros,
        time: TimeSeconds,
        frame: (FramePosition, Sequence),
    },
}

impl ActivityEntry {
    pub(crate) fn row<'a>(
        &'a self,
        wallet: WalletAddress,
        profiles: &'a mut ProfileTexts,
        receipts: &mut ReceiptReader<'_>,
    ) -> ActivityRow<'a> {
        match self {
            Self::Traded(fill) => ActivityRow::Trade(fill.row(profiles, receipts)),
            Self::Acted {
                kind,
                market,
                lots,
                collateral,
                time,
                frame,
            } => ActivityRow::Action {
                kind: *kind,
                who: profiles.text(wallet),
                market,
                lots: *lots,
                collateral: *collateral,
                time: *time,
                receipt: receipts.of(*frame),
            },
            Self::Rebated {
                collateral,
                time,
                frame,
            } => ActivityRow::Rebate {
                who: profiles.text(wallet),
                collateral: *collateral,
                time: *time,
                receipt: receipts.of(*frame),
            },
        }
    }
}

/// All kinds but trades.
const ACTIONS: [ActivityKind; 5] = [
    ActivityKind::Split,
    ActivityKind::Merge,
    ActivityKind::Redeem,
    ActivityKind::Conversion,
    ActivityKind::MakerRebate,
];

const fn kind_of(action: ActionKind) -> ActivityKind {
    match action {
        ActionKind::Split => ActivityKind::Split,
        ActionKind::Merge => ActivityKind::Merge,
        ActionKind::Redeem => ActivityKind::Redeem,
        ActionKind::Convert => ActivityKind::Conversion,
        ActionKind::Rebate => ActivityKind::MakerRebate,
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

/// A trade from the side of an account; from the taker's side when the account has both.
pub(crate) fn trade_entry(
    app: &App,
    view: &View,
    named: &mut MarketTextIndex,
    account: AccountNumber,
    slot: TradeSlot,
) -> Option<ActivityEntry> {
    let trade = view.trade_columns(slot)?;
    let is_taker = trade.taker.account == account;
    let side = if is_taker { &trade.taker } else { &trade.maker };
    let fill = FillEntry::of(app, view, named, &trade, side);
    fill.map(ActivityEntry::Traded)
}

/// The row of an action.
pub(crate) fn action_entry(app: &App, view: &View, action: &Action) -> Option<ActivityEntry> {
    let (time, frame) = (action.time.seconds(), (action.place, action.sequence));
    if action.kind == ActionKind::Rebate {
        return Some(ActivityEntry::Rebated {
            collateral: action.collateral,
            time,
            frame,
        });
    }
    let market = view.markets().get(action.market)?;
    Some(ActivityEntry::Acted {
        kind: kind_of(action.kind),
        market: app.market_texts.of(market, &app.descriptions),
        lots: action.lots,
        collateral: action.collateral,
        time,
        frame,
    })
}
