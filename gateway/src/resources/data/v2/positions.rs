//! `GET /v2/positions`: open or closed positions of a wallet, or the open ones of a market.

use std::cmp::Ordering;
use std::collections::HashMap;

use foldhash::fast::RandomState;
use foretell_model::{AccountNumber, Lots, MarketNumber, Outcome, TimeSeconds};
use foretell_view::View;
use foretell_wire::data::{
    CurPrice, LimitOffset, PositionFigures, PositionStatus, RowWriter, V2List, V2PositionRow,
    V2PositionsQuery, page, v2_written,
};

use crate::app::App;
use crate::catalog::profiles::ProfileTexts;
use crate::http::answer::{Answer, StatePosition};
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;
use crate::render::rendered_market_texts::names;
use crate::resources::data::rows::position_row::figures;
use crate::resources::data::v2::probe;
use crate::resources::data::{MarketFilter, STEP, account_of};

type Token = (MarketNumber, Outcome);

/// `GET /v2/positions`.
pub(crate) async fn list(context: RequestContext) -> Result<Answer, Failure> {
    let app = &context.app;
    let V2List::<V2PositionsQuery> {
        query: wanted,
        page: asked,
    } = context.parameters()?;
    context.wait_fresh().await?;
    let markets = MarketFilter::of(app, &wanted.markets).await?;
    let source = match wanted.user {
        None => Source::of_market(app, &markets),
        Some(user) => match (account_of(app, user).await?, wanted.status) {
            (None, _) => Source::Holders(Vec::new()),
            (Some(account), PositionStatus::Closed) => Source::closed(app, account),
            (Some(account), _) => Source::Open(account, None),
        },
    };
    let search = PositionSearch {
        wanted,
        markets,
        page: probe(asked),
        admitted: HashMap::default(),
        found: Vec::new(),
        position: None,
    };
    let (rows, has_more, position) = search.run(app, source).await;
    let text = v2_written(&rows.finish(), asked, has_more);
    Ok(Answer::json(text).at(position))
}

/// The positions not yet visited.
enum Source {
    /// Open ones of an account, after a token.
    Open(AccountNumber, Option<Token>),
    /// This many oldest closed ones of an account.
    Closed(AccountNumber, usize),
    /// Balances of a market's tokens, the next one last.
    Holders(Vec<(Token, AccountNumber, Lots)>),
}

impl Source {
    fn closed(app: &App, account: AccountNumber) -> Self {
        let state = app.shared_view.read();
        let count = state.view.positions().closed_count(account);
        Self::Closed(account, count)
    }

    /// Only copied under the lock: a market may have a hundred thousand holders.
    fn of_market(app: &App, markets: &MarketFilter) -> Self {
        let state = app.shared_view.read();
        let positions = state.view.positions();
        let mut holders = Vec::new();
        for &market in markets.distinct().into_iter().flatten() {
            for &outcome in Outcome::ALL {
                let found = positions.holders(market, outcome);
                holders.extend(found.map(|(account, lots)| ((market, outcome), account, lots)));
            }
        }
        Self::Holders(holders)
    }
}

/// A position that the filters admit: its place, and where to find the rest.
struct SortKey {
    /// The value of the sort column.
    number: i128,
    token: Token,
    account: AccountNumber,
    /// Of a closed position: its index among the account's, from the oldest.
    closed: Option<usize>,
}

/// A search for a page. Nearly every wallet needs one step, and so one state.
struct PositionSearch {
    wanted: V2PositionsQuery,
    markets: MarketFilter,
    /// The page with one row more.
    page: LimitOffset,
    /// Whether the filters admit the markets met so far.
    admitted: HashMap<MarketNumber, bool, RandomState>,
    /// At most a step more than twice the rows up to the page's end.
    found: Vec<SortKey>,
    /// The state of the first step.
    position: Option<StatePosition>,
}

impl PositionSearch {
    /// The rows of the page, whether another follows, and the state of the first step.
    async fn run(mut self, app: &App, mut source: Source) -> (RowWriter, bool, StatePosition) {
        while !self.step(app, &mut source) {
            self.truncate_to_page();
            tokio::task::yield_now().await;
        }
        let mut page = self.sorted(self.page);
        let has_more = page.len() == self.page.limit;
        page.truncate(self.page.limit - 1);
        let profiles = app.profiles.texts();
        let mut rows = RowWriter::with_capacity(page.len());
        let state = app.shared_view.read();
        for key in page {
            write(app, &state.view, &key, &profiles, &mut rows);
        }
        let position = self.position.unwrap_or_else(|| state.position());
        (rows, has_more, position)
    }

    /// Visits up to [`STEP`] positions; true when none is left.
    fn step(&mut self, app: &App, source: &mut Source) -> bool {
        let state = app.shared_view.read();
        let view = &state.view;
        self.position.get_or_insert(state.position());
        let mut seen = 0;
        match source {
            Source::Open(account, after) => {
                let tokens = view.holdings().tokens_of(*account, *after);
                for (market, outcome, open) in tokens.take(STEP) {
                    seen += 1;
                    let token = (market, outcome);
                    *after = Some(token);
                    let Some(open) = open else { continue };
                    let figures = figures(view, token, &open.position);
                    let key = self.key(app, view, (token, *account), figures, open.time.seconds());
                    self.found.extend(key);
                }
            }
            Source::Closed(account, left) => {
                let ranks = (0..*left).rev();
                let closed = view.positions().closed(*account, *left);
                for (closed, rank) in closed.zip(ranks).take(STEP) {
                    seen += 1;
                    let token = (closed.market, closed.outcome);
                    let figures = figures(view, token, &closed.position);
                    let time = closed.time.seconds();
                    let key = self.key(app, view, (token, *account), figures, time);
                    self.found.extend(key.map(|key| SortKey {
                        closed: Some(rank),
                        ..key
                    }));
                }
                *left -= seen;
            }
            Source::Holders(left) => {
                for (token, account, lots) in left.drain(left.len().saturating_sub(STEP)..) {
                    seen += 1;
                    let key = self.holder_key(app, view, (token, account), lots);
                    self.found.extend(key);
                }
            }
        }
        seen < STEP
    }

    /// The key of a holder, with its position only where the request needs it.
    fn holder_key(
        &mut self,
        app: &App,
        view: &View,
        (token, account): (Token, AccountNumber),
        lots: Lots,
    ) -> Option<SortKey> {
        if self.wanted.needs_size_only() {
            let price = view.current_price(token.0, token.1)?;
            let price = CurPrice::half_units(price.half_units());
            let figures = PositionFigures::of_size(lots.0, price);
            return self.key(app, view, (token, account), Some(figures), TimeSeconds(0));
        }
        let open = view.holdings().open(account, token.0, token.1)?;
        let figures = figures(view, token, &open.position);
        self.key(app, view, (token, account), figures, open.time.seconds())
    }

    /// The key of a position, if the filters admit it.
    fn key(
        &mut self,
        app: &App,
        view: &View,
        (token, account): (Token, AccountNumber),
        figures: Option<PositionFigures>,
        time: TimeSeconds,
    ) -> Option<SortKey> {
        let (figures, wanted) = (figures?, &self.wanted);
        let is_admitted = match self.admitted.get(&token.0) {
            Some(known) => *known,
            None => {
                let admits = self.admits_market(app, view, token.0);
                self.admitted.insert(token.0, admits);
                admits
            }
        };
        let has_status = match wanted.status {
            PositionStatus::RedeemableLost => figures.cur_price() == 0,
            PositionStatus::Mergeable => has_other(view, token, account),
            _ => true,
        };
        let is_meant = is_admitted && has_status;
        (is_meant && wanted.admits(&figures) && wanted.time.contains(time)).then(|| SortKey {
            number: wanted.sort().number(&figures, time),
            token,
            account,
            closed: None,
        })
    }

    fn admits_market(&self, app: &App, view: &View, market: MarketNumber) -> bool {
        let wanted = &self.wanted;
        let Some(listed) = view.markets().get(market) else {
            return false;
        };
        let has_status = match wanted.status {
            PositionStatus::Open | PositionStatus::Closed => true,
            PositionStatus::Redeemable | PositionStatus::RedeemableLost => listed.payout.is_some(),
            PositionStatus::Mergeable => listed.payout.is_none(),
        };
        let has_title = |title: &str| {
            let text = app.market_texts.of(listed, &app.descriptions);
            text.title_contains(title)
        };
        has_status
            && self.markets.contains(market)
            && wanted.title().is_none_or(has_title)
            && (wanted.include_archived
                || wanted.status == PositionStatus::Closed
                || !app.descriptions.is_archived(listed))
    }

    /// Drops rows after the page's end once there are twice as many plus [`STEP`], so that memory
    /// is bounded by the page and not by the history.
    fn truncate_to_page(&mut self) {
        let limit = self.page.limit + self.page.offset;
        if self.found.len() >= 2 * limit + STEP {
            self.found = self.sorted(LimitOffset { limit, offset: 0 });
        }
    }

    /// Takes a page from the rows found.
    fn sorted(&mut self, wanted: LimitOffset) -> Vec<SortKey> {
        let found = std::mem::take(&mut self.found);
        let direction = self.wanted.sort_direction;
        page(found, wanted, |a, b| {
            let by_number = direction.apply(a.number.cmp(&b.number));
            by_number.then_with(|| compare_ties(a, b))
        })
    }
}

/// Ties are ordered by market, outcome and age of the account, the newest closed one first.
fn compare_ties(a: &SortKey, b: &SortKey) -> Ordering {
    let tie = |key: &SortKey| (key.token, key.account);
    tie(a).cmp(&tie(b)).then(b.closed.cmp(&a.closed))
}

fn has_other(view: &View, (market, outcome): Token, account: AccountNumber) -> bool {
    let other = view.holdings().open(account, market, outcome.opposite());
    other.is_some()
}

/// Adds the row of a position, if it still is as the search saw it.
fn write(
    app: &App,
    view: &View,
    key: &SortKey,
    profiles: &ProfileTexts,
    rows: &mut RowWriter,
) -> Option<()> {
    let (market, outcome) = key.token;
    let listed = view.markets().get(market)?;
    let (account, wallet) = (key.account, view.accounts().get(key.account)?.wallet);
    let (position, time) = match key.closed {
        None => {
            let open = view.holdings().open(account, market, outcome)?;
            (open.position, open.time)
        }
        Some(rank) => {
            let closed = view.positions().closed(account, rank + 1).next()?;
            (closed.position, closed.time)
        }
    };
    let is_open = key.closed.is_none();
    let description = app.descriptions.of(listed);
    V2PositionRow {
        wallet,
        profile: profiles.profile(&wallet),
        condition: listed.condition,
        tokens: listed.tokens,
        names: names(&description),
        event: description.event.as_ref().and_then(|event| event.id),
        outcome,
        shown: figures(view, key.token, &position)?.shown(),
        spent: position.spent(),
        redeemable: is_open && listed.payout.is_some(),
        mergeable: is_open && has_other(view, key.token, account),
        neg_risk: listed.is_neg_risk(),
        archived: app.descriptions.is_archived(listed),
        time: time.seconds(),
    }
    .write(rows);
    Some(())
}
