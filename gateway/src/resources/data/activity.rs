//! `GET /activity`: trades and account actions of a wallet in one list by time.

use std::ops::ControlFlow;
use std::sync::Arc;

use foretell_model::{
    AccountNumber, FramePlace, Lots, Micros, Sequence, TimeNs, TimeSeconds, WalletAddress,
};
use foretell_view::{Action, ActionKind, Sought, TradeSlot, View};
use foretell_wire::data::{Activity, ActivityKind, ActivityQuery, Direction, MarketText, Rows};

use crate::answer::{Answer, Place};
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::profiles::People;
use crate::resources::data::fills::{Fill, Receipts};
use crate::resources::data::lists::Lists;
use crate::resources::data::named::Named;
use crate::resources::data::{LOOKS, Markets, STEP, account_of, parameters};

/// `GET /activity`.
pub(crate) async fn list(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let wanted = parameters(&call, ActivityQuery::of)?;
    app.fresh(&call).await?;
    let mut search = Search {
        markets: Markets::of(app, &wanted.markets).await?,
        skip: wanted.page.offset,
        wanted,
        named: Named::default(),
        ahead: None,
        found: Vec::new(),
        place: None,
    };
    if let Some(account) = account_of(app, search.wanted.user).await? {
        while !search.step(app, account) {
            tokio::task::yield_now().await;
        }
    }
    let place = search.place.unwrap_or_else(|| app.replica.read().place());
    let mut rows = Rows::with_capacity(search.found.len());
    let (mut people, mut receipts) = (app.profiles.people(), Receipts::new(app));
    for done in &search.found {
        done.row(search.wanted.user, &mut people, &mut receipts)
            .write(&mut rows);
    }
    Ok(Answer::json(rows.finish()).at(place))
}

/// What a wallet did.
enum Done {
    Traded(Fill),
    Acted {
        kind: ActivityKind,
        market: Arc<MarketText>,
        lots: Lots,
        collateral: Micros,
        time: TimeSeconds,
        frame: (FramePlace, Sequence),
    },
}

impl Done {
    fn row<'a>(
        &'a self,
        wallet: WalletAddress,
        people: &'a mut People,
        receipts: &mut Receipts<'_>,
    ) -> Activity<'a> {
        match self {
            Self::Traded(fill) => Activity::Trade(fill.row(people, receipts)),
            Self::Acted {
                kind,
                market,
                lots,
                collateral,
                time,
                frame,
            } => Activity::Action {
                kind: *kind,
                who: people.text(wallet),
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

/// Entries of a list that are still to be looked at, as places from its oldest: they stay what
/// they are while the list grows.
#[derive(Clone, Copy, Default)]
struct Ahead {
    from: usize,
    to: usize,
}

impl Ahead {
    fn new(from: usize, to: usize) -> Self {
        Self {
            from: from.min(to),
            to,
        }
    }

    fn is_empty(self) -> bool {
        self.from == self.to
    }

    /// Takes the next `count` places in a direction.
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

/// What was found and is not shown yet, the next one last.
struct Found<T> {
    ahead: Ahead,
    /// Places looked at next: few at first, for a page is often short.
    window: usize,
    next: Vec<T>,
}

impl<T> Found<T> {
    fn of(ahead: Ahead) -> Self {
        Self {
            ahead,
            window: FIRST_WINDOW,
            next: Vec::new(),
        }
    }

    /// Looks for more while there is nothing, as long as the `looks` last; `in_window` gives those of
    /// some places from new to old, and takes the looks that needs. True when the next one is known,
    /// or that there is none.
    fn fill(
        &mut self,
        direction: Direction,
        looks: &mut usize,
        mut in_window: impl FnMut(Ahead, &mut usize) -> Vec<T>,
    ) -> bool {
        while self.next.is_empty() && !self.ahead.is_empty() && *looks > 0 {
            let window = self.ahead.take(self.window, direction);
            self.window = (self.window * 2).min(STEP);
            self.next = in_window(window, looks);
            if direction == Direction::Descending {
                self.next.reverse();
            }
        }
        !self.next.is_empty() || self.ahead.is_empty()
    }
}

/// Places of the first window.
const FIRST_WINDOW: usize = 128;

/// A page being looked for.
struct Search {
    wanted: ActivityQuery,
    markets: Markets,
    named: Named,
    /// Rows still to be passed over.
    skip: usize,
    /// What of the time asked for is still to come; `None` before the first step.
    ahead: Option<(Trades, Found<Action>)>,
    found: Vec<Done>,
    /// The state it began with.
    place: Option<Place>,
}

/// Trades of the time asked for. As many are picked out, from new to old, as a page may need.
struct Trades {
    lists: Lists,
    sought: Sought<'static>,
    /// How many are needed at most.
    needed: usize,
    /// Those that were picked; from when all are there on the next one last.
    picked: Vec<TradeSlot>,
    /// All are there.
    are_all: bool,
}

impl Trades {
    /// Picks some thousand; true when none is missing.
    fn pick(&mut self, view: &View, direction: Direction) -> bool {
        if self.are_all {
            return true;
        }
        let Self {
            lists,
            sought,
            needed,
            picked,
            ..
        } = self;
        let enough = (picked.len() + STEP).min(*needed);
        let missing = *needed - picked.len();
        let is_end = lists.find(view, *sought, missing, |slot, _| {
            picked.push(slot);
            match picked.len() < enough {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        self.are_all = is_end || self.picked.len() >= self.needed;
        if self.are_all && direction == Direction::Descending {
            self.picked.reverse();
        }
        self.are_all
    }
}

impl Search {
    /// Looks at some thousand trades and actions at most; true when that was all.
    fn step(&mut self, app: &App, account: AccountNumber) -> bool {
        let state = app.replica.read();
        let view = &state.view;
        self.place.get_or_insert(state.place());
        let direction = self.wanted.direction;
        let (mut trades, mut actions) = match self.ahead.take() {
            Some(ahead) => ahead,
            None => self.in_time(view, account),
        };
        if !trades.pick(view, direction) {
            self.ahead = Some((trades, actions));
            return false;
        }
        let actions_in = |Ahead { from, to }: Ahead, looks: &mut usize| {
            let actions = view.actions().newest_first(account, to);
            *looks = looks.saturating_sub(to - from);
            actions.take(to - from).collect()
        };
        let mut looks = LOOKS;
        for _ in 0..STEP {
            if self.found.len() >= self.wanted.page.limit {
                return true;
            }
            if !actions.fill(direction, &mut looks, actions_in) {
                break;
            }
            // One command never both trades and acts.
            let trade_is_next = match (trades.picked.last(), actions.next.last()) {
                (None, None) => return true,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (Some(trade), Some(action)) => {
                    let trade = view.trade_glance(*trade);
                    trade.is_none_or(|trade| match direction {
                        Direction::Ascending => trade.sequence < action.sequence,
                        Direction::Descending => trade.sequence > action.sequence,
                    })
                }
            };
            if !trade_is_next && let Some(action) = actions.next.pop() {
                self.consider_action(app, view, &action);
            } else if let Some(trade) = trades.picked.pop() {
                self.consider_trade(app, view, account, trade);
            }
        }
        self.ahead = Some((trades, actions));
        false
    }

    /// The trades and the actions of the time asked for, of the kinds asked for.
    fn in_time(&mut self, view: &View, account: AccountNumber) -> (Trades, Found<Action>) {
        let start = TimeSeconds(self.wanted.start.unwrap_or(0)).start();
        let end = match self.wanted.end {
            Some(end) => TimeSeconds(end.saturating_add(1)).start(),
            None => TimeNs(u64::MAX),
        };
        let mut actions = Ahead::default();
        if ACTIONS.iter().any(|kind| self.wanted.has_kind(*kind)) {
            let before = |time| view.actions().count_before(account, time);
            actions = Ahead::new(before(start), before(end));
        }
        let lists = match self.wanted.has_kind(ActivityKind::Trade) {
            true => {
                Lists::of(view, Some(account), self.markets.distinct()).within(view, start, end)
            }
            false => Lists::none(),
        };
        let trades = self.trades(view, lists, actions.is_empty());
        (trades, Found::of(actions))
    }

    /// Those of lists that a page may need: what of its offset is known by number they leave behind
    /// them where there is nothing else, and all that lies behind its end. Each has one row here, so that
    /// exactly as many are passed over.
    fn trades(&mut self, view: &View, mut lists: Lists, alone: bool) -> Trades {
        let sought = Sought {
            side: self.wanted.side,
            ..Sought::default()
        };
        let needed = match self.wanted.direction {
            Direction::Descending => {
                if alone {
                    lists.pass(view, sought, &mut self.skip);
                }
                self.skip.saturating_add(self.wanted.page.limit)
            }
            Direction::Ascending => {
                let rows = lists.rows(view, sought);
                if alone {
                    self.skip -= lists.leave_out(view, sought, (rows, self.skip));
                }
                let needed = self.skip.saturating_add(self.wanted.page.limit);
                let mut beyond = lists.rows(view, sought).saturating_sub(needed);
                lists.pass(view, sought, &mut beyond);
                needed
            }
        };
        Trades {
            lists,
            sought,
            needed,
            picked: Vec::new(),
            are_all: false,
        }
    }

    fn consider_trade(&mut self, app: &App, view: &View, account: AccountNumber, slot: TradeSlot) {
        if self.passes_over() {
            return;
        }
        if let Some(trade) = view.trade_glance(slot) {
            let is_taker = trade.taker.account == account;
            let side = if is_taker { &trade.taker } else { &trade.maker };
            let fill = Fill::of(app, view, &mut self.named, &trade, side);
            self.found.extend(fill.map(Done::Traded));
        }
    }

    fn consider_action(&mut self, app: &App, view: &View, action: &Action) {
        let (kind, time) = (kind_of(action.kind), action.time.seconds());
        let is_wanted = self.markets.contains(action.market) && self.wanted.admits(kind, time);
        if is_wanted
            && !self.passes_over()
            && let Some(market) = view.markets().get(action.market)
        {
            self.found.push(Done::Acted {
                kind,
                market: app.market_texts.of(market, &app.descriptions),
                lots: action.lots,
                collateral: action.collateral,
                time,
                frame: (action.place, action.sequence),
            });
        }
    }

    /// Whether the next row lies before the page.
    fn passes_over(&mut self) -> bool {
        let is_before = self.skip > 0;
        self.skip -= usize::from(is_before);
        is_before
    }
}
