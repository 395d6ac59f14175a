//! `POST /heartbeats` and `/v1/heartbeats` (docs/api/orders.md §5). A chain is an
//! owner's sequence of heartbeats, each naming the id of the one before. Only the engine has chains
//! and no read shows them, so `x-sequence` of an answer is the state before the beat.

use foretell_link::HeartbeatId;
use foretell_model::ApiKey;
use foretell_wire::accounts::account::{Heartbeat, HeartbeatAnswer, WrongHeartbeatAnswer};
use foretell_wire::text::ids::{api_key, api_key_text};
use foretell_wire::{ErrorCode, json_text};

use crate::access::authenticate::WriteKey;
use crate::engine::engine_link::LinkError;
use crate::engine::outcome::outcome_of;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromBody;
use crate::http::request_context::RequestContext;
use crate::policy::rate_limits::RateLimiter;

/// An id that no chain has; it stands for a malformed id.
const NO_CHAIN: HeartbeatId = HeartbeatId([0xff; 16]);

/// Both paths.
pub(crate) async fn beat(
    context: RequestContext,
    WriteKey(caller): WriteKey,
    FromBody(beat): FromBody<Heartbeat>,
) -> Result<Json<HeartbeatAnswer<'static>>, Failure> {
    let app = &context.app;
    // Ids are displayed as UUIDs, so the parser of API keys applies.
    let id = match beat.heartbeat_id {
        None => HeartbeatId::NONE,
        Some(text) => match api_key(&text).map(|id| HeartbeatId(id.0)) {
            Some(id) if id != HeartbeatId::NONE => id,
            _ => NO_CHAIN,
        },
    };
    let charge = match id {
        HeartbeatId::NONE => context.charge(RateLimiter::charge_heartbeats)?,
        _ => None,
    };
    let beat = match app.engine.heartbeat(caller.owner, id).await {
        Ok(Ok(beat)) => beat,
        Err(LinkError::OutcomeUnknown) => return Err(LinkError::OutcomeUnknown.into()),
        Err(failure) => {
            context.settle_journal(charge, None);
            return Err(failure.into());
        }
        Ok(Err(reply)) => {
            context.settle_journal(charge, None);
            let refused = outcome_of(&reply).err().ok_or(ErrorCode::Internal)?;
            return Err(context.rejected(&refused.rejection).into());
        }
    };
    let text = match beat.id {
        HeartbeatId::NONE => String::new(),
        HeartbeatId(id) => api_key_text(&ApiKey(id)),
    };
    if beat.accepted {
        Ok(Json::of(&HeartbeatAnswer::new(&text)))
    } else {
        let body = json_text(&WrongHeartbeatAnswer::new(&text));
        Err(Failure::from(ErrorCode::WrongHeartbeat).with_body(body))
    }
}
