//! `GET /closed-positions`: positions that a wallet no longer has.

use foretell_model::TimeNs;
use foretell_view::{Market, View};
use foretell_wire::data::{
    ClosedPositionsQuery, Direction, PositionFigures, PositionSort, PositionV1, V1List,
};
use foretell_wire::operator::MarketDescription;

use crate::app::App;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromQuery;
use crate::http::request_context::RequestContext;
use crate::resources::data::position_search::{Candidate, PositionList, Source};
use crate::resources::data::positions::page_of;

/// `GET /closed-positions`.
pub(crate) async fn list(
    context: RequestContext,
    FromQuery(V1List { query, page }): FromQuery<V1List<ClosedPositionsQuery>>,
) -> Result<Json<Vec<PositionV1<'static>>>, Failure> {
    let whose = (query.user, &query.markets);
    let source = |account| Source::Closed(account, None);
    page_of(&context.app, &query, whose, source, page).await
}

impl PositionList for ClosedPositionsQuery {
    fn sort(&self) -> PositionSort {
        self.sort
    }

    fn direction(&self) -> Direction {
        self.direction
    }

    fn admits_market(&self, _: &App, _: &Market, description: &MarketDescription) -> bool {
        let title = self.title.as_deref();
        title.is_none_or(|title| description.question_contains(title))
    }

    fn admitted(&self, view: &View, candidate: &Candidate) -> Option<(PositionFigures, TimeNs)> {
        candidate.figures(view)
    }
}
