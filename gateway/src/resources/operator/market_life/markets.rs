//! State, rules and terms of registered markets: `/markets/…`.

use foretell_model::command::{PauseMarket, ResolveMarket, ResumeMarket};
use foretell_model::{
    Command, CommandOutcome, Hold, MarketNumber, MarketState, OperatorRole, Payout, Rejection,
    RejectionReason, Sequence,
};
use foretell_view::{Market, View};
use foretell_wire::operator::{CommandAnswer, HoldChange, MarketName, Resolution};

use crate::engine::outcome::Done;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromBody;
use crate::http::request_context::RequestContext;
use crate::resources::operator::market_life::resolution::{NamedPayout, replacement_refused};
use crate::resources::operator::{answer, answer_paying, explained};
use crate::resources::registered_market;

/// `POST /markets/activate`.
pub(crate) async fn activate(
    context: RequestContext,
    FromBody(name): FromBody<MarketName>,
) -> Result<Json<CommandAnswer>, Failure> {
    let command = |market| Command::ActivateMarket { market };
    set_state(&context, name, MarketState::Active, command).await
}

/// `POST /markets/pause`.
pub(crate) async fn pause(
    context: RequestContext,
    FromBody(hold): FromBody<HoldChange>,
) -> Result<Json<CommandAnswer>, Failure> {
    change_hold(&context, hold, true).await
}

/// `POST /markets/resume`.
pub(crate) async fn resume(
    context: RequestContext,
    FromBody(hold): FromBody<HoldChange>,
) -> Result<Json<CommandAnswer>, Failure> {
    change_hold(&context, hold, false).await
}

/// Puts a hold on a market, or lifts it: that of the sender, or the one named.
async fn change_hold(
    context: &RequestContext,
    HoldChange { condition_id, hold }: HoldChange,
    puts: bool,
) -> Result<Json<CommandAnswer>, Failure> {
    let is_sync = (context.actor.as_ref()).is_some_and(|actor| actor.role == OperatorRole::Sync);
    let own = match is_sync {
        true => Hold::Upstream,
        false => Hold::Operator,
    };
    let hold = hold.unwrap_or(own);
    let market = registered_market(context, condition_id).await?;
    let command = match puts {
        true => Command::PauseMarket(PauseMarket { market, hold }),
        false => Command::ResumeMarket(ResumeMarket { market, hold }),
    };
    let already = |_: &View, market: &Market| match puts {
        true => market.holds.contains(hold),
        // What the upstream let go may still be held by the operator.
        false => {
            let is_let_go = hold == Hold::Upstream && !market.holds.contains(hold);
            market.state == MarketState::Active || is_let_go && market.state == MarketState::Paused
        }
    };
    let done = change(context, market, command, already).await?;
    Ok(answer(&done))
}

/// `POST /markets/close`.
pub(crate) async fn close(
    context: RequestContext,
    FromBody(name): FromBody<MarketName>,
) -> Result<Json<CommandAnswer>, Failure> {
    let command = |market| Command::CloseMarket { market };
    set_state(&context, name, MarketState::Closed, command).await
}

/// Brings a market into a state.
async fn set_state(
    context: &RequestContext,
    MarketName { condition_id }: MarketName,
    state: MarketState,
    command: impl Fn(MarketNumber) -> Command,
) -> Result<Json<CommandAnswer>, Failure> {
    let market = registered_market(context, condition_id).await?;
    let already = |_: &View, market: &Market| market.state == state;
    let done = change(context, market, command(market), already).await?;
    Ok(answer(&done))
}

/// `POST /markets/resolve`.
pub(crate) async fn resolve(
    context: RequestContext,
    FromBody(wanted): FromBody<Resolution>,
) -> Result<Json<CommandAnswer>, Failure> {
    let market = registered_market(&context, wanted.condition_id).await?;
    let NamedPayout { payout, outcome } =
        NamedPayout::of(&context, market, "payout", &wanted.payout).await?;
    let paid = |view: &View, market: &Market| match payout {
        Payout::Outside => market.payout == Some(Payout::No) && outside_won(view, market),
        payout => market.payout == Some(payout),
    };
    let command = Command::ResolveMarket(ResolveMarket {
        market,
        payout,
        replaces: wanted.proposal.map(Sequence),
    });
    let values = |refusal: &_| replacement_refused(&context, market, wanted.proposal, refusal);
    let done = change_or(&context, market, command, paid, values).await?;
    Ok(answer_paying(&done, outcome))
}

/// Whether the outside question of a question's event group won.
fn outside_won(view: &View, question: &Market) -> bool {
    let event = question
        .question
        .and_then(|(event, _)| view.events().get(event));
    let outside = event.and_then(|event| view.markets().get(event.outside));
    outside.is_some_and(|outside| outside.payout == Some(Payout::Yes))
}

/// Changes a market. A rejection because the market is `already` in that state counts as success,
/// so that a command may be repeated.
async fn change(
    context: &RequestContext,
    market: MarketNumber,
    command: Command,
    already: impl Fn(&View, &Market) -> bool,
) -> Result<Done, Failure> {
    change_or(context, market, command, already, |_| None).await
}

/// As [`change`]. `values` are those in the text of a rejection that the core does not name.
async fn change_or(
    context: &RequestContext,
    market: MarketNumber,
    command: Command,
    already: impl Fn(&View, &Market) -> bool,
    values: impl FnOnce(&Rejection) -> Option<Vec<String>>,
) -> Result<Done, Failure> {
    let app = &context.app;
    let refused = match context.send(command, Vec::new(), &[]).await? {
        Ok(done) => return Ok(done),
        Err(refused) => refused,
    };
    let is_so = refused.rejection.reason == RejectionReason::InvalidTransition
        && app
            .read_after(refused.decided_at, |state| {
                let market = state.view.markets().get(market);
                market.is_some_and(|market| already(&state.view, market))
            })
            .await?;
    match is_so {
        true => Ok(refused.as_done(CommandOutcome::Market(market))),
        false => Err(explained(context, &refused.rejection, values).into()),
    }
}
