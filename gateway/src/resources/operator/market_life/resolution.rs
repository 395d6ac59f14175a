//! Resolution: proposals, disputes, policies, and the review queue (docs/verify/rules.md §24).

use foretell_model::command::{self, Finalise, Propose, SetPolicy, WithdrawProposal};
use foretell_model::{
    AccountNumber, Command, ConditionId, MarketNumber, MarketState, Payout, Reference, Rejection,
    RejectionReason, ResolutionPolicy, RoleSet, Sequence, TimeNs, WalletAddress,
};
use foretell_view::{Dispute, Market, Proposal, View};
use foretell_wire::errors::api_error::FieldError;
use foretell_wire::operator::{
    ClosedRow, CommandAnswer, DisputeRequest, DisputeRow, Finalisation, PayoutName, PolicyChange,
    ProposalRequest, ProposalWithdrawal, ReviewRow, ReviewRows, payout_label, role_words,
};
use foretell_wire::text::time::iso;
use foretell_wire::text::words::role_word;
use foretell_wire::{ApiError, ErrorCode};

use crate::app::App;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromBody;
use crate::http::request_context::RequestContext;
use crate::resources::operator::{actor_name, answer, answer_paying, apply_or};
use crate::resources::registered_market;
use crate::view::unpaid::closed_seconds;

/// Closed markets without a proposal that a review lists at most.
const MAX_CLOSED: usize = 500;

/// `POST /markets/propose`.
pub(crate) async fn propose(
    context: RequestContext,
    FromBody(wanted): FromBody<ProposalRequest>,
) -> Result<Json<CommandAnswer>, Failure> {
    let by = account_of(&context, wanted.wallet).await?;
    propose_as(&context, &wanted, by).await
}

/// Proposes a payout in the name of the wallet `by`; without one, of the request's operator.
pub(crate) async fn propose_as(
    context: &RequestContext,
    wanted: &ProposalRequest,
    by: Option<AccountNumber>,
) -> Result<Json<CommandAnswer>, Failure> {
    let market = registered_market(context, wanted.condition_id).await?;
    let named = NamedPayout::of(context, market, "payout", &wanted.payout).await?;
    let command = Command::Propose(Propose {
        market,
        payout: named.payout,
        by,
        evidence: wanted.evidence_sha256,
        window_seconds: wanted.window_seconds,
        replaces: wanted.proposal.map(Sequence),
        reference: Reference::of(&wanted.reference),
    });
    let source = wanted.source.as_bytes();
    let done = apply_or(context, command, source, |refusal| match refusal.reason {
        RejectionReason::NotPermitted => {
            let proposers = |policy: &ResolutionPolicy| policy.proposers;
            not_permitted(context, market, proposers, wanted.wallet)
        }
        RejectionReason::InvalidWindow => {
            let [shortest, longest] = refusal.details;
            let given = wanted.window_seconds.unwrap_or_default();
            Some(
                [given.into(), shortest, longest]
                    .map(|it: u64| it.to_string())
                    .into(),
            )
        }
        _ => replacement_refused(context, market, wanted.proposal, refusal),
    })
    .await?;
    Ok(answer_paying(&done, named.outcome))
}

/// A payout of a market, and its label.
pub(crate) struct NamedPayout {
    pub(crate) payout: Payout,
    pub(crate) outcome: String,
}

impl NamedPayout {
    /// The payout that a field of a request names, by the labels that people see now.
    pub(crate) async fn of(
        context: &RequestContext,
        market: MarketNumber,
        field: &str,
        name: &PayoutName,
    ) -> Result<Self, Failure> {
        let app = &context.app;
        app.shared_view.catch_up().await?;
        let state = app.shared_view.read();
        let market = state.view.markets().get(market);
        let labels = &(app
            .descriptions
            .of(market.ok_or(ErrorCode::MarketNotFound)?))
        .outcomes;
        let payout = name.among(field, labels)?;
        let outcome = payout_label(payout, labels).to_owned();
        Ok(Self { payout, outcome })
    }
}

/// The values of an error where a payout cannot take the place of the market's proposal: a request
/// names a disputed proposal, whose dispute its sender may not know of.
pub(crate) fn replacement_refused(
    context: &RequestContext,
    market: MarketNumber,
    named: Option<u64>,
    refusal: &Rejection,
) -> Option<Vec<String>> {
    match refusal.reason {
        RejectionReason::ProposalDisputed => proposal_disputed(context, market, |number| {
            format!("\"proposal\": {number}, which replaces it, or its withdrawal")
        }),
        RejectionReason::NoProposal => Some(other_proposal(context, market, named?)),
        _ => None,
    }
}

/// The values of `no_proposal` where the request names another proposal than the market's. The view may
/// be older than the refusal, and still have the named one.
fn other_proposal(context: &RequestContext, market: MarketNumber, named: u64) -> Vec<String> {
    let state = context.app.shared_view.read();
    let current = state.view.resolutions().proposal(market);
    let current = current.map(|it| it.number.0).filter(|it| *it != named);
    let allowed = current.map_or("none, the market has no proposal".to_owned(), |number| {
        format!("{number}, the proposal of the market")
    });
    vec!["proposal".to_owned(), named.to_string(), allowed]
}

/// The values of `proposal_disputed`: the number of the proposal, and what is allowed.
fn proposal_disputed(
    context: &RequestContext,
    market: MarketNumber,
    allowed: impl FnOnce(u64) -> String,
) -> Option<Vec<String>> {
    let state = context.app.shared_view.read();
    // The view may be older than the refusal.
    let proposal = state.view.resolutions().proposal(market);
    let number = proposal.map_or(0, |it| it.number.0);
    Some(vec![number.to_string(), allowed(number)])
}

/// The values of `not_permitted`: the role that the policy does not name, else the wallet.
fn not_permitted(
    context: &RequestContext,
    market: MarketNumber,
    permitted: impl FnOnce(&ResolutionPolicy) -> RoleSet,
    wallet: Option<WalletAddress>,
) -> Option<Vec<String>> {
    let role = context.actor.as_ref()?.role;
    let state = context.app.shared_view.read();
    let permitted = permitted(&state.view.resolutions().policy_of(market).policy);
    let values = match wallet.filter(|_| permitted.contains(role)) {
        Some(wallet) => ["wallet", &wallet.to_string(), "the wallets that it lists"],
        None => ["role", role_word(role), &role_list(permitted)],
    };
    Some(values.map(str::to_owned).into())
}

fn role_list(roles: RoleSet) -> String {
    let words = role_words(roles);
    match words.is_empty() {
        true => "none".to_owned(),
        false => words.join(", "),
    }
}

/// The values of `no_proposal` where the request names the market alone.
fn no_proposal(condition: ConditionId) -> Vec<String> {
    vec![
        "condition_id".to_owned(),
        condition.to_string(),
        "a market with a proposal".to_owned(),
    ]
}

/// `POST /markets/dispute`. The reason of the act is the reason of the dispute.
pub(crate) async fn dispute(
    context: RequestContext,
    FromBody(wanted): FromBody<DisputeRequest>,
) -> Result<Json<CommandAnswer>, Failure> {
    let by = account_of(&context, wanted.wallet).await?;
    let market = registered_market(&context, wanted.condition_id).await?;
    let counter = match &wanted.counter {
        Some(name) => Some(NamedPayout::of(&context, market, "counter", name).await?),
        None => None,
    };
    let command = Command::Dispute(command::Dispute {
        market,
        counter: counter.as_ref().map(|named| named.payout),
        by,
    });
    let reason = context.actor.as_ref().map(|actor| actor.reason.clone());
    let reason = reason.unwrap_or_default();
    let evidence = reason.as_bytes();
    let done = apply_or(&context, command, evidence, |refusal| {
        match refusal.reason {
            RejectionReason::NotPermitted => {
                let disputers = |policy: &ResolutionPolicy| policy.disputers;
                not_permitted(&context, market, disputers, wanted.wallet)
            }
            RejectionReason::NoProposal => Some(no_proposal(wanted.condition_id)),
            RejectionReason::ProposalDisputed => {
                proposal_disputed(&context, market, |_| "one dispute of a proposal".to_owned())
            }
            _ => None,
        }
    })
    .await?;
    Ok(match counter {
        Some(named) => answer_paying(&done, named.outcome),
        None => answer(&done),
    })
}

/// `POST /markets/withdraw-proposal`.
pub(crate) async fn withdraw(
    context: RequestContext,
    FromBody(wanted): FromBody<ProposalWithdrawal>,
) -> Result<Json<CommandAnswer>, Failure> {
    let by = account_of(&context, wanted.wallet).await?;
    let market = registered_market(&context, wanted.condition_id).await?;
    let command = Command::WithdrawProposal(WithdrawProposal { market, by });
    let done = apply_or(&context, command, &[], |refusal| match refusal.reason {
        RejectionReason::NotPermitted => {
            let actor = context.actor.as_ref()?.number;
            let state = context.app.shared_view.read();
            let view = &state.view;
            let proposal = view.resolutions().proposal(market)?;
            let proposer = actor_name(view, proposal.operator, proposal.wallet);
            let given = actor_name(view, actor, by);
            let allowed = format!("the proposer, {proposer}, or an admin");
            Some(vec!["operator".to_owned(), given, allowed])
        }
        RejectionReason::NoProposal => Some(no_proposal(wanted.condition_id)),
        _ => None,
    })
    .await?;
    Ok(answer(&done))
}

/// `POST /markets/finalise`: the named proposal, or the current one where one person is enough. A
/// second person names what they have seen.
pub(crate) async fn finalise(
    context: RequestContext,
    FromBody(wanted): FromBody<Finalisation>,
) -> Result<Json<CommandAnswer>, Failure> {
    let market = registered_market(&context, wanted.condition_id).await?;
    let proposal = match wanted.proposal {
        Some(number) => Sequence(number),
        None => {
            let current = |view: &View| view.resolutions().proposal(market).cloned();
            let found = context.app.find(current).await?;
            let missing = || no_proposal(wanted.condition_id);
            let current = found.ok_or_else(|| ApiError::new(ErrorCode::NoProposal, missing()))?;
            if current.second_person {
                let allowed = "the number of the proposal, from GET /review";
                return Err(ApiError::from(FieldError::missing("proposal", allowed)).into());
            }
            current.number
        }
    };
    let command = Command::Finalise(Finalise { market, proposal });
    let done = apply_or(&context, command, &[], |refusal| match refusal.reason {
        RejectionReason::NoProposal => Some(other_proposal(&context, market, proposal.0)),
        RejectionReason::ProposalDisputed => {
            let allowed = "another proposal in its place, or its withdrawal";
            proposal_disputed(&context, market, |_| allowed.to_owned())
        }
        _ => None,
    })
    .await?;
    let app = &context.app;
    let paid = app.read_after(done.decided_at, |state| {
        let market = state.view.markets().get(market)?;
        Some(app.descriptions.payout_label(market, market.payout?))
    });
    // The payout is final, also where the view cannot tell of it.
    Ok(match paid.await.ok().flatten() {
        Some(outcome) => answer_paying(&done, outcome),
        None => answer(&done),
    })
}

/// `POST /policy`: changes the policy of the site or of a market.
pub(crate) async fn set_policy(
    context: RequestContext,
    FromBody(change): FromBody<PolicyChange>,
) -> Result<Json<CommandAnswer>, Failure> {
    let market = market_or_site(&context, change.condition_id).await?;
    let policy = change.update();
    let command = Command::SetPolicy(SetPolicy { market, policy });
    let done = apply_or(&context, command, &[], |refusal| {
        let (field, other) = match change.second_person {
            Some(true) => ("second_person", "by_time"),
            _ => ("by_time", "second_person"),
        };
        let allowed = format!("false while {other} is true");
        let contradicts = refusal.reason == RejectionReason::InvalidPolicy;
        contradicts.then(|| vec![field.to_owned(), "true".to_owned(), allowed])
    })
    .await?;
    Ok(answer(&done))
}

async fn market_or_site(
    context: &RequestContext,
    condition: Option<ConditionId>,
) -> Result<Option<MarketNumber>, Failure> {
    match condition {
        Some(condition) => Ok(Some(registered_market(context, condition).await?)),
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
pub(crate) async fn review(context: RequestContext) -> Result<Json<ReviewRows>, Failure> {
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
    Ok(Json::of(&rows).at(state.position()))
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
        outcomes: words.outcomes.clone(),
        status: market.state,
        proposal: proposal.number.0,
        payout: proposal.payout,
        outcome: payout_label(proposal.payout, &words.outcomes).to_owned(),
        proposed_by: actor_name(view, proposal.operator, proposal.wallet),
        proposed_at: iso(proposal.time),
        source: String::from_utf8_lossy(&proposal.source).into_owned(),
        evidence_sha256: proposal.evidence,
        challenge_ends: iso(proposal.challenge_ends),
        challenge_over: view.system().time >= proposal.challenge_ends,
        second_person: proposal.second_person,
        by_time: proposal.by_time,
        dispute: (view.resolutions().dispute(number))
            .map(|dispute| dispute_row(view, dispute, &words.outcomes)),
    }
}

fn dispute_row(view: &View, dispute: &Dispute, labels: &[String; 2]) -> DisputeRow {
    DisputeRow {
        disputed_by: actor_name(view, dispute.operator, dispute.wallet),
        disputed_at: iso(dispute.time),
        counter: dispute.counter,
        counter_outcome: (dispute.counter).map(|payout| payout_label(payout, labels).to_owned()),
        reason: String::from_utf8_lossy(&dispute.reason).into_owned(),
    }
}

fn closed_row(app: &App, market: &Market) -> ClosedRow {
    let words = app.descriptions.of(market);
    ClosedRow {
        condition_id: market.condition,
        question: words.question.clone(),
        slug: words.slug.clone(),
        outcomes: words.outcomes.clone(),
        closed_at: market.closed.map(iso).unwrap_or_default(),
        closed_seconds: closed_seconds(market, app.exchange_time()),
    }
}
