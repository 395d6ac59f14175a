//! `GET /v2/positions`: open or closed positions of a wallet, or the open ones of a market.

use std::cmp::Ordering;

use foretell_model::{Outcome, TimeNs};
use foretell_view::{Market, View};
use foretell_wire::data::{
    AssetIds, CurPrice, Direction, PositionFigures, PositionSort, PositionStatus, PositionV2,
    V2List, V2Page, V2PositionsQuery,
};
use foretell_wire::operator::MarketDescription;

use crate::app::App;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromQuery;
use crate::http::request_context::RequestContext;
use crate::resources::data::position_search::{Candidate, PositionList, Source, Tie, search};
use crate::resources::data::{MarketFilter, account_of};
use crate::view::search::PageFrom;

/// `GET /v2/positions`.
pub(crate) async fn list(
    context: RequestContext,
    FromQuery(V2List { query, page, after }): FromQuery<V2List<V2PositionsQuery>>,
) -> Result<Json<V2Page<PositionV2<'static>>>, Failure> {
    let app = &context.app;
    let markets = MarketFilter::of(app, &query.markets).await?;
    let source = match query.user {
        None => of_market(app, &markets),
        Some(user) => match (account_of(app, user).await?, query.status) {
            (None, _) => Source::none(),
            (Some(account), PositionStatus::Closed) => Source::Closed(account, None),
            (Some(account), _) => Source::Open(account, None),
        },
    };
    let form = (PageFrom::after(after, page.limit), AssetIds::Token);
    let found = search(app, &query, &markets, source, form).await;
    let profiles = app.profiles.texts();
    let rows = found.rows.iter().map(|entry| entry.row(&profiles));
    let answer = V2Page::new(rows.map(PositionV2::from).collect(), page, found.last);
    Ok(Json::of(&answer).at(found.position))
}

/// The holders of a market. They are copied under the lock, because there may be a hundred thousand,
/// and searched after it.
fn of_market(app: &App, markets: &MarketFilter) -> Source {
    let state = app.shared_view.read();
    let positions = state.view.positions();
    let mut holders = Vec::new();
    for &market in markets.distinct().into_iter().flatten() {
        for &outcome in Outcome::ALL {
            let of_token = positions.holders(market, outcome);
            holders.extend(of_token.map(|(account, lots)| ((market, outcome), account, lots)));
        }
    }
    Source::Holders(holders)
}

impl PositionList for V2PositionsQuery {
    fn sort(&self) -> PositionSort {
        self.sort()
    }

    fn direction(&self) -> Direction {
        self.sort_direction
    }

    fn compare_ties(&self, a: &Tie, b: &Tie) -> Ordering {
        Tie::compare_by_market(a, b)
    }

    fn admits_market(&self, app: &App, market: &Market, description: &MarketDescription) -> bool {
        let has_status = match self.status {
            PositionStatus::Open | PositionStatus::Closed => true,
            PositionStatus::Redeemable | PositionStatus::RedeemableLost => market.payout.is_some(),
            PositionStatus::Mergeable => market.payout.is_none(),
        };
        let has_title = |title| description.question_contains(title);
        has_status
            && self.title().is_none_or(has_title)
            && (self.include_archived
                || self.status == PositionStatus::Closed
                || !app.descriptions.is_archived(market))
    }

    /// A position of a holder is looked up only where the list needs more than its size.
    fn admitted(&self, view: &View, candidate: &Candidate) -> Option<(PositionFigures, TimeNs)> {
        let (market, outcome) = candidate.place.token;
        let (figures, time) = match self.user.is_none() && self.needs_size_only() {
            true => {
                let price = view.current_price(market, outcome)?;
                let price = CurPrice::half_units(price.half_units());
                (PositionFigures::of_size(candidate.lots.0, price), TimeNs(0))
            }
            false => candidate.figures(view)?,
        };
        let has_status = match self.status {
            PositionStatus::RedeemableLost => figures.cur_price() == 0,
            PositionStatus::Mergeable => candidate.place.is_mergeable(view),
            _ => true,
        };
        let is_admitted = has_status && self.admits(&figures) && self.time.contains(time.seconds());
        is_admitted.then_some((figures, time))
    }
}
