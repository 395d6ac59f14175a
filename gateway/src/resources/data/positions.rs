//! `GET /positions`: what a wallet holds.

use foretell_model::{AccountNumber, MarketNumber, Outcome};
use foretell_wire::data::{PositionsQuery, compare_open, page};

use crate::answer::{Answer, Place};
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::resources::data::held::{Held, answer};
use crate::resources::data::{Markets, STEP, account_of, parameters};

/// `GET /positions`.
pub(crate) async fn list(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let wanted = parameters(&call, PositionsQuery::of)?;
    app.fresh(&call).await?;
    let mut search = Search {
        markets: Markets::of(app, &wanted.markets).await?,
        wanted,
        last: None,
        found: Vec::new(),
        place: None,
    };
    if let Some(account) = account_of(app, search.wanted.user).await? {
        while !search.step(app, account) {
            tokio::task::yield_now().await;
        }
    }
    let Search { wanted, found, .. } = search;
    let place = search.place.unwrap_or_else(|| app.replica.read().place());
    let compare = compare_open(wanted.sort, wanted.direction);
    let shown = page(found, wanted.page, |a, b| {
        compare(&a.row(wanted.user), &b.row(wanted.user))
    });
    Ok(answer(&shown, wanted.user, place))
}

/// The rows asked for, being looked for. Nearly every wallet is one step, and so one state; one
/// with more positions than that may have traded between two.
struct Search {
    wanted: PositionsQuery,
    markets: Markets,
    /// The last token looked at.
    last: Option<(MarketNumber, Outcome)>,
    found: Vec<Held>,
    /// The state it began with.
    place: Option<Place>,
}

impl Search {
    /// Looks at up to [`STEP`] positions; true when that was all.
    fn step(&mut self, app: &App, account: AccountNumber) -> bool {
        let state = app.replica.read();
        let view = &state.view;
        self.place.get_or_insert(state.place());
        let mut seen = 0;
        let open = view.positions().open_of(account, self.last);
        for (market, outcome, open) in open.take(STEP) {
            seen += 1;
            self.last = Some((market, outcome));
            let is_small = open.position.lots().micro_shares() < self.wanted.least;
            if is_small || !self.markets.contains(market) {
                continue;
            }
            let held = Held::open(app, view, account, (market, outcome), open);
            self.found.extend(held.filter(|held| self.wants(held)));
        }
        seen < STEP
    }

    fn wants(&self, held: &Held) -> bool {
        (held.redeemable || !self.wanted.redeemable)
            && (held.mergeable || !self.wanted.mergeable)
            && held.is_titled(self.wanted.title.as_deref())
    }
}
