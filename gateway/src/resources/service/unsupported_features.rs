//! Empty answers, in the shape clients expect, for features this exchange does not have
//! (docs/api/market-data.md §9): notifications, order scoring (there are no rewards), orders of an
//! earlier exchange. Only their caller may see them.

use std::collections::BTreeMap;

use foretell_wire::accounts::account::{Done, ScoringAnswer};
use foretell_wire::limits::PAGE_ROWS;
use foretell_wire::markets::batch::ScoringOrders;
use foretell_wire::orders::user_order::UserOrder;
use foretell_wire::read::page::Page;
use foretell_wire::read::query::trading::PageQuery;
use serde::Serialize;

use crate::access::authenticate::{ReadKey, WriteKey};
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::{FromBody, FromQuery};
use crate::http::request_context::RequestContext;

/// `GET /notifications`.
pub(crate) async fn notifications(
    context: RequestContext,
    _: ReadKey,
) -> Result<Json<[(); 0]>, Failure> {
    Ok(now(&context, &[]))
}

/// `DELETE /notifications`.
pub(crate) async fn drop_notifications(
    context: RequestContext,
    _: WriteKey,
) -> Result<Json<Done>, Failure> {
    Ok(now(&context, &Done::Ok))
}

/// `GET /order-scoring`.
pub(crate) async fn order_scoring(
    context: RequestContext,
    _: ReadKey,
) -> Result<Json<ScoringAnswer>, Failure> {
    Ok(now(&context, &ScoringAnswer { scoring: false }))
}

/// `POST /orders-scoring`: each requested id once.
pub(crate) async fn orders_scoring(
    context: RequestContext,
    FromBody(ScoringOrders(ids)): FromBody<ScoringOrders>,
    _: ReadKey,
) -> Result<Json<BTreeMap<String, bool>>, Failure> {
    let scoring: BTreeMap<String, bool> = ids.into_iter().map(|id| (id, false)).collect();
    Ok(now(&context, &scoring))
}

/// `GET /data/pre-migration-orders`.
pub(crate) async fn pre_migration_orders(
    context: RequestContext,
    _: FromQuery<PageQuery>,
    _: ReadKey,
) -> Result<Json<Page<UserOrder>>, Failure> {
    Ok(now(&context, &Page::empty(PAGE_ROWS)))
}

fn now<T: Serialize>(context: &RequestContext, answer: &T) -> Json<T> {
    Json::of(answer).at(context.app.shared_view.read().position())
}
