//! `POST /order/decrease` (docs/api/orders.md §4).

use foretell_model::command::DecreaseOrder;
use foretell_model::{Command, CommandOutcome};
use foretell_wire::ErrorCode;
use foretell_wire::orders::decrease::{Decrease, DecreaseAnswer};
use foretell_wire::orders::user_order::UserOrderStatus;

use crate::access::authenticate::WriteKey;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromBody;
use crate::http::request_context::RequestContext;
use crate::policy::rate_limits::Writes;

/// Makes a resting order smaller. Asked again, it changes nothing; of an order that ended it is 404.
pub(crate) async fn decrease(
    context: RequestContext,
    WriteKey(caller): WriteKey,
    FromBody(Decrease { order, remaining }): FromBody<Decrease>,
) -> Result<Json<DecreaseAnswer>, Failure> {
    context.count(&caller, Writes::Cancels, 1)?;
    let command = Command::DecreaseOrder(DecreaseOrder {
        owner: caller.owner,
        order,
        lots: remaining,
    });
    let CommandOutcome::Left(remaining) = context.command(command, &[]).await?.outcome else {
        return Err(ErrorCode::Internal.into());
    };
    let status = match remaining.is_zero() {
        true => UserOrderStatus::Canceled,
        false => UserOrderStatus::Live,
    };
    Ok(Json::of(&DecreaseAnswer {
        order,
        status,
        remaining,
    }))
}
