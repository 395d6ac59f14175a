//! Empty answers, in the shape clients expect, for features this exchange does not have
//! (docs/api/market-data.md §9): notifications, order scoring (there are no rewards), orders of an
//! earlier exchange. Only their caller may see them.

use std::collections::BTreeMap;

use bytes::Bytes;
use foretell_wire::accounts::account::NOT_SCORING;
use foretell_wire::json_text;
use foretell_wire::limits::PAGE_ROWS;
use foretell_wire::markets::batch::ScoringOrders;
use foretell_wire::read::page::Page;
use foretell_wire::read::query::trading::PageQuery;

use crate::access::authenticate::{ReadKey, WriteKey};
use crate::http::answer::Answer;
use crate::http::failure::Failure;
use crate::http::parts::{FromBody, FromQuery};
use crate::http::request_context::RequestContext;

/// `GET /notifications`.
pub(crate) async fn notifications(context: RequestContext, _: ReadKey) -> Result<Answer, Failure> {
    Ok(now(&context, "[]"))
}

/// `DELETE /notifications`.
pub(crate) async fn drop_notifications(
    context: RequestContext,
    _: WriteKey,
) -> Result<Answer, Failure> {
    Ok(now(&context, "\"OK\""))
}

/// `GET /order-scoring`.
pub(crate) async fn order_scoring(context: RequestContext, _: ReadKey) -> Result<Answer, Failure> {
    Ok(now(&context, NOT_SCORING))
}

/// `POST /orders-scoring`: each requested id once.
pub(crate) async fn orders_scoring(
    context: RequestContext,
    FromBody(ScoringOrders(ids)): FromBody<ScoringOrders>,
    _: ReadKey,
) -> Result<Answer, Failure> {
    let scoring: BTreeMap<String, bool> = ids.into_iter().map(|id| (id, false)).collect();
    Ok(now(&context, json_text(&scoring)))
}

/// `GET /data/pre-migration-orders`.
pub(crate) async fn pre_migration_orders(
    context: RequestContext,
    _: FromQuery<PageQuery>,
    _: ReadKey,
) -> Result<Answer, Failure> {
    Ok(now(&context, json_text(&Page::<()>::empty(PAGE_ROWS))))
}

fn now(context: &RequestContext, body: impl Into<Bytes>) -> Answer {
    Answer::json(body).at(context.app.shared_view.read().position())
}
