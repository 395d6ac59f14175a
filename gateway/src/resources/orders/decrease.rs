//! `POST /order/decrease` (docs/api/orders.md §4).

use foretell_model::command::DecreaseOrder;
use foretell_model::{Command, CommandOutcome, Verdict};
use foretell_wire::ApiError;
use foretell_wire::orders::decrease::{Decrease, DecreaseAnswer};
use foretell_wire::orders::user_order::UserOrderStatus;

use crate::access::authenticate::WriteKey;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromBody;
use crate::http::request_context::RequestContext;
use crate::policy::rate_limits::Writes;
use crate::resources::position_of;

/// Makes a resting order smaller. Asked again, it changes nothing; of an order that ended it is 404.
pub(crate) async fn decrease(
    context: RequestContext,
    WriteKey(caller): WriteKey,
    FromBody(Decrease { order, remaining }): FromBody<Decrease>,
) -> Result<Json<DecreaseAnswer>, Failure> {
    let quota = context.count(&caller, Writes::Cancels, 1)?;
    let command = Command::DecreaseOrder(DecreaseOrder {
        owner: caller.owner,
        order,
        lots: remaining,
    });
    let reply = context
        .reply(context.app.engine.submit(command, &[])?)
        .await?;
    let remaining = match reply.verdict {
        Verdict::Applied(CommandOutcome::Left(lots))
        | Verdict::Repeated {
            outcome: CommandOutcome::Left(lots),
            ..
        } => lots,
        Verdict::Rejected(refusal) => {
            return Err(ApiError::from_command_rejection(&refusal).into());
        }
        verdict => unreachable!("a decrease answers what is left, not {verdict:?}"),
    };
    let status = match remaining.is_zero() {
        true => UserOrderStatus::Canceled,
        false => UserOrderStatus::Live,
    };
    let answer = DecreaseAnswer {
        order,
        status,
        remaining,
    };
    Ok(Json::of(&answer).with_quota(quota).at(position_of(&reply)))
}
