//! `GET /activity`: trades and account actions of a wallet in one list by time.

use std::ops::ControlFlow;
use std::sync::Arc;

use foretell_model::{
    AccountNumber, FramePosition, Lots, Micros, Sequence, TimeNs, TimeSeconds, WalletAddress,
};
use foretell_view::{Action, ActionKind, RowFilter, TradeSlot, View};
use foretell_wire::data::{
    ActivityKind, ActivityQuery, ActivityRow, Direction, MarketText, RowWriter,
};

use crate::answer::{Answer, StatePosition};
use crate::app::App;
use crate::failure::Failure;
use crate::profiles::ProfileTexts;
use crate::request_context::RequestContext;
use crate::resources::data::answer_market_texts::MarketTextIndex;
use crate::resources::data::fill_row::{FillEntry, ReceiptReader};
use crate::resources::data::trade_lists::TradeLists;
use crate::resources::data::{MAX_VISITED_ROWS, MarketFilter, STEP, account_of, parameters};

/// `GET /activity`.
pub(crate) async fn list(context: RequestContext) -> Result<Answer, Failure> {
    let app = &context.app;
    let wanted = parameters(&context, ActivityQuery::of)?;
    context.wait_fresh().await?;
    let mut search = ActivitySearch {
        markets: MarketFilter::of(app, &wanted.markets).await?,
        skip: wanted.page.offset,
        wanted,
        named: MarketTextIndex::default(),
        ahead: None,
        found: Vec::new(),
        position: None,
    };
    if let Some(account) = account_of(app, search.wanted.user).await? {
        while !search.step(app, account) {
            tokio::task::yield_now().await;
        }
    }
    let position = search
        .position
        .unwrap_or_else(|| app.shared_view.read().position());
    let mut rows = RowWriter::with_capacity(search.found.len());
    let (mut profiles, mut receipts) = (app.profiles.texts(), ReceiptReader::new(app));
    for done in &search.found {
        done.row(search.wanted.user, &mut profiles, &mut receipts)
            .write(&mut rows);
    }
    Ok(Answer::json(rows.finish()).at(position))
}

/// An entry of the list.
enum ActivityEntry {
    Traded(FillEntry),
    Acted {
        kind: ActivityKind,
        market: Arc<MarketText>,
        lots: Lots,
        collateral: Micros,
        time: TimeSeconds,
        frame: (FramePosition, Sequence),
    },
}

impl ActivityEntry {
    fn row<'a>(
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
        }
    }
}

/// All kinds but trades.
const ACTIONS: [ActivityKind; 4] = [
    ActivityKind::Split,
    ActivityKind::Merge,
    ActivityKind::Redeem,
    ActivityKind::Conversion,
];

const fn kind_of(action: ActionKind) -> ActivityKind {
    match action {
        ActionKind::Split => ActivityKind::Split,
        ActionKind::Merge => ActivityKind::Merge,
        ActionKind::Redeem => ActivityKind::Redeem,
        ActionKind::Convert => ActivityKind::Conversion,
    }
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
    wanted: ActivityQuery,
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
    /// Visits some thousand trades and actions at most; true at the end of the search.
    fn step(&mut self, app: &App, account: AccountNumber) -> bool {
        let state = app.shared_view.read();
        let view = &state.view;
        self.position.get_or_insert(state.position());
        let direction = self.wanted.direction;
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
        let start = TimeSeconds(self.wanted.start.unwrap_or(0)).start();
        let end = match self.wanted.end {
            Some(end) => TimeSeconds(end.saturating_add(1)).start(),
            None => TimeNs(u64::MAX),
        };
        let mut actions = UnvisitedRange::default();
        if ACTIONS.iter().any(|kind| self.wanted.has_kind(*kind)) {
            let before = |time| view.actions().count_before(account, time);
            actions = UnvisitedRange::new(before(start), before(end));
        }
        let lists = match self.wanted.has_kind(ActivityKind::Trade) {
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
            side: self.wanted.side,
            ..RowFilter::default()
        };
        let needed = match self.wanted.direction {
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
        if let Some(trade) = view.trade_columns(slot) {
            let is_taker = trade.taker.account == account;
            let side = if is_taker { &trade.taker } else { &trade.maker };
            let fill = FillEntry::of(app, view, &mut self.named, &trade, side);
            self.found.extend(fill.map(ActivityEntry::Traded));
        }
    }

    fn consider_action(&mut self, app: &App, view: &View, action: &Action) {
        let (kind, time) = (kind_of(action.kind), action.time.seconds());
        let is_wanted = self.markets.contains(action.market) && self.wanted.admits(kind, time);
        if is_wanted
            && !self.skips_row()
            && let Some(market) = view.markets().get(action.market)
        {
            self.found.push(ActivityEntry::Acted {
                kind,
                market: app.market_texts.of(market, &app.descriptions),
                lots: action.lots,
                collateral: action.collateral,
                time,
                frame: (action.place, action.sequence),
            });
        }
    }

    /// Whether the next row precedes the page; counts it.
    fn skips_row(&mut self) -> bool {
        let is_before = self.skip > 0;
        self.skip -= usize::from(is_before);
        is_before
    }
}
