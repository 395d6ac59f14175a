//! Resolution: proposals, disputes, policies, and the review queue (docs/verify/rules.md §24).

use foretell_model::command::Propose;
use foretell_model::{
    AccountNumber, Command, MarketNumber, MarketState, Sequence, TimeNs, WalletAddress,
};
use foretell_view::{Dispute, Market, Proposal, View};
use foretell_wire::api_error::FieldError;
use foretell_wire::operator::{
    ClosedRow, DisputeRequest, DisputeRow, Finalisation, MarketName, PolicyChange, ProposalRequest,
    ProposalWithdrawal, ReviewRow, ReviewRows, WalletListing, read,
};
use foretell_wire::time::iso;
use foretell_wire::{ApiError, ErrorCode, json_text};

use super::{actor_name, apply, market_of};
use crate::answer::Answer;
use crate::app::App;
use crate::failure::Failure;
use crate::request_context::RequestContext;
use crate::resources::reference;

/// Closed markets without a proposal that a review lists at most.
const MAX_CLOSED: usize = 500;

/// `POST /markets/propose`.
pub(crate) async fn propose(context: RequestContext) -> Result<Answer, Failure> {
    let wanted: ProposalRequest = read(&context.body)?;
    let by = account_of(&context, wanted.wallet).await?;
    propose_as(&context, &wanted, by).await
}

/// Proposes a payout for the request's operator or for a wallet.
pub(super) async fn propose_as(
    context: &RequestContext,
    wanted: &ProposalRequest,
    by: Option<AccountNumber>,
) -> Result<Answer, Failure> {
    let market = market_of(context, wanted.condition_id).await?;
    let command = Command::Propose(Propose {
        market,
        payout: wanted.payout,
        by,
        evidence: wanted.evidence_sha256,
        window_seconds: wanted.window_seconds,
        reference: reference(&wanted.reference),
    });
    apply(context, command, wanted.source.as_bytes()).await
}

/// `POST /markets/dispute`. The reason of the act is the reason of the dispute.
pub(crate) async fn dispute(context: RequestContext) -> Result<Answer, Failure> {
    let wanted: DisputeRequest = read(&context.body)?;
    let by = account_of(&context, wanted.wallet).await?;
    let market = market_of(&context, wanted.condition_id).await?;
    let command = Command::Dispute {
        market,
        counter: wanted.counter,
        by,
    };
    let reason = context.actor.as_ref().map(|actor| actor.reason.clone());
    apply(&context, command, reason.unwrap_or_default().as_bytes()).await
}

/// `POST /markets/withdraw-proposal`.
pub(crate) async fn withdraw(context: RequestContext) -> Result<Answer, Failure> {
    let wanted: ProposalWithdrawal = read(&context.body)?;
    let by = account_of(&context, wanted.wallet).await?;
    let market = market_of(&context, wanted.condition_id).await?;
    apply(&context, Command::WithdrawProposal { market, by }, &[]).await
}

/// `POST /markets/finalise`: the named proposal, or the current one where one person is enough. A
/// second person names what they have seen.
pub(crate) async fn finalise(context: RequestContext) -> Result<Answer, Failure> {
    let wanted: Finalisation = read(&context.body)?;
    let market = market_of(&context, wanted.condition_id).await?;
    let proposal = match wanted.proposal {
        Some(number) => Sequence(number),
        None => {
            let current = |view: &View| view.resolutions().proposal(market).cloned();
            let found = context.app.find(current).await?;
            let current = found.ok_or(ErrorCode::NoProposal)?;
            if current.second_person {
                let allowed = "the number of the proposal, from GET /review";
                return Err(ApiError::from(FieldError::missing("proposal", allowed)).into());
            }
            current.number
        }
    };
    apply(&context, Command::Finalise { market, proposal }, &[]).await
}

/// `POST /policy`: changes the policy of the site or of a market.
pub(crate) async fn set_policy(context: RequestContext) -> Result<Answer, Failure> {
    let change: PolicyChange = read(&context.body)?;
    let market = market_or_site(&context, change.condition_id).await?;
    let policy = change.update();
    apply(&context, Command::SetPolicy { market, policy }, &[]).await
}

/// `POST /policy/clear`: the market follows the policy of the site again.
pub(crate) async fn clear_policy(context: RequestContext) -> Result<Answer, Failure> {
    let MarketName { condition_id } = read(&context.body)?;
    let market = market_of(&context, condition_id).await?;
    apply(&context, Command::ClearPolicy { market }, &[]).await
}

/// `POST /policy/wallets`.
pub(crate) async fn list_wallet(context: RequestContext) -> Result<Answer, Failure> {
    let wanted: WalletListing = read(&context.body)?;
    let market = market_or_site(&context, wanted.condition_id).await?;
    let command = Command::ListWallet {
        market,
        wallet: wanted.wallet,
        propose: wanted.propose,
        dispute: wanted.dispute,
    };
    apply(&context, command, &[]).await
}

async fn market_or_site(
    context: &RequestContext,
    condition: Option<foretell_model::ConditionId>,
) -> Result<Option<MarketNumber>, Failure> {
    match condition {
        Some(condition) => Ok(Some(market_of(context, condition).await?)),
        None => Ok(None),
    }
}

async fn account_of(
    context: &RequestContext,
    wallet: Option<WalletAddress>,
) -> Result<Option<AccountNumber>, Failure> {
    let Some(wallet) = wallet else {
        return Ok(None);
    };
    let found = context.app.find(|view| view.accounts().number_of(&wallet));
    Ok(Some(found.await?.ok_or(ErrorCode::AccountNotFound)?))
}

/// `GET /review`: proposals with their disputes and windows, and closed markets that wait for one.
pub(crate) async fn review(context: RequestContext) -> Result<Answer, Failure> {
    context.wait_fresh().await?;
    let app = &context.app;
    let state = app.shared_view.read();
    let view = &state.view;
    let mut proposals: Vec<(TimeNs, ReviewRow)> = (view.resolutions().proposals())
        .filter_map(|(number, proposal)| {
            let market = view.markets().get(number)?;
            let row = row(app, view, (number, market), proposal);
            Some((proposal.challenge_ends, row))
        })
        .collect();
    proposals.sort_by_key(|(ends, _)| *ends);
    let waits = |number: MarketNumber, market: &Market| {
        market.state == MarketState::Closed
            && !market.archived
            && view.resolutions().proposal(number).is_none()
    };
    let closed = (view.markets().iter().rev())
        .filter(|(number, market)| waits(*number, market))
        .take(MAX_CLOSED)
        .map(|(_, market)| closed_row(app, market))
        .collect();
    let rows = ReviewRows {
        closed,
        proposals: proposals.into_iter().map(|(_, row)| row).collect(),
    };
    Ok(Answer::json(json_text(&rows)).at(state.position()))
}

fn row(
    app: &App,
    view: &View,
    (number, market): (MarketNumber, &Market),
    proposal: &Proposal,
) -> ReviewRow {
    let words = app.descriptions.of(market);
    ReviewRow {
        condition_id: market.condition,
        question: words.question.clone(),
        slug: words.slug.clone(),
        status: market.state,
        proposal: proposal.number.0,
        payout: proposal.payout,
        proposed_by: actor_name(view, proposal.operator, proposal.wallet),
        proposed_at: iso(proposal.time),
        source: String::from_utf8_lossy(&proposal.source).into_owned(),
        evidence_sha256: proposal.evidence,
        challenge_ends: iso(proposal.challenge_ends),
        challenge_over: view.system().time >= proposal.challenge_ends,
        second_person: proposal.second_person,
        by_time: proposal.by_time,
        dispute: (view.resolutions().dispute(number)).map(|dispute| dispute_row(view, dispute)),
    }
}

fn dispute_row(view: &View, dispute: &Dispute) -> DisputeRow {
    DisputeRow {
        disputed_by: actor_name(view, dispute.operator, dispute.wallet),
        disputed_at: iso(dispute.time),
        counter: dispute.counter,
        reason: String::from_utf8_lossy(&dispute.reason).into_owned(),
    }
}

fn closed_row(app: &App, market: &Market) -> ClosedRow {
    let words = app.descriptions.of(market);
    ClosedRow {
        condition_id: market.condition,
        question: words.question.clone(),
        slug: words.slug.clone(),
        closed_at: market.closed.map(iso).unwrap_or_default(),
    }
}
