//! `DELETE /order`, `/orders`, `/cancel-all`, `/cancel-market-orders` (protocol 9).
//!
//! A cancel that names orders may be sent again by its nature. One that means "all" is carried out
//! every time it is asked, and answers what it ended now.

use foretell_model::{Command, Digest16, MarketNumber, OrderId, Outcome, Verdict};
use foretell_view::View;
use foretell_wire::cancel::{
    MarketCancel, NamedOrder, read_cancel, read_cancels, read_market_cancel,
};
use foretell_wire::failure::FieldProblem;
use foretell_wire::refusal::not_cancelled_because;
use foretell_wire::result::CancelAnswer;
use foretell_wire::{Failure as Refusal, json_text};

use crate::answer::{Answer, Place};
use crate::auth::{Caller, Level};
use crate::call::Call;
use crate::engine_link::{LinkFailure, PendingAnswer};
use crate::failure::{Failure, refusal_of};
use crate::rate_limits::Writes;
use crate::resources::{market_of, place_of};
use crate::timing::Stage;

/// The reason for an order nobody has.
const NOT_FOUND: &str = "order can't be found - already canceled or matched";

/// `DELETE /order`.
pub(crate) async fn cancel_one(call: Call) -> Result<Answer, Failure> {
    let caller = call.app.auth.l2(&call, Level::Write).await?;
    let named = call
        .timing
        .measure(Stage::Parse, || read_cancel(&call.body))?;
    cancel_named(&call, &caller, vec![named]).await
}

/// `DELETE /orders`.
pub(crate) async fn cancel_many(call: Call) -> Result<Answer, Failure> {
    let caller = call.app.auth.l2(&call, Level::Write).await?;
    let named = call
        .timing
        .measure(Stage::Parse, || read_cancels(&call.body))?;
    cancel_named(&call, &caller, named).await
}

/// `DELETE /cancel-all`.
pub(crate) async fn cancel_all(call: Call) -> Result<Answer, Failure> {
    let caller = call.app.auth.l2(&call, Level::Write).await?;
    let command = Command::CancelAll {
        owner: caller.owner,
        heartbeat: false,
        request: Digest16::ZERO,
    };
    cancel_by_owner(&call, &caller, command).await
}

/// `DELETE /cancel-market-orders`.
pub(crate) async fn cancel_market(call: Call) -> Result<Answer, Failure> {
    let caller = call.app.auth.l2(&call, Level::Write).await?;
    let named = call
        .timing
        .measure(Stage::Parse, || read_market_cancel(&call.body))?;
    let place = call.app.find(|view| market_to_cancel(view, &named)).await?;
    let (market, outcome) = place.ok_or_else(|| match (named.market, named.token) {
        (Some(_), Some(token)) => Refusal::from(FieldProblem::wrong(
            "asset_id",
            &token.to_string(),
            "a token of a registered market, the one named",
        )),
        (Some(_), None) => Refusal::MarketNotFound,
        (None, _) => Refusal::NoOrderbook,
    })?;
    let command = Command::CancelMarketOrders {
        owner: caller.owner,
        market,
        outcome,
        request: Digest16::ZERO,
    };
    cancel_by_owner(&call, &caller, command).await
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

/// Cancels of one request that are on their way to the engine at once: one request takes no more than a
/// small part of a line, which orders, other cancels and the operator share.
const CANCELS_AT_ONCE: usize = 32;

/// Sends some cancels before it waits for their answers.
async fn cancel_named(
    call: &Call,
    caller: &Caller,
    named: Vec<NamedOrder>,
) -> Result<Answer, Failure> {
    let standing = call.count(caller, Writes::Cancels, named.len())?;
    let app = &call.app;
    let send = |order: OrderId| {
        app.engine.submit(
            Command::CancelOrder {
                owner: caller.owner,
                order,
            },
            &[],
        )
    };
    let mut answer = CancelAnswer::default();
    let mut last = None;
    for some in named.chunks(CANCELS_AT_ONCE) {
        let sent: Vec<_> = some
            .iter()
            .map(|named| (named.text.clone(), named.order.map(send)))
            .collect();
        for (text, pending) in sent {
            let outcome = match pending {
                Some(pending) => cancelled(call, pending, &mut last).await?,
                None => Err(NOT_FOUND),
            };
            match outcome {
                Ok(()) => answer.canceled.push(text),
                Err(reason) => answer.not_canceled.push((text, reason)),
            }
        }
    }
    let answer = Answer::json(json_text(&answer)).stands(standing);
    Ok(match last {
        Some(place) => answer.at(place),
        None => answer,
    })
}

/// Whether one named order was cancelled, or why not. The first order of a request that the
/// engine gives no answer for makes the whole request fail: named cancels are safe to send again.
async fn cancelled(
    call: &Call,
    pending: Result<PendingAnswer, LinkFailure>,
    last: &mut Option<Place>,
) -> Result<Result<(), &'static str>, Refusal> {
    let reply = match pending {
        Ok(pending) => call.reply(pending).await.map_err(refusal_of)?,
        Err(failure) => return Err(refusal_of(failure)),
    };
    *last = Some(place_of(&reply));
    match reply.verdict {
        Verdict::Applied(_) | Verdict::Repeated { .. } => Ok(Ok(())),
        Verdict::Refused(refusal) => match not_cancelled_because(refusal.reason) {
            Some(reason) => Ok(Err(reason)),
            None => Err(Refusal::of_command(&refusal)),
        },
    }
}

/// Cancels what an owner has, and lists what ended now: nothing, and no frame, when it had nothing.
async fn cancel_by_owner(
    call: &Call,
    caller: &Caller,
    command: Command,
) -> Result<Answer, Failure> {
    let standing = call.count(caller, Writes::Cancels, 1)?;
    let app = &call.app;
    let reply = call.reply(app.engine.submit(command, &[])?).await?;
    let canceled = match reply.verdict {
        Verdict::Applied(_) => {
            let (first, last) = (reply.sequence, reply.last_sequence.max(reply.sequence));
            let ended = app.after(last, |state| {
                let ended = state.view.orders().ended_between(first, last);
                ended.map(|ended| ended.order.id.to_string()).collect()
            });
            ended.await?
        }
        Verdict::Repeated { .. } => Vec::new(),
        Verdict::Refused(refusal) => return Err(Refusal::of_command(&refusal).into()),
    };
    let answer = CancelAnswer {
        canceled,
        not_canceled: Vec::new(),
    };
    let answer = Answer::json(json_text(&answer)).stands(standing);
    Ok(answer.at(place_of(&reply)))
}
