//! The operator surface (protocol 16): every command an operator may give, and what it asks.
//! Every handler but the three probes stands behind the bearer token; the routes see to it.

pub(crate) mod accounts;
pub(crate) mod keys;
pub(crate) mod market_list;
pub(crate) mod markets;
pub(crate) mod probes;
pub(crate) mod status;
pub(crate) mod system;

use foretell_link::Reply;
use foretell_model::{Command, CommandOutcome, Refusal as Refused, Sequence, Verdict};
use foretell_wire::operator::Applied;
use foretell_wire::{Failure as Refusal, json_text};
use http::header::AUTHORIZATION;

use crate::answer::Answer;
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::resources::place_of;

/// Refuses whoever does not present the token.
pub(crate) fn authorize(call: &Call) -> Result<(), Failure> {
    let presented = call
        .head
        .headers
        .get(AUTHORIZATION)
        .map(|value| value.as_bytes());
    let token = call.app.operator_token.as_ref();
    match (token, presented) {
        (Some(token), Some(presented)) if token.matches(presented) => Ok(()),
        _ => Err(Refusal::OperatorUnauthorized.into()),
    }
}

/// A command that was done, now or before.
struct Done {
    reply: Reply,
    outcome: CommandOutcome,
    /// When it was done before: by which command, 0 where that is not remembered.
    before: Option<Sequence>,
}

impl Done {
    fn applied(&self) -> Applied {
        let mut applied = match self.before {
            Some(first) => Applied::new(first, true),
            None => Applied::new(self.reply.sequence, false),
        };
        match self.outcome {
            CommandOutcome::Account(number) => applied.number = Some(number.0),
            CommandOutcome::Key(number) => applied.number = Some(number.0),
            CommandOutcome::Event(number) => applied.number = Some(number.0),
            CommandOutcome::Market(number) => applied.number = Some(number.0),
            CommandOutcome::Domain(number) => applied.number = Some(u32::from(number.0)),
            CommandOutcome::Cancelled { orders } => applied.cancelled = Some(orders),
            CommandOutcome::Done | CommandOutcome::Order(_) | CommandOutcome::Collateral(_) => {}
        }
        applied
    }

    fn answer(&self) -> Answer {
        Answer::json(json_text(&self.applied())).at(place_of(&self.reply))
    }
}

/// Gives a command and waits for its outcome; a refusal comes back as it is.
async fn give(
    app: &App,
    command: Command,
    evidence: &[u8],
) -> Result<Result<Done, (Reply, Refused)>, Failure> {
    let reply = app.engine.submit(command, evidence)?.reply().await?;
    Ok(match reply.verdict {
        Verdict::Applied(outcome) => Ok(Done {
            reply,
            outcome,
            before: None,
        }),
        Verdict::Repeated { first, outcome, .. } => Ok(Done {
            reply,
            outcome,
            before: Some(first),
        }),
        Verdict::Refused(refusal) => Err((reply, refusal)),
    })
}

/// Gives a command whose refusal is the answer.
async fn order(app: &App, command: Command, evidence: &[u8]) -> Result<Done, Failure> {
    let given = give(app, command, evidence).await?;
    given.map_err(|(_, refusal)| Refusal::of_command(&refusal).into())
}
