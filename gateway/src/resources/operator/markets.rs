//! Markets and neg-risk events: `/markets…`, `/events`.

use foretell_link::Reply;
use foretell_model::command::RegisterMarket;
use foretell_model::{
    Command, CommandOutcome, ConditionId, EventNumber, MarketNumber, MarketState, RejectionReason,
    Sequence,
};
use foretell_view::{Market, View};
use foretell_wire::operator::{
    CommandAnswer, read_archive, read_event, read_fee, read_market, read_market_name, read_minimum,
    read_resolution, read_tick,
};
use foretell_wire::rejection::state_word;
use foretell_wire::{ApiError, ErrorCode, json_text};
use serde::Serialize;

use super::{CommandResult, submit, submit_or_reject};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::request_context::RequestContext;
use crate::resources::position_of;

/// `POST /events`.
pub(crate) async fn register_event(context: RequestContext) -> Result<Answer, Failure> {
    let event = read_event(&context.body)?;
    let evidence = event.description.to_evidence()?;
    Ok(submit_or_reject(
        &context.app,
        Command::RegisterEvent { event: event.event },
        &evidence,
    )
    .await?
    .answer())
}

/// The answer to a registration.
#[derive(Serialize)]
struct Registered {
    #[serde(flatten)]
    applied: CommandAnswer,
    status: &'static str,
}

/// `POST /markets`: registers a market and opens it for trading. With `activate` false it stays
/// registered. A question of a neg-risk event also stays registered unless `activate` is true,
/// because opening the first question freezes the event's list.
pub(crate) async fn register(context: RequestContext) -> Result<Answer, Failure> {
    let app = &context.app;
    let wanted = read_market(&context.body)?;
    let event = match wanted.event {
        Some(id) => {
            let find = |view: &View| view.events().by_id(id).map(|(number, _)| number);
            Some(app.find(find).await?.ok_or(ErrorCode::EventNotFound)?)
        }
        None => None,
    };
    let evidence = wanted.description.to_evidence()?;
    let command = registration(&wanted, event);
    let done = submit_or_reject(app, command, &evidence).await?;
    let CommandOutcome::Market(market) = done.outcome else {
        return Err(ApiError::Internal.into());
    };
    let mut last: Reply = done.reply;
    if wanted.activate.unwrap_or(event.is_none()) {
        match submit(app, Command::ActivateMarket { market }, &[]).await? {
            Ok(activated) => last = activated.reply,
            // It was opened before; its state since then must not be changed here.
            Err((reply, refusal)) if refusal.reason == RejectionReason::InvalidTransition => {
                last = reply;
            }
            Err((_, refusal)) => return Err(ApiError::from_command_rejection(&refusal).into()),
        }
    }
    let state = app.read_after(last.sequence, |state| {
        state.view.markets().get(market).map(|market| market.state)
    });
    let state = state.await?.unwrap_or(MarketState::Registered);
    let answer = Registered {
        applied: done.applied(),
        status: state_word(state),
    };
    Ok(Answer::json(json_text(&answer)).at(position_of(&last)))
}

fn registration(
    wanted: &foretell_wire::operator::MarketRegistration,
    event: Option<EventNumber>,
) -> Command {
    Command::RegisterMarket(RegisterMarket {
        condition: wanted.condition,
        tokens: wanted.tokens,
        tick: wanted.tick,
        tick_refines: wanted.tick_refines,
        minimum_size: wanted.minimum_size,
        fee: wanted.fee,
        event,
    })
}

/// `POST /markets/activate`.
pub(crate) async fn activate(context: RequestContext) -> Result<Answer, Failure> {
    let condition = read_market_name(&context.body)?;
    let open = |market: &Market| market.state == MarketState::Active;
    change(
        &context,
        condition,
        |market| Command::ActivateMarket { market },
        open,
    )
    .await
}

/// `POST /markets/pause`.
pub(crate) async fn pause(context: RequestContext) -> Result<Answer, Failure> {
    let condition = read_market_name(&context.body)?;
    let paused = |market: &Market| market.state == MarketState::Paused;
    change(
        &context,
        condition,
        |market| Command::PauseMarket { market },
        paused,
    )
    .await
}

/// `POST /markets/resume`.
pub(crate) async fn resume(context: RequestContext) -> Result<Answer, Failure> {
    let condition = read_market_name(&context.body)?;
    let open = |market: &Market| market.state == MarketState::Active;
    change(
        &context,
        condition,
        |market| Command::ResumeMarket { market },
        open,
    )
    .await
}

/// `POST /markets/close`.
pub(crate) async fn close(context: RequestContext) -> Result<Answer, Failure> {
    let condition = read_market_name(&context.body)?;
    let closed = |market: &Market| market.state == MarketState::Closed;
    change(
        &context,
        condition,
        |market| Command::CloseMarket { market },
        closed,
    )
    .await
}

/// `POST /markets/resolve`.
pub(crate) async fn resolve(context: RequestContext) -> Result<Answer, Failure> {
    let wanted = read_resolution(&context.body)?;
    let payout = wanted.payout;
    let paid = |market: &Market| market.payout == Some(payout);
    let command = |market| Command::ResolveMarket { market, payout };
    change(&context, wanted.condition, command, paid).await
}

/// `POST /markets/archive`.
pub(crate) async fn archive(context: RequestContext) -> Result<Answer, Failure> {
    let wanted = read_archive(&context.body)?;
    let archived = wanted.archived;
    let command = |market| Command::ArchiveMarket { market, archived };
    change(&context, wanted.condition, command, |_| false).await
}

/// `POST /markets/tick`.
pub(crate) async fn tick(context: RequestContext) -> Result<Answer, Failure> {
    let wanted = read_tick(&context.body)?;
    let tick = wanted.tick;
    change(
        &context,
        wanted.condition,
        |market| Command::SetTick { market, tick },
        |_| false,
    )
    .await
}

/// `POST /markets/minimum`.
pub(crate) async fn minimum(context: RequestContext) -> Result<Answer, Failure> {
    let wanted = read_minimum(&context.body)?;
    let minimum_size = wanted.minimum_size;
    let command = |market| Command::SetMinimumSize {
        market,
        minimum_size,
    };
    change(&context, wanted.condition, command, |_| false).await
}

/// `POST /markets/fee`.
pub(crate) async fn fee(context: RequestContext) -> Result<Answer, Failure> {
    let wanted = read_fee(&context.body)?;
    let fee = wanted.fee;
    change(
        &context,
        wanted.condition,
        |market| Command::SetFee { market, fee },
        |_| false,
    )
    .await
}

/// Changes a market. A rejection because the market is `already` in that state counts as success,
/// so that a command may be repeated.
async fn change(
    context: &RequestContext,
    condition: ConditionId,
    command: impl Fn(MarketNumber) -> Command,
    already: impl Fn(&Market) -> bool,
) -> Result<Answer, Failure> {
    let app = &context.app;
    let find = |view: &View| {
        view.markets()
            .by_condition(&condition)
            .map(|(number, _)| number)
    };
    let market = app.find(find).await?.ok_or(ApiError::MarketNotFound)?;
    let (reply, refusal) = match submit(app, command(market), &[]).await? {
        Ok(done) => return Ok(done.answer()),
        Err(refused) => refused,
    };
    let is_so = refusal.reason == RejectionReason::InvalidTransition
        && app
            .read_after(reply.sequence, |state| {
                state.view.markets().get(market).is_some_and(&already)
            })
            .await?;
    if !is_so {
        return Err(ApiError::from_command_rejection(&refusal).into());
    }
    let outcome = CommandOutcome::Market(market);
    Ok(CommandResult {
        reply,
        outcome,
        before: Some(Sequence(0)),
    }
    .answer())
}
