//! `GET /closed-positions`: what a wallet no longer holds.

use std::cmp::Ordering;

use foretell_model::AccountNumber;
use foretell_wire::data::{ClosedPositionsQuery, Page, compare_closed, page};

use crate::answer::{Answer, Place};
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::resources::data::held::{Held, answer};
use crate::resources::data::{Markets, STEP, account_of, parameters};

/// `GET /closed-positions`.
pub(crate) async fn list(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let wanted = parameters(&call, ClosedPositionsQuery::of)?;
    app.fresh(&call).await?;
    let mut search = Search {
        markets: Markets::of(app, &wanted.markets).await?,
        wanted,
        left: None,
        found: Vec::new(),
        place: None,
    };
    if let Some(account) = account_of(app, search.wanted.user).await? {
        while !search.step(app, account) {
            tokio::task::yield_now().await;
        }
    }
    let place = search.place.unwrap_or_else(|| app.replica.read().place());
    let shown = search.page(search.wanted.page);
    Ok(answer(&shown, search.wanted.user, place))
}

/// The rows asked for, being looked for from the newest back.
struct Search {
    wanted: ClosedPositionsQuery,
    markets: Markets,
    /// How many of the oldest are still to be looked at.
    left: Option<usize>,
    /// Never more than a step above those that can be on the page or before it.
    found: Vec<Held>,
    /// The state it began with.
    place: Option<Place>,
}

impl Search {
    /// Looks at up to [`STEP`] positions; true when that was all.
    fn step(&mut self, app: &App, account: AccountNumber) -> bool {
        {
            let state = app.replica.read();
            let view = &state.view;
            self.place.get_or_insert(state.place());
            let left = *self
                .left
                .get_or_insert(view.positions().closed_count(account));
            self.left = Some(left.saturating_sub(STEP));
            for closed in view.positions().closed(account, left).take(STEP) {
                if self.markets.contains(closed.market) {
                    let held = Held::closed(app, view, &closed);
                    let title = self.wanted.title.as_deref();
                    self.found.extend(held.filter(|held| held.is_titled(title)));
                }
            }
        }
        self.drop_the_hindmost();
        self.left == Some(0)
    }

    /// Forgets what cannot be on the page, so that a long history takes no more memory than a page.
    fn drop_the_hindmost(&mut self) {
        let Page { limit, offset } = self.wanted.page;
        let limit = limit + offset;
        if self.found.len() >= limit + STEP {
            self.found = self.page(Page { limit, offset: 0 });
        }
    }

    /// Takes a page out of what was found.
    fn page(&mut self, wanted: Page) -> Vec<Held> {
        let compare = self.compare();
        page(std::mem::take(&mut self.found), wanted, compare)
    }

    fn compare(&self) -> impl Fn(&Held, &Held) -> Ordering + use<> {
        let user = self.wanted.user;
        let compare = compare_closed(self.wanted.sort, self.wanted.direction);
        move |a, b| compare(&a.row(user), &b.row(user))
    }
}
