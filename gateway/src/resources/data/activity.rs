//! `GET /activity`: trades and account actions of a wallet in one list by time.

use std::sync::Arc;

use foretell_model::{
    AccountNumber, FramePlace, Lots, Micros, Sequence, TimeNs, TimeSeconds, WalletAddress,
};
use foretell_view::{Action, ActionKind, Sought, TradeGlance, View};
use foretell_wire::data::{Activity, ActivityKind, ActivityQuery, Direction, MarketText, Rows};

use crate::answer::{Answer, Place};
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::profiles::People;
use crate::resources::data::fills::{Fill, Receipts};
use crate::resources::data::named::Named;
use crate::resources::data::{Markets, STEP, account_of, parameters};

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

    /// Looks for more while there is nothing, [`WINDOWS`] windows at most; `in_window` gives those
    /// of some places from new to old. True when the next one is known, or that there is none.
    fn fill(&mut self, direction: Direction, mut in_window: impl FnMut(Ahead) -> Vec<T>) -> bool {
        for _ in 0..WINDOWS {
            if !self.next.is_empty() || self.ahead.is_empty() {
                return true;
            }
            let window = self.ahead.take(self.window, direction);
            self.window = (self.window * 2).min(STEP);
            self.next = in_window(window);
            if direction == Direction::Descending {
                self.next.reverse();
            }
        }
        !self.next.is_empty() || self.ahead.is_empty()
    }
}

/// Places of the first window.
const FIRST_WINDOW: usize = 128;
/// Windows of up to [`STEP`] places looked through under one hold of the view's lock: mostly they are
/// passed over by what is known of all trades in them.
const WINDOWS: usize = 64;

/// A page being looked for.
struct Search {
    wanted: ActivityQuery,
    markets: Markets,
    named: Named,
    /// Rows still to be passed over.
    skip: usize,
    /// Trades and actions of the time asked for.
    ahead: Option<(Found<TradeGlance>, Found<Action>)>,
    found: Vec<Done>,
    /// The state it began with.
    place: Option<Place>,
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
        let of_account = view.trades().of_account(account);
        let sought = self.sought();
        let trades_in = |Ahead { from, to }| {
            let slots = of_account.between(from, to).newest_first_of(sought);
            slots.filter_map(|slot| view.trade_glance(slot)).collect()
        };
        let actions_in = |Ahead { from, to }: Ahead| {
            let actions = view.actions().newest_first(account, to);
            actions.take(to - from).collect()
        };
        for _ in 0..STEP {
            if self.found.len() >= self.wanted.page.limit {
                return true;
            }
            if !trades.fill(direction, trades_in) || !actions.fill(direction, actions_in) {
                break;
            }
            // One command never both trades and acts.
            let trade_is_next = match (trades.next.last(), actions.next.last()) {
                (None, None) => return true,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (Some(trade), Some(action)) => match direction {
                    Direction::Ascending => trade.sequence < action.sequence,
                    Direction::Descending => trade.sequence > action.sequence,
                },
            };
            if !trade_is_next && let Some(action) = actions.next.pop() {
                self.consider_action(app, view, &action);
            } else if let Some(trade) = trades.next.pop() {
                self.consider_trade(app, view, account, &trade);
            }
        }
        self.ahead = Some((trades, actions));
        false
    }

    /// What is asked for, as far as stretches of trades are known by it.
    fn sought(&self) -> Sought {
        Sought {
            side: self.wanted.side,
            market: self.markets.only(),
            ..Sought::default()
        }
    }

    /// The trades and the actions of the time asked for, of the kinds asked for.
    fn in_time(&self, view: &View, account: AccountNumber) -> (Found<TradeGlance>, Found<Action>) {
        let start = TimeSeconds(self.wanted.start.unwrap_or(0)).start();
        let end = match self.wanted.end {
            Some(end) => TimeSeconds(end.saturating_add(1)).start(),
            None => TimeNs(u64::MAX),
        };
        let trades_before = |time| {
            let all = view.trades().of_account(account);
            view.trades_within(all, TimeNs(0), time).len()
        };
        let actions_before = |time| view.actions().count_before(account, time);
        let (mut trades, mut actions) = (Ahead::default(), Ahead::default());
        if self.wanted.has_kind(ActivityKind::Trade) {
            trades = Ahead::new(trades_before(start), trades_before(end));
        }
        if ACTIONS.iter().any(|kind| self.wanted.has_kind(*kind)) {
            actions = Ahead::new(actions_before(start), actions_before(end));
        }
        (Found::of(trades), Found::of(actions))
    }

    fn consider_trade(
        &mut self,
        app: &App,
        view: &View,
        account: AccountNumber,
        trade: &TradeGlance,
    ) {
        let is_taker = trade.taker.account == account;
        let side = if is_taker { &trade.taker } else { &trade.maker };
        let is_wanted = self.markets.contains(trade.market)
            && (self.wanted).admits(ActivityKind::Trade, trade.time.seconds())
            && (self.wanted.side).is_none_or(|wanted| wanted == side.side);
        if is_wanted && !self.passes_over() {
            let fill = Fill::of(app, view, &mut self.named, trade, side);
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
