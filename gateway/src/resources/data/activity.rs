//! `GET /activity`: trades and account actions of a wallet in one list by time.

use std::sync::Arc;

use foretell_model::{
    AccountNumber, FramePlace, Lots, Micros, Sequence, TimeNs, TimeSeconds, WalletAddress,
};
use foretell_view::{Action, ActionKind, TradeRecord, View};
use foretell_wire::data::{Activity, ActivityKind, ActivityQuery, Direction, MarketText, Rows};

use crate::answer::{Answer, Place};
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::resources::data::fills::{Fill, NO_PROFILE, Receipts};
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
    let mut receipts = Receipts::new(app);
    for done in &search.found {
        done.row(search.wanted.user, &mut receipts).write(&mut rows);
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
    fn row(&self, wallet: WalletAddress, receipts: &mut Receipts<'_>) -> Activity<'_> {
        match self {
            Self::Traded(fill) => Activity::Trade(fill.row(receipts)),
            Self::Acted {
                kind,
                market,
                lots,
                collateral,
                time,
                frame,
            } => Activity::Action {
                kind: *kind,
                wallet,
                market,
                lots: *lots,
                collateral: *collateral,
                time: *time,
                profile: &NO_PROFILE,
                receipt: receipts.of(*frame),
            },
        }
    }
}

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
#[derive(Clone, Copy)]
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

    /// The next place in a direction.
    fn peek(self, direction: Direction) -> Option<usize> {
        (self.from < self.to).then(|| match direction {
            Direction::Ascending => self.from,
            Direction::Descending => self.to - 1,
        })
    }

    fn pass(&mut self, direction: Direction) {
        match direction {
            Direction::Ascending => self.from += 1,
            Direction::Descending => self.to -= 1,
        }
    }
}

/// A page being looked for.
struct Search {
    wanted: ActivityQuery,
    markets: Markets,
    /// Rows still to be passed over.
    skip: usize,
    /// Trades and actions of the time asked for.
    ahead: Option<(Ahead, Ahead)>,
    found: Vec<Done>,
    /// The state it began with.
    place: Option<Place>,
}

impl Search {
    /// Looks at up to [`STEP`] trades and actions; true when that was all.
    fn step(&mut self, app: &App, account: AccountNumber) -> bool {
        let state = app.replica.read();
        let view = &state.view;
        self.place.get_or_insert(state.place());
        let direction = self.wanted.direction;
        let (mut trades, mut actions) = match self.ahead {
            Some(ahead) => ahead,
            None => self.in_time(view, account),
        };
        let trade_at = |ahead: Ahead| {
            let slots = view.trades().of_account(account);
            view.trade(slots.get(ahead.peek(direction)?)?)
        };
        let action_at = |ahead: Ahead| view.actions().get(account, ahead.peek(direction)?);
        let (mut trade, mut action) = (trade_at(trades), action_at(actions));
        for _ in 0..STEP {
            if self.found.len() >= self.wanted.page.limit {
                return true;
            }
            // One command never both trades and acts.
            let trade_is_next = match (&trade, &action) {
                (None, None) => return true,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (Some(trade), Some(action)) => match direction {
                    Direction::Ascending => trade.sequence < action.sequence,
                    Direction::Descending => trade.sequence > action.sequence,
                },
            };
            if trade_is_next {
                if let Some(trade) = trade {
                    self.consider_trade(app, view, account, &trade);
                }
                trades.pass(direction);
                trade = trade_at(trades);
            } else {
                if let Some(action) = action {
                    self.consider_action(app, view, &action);
                }
                actions.pass(direction);
                action = action_at(actions);
            }
        }
        self.ahead = Some((trades, actions));
        false
    }

    /// The trades and the actions of the time asked for.
    fn in_time(&self, view: &View, account: AccountNumber) -> (Ahead, Ahead) {
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
        (
            Ahead::new(trades_before(start), trades_before(end)),
            Ahead::new(actions_before(start), actions_before(end)),
        )
    }

    fn consider_trade(
        &mut self,
        app: &App,
        view: &View,
        account: AccountNumber,
        trade: &TradeRecord,
    ) {
        let is_taker = trade.taker.account == account;
        let side = if is_taker { &trade.taker } else { &trade.maker };
        let is_wanted = self.markets.contains(trade.market)
            && (self.wanted).admits(ActivityKind::Trade, trade.time.seconds())
            && (self.wanted.side).is_none_or(|wanted| wanted == side.side);
        if is_wanted && !self.passes_over() {
            let fill = Fill::of(app, view, trade, side);
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
