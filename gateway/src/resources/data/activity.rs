//! `GET /activity`: trades and account actions of a wallet in one list by time.

use std::ops::ControlFlow;

use foretell_model::AccountNumber;
use foretell_view::{Action, RowFilter, TradeSlot, View};
use foretell_wire::data::{
    ActivityFilter, ActivityKind, ActivityQuery, ActivitySort, Direction, LimitOffset, RowWriter,
    V1List,
};

use crate::app::App;
use crate::http::answer::{Answer, StatePosition};
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;
use crate::resources::data::activity_sorted::SortedActivity;
use crate::resources::data::rows::activity_row::{
    ActivityEntry, action_entry, admits, has_actions, trade_entry,
};
use crate::resources::data::rows::answer_market_texts::MarketTextIndex;
use crate::resources::data::rows::fill_row::ReceiptReader;
use crate::resources::data::trade_lists::TradeLists;
use crate::resources::data::trades::time_range;
use crate::resources::data::{MAX_VISITED_ROWS, MarketFilter, STEP, account_of};

/// `GET /activity`.
pub(crate) async fn list(context: RequestContext) -> Result<Answer, Failure> {
    let app = &context.app;
    let V1List { query, page } = context.parameters()?;
    context.wait_fresh().await?;
    answer(app, query, page).await
}

/// The answer to a query.
pub(crate) async fn answer(
    app: &App,
    ActivityQuery { filter, sort }: ActivityQuery,
    page: LimitOffset,
) -> Result<Answer, Failure> {
    let wanted = PagedActivities { filter, sort, page };
    let markets = MarketFilter::of(app, &wanted.filter.markets).await?;
    let account = account_of(app, wanted.filter.user).await?;
    let user = wanted.filter.user;
    let (found, position) = match (account, wanted.sort) {
        (None, _) => (Vec::new(), None),
        (Some(account), ActivitySort::Timestamp) => {
            ActivitySearch::new(wanted, markets).run(app, account).await
        }
        (Some(account), _) => SortedActivity::new(wanted, markets).run(app, account).await,
    };
    let position = position.unwrap_or_else(|| app.shared_view.read().position());
    let mut rows = RowWriter::with_capacity(found.len());
    let (mut profiles, mut receipts) = (app.profiles.texts(), ReceiptReader::new(app));
    for done in &found {
        let row = done.row(user, &mut profiles, &mut receipts);
        row.write(&mut rows);
    }
    Ok(Answer::json(rows.finish()).at(position))
}

/// A query and its page.
pub(crate) struct PagedActivities {
    pub(crate) filter: ActivityFilter,
    pub(crate) sort: ActivitySort,
    pub(crate) page: LimitOffset,
}

/// A range of entries not yet visited, as positions from the list's oldest, which stay valid while
/// the list grows.
#[derive(Clone, Copy, Default)]
struct UnvisitedRange {
    from: usize,
    to: usize,
}

impl UnvisitedRange {
    fn new(from: usize, to: usize) -> Self {
        Self {
            from: from.min(to),
            to,
        }
    }

    fn is_empty(self) -> bool {
        self.from == self.to
    }

    /// Removes and returns the next `count` positions in a direction.
    fn take(&mut self, count: usize, direction: Direction) -> Self {
        let count = count.min(self.to - self.from);
        let Self { from, to } = *self;
        match direction {
            Direction::Ascending => {
                self.from += count;
                Self::new(from, from + count)
            }
            Direction::Descending => {
                self.to -= count;
                Self::new(to - count, to)
            }
        }
    }
}

/// Entries found but not shown yet, the next one last.
struct PendingEntries<T> {
    ahead: UnvisitedRange,
    /// Positions of the next window: few at first, because most pages are short.
    window: usize,
    next: Vec<T>,
}

impl<T> PendingEntries<T> {
    fn of(ahead: UnvisitedRange) -> Self {
        Self {
            ahead,
            window: FIRST_WINDOW,
            next: Vec::new(),
        }
    }

    /// Searches further windows while none is found and `visits` remain. `in_window` returns the
    /// entries of some positions from new to old, and subtracts from the visits. True when the next
    /// entry is known, or that there is none.
    fn fill(
        &mut self,
        direction: Direction,
        visits: &mut usize,
        mut in_window: impl FnMut(UnvisitedRange, &mut usize) -> Vec<T>,
    ) -> bool {
        while self.next.is_empty() && !self.ahead.is_empty() && *visits > 0 {
            let window = self.ahead.take(self.window, direction);
            self.window = (self.window * 2).min(STEP);
            self.next = in_window(window, visits);
            if direction == Direction::Descending {
                self.next.reverse();
            }
        }
        !self.next.is_empty() || self.ahead.is_empty()
    }
}

/// Positions of the first window.
const FIRST_WINDOW: usize = 128;

/// A search for a page.
struct ActivitySearch {
    wanted: PagedActivities,
    markets: MarketFilter,
    named: MarketTextIndex,
    /// RowWriter still to be skipped.
    skip: usize,
    /// The rest of the requested time range; `None` before the first step.
    ahead: Option<(PendingTrades, PendingEntries<Action>)>,
    found: Vec<ActivityEntry>,
    /// The state of the first step.
    position: Option<StatePosition>,
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
            match collected.len() < enough {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        self.is_complete = is_end || self.collected.len() >= self.needed;
        if self.is_complete && direction == Direction::Descending {
            self.collected.reverse();
        }
        self.is_complete
    }
}

impl ActivitySearch {
    fn new(wanted: PagedActivities, markets: MarketFilter) -> Self {
        Self {
            markets,
            skip: wanted.page.offset,
            wanted,
            named: MarketTextIndex::default(),
            ahead: None,
            found: Vec::new(),
            position: None,
        }
    }

    /// The page, and the state of the first step.
    async fn run(
        mut self,
        app: &App,
        account: AccountNumber,
    ) -> (Vec<ActivityEntry>, Option<StatePosition>) {
        while !self.step(app, account) {
            tokio::task::yield_now().await;
        }
        (self.found, self.position)
    }

    /// Visits some thousand trades and actions at most; true at the end of the search.
    fn step(&mut self, app: &App, account: AccountNumber) -> bool {
        let state = app.shared_view.read();
        let view = &state.view;
        self.position.get_or_insert(state.position());
        let direction = self.wanted.filter.sort_direction;
        let (mut trades, mut actions) = match self.ahead.take() {
            Some(ahead) => ahead,
            None => self.in_time(view, account),
        };
        if !trades.collect(view, direction) {
            self.ahead = Some((trades, actions));
            return false;
        }
        let actions_in = |UnvisitedRange { from, to }: UnvisitedRange, visits: &mut usize| {
            let actions = view.actions().newest_first(account, to);
            *visits = visits.saturating_sub(to - from);
            actions.take(to - from).collect()
        };
        let mut visits = MAX_VISITED_ROWS;
        for _ in 0..STEP {
            if self.found.len() >= self.wanted.page.limit {
                return true;
            }
            if !actions.fill(direction, &mut visits, actions_in) {
                break;
            }
            // One command never yields both a trade and an action.
            let trade_is_next = match (trades.collected.last(), actions.next.last()) {
                (None, None) => return true,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (Some(trade), Some(action)) => {
                    let trade = view.trade_columns(*trade);
                    trade.is_none_or(|trade| match direction {
                        Direction::Ascending => trade.sequence < action.sequence,
                        Direction::Descending => trade.sequence > action.sequence,
                    })
                }
            };
            if !trade_is_next && let Some(action) = actions.next.pop() {
                self.consider_action(app, view, &action);
            } else if let Some(trade) = trades.collected.pop() {
                self.consider_trade(app, view, account, trade);
            }
        }
        self.ahead = Some((trades, actions));
        false
    }

    /// The trades and actions of the requested time range and kinds.
    fn in_time(
        &mut self,
        view: &View,
        account: AccountNumber,
    ) -> (PendingTrades, PendingEntries<Action>) {
        let (start, end) = time_range(self.wanted.filter.time);
        let mut actions = UnvisitedRange::default();
        if has_actions(&self.wanted.filter) {
            let before = |time| view.actions().count_before(account, time);
            actions = UnvisitedRange::new(before(start), before(end));
        }
        let lists = match self.wanted.filter.has_kind(ActivityKind::Trade) {
            true => TradeLists::of(view, Some(account), self.markets.distinct())
                .within(view, start, end),
            false => TradeLists::none(),
        };
        let trades = self.trades(view, lists, actions.is_empty());
        (trades, PendingEntries::of(actions))
    }

    /// Restricts the lists to the trades that a page may need. If there are no actions (`alone`),
    /// the offset is skipped by row counts where these are known; trades after the page's end are
    /// always dropped. Each trade has one row here, so counts are exact.
    fn trades(&mut self, view: &View, mut lists: TradeLists, alone: bool) -> PendingTrades {
        let sought = RowFilter {
            side: self.wanted.filter.side,
            ..RowFilter::default()
        };
        let needed = match self.wanted.filter.sort_direction {
            Direction::Descending => {
                if alone {
                    lists.skip_newest(view, sought, &mut self.skip);
                }
                self.skip.saturating_add(self.wanted.page.limit)
            }
            Direction::Ascending => {
                let rows = lists.count_rows(view, sought);
                if alone {
                    self.skip -= lists.skip_oldest(view, sought, (rows, self.skip));
                }
                let needed = self.skip.saturating_add(self.wanted.page.limit);
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

    fn consider_trade(&mut self, app: &App, view: &View, account: AccountNumber, slot: TradeSlot) {
        if self.skips_row() {
            return;
        }
        let found = trade_entry(app, view, &mut self.named, account, slot);
        self.found.extend(found);
    }

    fn consider_action(&mut self, app: &App, view: &View, action: &Action) {
        let is_wanted = admits(&self.wanted.filter, &self.markets, action);
        if is_wanted && !self.skips_row() {
            self.found.extend(action_entry(app, view, action));
        }
    }

    /// Whether the next row precedes the page; counts it.
    fn skips_row(&mut self) -> bool {
        let is_before = self.skip > 0;
        self.skip -= usize::from(is_before);
        is_before
    }
}
