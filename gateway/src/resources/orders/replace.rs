//! `POST /replace` (docs/api/orders.md §6): cancels and orders that the exchange applies next to each
//! other and writes in one batch.

use foretell_link::Reply;
use foretell_model::command::CancelOrder;
use foretell_model::limits::MAX_REPLACE;
use foretell_model::{Command, OrderId};
use foretell_wire::orders::order::OrderSubmission;
use foretell_wire::orders::replace::{ReplaceAnswer, ReplaceError, ReplaceRequest};

use crate::access::authenticate::WriteKey;
use crate::access::credentials::Caller;
use crate::engine::engine_link::{LinkError, PendingAnswer};
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::TryBody;
use crate::http::request_context::RequestContext;
use crate::policy::rate_limits::{JournalCharge, Writes};
use crate::resources::orders::cancels::cancel_outcome;
use crate::resources::orders::place::{CheckedOrder, check, note_outcome, render_outcome};

/// `POST /replace`: 200 with what was cancelled and one result for each order. Every check of this
/// gateway precedes the first cancel, and one failed check refuses the whole.
pub(crate) async fn replace(
    context: RequestContext,
    WriteKey(caller): WriteKey,
    TryBody(asked): TryBody<ReplaceRequest>,
) -> Result<Json<ReplaceAnswer>, Failure> {
    let asked = asked.map_err(|error| refused(error.into()))?;
    let place = asked.orders().map_err(refused)?;
    if !place.is_empty() {
        context.count(&caller, Writes::Orders, place.len())?;
    }
    if !asked.cancel.is_empty() {
        context.count(&caller, Writes::Cancels, asked.cancel.len())?;
    }
    let orders = check_all(&context, &caller, &place).await?;
    let replies = submit(&context, &caller, &asked, &orders).await?;
    Ok(Json::of(&answer(&context, &asked, &orders, replies).await?))
}

fn refused(error: ReplaceError) -> Failure {
    let body = error.body();
    Failure::from(*error.error).with_body(body)
}

/// Checks every order, its signature included.
async fn check_all(
    context: &RequestContext,
    caller: &Caller,
    place: &[&OrderSubmission],
) -> Result<Vec<CheckedOrder>, Failure> {
    let mut orders = Vec::with_capacity(place.len());
    for (index, order) in place.iter().enumerate() {
        let checked = check(context, caller, order).await;
        orders.push(checked.map_err(|rejected| {
            refused(ReplaceError {
                place: Some(index),
                error: Box::new(rejected.refusal),
            })
        })?);
    }
    Ok(orders)
}

/// Sends the commands and waits for all replies.
async fn submit(
    context: &RequestContext,
    caller: &Caller,
    asked: &ReplaceRequest,
    orders: &[CheckedOrder],
) -> Result<Vec<Reply>, Failure> {
    let mut commands: Vec<(Command, &[u8])> = Vec::with_capacity(2 * MAX_REPLACE);
    let cancel = |order: OrderId| {
        Command::CancelOrder(CancelOrder {
            owner: caller.owner,
            order,
        })
    };
    commands.extend(
        asked
            .cancel
            .iter()
            .map(|(_, order)| (cancel(*order), &[][..])),
    );
    commands.extend(orders.iter().map(|order| (order.command, &*order.evidence)));
    let pending = send(context, asked.if_all_canceled, &commands)?;
    let mut replies = Vec::with_capacity(pending.len());
    for pending in pending {
        replies.push(context.reply(pending).await.map_err(LinkError::code)?);
    }
    Ok(replies)
}

/// Charges and sends all commands, or none.
fn send(
    context: &RequestContext,
    if_all_canceled: bool,
    commands: &[(Command, &[u8])],
) -> Result<Vec<PendingAnswer>, Failure> {
    let mut charges = Vec::with_capacity(commands.len());
    let give_back = |charges: Vec<Option<JournalCharge>>| {
        (charges.into_iter()).for_each(|charge| context.settle_journal(charge, None));
    };
    for (command, evidence) in commands {
        match context.charge_journal(command, evidence.len()) {
            Ok(charge) => charges.push(charge),
            Err(refused) => {
                give_back(charges);
                return Err(refused.into());
            }
        }
    }
    match context.app.engine.replace(if_all_canceled, commands) {
        Ok(pending) => Ok(pending
            .into_iter()
            .zip(charges)
            .map(|(pending, charge)| pending.charged(charge))
            .collect()),
        Err(failure) => {
            give_back(charges);
            Err(failure.into())
        }
    }
}

async fn answer(
    context: &RequestContext,
    asked: &ReplaceRequest,
    orders: &[CheckedOrder],
    replies: Vec<Reply>,
) -> Result<ReplaceAnswer, Failure> {
    let app = &context.app;
    let mut replies = replies.into_iter();
    let mut answer = ReplaceAnswer::default();
    for ((text, _), reply) in asked.cancel.iter().zip(replies.by_ref()) {
        match cancel_outcome(&reply)? {
            Ok(()) => answer.cancels.canceled.push(text.clone()),
            Err(reason) => (answer.cancels.not_canceled).push((text.clone(), reason)),
        }
    }
    for (order, reply) in orders.iter().zip(replies) {
        let outcome = render_outcome(app, &order.about, &reply).await;
        note_outcome(app, &outcome.answer, Some(order.signer));
        answer.orders.push(outcome.answer);
    }
    Ok(answer)
}
