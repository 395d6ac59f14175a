//! `GET /positions`: a wallet's open positions.

use foretell_model::{AccountNumber, MarketNumber, Outcome};
use foretell_view::{OpenPosition, View};
use foretell_wire::data::{LimitOffset, OpenKey, PositionsQuery, V1List, compare_open, page};

use crate::app::App;
use crate::http::answer::{Answer, StatePosition};
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;
use crate::resources::data::rows::answer_market_texts::MarketTextIndex;
use crate::resources::data::rows::position_row::{PositionEntry, answer, figures};
use crate::resources::data::{MarketFilter, STEP, account_of};

/// `GET /positions`.
pub(crate) async fn list(context: RequestContext) -> Result<Answer, Failure> {
    let app = &context.app;
    let V1List::<PositionsQuery> {
        query: wanted,
        page,
    } = context.parameters()?;
    context.wait_fresh().await?;
    let mut search = PositionSearch {
        markets: MarketFilter::of(app, &wanted.markets).await?,
        wanted,
        page,
        named: MarketTextIndex::default(),
        last: None,
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

/// The sort key of a position, and where to find the rest.
struct SortKey {
    /// The value of the sort column.
    number: i128,
    /// Index of its market in [`MarketTextIndex`].
    named: usize,
    token: (MarketNumber, Outcome),
}

/// A search for a page. Nearly every wallet needs one step, and so one state; a wallet with more
/// positions may trade between two steps.
struct PositionSearch {
    wanted: PositionsQuery,
    page: LimitOffset,
    markets: MarketFilter,
    named: MarketTextIndex,
    /// The last token visited.
    last: Option<(MarketNumber, Outcome)>,
    found: Vec<SortKey>,
    /// The page, after all were visited.
    shown: Vec<PositionEntry>,
    /// The state of the first step.
    position: Option<StatePosition>,
}

impl PositionSearch {
    /// Visits up to [`STEP`] open or closed positions; true when it was the last step and made the
    /// page.
    fn step(&mut self, app: &App, account: AccountNumber) -> bool {
        let state = app.shared_view.read();
        let view = &state.view;
        self.position.get_or_insert(state.position());
        let mut seen = 0;
        let tokens = view.holdings().tokens_of(account, self.last);
        for (market, outcome, open) in tokens.take(STEP) {
            seen += 1;
            self.last = Some((market, outcome));
            if let Some(open) = open {
                let key = self.sort_key(app, view, account, (market, outcome), &open);
                self.found.extend(key);
            }
        }
        if seen == STEP {
            return false;
        }
        let rows = self.page().into_iter().filter_map(|key| {
            let (market, outcome) = key.token;
            let open = view.holdings().open(account, market, outcome)?;
            PositionEntry::open(app, view, account, key.token, &open)
        });
        self.shown = rows.collect();
        true
    }

    /// The sort key of a position, if the filters admit it.
    fn sort_key(
        &mut self,
        app: &App,
        view: &View,
        account: AccountNumber,
        (market, outcome): (MarketNumber, Outcome),
        open: &OpenPosition,
    ) -> Option<SortKey> {
        let wanted = &self.wanted;
        let is_small = open.position.lots().micro_shares() < wanted.least;
        if is_small || !self.markets.contains(market) {
            return None;
        }
        let redeemable = || {
            view.markets()
                .get(market)
                .is_some_and(|it| it.payout.is_some())
        };
        let other = || view.holdings().open(account, market, outcome.opposite());
        if (wanted.redeemable && !redeemable()) || (wanted.mergeable && other().is_none()) {
            return None;
        }
        let named = (self.named).index(app, view, market, wanted.title.as_deref())?;
        let figures = figures(view, (market, outcome), &open.position)?;
        Some(SortKey {
            number: wanted.sort.number(&figures),
            named,
            token: (market, outcome),
        })
    }

    /// Takes the page from the rows found.
    fn page(&mut self) -> Vec<SortKey> {
        let found = std::mem::take(&mut self.found);
        let compare = compare_open(self.wanted.sort, self.wanted.direction);
        let key = |key: &SortKey| OpenKey {
            number: key.number,
            market: self.named.text(key.named),
            outcome: key.token.1,
        };
        page(found, self.page, |a, b| compare(&key(a), &key(b)))
    }
}
