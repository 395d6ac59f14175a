//! The operator surface (docs/api/operator.md): all operator commands and queries. Every handler
//! except the three probes and the oracle's webhook requires the token of an operator whose role
//! includes it; the routes enforce it.

pub(crate) mod accounts;
pub(crate) mod acts;
pub(crate) mod keys;
pub(crate) mod market_life;
pub(crate) mod oracle;
pub(crate) mod people;
pub(crate) mod sandbox;
pub(crate) mod site;
pub(crate) mod withdrawals;

use foretell_model::{AccountNumber, Command, CommandOutcome, OperatorNumber, Rejection};
use foretell_view::View;
use foretell_wire::operator::{Act, CommandAnswer};
use foretell_wire::{ApiError, ErrorCode};

use crate::engine::outcome::Done;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromBody;
use crate::http::request_context::RequestContext;

/// The answer of a command.
fn applied(done: &Done) -> CommandAnswer {
    let mut applied = CommandAnswer::new(done.sequence(), done.before.is_some());
    match done.outcome {
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

/// [`applied`] as JSON.
fn answer(done: &Done) -> Json<CommandAnswer> {
    Json::of(&applied(done))
}

/// The answer with the label of the payout.
fn answer_paying(done: &Done, outcome: String) -> Json<CommandAnswer> {
    Json::of(&CommandAnswer {
        outcome: Some(outcome),
        ..applied(done)
    })
}

/// Sends a command. `values` are those in the text of a rejection that the core does not name.
async fn apply_or(
    context: &RequestContext,
    command: Command,
    evidence: &[u8],
    values: impl FnOnce(&Rejection) -> Option<Vec<String>>,
) -> Result<Done, Failure> {
    let explain = |rejection: &Rejection| Some(explained(context, rejection, values));
    context.command_or(command, evidence, explain).await
}

/// The error of a rejected command, with values in its text that the core does not name.
fn explained(
    context: &RequestContext,
    rejection: &Rejection,
    values: impl FnOnce(&Rejection) -> Option<Vec<String>>,
) -> ApiError {
    let error = context.rejected(rejection);
    let named = values(rejection).map(|values| ApiError::new(error.code(), values));
    named.unwrap_or(error)
}

/// An act whose body is its command.
pub(crate) async fn act<A: Act>(
    context: RequestContext,
    FromBody(body): FromBody<A::Body>,
) -> Result<Json<CommandAnswer>, Failure> {
    let command = |view: &View| {
        let market = |condition| view.markets().number_of(&condition);
        A::command(&body, &market)
    };
    let command = context.app.find(command).await?;
    let command = command.ok_or(ErrorCode::MarketNotFound)?;
    let explain = |rejection: &Rejection| {
        let state = context.app.shared_view.read();
        withdrawals::ended_error(&state.view, &command, rejection)
    };
    let done = context.command_or(command, A::evidence(&body), explain);
    let done = done.await?;
    match done.outcome {
        CommandOutcome::Released(_) => Err(ErrorCode::WithdrawalReleased.into()),
        _ => Ok(answer(&done)),
    }
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
