//! `GET /closed-positions`: positions that a wallet no longer has.

use std::cmp::Ordering;

use foretell_model::{AccountNumber, Outcome, Sequence};
use foretell_view::{ClosedPosition, View};
use foretell_wire::data::{
    ClosedKey, ClosedPositionsQuery, LimitOffset, V1List, compare_closed, page,
};

use crate::app::App;
use crate::http::answer::{Answer, StatePosition};
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;
use crate::resources::data::rows::answer_market_texts::MarketTextIndex;
use crate::resources::data::rows::position_row::{PositionEntry, answer, figures};
use crate::resources::data::{MarketFilter, STEP, account_of};

/// `GET /closed-positions`.
pub(crate) async fn list(context: RequestContext) -> Result<Answer, Failure> {
    let app = &context.app;
    let V1List::<ClosedPositionsQuery> {
        query: wanted,
        page,
    } = context.parameters()?;
    context.wait_fresh().await?;
    let mut search = ClosedPositionSearch {
        markets: MarketFilter::of(app, &wanted.markets).await?,
        wanted,
        page,
        named: MarketTextIndex::default(),
        left: None,
        found: Vec::new(),
        shown: Vec::new(),
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
    Ok(answer(&search.shown, search.wanted.user, position))
}

/// The sort key of a position and where to find the rest: a wallet may have closed a hundred
/// thousand, of which a page shows fifty.
struct SortKey {
    /// The value of the sort column.
    number: i128,
    /// Index of its market in [`MarketTextIndex`].
    market: usize,
    outcome: Outcome,
    closed_by: Sequence,
    /// Its index among the wallet's closed positions, from the oldest.
    rank: usize,
}

/// A search from the newest position back.
struct ClosedPositionSearch {
    wanted: ClosedPositionsQuery,
    page: LimitOffset,
    markets: MarketFilter,
    named: MarketTextIndex,
    /// Number of oldest positions not yet visited.
    left: Option<usize>,
    /// At most a step more than the rows up to the page's end.
    found: Vec<SortKey>,
    /// The page, after all were visited.
    shown: Vec<PositionEntry>,
    /// The state of the first step.
    position: Option<StatePosition>,
}

impl ClosedPositionSearch {
    /// Visits up to [`STEP`] positions; true when it was the last step and made the page.
    fn step(&mut self, app: &App, account: AccountNumber) -> bool {
        let state = app.shared_view.read();
        let view = &state.view;
        self.position.get_or_insert(state.position());
        let left = *self
            .left
            .get_or_insert(view.positions().closed_count(account));
        self.left = Some(left.saturating_sub(STEP));
        let ranks = (0..left).rev();
        for (closed, rank) in view.positions().closed(account, left).zip(ranks).take(STEP) {
            let key = self.sort_key(app, view, &closed, rank);
            self.found.extend(key);
        }
        self.truncate_to_page();
        if left > STEP {
            return false;
        }
        let page = self.rows(self.page);
        let rows = page.iter().filter_map(|key| {
            let closed = view.positions().closed(account, key.rank + 1).next()?;
            PositionEntry::closed(app, view, &closed)
        });
        self.shown = rows.collect();
        true
    }

    /// The sort key of a position, if the filters admit it.
    fn sort_key(
        &mut self,
        app: &App,
        view: &View,
        closed: &ClosedPosition,
        rank: usize,
    ) -> Option<SortKey> {
        if !self.markets.contains(closed.market) {
            return None;
        }
        let title = self.wanted.title.as_deref();
        let market = self.named.index(app, view, closed.market, title)?;
        let figures = figures(view, (closed.market, closed.outcome), &closed.position)?;
        Some(SortKey {
            number: self.wanted.sort.number(&figures, closed.time.seconds()),
            market,
            outcome: closed.outcome,
            closed_by: closed.closed_by,
            rank,
        })
    }

    /// Drops rows after the page's end once there are twice as many plus [`STEP`], so that memory is
    /// bounded by the page and not by the history.
    fn truncate_to_page(&mut self) {
        let LimitOffset { limit, offset } = self.page;
        let limit = limit + offset;
        if self.found.len() >= 2 * limit + STEP {
            self.found = self.rows(LimitOffset { limit, offset: 0 });
        }
    }

    /// Takes a page from the rows found.
    fn rows(&mut self, wanted: LimitOffset) -> Vec<SortKey> {
        let found = std::mem::take(&mut self.found);
        page(found, wanted, self.compare())
    }

    fn compare(&self) -> impl Fn(&SortKey, &SortKey) -> Ordering {
        let compare = compare_closed(self.wanted.sort, self.wanted.direction);
        let key = |key: &SortKey| ClosedKey {
            number: key.number,
            market: self.named.text(key.market),
            outcome: key.outcome,
            closed_by: key.closed_by,
        };
        move |a, b| compare(&key(a), &key(b))
    }
}
