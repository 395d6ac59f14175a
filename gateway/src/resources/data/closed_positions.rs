//! `GET /closed-positions`: what a wallet no longer holds.

use std::cmp::Ordering;

use foretell_model::{AccountNumber, Outcome, Sequence};
use foretell_view::{ClosedPosition, View};
use foretell_wire::data::{ClosedKey, ClosedPositionsQuery, Page, compare_closed, page};

use crate::answer::{Answer, Place};
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::resources::data::held::{Held, answer, figures};
use crate::resources::data::named::Named;
use crate::resources::data::{Markets, STEP, account_of, parameters};

/// `GET /closed-positions`.
pub(crate) async fn list(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let wanted = parameters(&call, ClosedPositionsQuery::of)?;
    app.fresh(&call).await?;
    let mut search = Search {
        markets: Markets::of(app, &wanted.markets).await?,
        wanted,
        named: Named::default(),
        left: None,
        found: Vec::new(),
        shown: Vec::new(),
        place: None,
    };
    if let Some(account) = account_of(app, search.wanted.user).await? {
        while !search.step(app, account) {
            tokio::task::yield_now().await;
        }
    }
    let place = search.place.unwrap_or_else(|| app.replica.read().place());
    Ok(answer(&search.shown, search.wanted.user, place))
}

/// What decides where a position stands, and where to find the rest of it: a wallet may have closed
/// a hundred thousand, of which fifty are shown.
struct Light {
    /// What it is sorted by.
    number: i128,
    /// Its market's place in [`Named`].
    market: usize,
    outcome: Outcome,
    closed_by: Sequence,
    /// Its place among the wallet's closed positions, from the oldest.
    rank: usize,
}

/// The rows asked for, being looked for from the newest back.
struct Search {
    wanted: ClosedPositionsQuery,
    markets: Markets,
    named: Named,
    /// How many of the oldest are still to be looked at.
    left: Option<usize>,
    /// Never more than a step above those that can be on the page or before it.
    found: Vec<Light>,
    /// The page, once all were looked at.
    shown: Vec<Held>,
    /// The state it began with.
    place: Option<Place>,
}

impl Search {
    /// Looks at up to [`STEP`] positions; true when that was all, and the page is made.
    fn step(&mut self, app: &App, account: AccountNumber) -> bool {
        let state = app.replica.read();
        let view = &state.view;
        self.place.get_or_insert(state.place());
        let left = *self
            .left
            .get_or_insert(view.positions().closed_count(account));
        self.left = Some(left.saturating_sub(STEP));
        let ranks = (0..left).rev();
        for (closed, rank) in view.positions().closed(account, left).zip(ranks).take(STEP) {
            let light = self.light(app, view, &closed, rank);
            self.found.extend(light);
        }
        self.drop_the_hindmost();
        if left > STEP {
            return false;
        }
        let page = self.page(self.wanted.page);
        let rows = page.iter().filter_map(|light| {
            let closed = view.positions().closed(account, light.rank + 1).next()?;
            Held::closed(app, view, &closed)
        });
        self.shown = rows.collect();
        true
    }

    /// What a position is sorted by, if it is asked for.
    fn light(
        &mut self,
        app: &App,
        view: &View,
        closed: &ClosedPosition,
        rank: usize,
    ) -> Option<Light> {
        if !self.markets.contains(closed.market) {
            return None;
        }
        let title = self.wanted.title.as_deref();
        let market = self.named.place(app, view, closed.market, title)?;
        let figures = figures(view, (closed.market, closed.outcome), &closed.position)?;
        Some(Light {
            number: self.wanted.sort.number(&figures, closed.time.seconds()),
            market,
            outcome: closed.outcome,
            closed_by: closed.closed_by,
            rank,
        })
    }

    /// Forgets what cannot be on the page, so that a long history takes no more memory than a page.
    fn drop_the_hindmost(&mut self) {
        let Page { limit, offset } = self.wanted.page;
        let limit = limit + offset;
        if self.found.len() >= 2 * limit + STEP {
            self.found = self.page(Page { limit, offset: 0 });
        }
    }

    /// Takes a page out of what was found.
    fn page(&mut self, wanted: Page) -> Vec<Light> {
        let found = std::mem::take(&mut self.found);
        page(found, wanted, self.compare())
    }

    fn compare(&self) -> impl Fn(&Light, &Light) -> Ordering {
        let compare = compare_closed(self.wanted.sort, self.wanted.direction);
        let key = |light: &Light| ClosedKey {
            number: light.number,
            market: self.named.text(light.market),
            outcome: light.outcome,
            closed_by: light.closed_by,
        };
        move |a, b| compare(&key(a), &key(b))
    }
}
