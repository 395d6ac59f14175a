//! The operator surface (docs/api/operator.md): all operator commands and queries. Every handler
//! except the three probes requires the bearer token; the routes enforce it.

pub(crate) mod accounts;
pub(crate) mod keys;
pub(crate) mod market_list;
pub(crate) mod markets;
pub(crate) mod probes;
pub(crate) mod status;
pub(crate) mod system;

use foretell_link::Reply;
use foretell_model::{Command, CommandOutcome, Rejection, Sequence, Verdict};
use foretell_wire::operator::CommandAnswer;
use foretell_wire::{ApiError, json_text};
use http::header::AUTHORIZATION;

use crate::answer::Answer;
use crate::app::App;
use crate::failure::Failure;
use crate::request_context::RequestContext;
use crate::resources::position_of;

/// Rejects a request without the token.
pub(crate) fn authorize(context: &RequestContext) -> Result<(), Failure> {
    let presented = context
        .head
        .headers
        .get(AUTHORIZATION)
        .map(|value| value.as_bytes());
    let token = context.app.operator_token.as_ref();
    match (token, presented) {
        (Some(token), Some(presented)) if token.matches(presented) => Ok(()),
        _ => Err(ApiError::OperatorUnauthorized.into()),
    }
}

/// A command that was applied, now or earlier.
struct CommandResult {
    reply: Reply,
    outcome: CommandOutcome,
    /// When applied earlier: the sequence of that command, 0 where it is not remembered.
    before: Option<Sequence>,
}

impl CommandResult {
    fn applied(&self) -> CommandAnswer {
        let mut applied = match self.before {
            Some(first) => CommandAnswer::new(first, true),
            None => CommandAnswer::new(self.reply.sequence, false),
        };
        match self.outcome {
            CommandOutcome::Account(number) | CommandOutcome::Held(number) => {
                applied.number = Some(number.0);
            }
            CommandOutcome::Operator(number) => applied.number = Some(number.0.into()),
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
        Answer::json(json_text(&self.applied())).at(position_of(&self.reply))
    }
}

/// Submits a command and waits for its outcome; returns a rejection unchanged.
async fn submit(
    app: &App,
    command: Command,
    evidence: &[u8],
) -> Result<Result<CommandResult, (Reply, Rejection)>, Failure> {
    let reply = app.engine.submit(command, evidence)?.reply().await?;
    Ok(match reply.verdict {
        Verdict::Applied(outcome) => Ok(CommandResult {
            reply,
            outcome,
            before: None,
        }),
        Verdict::Repeated { first, outcome, .. } => Ok(CommandResult {
            reply,
            outcome,
            before: Some(first),
        }),
        Verdict::Rejected(refusal) => Err((reply, refusal)),
    })
}

/// Submits a command and answers its outcome.
async fn apply(app: &App, command: Command, evidence: &[u8]) -> Result<Answer, Failure> {
    let result = submit_or_reject(app, command, evidence).await?;
    Ok(result.answer())
}

/// Submits a command whose rejection becomes the answer.
async fn submit_or_reject(
    app: &App,
    command: Command,
    evidence: &[u8],
) -> Result<CommandResult, Failure> {
    let given = submit(app, command, evidence).await?;
    given.map_err(|(_, refusal)| ApiError::from_command_rejection(&refusal).into())
}
