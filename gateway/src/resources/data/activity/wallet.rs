//! The activities of a wallet that a request asks for.

use foretell_model::{AccountNumber, Sequence, TradeIndex};
use foretell_view::{Action, RowFilter, View};
use foretell_wire::data::{ActivityFilter, ActivityKind, Direction, FrameRow, LimitOffset};

use crate::resources::data::MarketFilter;
use crate::resources::data::rows::activity_row::{admits, has_actions};
use crate::resources::data::trade_lists::TradeLists;
use crate::resources::data::trades::time_range;

/// A page of the activities of a wallet.
pub(crate) struct WalletActivities {
    pub(crate) account: AccountNumber,
    /// Where the wallet took, it has one row a trade.
    pub(crate) whole_trades: bool,
    pub(crate) filter: ActivityFilter,
    pub(crate) markets: MarketFilter,
    pub(crate) page: LimitOffset,
    /// Only after this row, in the order of time.
    pub(crate) after: Option<FrameRow>,
}

impl WalletActivities {
    /// The trades of the requested time range and kinds that the page may have, and the range of such
    /// actions from the oldest.
    pub(crate) fn in_time(&self, view: &View) -> (TradeLists, (usize, usize)) {
        let (trades, (from, to)) = self.in_range(view);
        let Some(FrameRow {
            sequence, index, ..
        }) = self.after
        else {
            return (trades, (from, to));
        };
        let count_older = |index| {
            let row = (Sequence(sequence), index);
            view.actions().count_older(self.account, row)
        };
        let next = index.saturating_add(1);
        match self.filter.sort_direction {
            Direction::Descending => {
                let trades = trades.before(view, (Sequence(sequence), TradeIndex(index)));
                (trades, (from, count_older(index).clamp(from, to)))
            }
            Direction::Ascending => {
                let trades = trades.since(view, (Sequence(sequence), TradeIndex(next)));
                (trades, (count_older(next).clamp(from, to), to))
            }
        }
    }

    fn in_range(&self, view: &View) -> (TradeLists, (usize, usize)) {
        let (start, end) = time_range(self.filter.time);
        let trades = match self.filter.has_kind(ActivityKind::Trade) {
            true => TradeLists::of(view, Some(self.account), self.markets.distinct())
                .within(view, start, end),
            false => TradeLists::none(),
        };
        let before = |time| view.actions().count_before(self.account, time);
        let actions = match has_actions(&self.filter) {
            true => (before(start).min(before(end)), before(end)),
            false => (0, 0),
        };
        (trades, actions)
    }

    /// The trades that the list includes.
    pub(crate) fn sought(&self) -> RowFilter<'static> {
        RowFilter {
            whole_trades: self.whole_trades,
            side: self.filter.side,
            ..RowFilter::default()
        }
    }

    pub(crate) fn admits(&self, action: &Action) -> bool {
        admits(&self.filter, &self.markets, action)
    }
}
