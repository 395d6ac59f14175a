//! What this exchange has nothing of, in the shape clients expect (protocol 11): notifications,
//! scoring of orders (there are no rewards), orders of an earlier exchange.

use std::collections::BTreeMap;

use foretell_wire::batch::read_scoring;
use foretell_wire::json_text;
use foretell_wire::page::{PAGE_ROWS, Page};

use crate::answer::Answer;
use crate::auth::Level;
use crate::call::Call;
use crate::failure::Failure;

/// `GET /notifications`.
pub(crate) async fn notifications(call: Call) -> Result<Answer, Failure> {
    own(&call, Level::Read, "[]".to_owned()).await
}

/// `DELETE /notifications`.
pub(crate) async fn drop_notifications(call: Call) -> Result<Answer, Failure> {
    own(&call, Level::Write, "\"OK\"".to_owned()).await
}

/// `GET /order-scoring`.
pub(crate) async fn order_scoring(call: Call) -> Result<Answer, Failure> {
    own(&call, Level::Read, r#"{"scoring":false}"#.to_owned()).await
}

/// `POST /orders-scoring`: each id asked for, once.
pub(crate) async fn orders_scoring(call: Call) -> Result<Answer, Failure> {
    let ids = read_scoring(&call.body)?;
    let scoring: BTreeMap<String, bool> = ids.into_iter().map(|id| (id, false)).collect();
    own(&call, Level::Read, json_text(&scoring)).await
}

/// `GET /data/pre-migration-orders`.
pub(crate) async fn pre_migration_orders(call: Call) -> Result<Answer, Failure> {
    call.query()?.cursor()?;
    own(&call, Level::Read, json_text(&Page::<()>::empty(PAGE_ROWS))).await
}

/// An answer only its caller may see.
async fn own(call: &Call, level: Level, body: String) -> Result<Answer, Failure> {
    call.app.auth.l2(call, level).await?;
    call.app.fresh(call).await?;
    Ok(Answer::json(body).at(call.app.replica.read().place()))
}
