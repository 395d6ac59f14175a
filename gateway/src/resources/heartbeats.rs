//! `POST /heartbeats` and `/v1/heartbeats` (protocol 9). The chains live in the engine,
//! and no read shows them: an answer names the state before it, as refusals do.

use foretell_link::HeartbeatId;
use foretell_model::{ApiKey, Verdict};
use foretell_wire::account::{HeartbeatAnswer, HeartbeatRefusal, read_heartbeat};
use foretell_wire::ids::{api_key, api_key_text};
use foretell_wire::{Failure as Refusal, json_text};
use http::StatusCode;

use crate::answer::Answer;
use crate::auth::Level;
use crate::call::Call;
use crate::failure::Failure;

/// An id no chain has: what a text that is no id stands for.
const NO_CHAIN: HeartbeatId = HeartbeatId([0xff; 16]);

/// Both paths.
pub(crate) async fn beat(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let caller = app.auth.l2(&call, Level::Write).await?;
    // Ids are shown as UUIDs, so they are read as API keys are.
    let id = match read_heartbeat(&call.body)? {
        None => HeartbeatId::NONE,
        Some(text) => match api_key(&text).map(|id| HeartbeatId(id.0)) {
            Some(id) if id != HeartbeatId::NONE => id,
            _ => NO_CHAIN,
        },
    };
    let beat = match app.engine.heartbeat(caller.owner, id).await? {
        Ok(beat) => beat,
        Err(reply) => {
            return Err(match reply.verdict {
                Verdict::Refused(refusal) => Refusal::of_command(&refusal).into(),
                Verdict::Applied(_) | Verdict::Repeated { .. } => Refusal::Internal.into(),
            });
        }
    };
    let text = match beat.id {
        HeartbeatId::NONE => String::new(),
        HeartbeatId(id) => api_key_text(&ApiKey(id)),
    };
    Ok(if beat.accepted {
        Answer::json(json_text(&HeartbeatAnswer {
            heartbeat_id: &text,
        }))
    } else {
        Answer::with_status(
            StatusCode::BAD_REQUEST,
            json_text(&HeartbeatRefusal::new(&text)),
        )
    })
}
