//! `GET /v2/holders`: the largest holders of each token, page by page.

use foretell_wire::data::{AssetIds, HolderV2, V2HolderGroup, V2HoldersQuery, V2List, V2Page};

use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromQuery;
use crate::http::request_context::RequestContext;
use crate::resources::data::holders::{Holders, of_markets};
use crate::view::search::end_page;

/// `GET /v2/holders`. A page goes on with every token that has more holders; other tokens are absent.
pub(crate) async fn list(
    context: RequestContext,
    FromQuery(V2List { query, page, after }): FromQuery<V2List<V2HoldersQuery>>,
) -> Result<Json<V2Page<V2HolderGroup<HolderV2<'static>>>>, Failure> {
    let app = &context.app;
    let wanted = Holders {
        least: query.min_balance,
        limit: page.limit + 1,
        after,
        with_profits: query.include_pnl,
        form: AssetIds::Token,
    };
    let (mut tokens, position) = of_markets(app, &query.condition_id, &wanted).await?;
    tokens.retain(|token| !token.holders.is_empty());
    let last = tokens
        .iter_mut()
        .filter_map(|token| Some(end_page(&mut token.holders, page.limit)?.key));
    let last: Vec<_> = last.collect();
    let profiles = app.profiles.texts();
    let groups = tokens.iter().map(|token| V2HolderGroup {
        token_id: token.text.clone(),
        holders: token.rows(&profiles).map(HolderV2::from).collect(),
    });
    let last = (!last.is_empty()).then_some(last);
    let answer = V2Page::new(groups.collect(), page, last);
    Ok(Json::of(&answer).at(position))
}
