//! `GET /acts`: the newest acts of operators through this gateway. The journal has all of them
//! (`foretell audit operators`).

use foretell_link::Reply;
use foretell_model::Verdict;
use foretell_wire::errors::rejection::role_word;
use foretell_wire::json_text;
use foretell_wire::text::time::iso;
use serde::Serialize;

use crate::access::operator_actor::Actor;
use crate::access::operator_acts::Act;
use crate::http::answer::Answer;
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;

#[derive(Serialize)]
struct Acts {
    acts: Vec<NamedAct>,
}

#[derive(Serialize)]
struct NamedAct {
    #[serde(flatten)]
    act: Act,
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
        time: iso(app.now()),
        operator: actor.number.0,
        role: role_word(actor.role),
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
pub(crate) async fn list(context: RequestContext) -> Result<Answer, Failure> {
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
    Ok(Answer::json(json_text(&acts)).at(state.position()))
}
