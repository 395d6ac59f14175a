//! `GET /acts`: the newest acts of operators through this gateway. The journal has all of them
//! (`foretell audit operators`).

use foretell_link::Reply;
use foretell_model::Verdict;
use schemars::JsonSchema;
use serde::Serialize;

use crate::access::operator_actor::Actor;
use crate::access::operator_acts::Act;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;

/// Answer of `GET /acts`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Acts {
    /// The newest acts, newest first.
    acts: Vec<NamedAct>,
}

/// An act with the name of its operator.
#[derive(Serialize, JsonSchema)]
struct NamedAct {
    #[serde(flatten)]
    act: Act,
    /// Name of the operator.
    name: String,
}

/// Notes an applied command. Repeats and rejections change nothing and are not acts.
pub(crate) fn note(context: &RequestContext, actor: &Actor, reply: &Reply) {
    if !matches!(reply.verdict, Verdict::Applied(_)) {
        return;
    }
    let app = &context.app;
    let act = Act {
        sequence: reply.sequence.0,
        time: app.now(),
        operator: actor.number.0,
        role: actor.role,
        path: context.path().to_owned(),
        request: shortened(&context.body),
        reason: actor.reason.clone(),
    };
    app.acts.push(act);
}

/// The beginning of a body.
fn shortened(body: &[u8]) -> String {
    const BYTES: usize = 400;
    String::from_utf8_lossy(&body[..body.len().min(BYTES)]).into_owned()
}

/// `GET /acts`.
pub(crate) async fn list(context: RequestContext) -> Result<Json<Acts>, Failure> {
    let acts = context.app.acts.newest();
    let state = context.app.shared_view.read();
    let named = |act: Act| NamedAct {
        name: (state.view.people())
            .operator(foretell_model::OperatorNumber(act.operator))
            .map_or_else(String::new, |operator| operator.name.text().to_owned()),
        act,
    };
    let acts = Acts {
        acts: acts.into_iter().map(named).collect(),
    };
    Ok(Json::of(&acts).at(state.position()))
}
