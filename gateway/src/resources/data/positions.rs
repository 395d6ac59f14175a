//! `GET /positions`: a wallet's open positions.

use foretell_model::{AccountNumber, TimeNs, WalletAddress};
use foretell_view::{Market, View};
use foretell_wire::data::{
    Direction, LimitOffset, MarketSelection, PositionFigures, PositionSort, PositionV1,
    PositionsQuery, V1List,
};
use foretell_wire::operator::MarketDescription;

use crate::app::App;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromQuery;
use crate::http::request_context::RequestContext;
use crate::resources::data::position_search::{Candidate, PositionList, Source, search};
use crate::resources::data::{MarketFilter, account_of};

/// `GET /positions`.
pub(crate) async fn list(
    context: RequestContext,
    FromQuery(V1List { query, page }): FromQuery<V1List<PositionsQuery>>,
) -> Result<Json<Vec<PositionV1<'static>>>, Failure> {
    let whose = (query.user, &query.markets);
    let source = |account| Source::Open(account, None);
    page_of(&context.app, &query, whose, source, page).await
}

/// A page of a wallet's list in version 1.
pub(crate) async fn page_of(
    app: &App,
    list: &impl PositionList,
    (user, markets): (WalletAddress, &MarketSelection),
    source: impl FnOnce(AccountNumber) -> Source,
    page: LimitOffset,
) -> Result<Json<Vec<PositionV1<'static>>>, Failure> {
    let markets = MarketFilter::of(app, markets).await?;
    let source = (account_of(app, user).await?).map_or_else(Source::none, source);
    let page = (page.into(), app.compatibility.asset_ids());
    let page = search(app, list, &markets, source, page).await;
    let profiles = app.profiles.texts();
    let rows = page.rows.iter().map(|entry| entry.row(&profiles));
    let rows: Vec<_> = rows.map(PositionV1::from).collect();
    Ok(Json::of(&rows).at(page.position))
}

impl PositionList for PositionsQuery {
    fn sort(&self) -> PositionSort {
        self.sort
    }

    fn direction(&self) -> Direction {
        self.direction
    }

    fn admits_market(&self, app: &App, market: &Market, description: &MarketDescription) -> bool {
        let title = self.title.as_deref();
        (!self.redeemable || market.payout.is_some())
            && (self.include_archived || !app.descriptions.is_archived(market))
            && title.is_none_or(|title| description.question_contains(title))
    }

    fn admitted(&self, view: &View, candidate: &Candidate) -> Option<(PositionFigures, TimeNs)> {
        let is_large = candidate.lots.micro_shares() >= self.least;
        let is_admitted = is_large && (!self.mergeable || candidate.place.is_mergeable(view));
        is_admitted.then(|| candidate.figures(view)).flatten()
    }
}
