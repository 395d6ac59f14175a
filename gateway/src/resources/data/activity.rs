//! `GET /activity`: trades and account actions of a wallet in one list by time.

mod sorted;
mod wallet;

use std::ops::ControlFlow;

use foretell_model::AccountNumber;
use foretell_view::{Action, RowFilter, TradeSlot, View};
use foretell_wire::data::{
    ActivityQuery, ActivitySort, ActivityV1, AssetIds, Direction, FrameRow, V1Walk,
};

use crate::app::App;
use crate::http::answer::{Json, StatePosition};
use crate::http::failure::Failure;
use crate::http::parts::FromQuery;
use crate::http::request_context::RequestContext;
use crate::resources::data::activity::sorted::SortedActivity;
use crate::resources::data::activity::wallet::WalletActivities;
use crate::resources::data::rows::activity_row::{ActivityEntry, ReceiptReader};
use crate::resources::data::rows::market_texts::MarketTexts;
use crate::resources::data::trade_lists::TradeLists;
use crate::resources::data::{MAX_VISITED_ROWS, MarketFilter, account_of};
use crate::view::search::{PageFrom, STEP, break_if, end_page, in_steps};

/// `GET /activity`.
pub(crate) async fn list(
    context: RequestContext,
    FromQuery(V1Walk { query, page, after }): FromQuery<V1Walk<ActivityQuery>>,
) -> Result<Json<Vec<ActivityV1<'static>>>, Failure> {
    let app = &context.app;
    let (limit, sort) = (page.limit, query.sort);
    let page = PageFrom { page, after }.with_next();
    let (mut entries, position) = search(app, query, page, app.compatibility.asset_ids()).await?;
    let last = end_page(&mut entries, limit).map(|entry| entry.at);
    let last = last.filter(|_| sort == ActivitySort::Timestamp);
    let (profiles, mut receipts) = (app.profiles.texts(), ReceiptReader::new(app));
    let rows = entries
        .iter()
        .map(|entry| entry.row(&profiles, &mut receipts));
    let rows: Vec<_> = rows.map(ActivityV1::from).collect();
    Ok(Json::of(&rows).at(position).continued(last))
}

/// A page of a wallet's activities, and the state of the first step.
pub(crate) async fn search(
    app: &App,
    ActivityQuery { filter, sort }: ActivityQuery,
    PageFrom { page, after }: PageFrom<FrameRow>,
    form: AssetIds,
) -> Result<(Vec<ActivityEntry>, StatePosition), Failure> {
    let Some(account) = account_of(app, filter.user).await? else {
        return Ok((Vec::new(), app.shared_view.read().position()));
    };
    let query = WalletActivities {
        markets: MarketFilter::of(app, &filter.markets).await?,
        account,
        whole_trades: app.compatibility.has_whole_trades(),
        filter,
        page,
        after,
    };
    let texts = MarketTexts::new(form);
    Ok(match sort {
        ActivitySort::Timestamp => {
            let mut search = ActivitySearch::new(query, texts);
            in_steps(app, |state| search.step(app, &state.view)).await
        }
        _ => {
            let mut search = SortedActivity::new(query, sort, texts);
            in_steps(app, |state| search.step(app, &state.view)).await
        }
    })
}

/// Actions not yet shown: a range of positions from the oldest, which stay valid while the list grows,
/// and the actions found in the last window of it, the next one last.
struct PendingActions {
    from: usize,
    to: usize,
    /// Positions of the next window: few at first, because most pages are short.
    window: usize,
    next: Vec<Action>,
}

impl PendingActions {
    /// Reads further windows while no action is found and `visits` remain, and subtracts these. True
    /// when the next action is known, or that there is none.
    fn fill(
        &mut self,
        view: &View,
        account: AccountNumber,
        direction: Direction,
        visits: &mut usize,
    ) -> bool {
        while self.next.is_empty() && self.from < self.to && *visits > 0 {
            let count = self.window.min(self.to - self.from);
            self.window = (self.window * 2).min(STEP);
            *visits = visits.saturating_sub(count);
            let end = match direction {
                Direction::Ascending => self.from + count,
                Direction::Descending => self.to,
            };
            let actions = view.actions().newest_first(account, end);
            self.next = actions.take(count).collect();
            match direction {
                Direction::Ascending => self.from += count,
                Direction::Descending => {
                    self.to -= count;
                    self.next.reverse();
                }
            }
        }
        !self.next.is_empty() || self.from == self.to
    }
}

/// Positions of the first window.
const FIRST_WINDOW: usize = 128;

struct ActivitySearch {
    query: WalletActivities,
    texts: MarketTexts,
    /// Rows still to be skipped.
    skip: usize,
    /// The rest of the requested time range; `None` before the first step.
    ahead: Option<(PendingTrades, PendingActions)>,
    entries: Vec<ActivityEntry>,
}

/// Trades of the requested time range. Only as many as a page may need are collected, from new to
/// old.
struct PendingTrades {
    lists: TradeLists,
    sought: RowFilter<'static>,
    /// Largest number needed.
    needed: usize,
    /// The trades collected. Once all are collected the next one is last.
    collected: Vec<TradeSlot>,
    /// All are collected.
    is_complete: bool,
}

impl PendingTrades {
    /// Collects up to [`STEP`] trades; true when none is missing.
    fn collect(&mut self, view: &View, direction: Direction) -> bool {
        if self.is_complete {
            return true;
        }
        let Self {
            lists,
            sought,
            needed,
            collected,
            ..
        } = self;
        let enough = (collected.len() + STEP).min(*needed);
        let missing = *needed - collected.len();
        let is_end = lists.find(view, *sought, missing, |slot, _| {
            collected.push(slot);
            break_if(collected.len() >= enough)
        });
        self.is_complete = is_end || self.collected.len() >= self.needed;
        if self.is_complete && direction == Direction::Descending {
            self.collected.reverse();
        }
        self.is_complete
    }
}

impl ActivitySearch {
    fn new(query: WalletActivities, texts: MarketTexts) -> Self {
        Self {
            skip: query.page.offset,
            query,
            texts,
            ahead: None,
            entries: Vec::new(),
        }
    }

    /// Visits some thousand trades and actions at most; breaks with the page.
    fn step(&mut self, app: &App, view: &View) -> ControlFlow<Vec<ActivityEntry>> {
        let (mut trades, mut actions) = match self.ahead.take() {
            Some(ahead) => ahead,
            None => self.in_time(view),
        };
        let direction = self.query.filter.sort_direction;
        let is_end = trades.collect(view, direction)
            && self.visit(app, view, &mut trades.collected, &mut actions);
        if is_end {
            return ControlFlow::Break(std::mem::take(&mut self.entries));
        }
        self.ahead = Some((trades, actions));
        ControlFlow::Continue(())
    }

    /// Adds the next rows in the order of time; true when the page is complete.
    fn visit(
        &mut self,
        app: &App,
        view: &View,
        trades: &mut Vec<TradeSlot>,
        actions: &mut PendingActions,
    ) -> bool {
        let (account, direction) = (self.query.account, self.query.filter.sort_direction);
        let mut visits = MAX_VISITED_ROWS;
        for _ in 0..STEP {
            if self.entries.len() >= self.query.page.limit {
                return true;
            }
            if !actions.fill(view, account, direction, &mut visits) {
                break;
            }
            match is_trade_next(view, direction, trades.last(), actions.next.last()) {
                None => return true,
                Some(true) => self.take_trade(app, view, trades.pop()),
                Some(false) => self.take_action(app, view, actions.next.pop()),
            }
        }
        false
    }

    /// The trades and actions of the requested time range and kinds.
    fn in_time(&mut self, view: &View) -> (PendingTrades, PendingActions) {
        let (lists, (from, to)) = self.query.in_time(view);
        let actions = PendingActions {
            from,
            to,
            window: FIRST_WINDOW,
            next: Vec::new(),
        };
        (self.trades(view, lists, from == to), actions)
    }

    /// Restricts the lists to the trades that a page may need. If there are no actions (`alone`),
    /// the offset is skipped by row counts where these are known; trades after the page's end are
    /// always dropped. Each trade has one row here, so counts are exact.
    fn trades(&mut self, view: &View, mut lists: TradeLists, alone: bool) -> PendingTrades {
        let (sought, limit) = (self.query.sought(), self.query.page.limit);
        let needed = match self.query.filter.sort_direction {
            Direction::Descending => {
                if alone {
                    lists.skip_newest(view, sought, &mut self.skip);
                }
                self.skip.saturating_add(limit)
            }
            Direction::Ascending => {
                let rows = lists.count_rows(view, sought);
                if alone {
                    self.skip -= lists.skip_oldest(view, sought, (rows, self.skip));
                }
                let needed = self.skip.saturating_add(limit);
                let mut beyond = lists.count_rows(view, sought).saturating_sub(needed);
                lists.skip_newest(view, sought, &mut beyond);
                needed
            }
        };
        PendingTrades {
            lists,
            sought,
            needed,
            collected: Vec::new(),
            is_complete: false,
        }
    }

    fn take_trade(&mut self, app: &App, view: &View, slot: Option<TradeSlot>) {
        if let Some(slot) = slot
            && !self.skips_row()
        {
            let (account, texts) = (self.query.account, &mut self.texts);
            let entry = ActivityEntry::of_trade(app, view, texts, account, slot);
            self.entries.extend(entry);
        }
    }

    fn take_action(&mut self, app: &App, view: &View, action: Option<Action>) {
        if let Some(action) = action
            && self.query.admits(&action)
            && !self.skips_row()
        {
            let (user, texts) = (self.query.filter.user, &mut self.texts);
            let entry = ActivityEntry::of_action(app, view, texts, user, &action);
            self.entries.extend(entry);
        }
    }

    /// Whether the next row precedes the page; counts it.
    fn skips_row(&mut self) -> bool {
        let is_before = self.skip > 0;
        self.skip -= usize::from(is_before);
        is_before
    }
}

/// Whether a trade is next, or an action; `None` when neither is left. One command never yields
/// both.
fn is_trade_next(
    view: &View,
    direction: Direction,
    trade: Option<&TradeSlot>,
    action: Option<&Action>,
) -> Option<bool> {
    let (Some(trade), Some(action)) = (trade, action) else {
        return (trade.is_some() || action.is_some()).then_some(trade.is_some());
    };
    let trade = view.trade_columns(*trade);
    Some(trade.is_none_or(|trade| match direction {
        Direction::Ascending => trade.sequence < action.sequence,
        Direction::Descending => trade.sequence > action.sequence,
    }))
}
