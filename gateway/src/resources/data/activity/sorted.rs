//! `GET /activity` sorted by size or value: of a wallet's activities as many as the page needs are
//! kept. From the largest down, trades that are too small for the page are jumped over; from the
//! smallest up, all are visited.

use std::cmp::{Ordering, Reverse};
use std::ops::ControlFlow;

use foretell_model::quantity::MICROS_PER_LOT;
use foretell_model::{Lots, Micros, Sequence};
use foretell_view::{Action, NO_MARKET, TradeSlot, View};
use foretell_wire::data::{ActivitySort, Direction};

use crate::app::App;
use crate::resources::data::activity::wallet::WalletActivities;
use crate::resources::data::rows::activity_row::{ActivityEntry, side_of};
use crate::resources::data::rows::market_texts::MarketTexts;
use crate::resources::data::trade_lists::TradeLists;
use crate::view::search::{BestRows, STEP, break_if};

/// Rows kept beyond twice the page.
const SPARE: usize = 256;

/// The sort key of an activity, and where to find the rest.
struct SortKey {
    /// Lots, or micros of collateral.
    number: u64,
    /// Ties are ordered from new to old: the frame, and the place in it. A frame has trades or actions
    /// of an account, never both.
    at: Reverse<(Sequence, u32)>,
    done: Activity,
}

enum Activity {
    Trade(TradeSlot),
    Action(Action),
}

pub(crate) struct SortedActivity {
    query: WalletActivities,
    sort: ActivitySort,
    texts: MarketTexts,
    /// Trades not yet visited, and the range of actions not yet visited, from the oldest; `None`
    /// before the first step.
    ahead: Option<(TradeLists, (usize, usize))>,
    best: BestRows<SortKey>,
    /// From the largest down: smallest number of a trade that may still change the page.
    least: u64,
}

impl SortedActivity {
    pub(crate) fn new(query: WalletActivities, sort: ActivitySort, texts: MarketTexts) -> Self {
        Self {
            best: BestRows::new(query.page),
            query,
            sort,
            texts,
            ahead: None,
            least: 0,
        }
    }

    /// Visits some thousand trades and [`STEP`] actions at most; breaks with the page.
    pub(crate) fn step(&mut self, app: &App, view: &View) -> ControlFlow<Vec<ActivityEntry>> {
        let (mut trades, (first, end)) = match self.ahead.take() {
            Some(ahead) => ahead,
            None => self.query.in_time(view),
        };
        let is_end_of_trades = self.visit_trades(view, &mut trades);
        let start = end.saturating_sub(STEP).max(first);
        let actions = view.actions().newest_first(self.query.account, end);
        for action in actions.take(end - start) {
            self.visit_action(&action);
        }
        let compare = compare(self.query.filter.sort_direction);
        if is_end_of_trades && start == first {
            let page = self.best.finish(compare);
            let entries = page.iter().filter_map(|key| self.entry(app, view, key));
            return ControlFlow::Break(entries.collect());
        }
        if let Some(last) = self.best.trim(SPARE, compare) {
            self.least = match last.done {
                // Trades come from new to old, so those to come follow an equal one.
                Activity::Trade(_) => last.number.saturating_add(1),
                Activity::Action(_) => last.number,
            };
        }
        self.ahead = Some((trades, (first, start)));
        ControlFlow::Continue(())
    }

    fn entry(&mut self, app: &App, view: &View, key: &SortKey) -> Option<ActivityEntry> {
        let (query, texts) = (&self.query, &mut self.texts);
        match &key.done {
            Activity::Trade(slot) => {
                ActivityEntry::of_trade(app, view, texts, query.account, *slot)
            }
            Activity::Action(action) => {
                ActivityEntry::of_action(app, view, texts, query.filter.user, action)
            }
        }
    }

    /// True at the end of the trades.
    fn visit_trades(&mut self, view: &View, trades: &mut TradeLists) -> bool {
        let mut sought = self.query.sought();
        match (self.query.filter.sort_direction, self.sort) {
            (Direction::Ascending, _) => {}
            (Direction::Descending, ActivitySort::Cash) => sought.value = Micros(self.least),
            (Direction::Descending, _) => sought.lots = Lots(self.least),
        }
        let (sort, account, best) = (self.sort, self.query.account, &mut self.best);
        let whole_trades = self.query.whole_trades;
        let enough = best.len() + STEP;
        trades.find(view, sought, usize::MAX, |slot, _| {
            if let Some(trade) = view.trade_columns(slot) {
                let side = side_of(&trade, account);
                let sum = trade.amounts(side, whole_trades && trade.is_taker(side));
                best.push(SortKey {
                    number: number_of(sort, sum.lots.0, sum.value.0),
                    at: Reverse((trade.sequence, trade.index.0)),
                    done: Activity::Trade(slot),
                });
            }
            break_if(best.len() >= enough)
        })
    }

    fn visit_action(&mut self, action: &Action) {
        if self.query.admits(action) {
            let value = action.collateral.0;
            let lots = match action.kind {
                // Money alone has no shares: its size is its amount, rounded down to lots.
                _ if action.market == NO_MARKET => value / MICROS_PER_LOT,
                _ => action.lots.0,
            };
            self.best.push(SortKey {
                number: number_of(self.sort, lots, value),
                at: Reverse((action.sequence, action.index())),
                done: Activity::Action(*action),
            });
        }
    }
}

fn compare(direction: Direction) -> impl Fn(&SortKey, &SortKey) -> Ordering {
    move |a, b| {
        let ordering = direction.apply(a.number.cmp(&b.number));
        ordering.then_with(|| a.at.cmp(&b.at))
    }
}

const fn number_of(sort: ActivitySort, lots: u64, value: u64) -> u64 {
    match sort {
        ActivitySort::Cash => value,
        ActivitySort::Tokens | ActivitySort::Timestamp => lots,
    }
}
