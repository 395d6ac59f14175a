//! `GET /activity` sorted by size or value: of a wallet's activities as many as the page needs are
//! kept. From the largest down, trades that are too small for the page are jumped over; from the
//! smallest up, all are visited.

use std::cmp::{Ordering, Reverse};
use std::ops::ControlFlow;

use foretell_model::quantity::MICROS_PER_LOT;
use foretell_model::{AccountNumber, Lots, Micros, Sequence};
use foretell_view::{Action, ActionKind, RowFilter, TradeSlot, View};
use foretell_wire::data::{ActivityKind, ActivitySort, Direction, LimitOffset, page};

use crate::app::App;
use crate::http::answer::StatePosition;
use crate::resources::data::activity::PagedActivities;
use crate::resources::data::rows::activity_row::{
    ActivityEntry, action_entry, admits, has_actions, trade_entry,
};
use crate::resources::data::rows::answer_market_texts::MarketTextIndex;
use crate::resources::data::trade_lists::TradeLists;
use crate::resources::data::trades::time_range;
use crate::resources::data::{MarketFilter, STEP};

/// The sort key of an activity, and where to find the rest.
struct SortKey {
    /// Lots, or micros of collateral.
    number: u64,
    /// Ties are ordered from new to old. A frame has trades or an action, never both.
    at: Reverse<(Sequence, Option<TradeSlot>)>,
    done: Activity,
}

enum Activity {
    Trade(TradeSlot),
    Action(Action),
}

/// A search for a page.
pub(crate) struct SortedActivity {
    wanted: PagedActivities,
    markets: MarketFilter,
    /// Trades not yet visited, and the range of actions not yet visited, from the oldest; `None`
    /// before the first step.
    ahead: Option<(TradeLists, (usize, usize))>,
    /// At most two steps more than twice the rows up to the page's end.
    found: Vec<SortKey>,
    /// From the largest down: smallest number of a trade that may still change the page.
    least: u64,
    shown: Vec<ActivityEntry>,
    /// The state of the first step.
    position: Option<StatePosition>,
}

impl SortedActivity {
    pub(crate) fn new(wanted: PagedActivities, markets: MarketFilter) -> Self {
        Self {
            wanted,
            markets,
            ahead: None,
            found: Vec::new(),
            least: 0,
            shown: Vec::new(),
            position: None,
        }
    }

    /// The page, and the state of the first step.
    pub(crate) async fn run(
        mut self,
        app: &App,
        account: AccountNumber,
    ) -> (Vec<ActivityEntry>, Option<StatePosition>) {
        while !self.step(app, account) {
            tokio::task::yield_now().await;
        }
        (self.shown, self.position)
    }

    /// Visits some thousand trades and [`STEP`] actions at most; true when it was the last step and
    /// made the page.
    fn step(&mut self, app: &App, account: AccountNumber) -> bool {
        let state = app.shared_view.read();
        let view = &state.view;
        self.position.get_or_insert(state.position());
        let (mut trades, (first, end)) = match self.ahead.take() {
            Some(ahead) => ahead,
            None => self.in_time(view, account),
        };
        let is_end_of_trades = self.visit_trades(view, account, &mut trades);
        let start = end.saturating_sub(STEP).max(first);
        let actions = view.actions().newest_first(account, end);
        for action in actions.take(end - start) {
            self.visit_action(&action);
        }
        self.truncate_to_page();
        if !is_end_of_trades || start > first {
            self.ahead = Some((trades, (first, start)));
            return false;
        }
        let mut named = MarketTextIndex::default();
        let page = self.page(self.wanted.page);
        let rows = page.iter().filter_map(|key| match &key.done {
            Activity::Trade(slot) => trade_entry(app, view, &mut named, account, *slot),
            Activity::Action(action) => action_entry(app, view, action),
        });
        self.shown = rows.collect();
        true
    }

    /// The trades and actions of the requested time range and kinds.
    fn in_time(&self, view: &View, account: AccountNumber) -> (TradeLists, (usize, usize)) {
        let (start, end) = time_range(self.wanted.filter.time);
        let trades = match self.wanted.filter.has_kind(ActivityKind::Trade) {
            true => TradeLists::of(view, Some(account), self.markets.distinct())
                .within(view, start, end),
            false => TradeLists::none(),
        };
        let before = |time| view.actions().count_before(account, time);
        let actions = match has_actions(&self.wanted.filter) {
            true => (before(start).min(before(end)), before(end)),
            false => (0, 0),
        };
        (trades, actions)
    }

    /// True at the end of the trades.
    fn visit_trades(
        &mut self,
        view: &View,
        account: AccountNumber,
        trades: &mut TradeLists,
    ) -> bool {
        let mut sought = RowFilter {
            side: self.wanted.filter.side,
            ..RowFilter::default()
        };
        match (self.wanted.filter.sort_direction, self.wanted.sort) {
            (Direction::Ascending, _) => {}
            (Direction::Descending, ActivitySort::Cash) => sought.value = Micros(self.least),
            (Direction::Descending, _) => sought.lots = Lots(self.least),
        }
        let (sort, found) = (self.wanted.sort, &mut self.found);
        let enough = found.len() + STEP;
        trades.find(view, sought, usize::MAX, |slot, _| {
            if let Some(trade) = view.trade_columns(slot) {
                let is_taker = trade.taker.account == account;
                let side = if is_taker { &trade.taker } else { &trade.maker };
                let value = trade.lots.value_at(side.price);
                found.push(SortKey {
                    number: number_of(sort, trade.lots.0, value.0),
                    at: Reverse((trade.sequence, Some(slot))),
                    done: Activity::Trade(slot),
                });
            }
            match found.len() < enough {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        })
    }

    fn visit_action(&mut self, action: &Action) {
        if admits(&self.wanted.filter, &self.markets, action) {
            let value = action.collateral.0;
            let lots = match action.kind {
                // Its size is its amount, which has finer parts than lots.
                ActionKind::Rebate => value / MICROS_PER_LOT,
                _ => action.lots.0,
            };
            self.found.push(SortKey {
                number: number_of(self.wanted.sort, lots, value),
                at: Reverse((action.sequence, None)),
                done: Activity::Action(*action),
            });
        }
    }

    /// Drops rows after the page's end once there are twice as many and some more, so that memory is
    /// bounded by the page and not by the history.
    fn truncate_to_page(&mut self) {
        const SPARE: usize = 256;
        let LimitOffset { limit, offset } = self.wanted.page;
        let limit = limit + offset;
        if limit > 0 && self.found.len() >= 2 * limit + SPARE {
            self.found = self.page(LimitOffset { limit, offset: 0 });
            self.least = self.found.last().map_or(1, |last| match last.done {
                // Trades come from new to old, so those to come follow an equal one.
                Activity::Trade(_) => last.number.saturating_add(1),
                Activity::Action(_) => last.number,
            });
        }
    }

    /// Takes a page from the rows found.
    fn page(&mut self, wanted: LimitOffset) -> Vec<SortKey> {
        let direction = self.wanted.filter.sort_direction;
        let compare = |a: &SortKey, b: &SortKey| -> Ordering {
            let ordering = direction.apply(a.number.cmp(&b.number));
            ordering.then_with(|| a.at.cmp(&b.at))
        };
        page(std::mem::take(&mut self.found), wanted, compare)
    }
}

const fn number_of(sort: ActivitySort, lots: u64, value: u64) -> u64 {
    match sort {
        ActivitySort::Cash => value,
        ActivitySort::Tokens | ActivitySort::Timestamp => lots,
    }
}
