//! `GET /positions`: what a wallet holds.

use foretell_model::{AccountNumber, MarketNumber, Outcome};
use foretell_view::{OpenPosition, View};
use foretell_wire::data::{OpenKey, PositionsQuery, compare_open, page};

use crate::answer::{Answer, Place};
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::resources::data::held::{Held, answer, figures};
use crate::resources::data::named::Named;
use crate::resources::data::{Markets, STEP, account_of, parameters};

/// `GET /positions`.
pub(crate) async fn list(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let wanted = parameters(&call, PositionsQuery::of)?;
    app.fresh(&call).await?;
    let mut search = Search {
        markets: Markets::of(app, &wanted.markets).await?,
        wanted,
        named: Named::default(),
        last: None,
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

/// What decides where a position stands, and where to find the rest of it.
struct Light {
    /// What it is sorted by.
    number: i128,
    /// Its market's place in [`Named`].
    named: usize,
    token: (MarketNumber, Outcome),
}

/// The rows asked for, being looked for. Nearly every wallet is one step, and so one state; one
/// with more positions than that may have traded between two.
struct Search {
    wanted: PositionsQuery,
    markets: Markets,
    named: Named,
    /// The last token looked at.
    last: Option<(MarketNumber, Outcome)>,
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
        let mut seen = 0;
        let open = view.positions().open_of(account, self.last);
        for (market, outcome, open) in open.take(STEP) {
            seen += 1;
            self.last = Some((market, outcome));
            let light = self.light(app, view, account, (market, outcome), open);
            self.found.extend(light);
        }
        if seen == STEP {
            return false;
        }
        let rows = self.page().into_iter().filter_map(|light| {
            let (market, outcome) = light.token;
            let open = view.positions().open(account, market, outcome)?;
            Held::open(app, view, account, light.token, open)
        });
        self.shown = rows.collect();
        true
    }

    /// What a position is sorted by, if it is asked for.
    fn light(
        &mut self,
        app: &App,
        view: &View,
        account: AccountNumber,
        (market, outcome): (MarketNumber, Outcome),
        open: &OpenPosition,
    ) -> Option<Light> {
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
        let other = || view.positions().open(account, market, outcome.opposite());
        if (wanted.redeemable && !redeemable()) || (wanted.mergeable && other().is_none()) {
            return None;
        }
        let named = (self.named).place(app, view, market, wanted.title.as_deref())?;
        let figures = figures(view, (market, outcome), &open.position)?;
        Some(Light {
            number: wanted.sort.number(&figures),
            named,
            token: (market, outcome),
        })
    }

    /// Takes the page out of what was found.
    fn page(&mut self) -> Vec<Light> {
        let found = std::mem::take(&mut self.found);
        let compare = compare_open(self.wanted.sort, self.wanted.direction);
        let key = |light: &Light| OpenKey {
            number: light.number,
            market: self.named.text(light.named),
            outcome: light.token.1,
        };
        page(found, self.wanted.page, |a, b| compare(&key(a), &key(b)))
    }
}
