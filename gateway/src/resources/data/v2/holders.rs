//! `GET /v2/holders`: the largest holders of each token, page by page.

use foretell_wire::data::{AssetIds, HolderV2, V2HolderGroup, V2HoldersQuery, V2List, V2Page};

use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromQuery;
use crate::http::request_context::RequestContext;
use crate::resources::data::holders::{Holders, of_markets};
use crate::view::search::probe;

/// `GET /v2/holders`. A page has the same ranks of every token; tokens without holders at these ranks
/// are absent.
pub(crate) async fn list(
    context: RequestContext,
    FromQuery(V2List { query, page }): FromQuery<V2List<V2HoldersQuery>>,
) -> Result<Json<V2Page<V2HolderGroup<HolderV2<'static>>>>, Failure> {
    let app = &context.app;
    let wanted = Holders {
        least: query.min_balance,
        page: probe(page),
        with_profits: query.include_pnl,
        form: AssetIds::Token,
    };
    let (mut tokens, position) = of_markets(app, &query.condition_id, wanted).await?;
    let has_more = tokens.iter().any(|token| token.holders.len() > page.limit);
    tokens.retain(|token| !token.holders.is_empty());
    tokens
        .iter_mut()
        .for_each(|token| token.holders.truncate(page.limit));
    let profiles = app.profiles.texts();
    let rows: Vec<_> = tokens.iter().map(|token| token.rows(&profiles)).collect();
    let groups = (tokens.iter().zip(&rows)).map(|(token, rows)| V2HolderGroup {
        token_id: token.text.clone(),
        holders: rows.iter().map(HolderV2::from).collect(),
    });
    let answer = V2Page::new(groups.collect(), page, has_more);
    Ok(Json::of(&answer).at(position))
}
