//! The operator surface (docs/api/operator.md): all operator commands and queries. Every handler
//! except the three probes and the oracle's webhook requires the token of an operator whose role
//! includes it; the routes enforce it.

pub(crate) mod accounts;
pub(crate) mod acts;
pub(crate) mod keys;
pub(crate) mod market_life;
pub(crate) mod oracle;
pub(crate) mod people;
pub(crate) mod site;
pub(crate) mod withdrawals;

use foretell_link::Reply;
use foretell_model::{
    AccountNumber, Command, CommandOutcome, ConditionId, MarketNumber, OperatorNumber,
    OperatorRole, Rejection, RejectionReason, Sequence, Verdict,
};
use foretell_view::View;
use foretell_wire::operator::CommandAnswer;
use foretell_wire::{ApiError, ErrorCode};

use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;
use crate::resources::position_of;

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
            CommandOutcome::Account(number) => applied.number = Some(number.0),
            CommandOutcome::Waits(number) => {
                applied.number = Some(number.0);
                applied.waits = true;
            }
            CommandOutcome::Operator(number) => applied.number = Some(number.0.into()),
            CommandOutcome::Key(number) => applied.number = Some(number.0),
            CommandOutcome::Event(number) => applied.number = Some(number.0),
            CommandOutcome::Market(number) => applied.number = Some(number.0),
            CommandOutcome::Domain(number) => applied.number = Some(u32::from(number.0)),
            CommandOutcome::Cancelled { orders } => applied.cancelled = Some(orders),
            // A release is the error of its repeats.
            CommandOutcome::Released(_)
            | CommandOutcome::Done
            | CommandOutcome::Order(_)
            | CommandOutcome::Left(_)
            | CommandOutcome::Quotes(_)
            | CommandOutcome::Lease { .. }
            | CommandOutcome::Collateral(_) => {}
        }
        applied
    }

    fn answer(&self) -> Json<CommandAnswer> {
        Json::of(&self.applied()).at(position_of(&self.reply))
    }

    /// The answer with the label of the payout.
    fn answer_paying(&self, outcome: String) -> Json<CommandAnswer> {
        let answer = CommandAnswer {
            outcome: Some(outcome),
            ..self.applied()
        };
        Json::of(&answer).at(position_of(&self.reply))
    }
}

/// Submits a command of the request's operator and waits for its outcome; returns a rejection
/// unchanged.
async fn submit(
    context: &RequestContext,
    command: Command,
    evidence: &[u8],
) -> Result<Result<CommandResult, (Reply, Rejection)>, Failure> {
    submit_beside(context, command, Vec::new(), evidence).await
}

/// [`submit`] with the command's tail.
async fn submit_beside(
    context: &RequestContext,
    command: Command,
    tail: Vec<u8>,
    evidence: &[u8],
) -> Result<Result<CommandResult, (Reply, Rejection)>, Failure> {
    let actor = context
        .actor
        .as_ref()
        .ok_or(ErrorCode::OperatorUnauthorized)?;
    let act = (actor.number, actor.reason.as_str());
    let engine = &context.app.engine;
    // A client's command that an operator's request needs carries no operator.
    let senders = command.kind().senders();
    let pending = match senders.operators.contains(OperatorRole::Admin) {
        true => engine.submit_as(act, command, tail, evidence)?,
        false => engine.submit(command, evidence)?,
    };
    let reply = pending.reply().await?;
    Ok(match reply.verdict {
        Verdict::Applied(outcome) => Ok(CommandResult {
            reply,
            outcome,
            before: None,
        }),
        Verdict::Repeated {
            outcome: CommandOutcome::Released(_),
            ..
        } => return Err(ErrorCode::WithdrawalReleased.into()),
        Verdict::Repeated { first, outcome, .. } => Ok(CommandResult {
            reply,
            outcome,
            before: Some(first),
        }),
        Verdict::Rejected(refusal) => Err((reply, refusal)),
    })
}

/// Submits a command. `values` are those in the text of a rejection that
/// the core does not name.
async fn apply_or(
    context: &RequestContext,
    command: Command,
    evidence: &[u8],
    values: impl FnOnce(&Rejection) -> Option<Vec<String>>,
) -> Result<CommandResult, Failure> {
    match submit(context, command, evidence).await? {
        Ok(done) => Ok(done),
        Err((_, refusal)) => Err(rejection_with(context, &refusal, values).into()),
    }
}

/// The error of a rejected command, with values in its text that the core does not name.
fn rejection_with(
    context: &RequestContext,
    refusal: &Rejection,
    values: impl FnOnce(&Rejection) -> Option<Vec<String>>,
) -> ApiError {
    let error = rejection(context, refusal);
    let named = values(refusal).map(|values| ApiError::new(error.code(), values));
    named.unwrap_or(error)
}

/// The error of a rejected command; that of a role names the roles of the route.
fn rejection(context: &RequestContext, refusal: &Rejection) -> ApiError {
    match (refusal.reason, &context.actor) {
        (RejectionReason::OperatorRole, Some(actor)) => actor.role_not_allowed(),
        _ => ApiError::from_command_rejection(refusal),
    }
}

/// Submits a command and answers its outcome.
async fn apply(
    context: &RequestContext,
    command: Command,
    evidence: &[u8],
) -> Result<Json<CommandAnswer>, Failure> {
    let result = submit_or_reject(context, command, evidence).await?;
    Ok(result.answer())
}

/// Submits a command whose rejection becomes the answer.
async fn submit_or_reject(
    context: &RequestContext,
    command: Command,
    evidence: &[u8],
) -> Result<CommandResult, Failure> {
    let given = submit(context, command, evidence).await?;
    given.map_err(|(_, refusal)| rejection(context, &refusal).into())
}

/// The number of a registered market.
async fn market_of(
    context: &RequestContext,
    condition: ConditionId,
) -> Result<MarketNumber, Failure> {
    let find = |view: &View| {
        let found = view.markets().by_condition(&condition);
        found.map(|(number, _)| number)
    };
    let found = context.app.find(find).await?;
    Ok(found.ok_or(ErrorCode::MarketNotFound)?)
}

/// The name of an operator, the wallet that acted, or both; empty for the engine itself.
fn actor_name(view: &View, operator: OperatorNumber, wallet: Option<AccountNumber>) -> String {
    let operator = view.people().operator(operator);
    let operator = operator.map(|operator| operator.name.text().to_owned());
    let wallet = wallet.and_then(|account| view.accounts().get(account));
    let wallet = wallet.map(|account| account.wallet.to_string());
    match (operator, wallet) {
        (Some(operator), Some(wallet)) => format!("{operator} for {wallet}"),
        (operator, wallet) => operator.or(wallet).unwrap_or_default(),
    }
}
