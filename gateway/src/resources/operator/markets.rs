//! Markets and neg-risk events: `/markets…`, `/events`.

use foretell_link::Reply;
use foretell_model::command::RegisterMarket;
use foretell_model::{
    Command, CommandOutcome, ConditionId, EventNumber, MarketNumber, MarketState, RefusalReason,
    Sequence,
};
use foretell_view::{Market, View};
use foretell_wire::operator::{
    Applied, read_archive, read_event, read_fee, read_market, read_market_name, read_minimum,
    read_resolution, read_tick,
};
use foretell_wire::refusal::state_word;
use foretell_wire::{Failure as Refusal, json_text};
use serde::Serialize;

use super::{Done, give, order};
use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::resources::place_of;

/// `POST /events`.
pub(crate) async fn register_event(call: Call) -> Result<Answer, Failure> {
    let event = read_event(&call.body)?;
    let evidence = event.description.to_evidence()?;
    Ok(order(
        &call.app,
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
    applied: Applied,
    status: &'static str,
}

/// `POST /markets`: registers a market and opens it for trading. With `activate` false it stays
/// registered. So does, unless `activate` is true, a question of a neg-risk event: opening the
/// first question makes the list of all of them final.
pub(crate) async fn register(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let wanted = read_market(&call.body)?;
    let event = match wanted.event {
        Some(id) => {
            let find = |view: &View| view.events().by_id(id).map(|(number, _)| number);
            Some(
                app.find(find)
                    .await?
                    .ok_or(Refusal::Unknown("event not found"))?,
            )
        }
        None => None,
    };
    let evidence = wanted.description.to_evidence()?;
    let command = registration(&wanted, event);
    let done = order(app, command, &evidence).await?;
    let CommandOutcome::Market(market) = done.outcome else {
        return Err(Refusal::Internal.into());
    };
    let mut last: Reply = done.reply;
    if wanted.activate.unwrap_or(event.is_none()) {
        match give(app, Command::ActivateMarket { market }, &[]).await? {
            Ok(activated) => last = activated.reply,
            // It has been opened before; what became of it since is not ours to change.
            Err((reply, refusal)) if refusal.reason == RefusalReason::InvalidTransition => {
                last = reply;
            }
            Err((_, refusal)) => return Err(Refusal::of_command(&refusal).into()),
        }
    }
    let state = app.after(last.sequence, |state| {
        state.view.markets().get(market).map(|market| market.state)
    });
    let state = state.await?.unwrap_or(MarketState::Registered);
    let answer = Registered {
        applied: done.applied(),
        status: state_word(state),
    };
    Ok(Answer::json(json_text(&answer)).at(place_of(&last)))
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
pub(crate) async fn activate(call: Call) -> Result<Answer, Failure> {
    let condition = read_market_name(&call.body)?;
    let open = |market: &Market| market.state == MarketState::Active;
    change(
        &call,
        condition,
        |market| Command::ActivateMarket { market },
        open,
    )
    .await
}

/// `POST /markets/pause`.
pub(crate) async fn pause(call: Call) -> Result<Answer, Failure> {
    let condition = read_market_name(&call.body)?;
    let paused = |market: &Market| market.state == MarketState::Paused;
    change(
        &call,
        condition,
        |market| Command::PauseMarket { market },
        paused,
    )
    .await
}

/// `POST /markets/resume`.
pub(crate) async fn resume(call: Call) -> Result<Answer, Failure> {
    let condition = read_market_name(&call.body)?;
    let open = |market: &Market| market.state == MarketState::Active;
    change(
        &call,
        condition,
        |market| Command::ResumeMarket { market },
        open,
    )
    .await
}

/// `POST /markets/close`.
pub(crate) async fn close(call: Call) -> Result<Answer, Failure> {
    let condition = read_market_name(&call.body)?;
    let closed = |market: &Market| market.state == MarketState::Closed;
    change(
        &call,
        condition,
        |market| Command::CloseMarket { market },
        closed,
    )
    .await
}

/// `POST /markets/resolve`.
pub(crate) async fn resolve(call: Call) -> Result<Answer, Failure> {
    let wanted = read_resolution(&call.body)?;
    let payout = wanted.payout;
    let paid = |market: &Market| market.payout == Some(payout);
    let command = |market| Command::ResolveMarket { market, payout };
    change(&call, wanted.condition, command, paid).await
}

/// `POST /markets/archive`.
pub(crate) async fn archive(call: Call) -> Result<Answer, Failure> {
    let wanted = read_archive(&call.body)?;
    let archived = wanted.archived;
    let command = |market| Command::ArchiveMarket { market, archived };
    change(&call, wanted.condition, command, |_| false).await
}

/// `POST /markets/tick`.
pub(crate) async fn tick(call: Call) -> Result<Answer, Failure> {
    let wanted = read_tick(&call.body)?;
    let tick = wanted.tick;
    change(
        &call,
        wanted.condition,
        |market| Command::SetTick { market, tick },
        |_| false,
    )
    .await
}

/// `POST /markets/minimum`.
pub(crate) async fn minimum(call: Call) -> Result<Answer, Failure> {
    let wanted = read_minimum(&call.body)?;
    let minimum_size = wanted.minimum_size;
    let command = |market| Command::SetMinimumSize {
        market,
        minimum_size,
    };
    change(&call, wanted.condition, command, |_| false).await
}

/// `POST /markets/fee`.
pub(crate) async fn fee(call: Call) -> Result<Answer, Failure> {
    let wanted = read_fee(&call.body)?;
    let fee = wanted.fee;
    change(
        &call,
        wanted.condition,
        |market| Command::SetFee { market, fee },
        |_| false,
    )
    .await
}

/// Changes a market. When the exchange says that its state does not allow this because it is
/// `already` so, the change was made before and a repeat of it is fine.
async fn change(
    call: &Call,
    condition: ConditionId,
    command: impl Fn(MarketNumber) -> Command,
    already: impl Fn(&Market) -> bool,
) -> Result<Answer, Failure> {
    let app = &call.app;
    let find = |view: &View| {
        view.markets()
            .by_condition(&condition)
            .map(|(number, _)| number)
    };
    let market = app.find(find).await?.ok_or(Refusal::MarketNotFound)?;
    let (reply, refusal) = match give(app, command(market), &[]).await? {
        Ok(done) => return Ok(done.answer()),
        Err(refused) => refused,
    };
    let is_so = refusal.reason == RefusalReason::InvalidTransition
        && app
            .after(reply.sequence, |state| {
                state.view.markets().get(market).is_some_and(&already)
            })
            .await?;
    if !is_so {
        return Err(Refusal::of_command(&refusal).into());
    }
    let outcome = CommandOutcome::Market(market);
    Ok(Done {
        reply,
        outcome,
        before: Some(Sequence(0)),
    }
    .answer())
}
