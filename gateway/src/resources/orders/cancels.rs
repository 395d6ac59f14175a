//! `DELETE /order`, `/orders`, `/cancel-all`, `/cancel-market-orders` (docs/api/orders.md §4).
//!
//! A cancel that names orders is idempotent. One that means "all" runs each time and returns the
//! orders that it cancelled now.

use foretell_link::Reply;
use foretell_model::command::{CancelAll, CancelMarketOrders, CancelOrder};
use foretell_model::{Command, CommandOutcome, MarketNumber, OrderId, Outcome};
use foretell_view::{Order, View};
use foretell_wire::errors::api_error::FieldError;
use foretell_wire::errors::rejection::{ORDER_IS_DELAYED, not_cancelled_reason};
use foretell_wire::orders::cancel::{MarketCancel, NamedOrder, NamedOrders};
use foretell_wire::orders::result::CancelAnswer;
use foretell_wire::{ApiError, ErrorCode};

use crate::access::authenticate::WriteKey;
use crate::access::credentials::Caller;
use crate::engine::engine_link::{LinkError, PendingAnswer};
use crate::engine::outcome::{Refused, outcome_of};
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromBody;
use crate::http::request_context::RequestContext;
use crate::policy::rate_limits::Writes;
use crate::resources::market_of;

/// The reason for an order that the caller does not have.
const NOT_FOUND: &str = "order can't be found - already canceled or matched";

/// `DELETE /order`.
pub(crate) async fn cancel_one(
    context: RequestContext,
    WriteKey(caller): WriteKey,
    FromBody(named): FromBody<NamedOrder>,
) -> Result<Json<CancelAnswer>, Failure> {
    cancel_named(&context, &caller, vec![named]).await
}

/// `DELETE /orders`.
pub(crate) async fn cancel_many(
    context: RequestContext,
    WriteKey(caller): WriteKey,
    FromBody(NamedOrders(named)): FromBody<NamedOrders>,
) -> Result<Json<CancelAnswer>, Failure> {
    cancel_named(&context, &caller, named).await
}

/// `DELETE /cancel-all`.
pub(crate) async fn cancel_all(
    context: RequestContext,
    WriteKey(caller): WriteKey,
) -> Result<Json<CancelAnswer>, Failure> {
    let command = Command::CancelAll(CancelAll {
        owner: caller.owner,
        heartbeat: false,
    });
    cancel_by_owner(&context, &caller, command).await
}

/// `DELETE /cancel-market-orders`.
pub(crate) async fn cancel_market(
    context: RequestContext,
    WriteKey(caller): WriteKey,
    FromBody(named): FromBody<MarketCancel>,
) -> Result<Json<CancelAnswer>, Failure> {
    let token = context
        .app
        .find(|view| market_to_cancel(view, &named))
        .await?;
    let (market, outcome) = token.ok_or_else(|| match (named.market, named.token) {
        (Some(_), Some(token)) => ApiError::from(FieldError::wrong(
            "asset_id",
            &token.to_string(),
            "a token of a registered market, the one named",
        )),
        (Some(_), None) => ErrorCode::MarketNotFound.into(),
        (None, _) => ErrorCode::OrderbookNotFound.into(),
    })?;
    let command = Command::CancelMarketOrders(CancelMarketOrders {
        owner: caller.owner,
        market,
        outcome,
    });
    cancel_by_owner(&context, &caller, command).await
}

fn market_to_cancel(view: &View, named: &MarketCancel) -> Option<(MarketNumber, Option<Outcome>)> {
    let by_token = named.token.map(|token| market_of(view, &token));
    let by_condition = named
        .market
        .map(|condition| view.markets().by_condition(&condition));
    match (by_condition, by_token) {
        (Some(condition), None) => Some((condition?.0, None)),
        (None, Some(token)) => token.map(|(market, outcome)| (market, Some(outcome))),
        (Some(condition), Some(token)) => {
            let (market, outcome) = token?;
            (condition?.0 == market).then_some((market, Some(outcome)))
        }
        (None, None) => None,
    }
}

/// Cancels of one request in flight at once. One request must use only a small part of an engine
/// connection, which orders, other cancels and the operator share.
const CANCELS_AT_ONCE: usize = 32;

/// Submits some cancels before it waits for their replies.
async fn cancel_named(
    context: &RequestContext,
    caller: &Caller,
    named: Vec<NamedOrder>,
) -> Result<Json<CancelAnswer>, Failure> {
    context.count(caller, Writes::Cancels, named.len())?;
    let send = |order: OrderId| {
        let owner = caller.owner;
        context.submit(Command::CancelOrder(CancelOrder { owner, order }), &[])
    };
    let mut answer = CancelAnswer::default();
    for some in named.chunks(CANCELS_AT_ONCE) {
        let sent: Vec<_> = some
            .iter()
            .map(|named| (named.text.clone(), named.order.map(send)))
            .collect();
        for (text, pending) in sent {
            let outcome = match pending {
                Some(pending) => cancelled(context, pending).await?,
                None => Err(NOT_FOUND),
            };
            match outcome {
                Ok(()) => answer.canceled.push(text),
                Err(reason) => answer.not_canceled.push((text, reason)),
            }
        }
    }
    Ok(Json::of(&answer))
}

/// Whether one named order was cancelled, or why not. The first order without a reply from the
/// engine fails the whole request: named cancels are safe to resend.
async fn cancelled(
    context: &RequestContext,
    pending: Result<PendingAnswer, ApiError>,
) -> Result<Result<(), &'static str>, ApiError> {
    let reply = context.reply(pending?).await.map_err(LinkError::code)?;
    cancel_outcome(&reply)
}

/// Whether a cancel ended its order, or why not.
pub(crate) fn cancel_outcome(reply: &Reply) -> Result<Result<(), &'static str>, ApiError> {
    match outcome_of(reply) {
        Ok(done) if done.outcome == (CommandOutcome::Cancelled { orders: 0 }) => {
            Ok(Err(ORDER_IS_DELAYED))
        }
        Ok(_) => Ok(Ok(())),
        Err(Refused { rejection, .. }) => match not_cancelled_reason(rejection.reason) {
            Some(reason) => Ok(Err(reason)),
            None => Err(ApiError::from_command_rejection(&rejection)),
        },
    }
}

/// Cancels an owner's orders and lists those that ended, and those that are delayed. Without open
/// orders it writes no frame.
async fn cancel_by_owner(
    context: &RequestContext,
    caller: &Caller,
    command: Command,
) -> Result<Json<CancelAnswer>, Failure> {
    context.count(caller, Writes::Cancels, 1)?;
    let done = context.command(command, &[]).await?;
    let (first, last) = (done.decided_at, done.reached);
    let answer = context.app.read_after(last, |state| {
        let mut answer = CancelAnswer::default();
        if done.before.is_none() {
            let ended = state.view.orders().ended_between(first, last);
            answer.canceled = ended.map(|ended| ended.order.id.to_string()).collect();
        }
        answer.not_canceled = still_delayed(&state.view, &command);
        answer
    });
    Ok(Json::of(&answer.await?))
}

/// The delayed orders that a cancel of many names, with the reason.
fn still_delayed(view: &View, command: &Command) -> Vec<(String, &'static str)> {
    let (owner, only) = match *command {
        Command::CancelAll(CancelAll { owner, .. }) => (owner, None),
        Command::CancelMarketOrders(CancelMarketOrders {
            owner,
            market,
            outcome,
        }) => (owner, Some((market, outcome))),
        _ => return Vec::new(),
    };
    let is_named = |order: &&Order| {
        only.is_none_or(|(market, outcome)| {
            order.market == market && outcome.is_none_or(|outcome| order.outcome == outcome)
        })
    };
    // An order that came later was not asked to end.
    let is_asked = |order: &&Order| {
        let delay = view.orders().delay_of(order.number);
        delay.is_some_and(|delay| delay.cancel.is_some())
    };
    let orders = (view.accounts().wallets_of(owner)).flat_map(|it| view.orders().live_of(it));
    (orders.filter(is_named).filter(is_asked))
        .map(|order| (order.id.to_string(), ORDER_IS_DELAYED))
        .collect()
}
