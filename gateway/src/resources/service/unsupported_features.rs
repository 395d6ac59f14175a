//! Empty answers, in the shape clients expect, for features this exchange does not have
//! (docs/api/market-data.md §9): notifications, order scoring (there are no rewards), orders of an
//! earlier exchange.

use std::collections::BTreeMap;

use foretell_wire::json_text;
use foretell_wire::limits::PAGE_ROWS;
use foretell_wire::markets::batch::ScoringOrders;
use foretell_wire::read::page::Page;
use foretell_wire::read::queries::PageQuery;

use crate::access::credentials::KeyAccess;
use crate::http::answer::Answer;
use crate::http::failure::Failure;
use crate::http::parts::FromBody;
use crate::http::request_context::RequestContext;

/// `GET /notifications`.
pub(crate) async fn notifications(context: RequestContext) -> Result<Answer, Failure> {
    own(&context, KeyAccess::Read, "[]".to_owned()).await
}

/// `DELETE /notifications`.
pub(crate) async fn drop_notifications(context: RequestContext) -> Result<Answer, Failure> {
    own(&context, KeyAccess::Write, "\"OK\"".to_owned()).await
}

/// `GET /order-scoring`.
pub(crate) async fn order_scoring(context: RequestContext) -> Result<Answer, Failure> {
    own(&context, KeyAccess::Read, r#"{"scoring":false}"#.to_owned()).await
}

/// `POST /orders-scoring`: each requested id once.
pub(crate) async fn orders_scoring(
    context: RequestContext,
    FromBody(ScoringOrders(ids)): FromBody<ScoringOrders>,
) -> Result<Answer, Failure> {
    let scoring: BTreeMap<String, bool> = ids.into_iter().map(|id| (id, false)).collect();
    own(&context, KeyAccess::Read, json_text(&scoring)).await
}

/// `GET /data/pre-migration-orders`.
pub(crate) async fn pre_migration_orders(context: RequestContext) -> Result<Answer, Failure> {
    context.parameters::<PageQuery>()?;
    own(
        &context,
        KeyAccess::Read,
        json_text(&Page::<()>::empty(PAGE_ROWS)),
    )
    .await
}

/// An answer that only its caller may see.
async fn own(context: &RequestContext, level: KeyAccess, body: String) -> Result<Answer, Failure> {
    context.l2(level).await?;
    context.wait_fresh().await?;
    Ok(Answer::json(body).at(context.app.shared_view.read().position()))
}
