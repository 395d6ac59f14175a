//! Markets and neg-risk events: `/markets…`, `/events`.

use foretell_link::Reply;
use foretell_model::command::RegisterMarket;
use foretell_model::{
    Command, CommandOutcome, ConditionId, EventId, EventNumber, MarketNumber, MarketState,
    RejectionReason, Sequence,
};
use foretell_view::{Market, View};
use foretell_wire::operator::{
    Archive, CommandAnswer, EventRegistration, FeeChange, MarketName, MarketRegistration,
    MarketTerms, MinimumChange, Resolution, TickChange, read,
};
use foretell_wire::{ApiError, ErrorCode, json_text};

use super::{CommandResult, apply, submit, submit_or_reject};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::request_context::RequestContext;
use crate::resources::position_of;

/// `POST /events`.
pub(crate) async fn register_event(context: RequestContext) -> Result<Answer, Failure> {
    let wanted: EventRegistration = read(&context.body)?;
    let event = EventId(wanted.event_id);
    let evidence = wanted.into_description().to_evidence()?;
    apply(&context.app, Command::RegisterEvent { event }, &evidence).await
}

/// `POST /markets`: registers a market and opens it for trading. With `activate` false it stays
/// registered. A question of a neg-risk event also stays registered unless `activate` is true,
/// because opening the first question freezes the event's list.
pub(crate) async fn register(context: RequestContext) -> Result<Answer, Failure> {
    let app = &context.app;
    let MarketRegistration { terms, description } = MarketRegistration::read(&context.body)?;
    let event = match terms.event_id {
        Some(id) => {
            let find = |view: &View| view.events().by_id(EventId(id)).map(|(number, _)| number);
            Some(app.find(find).await?.ok_or(ErrorCode::EventNotFound)?)
        }
        None => None,
    };
    let evidence = description.to_evidence()?;
    let command = registration(&terms, event);
    let done = submit_or_reject(app, command, &evidence).await?;
    let CommandOutcome::Market(market) = done.outcome else {
        return Err(ApiError::Internal.into());
    };
    let mut last: Reply = done.reply;
    if terms.activate.unwrap_or(event.is_none()) {
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
    let answer = CommandAnswer {
        status: Some(state),
        ..done.applied()
    };
    Ok(Answer::json(json_text(&answer)).at(position_of(&last)))
}

fn registration(terms: &MarketTerms, event: Option<EventNumber>) -> Command {
    Command::RegisterMarket(RegisterMarket {
        condition: terms.condition_id,
        tokens: terms.token_ids,
        tick: terms.tick(),
        tick_refines: terms.tick_refines.unwrap_or(true),
        minimum_size: terms.minimum(),
        fee: terms.fee.unwrap_or_default(),
        event,
    })
}

/// `POST /markets/activate`.
pub(crate) async fn activate(context: RequestContext) -> Result<Answer, Failure> {
    let command = |market| Command::ActivateMarket { market };
    set_state(&context, MarketState::Active, command).await
}

/// `POST /markets/pause`.
pub(crate) async fn pause(context: RequestContext) -> Result<Answer, Failure> {
    let command = |market| Command::PauseMarket { market };
    set_state(&context, MarketState::Paused, command).await
}

/// `POST /markets/resume`.
pub(crate) async fn resume(context: RequestContext) -> Result<Answer, Failure> {
    let command = |market| Command::ResumeMarket { market };
    set_state(&context, MarketState::Active, command).await
}

/// `POST /markets/close`.
pub(crate) async fn close(context: RequestContext) -> Result<Answer, Failure> {
    let command = |market| Command::CloseMarket { market };
    set_state(&context, MarketState::Closed, command).await
}

/// Brings the market of the body into a state.
async fn set_state(
    context: &RequestContext,
    state: MarketState,
    command: impl Fn(MarketNumber) -> Command,
) -> Result<Answer, Failure> {
    let MarketName { condition_id } = read(&context.body)?;
    let already = |market: &Market| market.state == state;
    change(context, condition_id, command, already).await
}

/// `POST /markets/resolve`.
pub(crate) async fn resolve(context: RequestContext) -> Result<Answer, Failure> {
    let Resolution {
        condition_id,
        payout,
    } = read(&context.body)?;
    let paid = |market: &Market| market.payout == Some(payout);
    let command = |market| Command::ResolveMarket { market, payout };
    change(&context, condition_id, command, paid).await
}

/// `POST /markets/archive`.
pub(crate) async fn archive(context: RequestContext) -> Result<Answer, Failure> {
    let Archive {
        condition_id,
        archived,
    } = read(&context.body)?;
    let command = |market| Command::ArchiveMarket { market, archived };
    change(&context, condition_id, command, |_| false).await
}

/// `POST /markets/tick`.
pub(crate) async fn tick(context: RequestContext) -> Result<Answer, Failure> {
    let TickChange {
        condition_id,
        tick_size: tick,
    } = read(&context.body)?;
    let command = |market| Command::SetTick { market, tick };
    change(&context, condition_id, command, |_| false).await
}

/// `POST /markets/minimum`.
pub(crate) async fn minimum(context: RequestContext) -> Result<Answer, Failure> {
    let MinimumChange {
        condition_id,
        minimum_order_size: minimum_size,
    } = read(&context.body)?;
    let command = |market| Command::SetMinimumSize {
        market,
        minimum_size,
    };
    change(&context, condition_id, command, |_| false).await
}

/// `POST /markets/fee`.
pub(crate) async fn fee(context: RequestContext) -> Result<Answer, Failure> {
    let wanted: FeeChange = read(&context.body)?;
    let fee = wanted.fee();
    let command = |market| Command::SetFee { market, fee };
    change(&context, wanted.condition_id, command, |_| false).await
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
