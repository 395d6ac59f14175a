//! `POST /order` and `POST /orders` (docs/api/orders.md).
//!
//! The elements of a batch are checked and sent one after another and answered together, so the
//! exchange gets them in input order without a wait between them.

use std::sync::Arc;
use std::time::Instant;

use foretell_auth::{KnownSigner, OrderFields, OwnerWallets};
use foretell_auth::{SignatureError, Verified, verify_order};
use foretell_link::Reply;
use foretell_model::{
    Command, CommandOutcome, ConditionId, FramePosition, MarketNumber, OrderId, OrderResult,
    OrderStatus, Outcome, PlaceOrder, Rejection, Sequence, TokenId, WalletAddress,
};
use foretell_view::{Order, OrderState, TradeId, View};
use foretell_wire::errors::rejection::RejectedOrder;
use foretell_wire::operator::OrderFate;
use foretell_wire::orders::order::{OrderBatch, OrderSubmission, SignedOrder};
use foretell_wire::orders::result::{ImmediateTrades, OrderAnswer, ResultStatus};
use foretell_wire::{ApiError, ErrorCode, TokenRef, json_text};

use crate::access::authenticate::WriteKey;
use crate::access::credentials::{Caller, owner_wallets};
use crate::access::hints::Hint;
use crate::access::known_signers::CheckedSigner;
use crate::app::App;
use crate::engine::engine_link::PendingAnswer;
use crate::engine::outcome::{Done, Refused, outcome_of};
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::{FromBody, TryBody};
use crate::http::request_context::RequestContext;
use crate::http::timing::Stage;
use crate::policy::rate_limits::Writes;
use crate::rejected_orders::Rejected;
use crate::resources::market_of;

/// Capacity for the evidence of an order with a plain signature.
const EVIDENCE_BYTES: usize = 512;
/// Newest trades named in the answer to a repeat; `/data/trades` has all.
const NAMED_TRADES: usize = 1_000;

/// `POST /order`: 200 for live, matched or delayed, else the status of the rejection, with the result's
/// fields in addition to `error`.
pub(crate) async fn place_one(
    context: RequestContext,
    WriteKey(caller): WriteKey,
    TryBody(submission): TryBody<OrderSubmission>,
) -> Result<Json<OrderAnswer>, Failure> {
    context.count(&caller, Writes::Orders, 1)?;
    let sent = match submission {
        Ok(submission) => send(&context, &caller, &submission).await,
        Err(refusal) => Err(refusal.into()),
    };
    answer_of(await_outcome(&context, sent).await)
}

/// `POST /orders`: 200 with one result for each element, in input order.
pub(crate) async fn place_many(
    context: RequestContext,
    WriteKey(caller): WriteKey,
    FromBody(OrderBatch(submissions)): FromBody<OrderBatch>,
) -> Result<Json<Vec<OrderAnswer>>, Failure> {
    context.count(&caller, Writes::Orders, submissions.len())?;
    let mut sent = Vec::with_capacity(submissions.len());
    for submission in submissions {
        sent.push(match submission {
            Ok(submission) => send(&context, &caller, &submission).await,
            Err(refusal) => Err(refusal.into()),
        });
    }
    let mut answers = Vec::with_capacity(sent.len());
    for sent in sent {
        answers.push(await_outcome(&context, sent).await.answer);
    }
    Ok(Json::of(&answers))
}

/// Sends an order of the request's operator, which nobody signed, and waits for its result: that of `POST /order`.
pub(crate) async fn place_unsigned(
    context: &RequestContext,
    checked: Result<(RejectedOrder, PlaceOrder), ApiError>,
) -> Result<Json<OrderAnswer>, Failure> {
    let actor = context.actor.as_ref();
    let actor = actor.ok_or(ErrorCode::OperatorUnauthorized)?;
    let sent = checked
        .map_err(SubmitError::from)
        .and_then(|(about, order)| {
            let command = Command::PlaceOrder(order);
            let by = (actor.number, &*actor.reason);
            let pending = context.app.engine.submit_as(by, command, Vec::new(), &[]);
            match pending {
                Ok(pending) => Ok(Submitted {
                    about,
                    signer: None,
                    pending,
                }),
                Err(failure) => Err(SubmitError {
                    order: Some(about.order),
                    refusal: failure.code().into(),
                }),
            }
        });
    answer_of(await_outcome(context, sent).await)
}

/// The answer with one order's result: a rejection is the failure, with the result's fields.
fn answer_of(outcome: OrderOutcome) -> Result<Json<OrderAnswer>, Failure> {
    match outcome.refusal {
        Some(refusal) => Err(Failure::from(refusal).with_body(json_text(&outcome.answer))),
        None => Ok(Json::of(&outcome.answer)),
    }
}

/// An order submitted to the engine.
struct Submitted {
    about: RejectedOrder,
    /// `None` of an order that nobody signed.
    signer: Option<CheckedSigner>,
    pending: PendingAnswer,
}

/// An order rejected by this gateway.
pub(crate) struct SubmitError {
    order: Option<OrderId>,
    pub(crate) refusal: ApiError,
}

/// An order that passed every check of this gateway.
pub(crate) struct CheckedOrder {
    pub(crate) about: RejectedOrder,
    pub(crate) signer: CheckedSigner,
    pub(crate) command: Command,
    /// Evidence of the command.
    pub(crate) evidence: Vec<u8>,
}

impl From<ErrorCode> for SubmitError {
    fn from(code: ErrorCode) -> Self {
        ApiError::from(code).into()
    }
}

impl From<ApiError> for SubmitError {
    fn from(refusal: ApiError) -> Self {
        Self {
            order: None,
            refusal,
        }
    }
}

/// The result of one order.
pub(crate) struct OrderOutcome {
    pub(crate) answer: OrderAnswer,
    refusal: Option<ApiError>,
}

/// Checks and submits an order.
async fn send(
    context: &RequestContext,
    caller: &Caller,
    order: &OrderSubmission,
) -> Result<Submitted, SubmitError> {
    let CheckedOrder {
        about,
        signer,
        command,
        evidence,
    } = check(context, caller, order).await?;
    match context.submit(command, &evidence) {
        Ok(pending) => Ok(Submitted {
            about,
            signer: Some(signer),
            pending,
        }),
        Err(refusal) => Err(SubmitError {
            order: Some(about.order),
            refusal,
        }),
    }
}

/// Checks an order and its signature.
pub(crate) async fn check(
    context: &RequestContext,
    caller: &Caller,
    submission: &OrderSubmission,
) -> Result<CheckedOrder, SubmitError> {
    let order = &submission.order;
    if submission.owner != caller.api_key {
        return Err(ErrorCode::OwnerNotKeyOwner.into());
    }
    let app = &context.app;
    if app.compatibility.is_family() {
        submission.check_family_amounts()?;
    }
    let traded = app.find(|view| listing(view, &order.token)).await?;
    let traded =
        traded.ok_or_else(|| ErrorCode::UnknownOrderToken.with([&order.token.to_string()]))?;
    if let Some(given) = order.condition
        && given != traded.condition
    {
        let expected = traded.condition;
        return Err(ErrorCode::ConditionOfAnotherToken
            .with([&given, &expected])
            .into());
    }
    let began = Instant::now();
    let verified = verify(context, caller, order, &traded).await?;
    context.timing.note(Stage::Signature, began);
    app.metrics.signature(verified.recovered.is_none());
    let about = RejectedOrder {
        order: verified.order,
        maker: order.maker,
        side: order.side,
        maker_amount: order.maker_amount,
        taker_amount: order.taker_amount,
        timestamp: order.timestamp,
        order_type: submission.order_type,
    };
    let refused = |refusal| SubmitError {
        order: Some(about.order),
        refusal,
    };
    let account = app
        .find(|view| view.accounts().number_of(&order.maker))
        .await?;
    let command = PlaceOrder {
        order: verified.order,
        account: account.ok_or_else(|| refused(ErrorCode::NoAccount.with([&order.maker])))?,
        key: caller.key,
        market: traded.market,
        outcome: traded.outcome,
        side: order.side,
        order_type: submission.order_type,
        post_only: submission.post_only,
        maker_amount: order.maker_amount,
        taker_amount: order.taker_amount,
        expiration: order.expiration,
        timestamp: order.timestamp,
    };
    let mut evidence = Vec::with_capacity(EVIDENCE_BYTES);
    verified.evidence(&order.signature).encode(&mut evidence);
    Ok(CheckedOrder {
        about,
        signer: CheckedSigner::new(caller.wallets.owner, verified.recovered),
        command: Command::PlaceOrder(command),
        evidence,
    })
}

/// The market and outcome of a token.
struct TokenListing {
    market: MarketNumber,
    condition: ConditionId,
    outcome: Outcome,
    token: TokenId,
    neg_risk: bool,
}

fn listing(view: &View, token: &TokenRef) -> Option<TokenListing> {
    let (market, outcome) = market_of(view, token)?;
    let listed = view.markets().get(market)?;
    Some(TokenListing {
        market,
        condition: listed.condition,
        outcome,
        token: listed.token(outcome),
        neg_risk: listed.is_neg_risk(),
    })
}

/// Checks the signature when the gate admits it.
async fn verify(
    context: &RequestContext,
    caller: &Caller,
    order: &SignedOrder,
    traded: &TokenListing,
) -> Result<Verified, ApiError> {
    let fields = OrderFields {
        salt: order.salt,
        maker: order.maker,
        signer: order.signer,
        token: traded.token,
        maker_amount: order.maker_amount,
        taker_amount: order.taker_amount,
        side: order.side,
        signature_type: order.kind,
        timestamp: order.timestamp,
        metadata: order.metadata,
        builder: order.builder,
    };
    let domains = &context.app.auth.domains;
    let signature = &order.signature;
    let check = |wallets: &OwnerWallets, known: Option<&KnownSigner>| {
        verify_order(&fields, signature, wallets, traded.neg_risk, domains, known)
    };
    let verified = verified(context, caller, &order.maker, check).await;
    match verified {
        Err(error) if error.code() == ErrorCode::InvalidSignature => {
            let signed = (&fields, &order.signature[..]);
            let find = || Hint::of_order(signed, &caller.wallets, traded.neg_risk, domains);
            let hint = context.gate.run(find).await.ok().flatten();
            context.hint(hint);
            Err(hint.map_or(error, |hint| ErrorCode::InvalidSignature.with([&hint])))
        }
        verified => {
            // A wrong checksum: looking for one costs more than the order.
            if verified.is_ok() && context.app.is_sandbox() {
                context.hint(Hint::of_body(&context.body));
            }
            verified
        }
    }
}

/// Checks what a maker signed with the wallets of the caller's owner, who may be a known signer, when the gate admits it.
pub(crate) async fn verified<T>(
    context: &RequestContext,
    caller: &Caller,
    maker: &WalletAddress,
    check: impl Fn(&OwnerWallets, Option<&KnownSigner>) -> Result<T, SignatureError>,
) -> Result<T, ApiError> {
    let app = &context.app;
    let known = app.known_signers.get(&caller.wallets.owner);
    let check = async |wallets: OwnerWallets| {
        let checked = context.gate.run(|| check(&wallets, known.as_deref())).await;
        checked.map_err(|_| ErrorCode::Busy)
    };
    let mut verified = check(caller.wallets).await?;
    // The binding may be newer than the view that gave the caller's wallets.
    if matches!(verified, Err(SignatureError::WalletNotBound(_)))
        && app.shared_view.catch_up().await?
    {
        let bound = owner_wallets(&app.shared_view.read().view, caller.owner);
        verified = check(bound.unwrap_or(caller.wallets)).await?;
    }
    verified.map_err(|error| signature_refusal(error, maker))
}

/// The error of what a maker signed.
fn signature_refusal(error: SignatureError, maker: &WalletAddress) -> ApiError {
    match error {
        SignatureError::SignerIsNotKeyOwner => ErrorCode::SignerNotKeyAddress.into(),
        SignatureError::WalletNotBound(kind) => {
            ErrorCode::MakerNotBound.with([maker, &kind.code()])
        }
        other => {
            let text = other.to_string();
            let check = text.strip_prefix("invalid signature: ").unwrap_or(&text);
            ErrorCode::InvalidSignature.with([&check])
        }
    }
}

/// Waits for the result of an order, submitted or not.
async fn await_outcome(
    context: &RequestContext,
    sent: Result<Submitted, SubmitError>,
) -> OrderOutcome {
    let app = &context.app;
    let signer = sent.as_ref().ok().and_then(|sent| sent.signer);
    let outcome = match sent {
        Ok(Submitted { about, pending, .. }) => match context.reply(pending).await {
            Ok(reply) => render_outcome(app, &about, &reply).await,
            Err(failure) => refused(
                Some(&about.order),
                ResultStatus::Error,
                failure.code().into(),
            ),
        },
        Err(SubmitError { order, refusal }) => {
            refused(order.as_ref(), ResultStatus::Error, refusal)
        }
    };
    note_outcome(app, &outcome.answer, signer);
    if let Some(refusal) = &outcome.refusal
        && refusal.code() != ErrorCode::OutcomeUnknown
        && app.is_sandbox()
    {
        let hint = context.said.lock().hint;
        // A wrong chain stands in the refusal itself.
        let hint = hint.filter(|hint| *hint == Hint::Checksum);
        let hint = hint.map_or_else(String::new, |hint| format!(" Hint: {hint}."));
        let (order, received) = (&outcome.answer.order_hash, app.exchange_time());
        let fate = match outcome.answer.status {
            ResultStatus::Killed => OrderFate::Killed,
            _ => OrderFate::Rejected,
        };
        let rejected = Rejected {
            order,
            fate,
            received,
        };
        app.rejected_orders.push(&rejected, refusal, &hint);
    }
    outcome
}

/// Counts the result of an order, and for its signer that it was accepted.
pub(crate) fn note_outcome(app: &Arc<App>, answer: &OrderAnswer, signer: Option<CheckedSigner>) {
    if let Some(signer) = signer
        && !answer.duplicate
        && matches!(
            answer.status,
            ResultStatus::Matched | ResultStatus::Live | ResultStatus::Delayed
        )
    {
        app.count_accepted(signer);
    }
    app.metrics.order(match answer.status {
        _ if answer.duplicate => "duplicate",
        ResultStatus::Matched => "matched",
        ResultStatus::Live => "live",
        ResultStatus::Delayed => "delayed",
        ResultStatus::Unmatched | ResultStatus::Killed => "unmatched",
        ResultStatus::Error => "error",
    });
}

fn refused(order: Option<&OrderId>, status: ResultStatus, refusal: ApiError) -> OrderOutcome {
    let answer = OrderAnswer::rejected(order, status, &refusal);
    OrderOutcome {
        answer,
        refusal: Some(refusal),
    }
}

/// Converts the exchange's reply into the interface's result.
pub(crate) async fn render_outcome(
    app: &App,
    about: &RejectedOrder,
    reply: &Reply,
) -> OrderOutcome {
    let order = &about.order;
    let done = match outcome_of(reply) {
        Ok(done) => done,
        Err(Refused { rejection, .. }) => {
            let error = ApiError::from_order_rejection(&rejection, about)
                .naming_clock(|| app.clock_that_refuses(about.timestamp, rejection.details));
            return refused(Some(order), status_of(&rejection, about), error);
        }
    };
    match (done.before, done.outcome) {
        (Some(first), _) => repeated(app, about, first).await,
        (None, CommandOutcome::Order(result)) => applied(app, about, &done, &result),
        (None, _) => refused(Some(order), ResultStatus::Error, ErrorCode::Internal.into()),
    }
}

fn applied(app: &App, about: &RejectedOrder, done: &Done, result: &OrderResult) -> OrderOutcome {
    let order = &about.order;
    let status = match result.status {
        OrderStatus::Live => ResultStatus::Live,
        OrderStatus::Delayed => ResultStatus::Delayed,
        OrderStatus::Matched => ResultStatus::Matched,
        OrderStatus::Killed(refusal) => {
            let refusal = ApiError::from_order_rejection(&refusal, about);
            return refused(Some(order), ResultStatus::Killed, refusal);
        }
        OrderStatus::Unmatched => {
            let refusal = ApiError::new(ErrorCode::TooManyFills, vec![order.to_string()]);
            return refused(Some(order), ResultStatus::Killed, refusal);
        }
    };
    let branch = *app.shared_view.read().view.branch();
    let trade = (result.fills > 0).then(|| TradeId::new(&branch, done.decided_at).to_string());
    let receipt = (result.fills > 0).then(|| app.shared_view.receipt(done.place, done.decided_at));
    let traded = ImmediateTrades {
        lots: result.lots,
        value: result.value,
        trades: trade.into_iter().collect(),
        receipts: receipt.flatten().into_iter().collect(),
    };
    OrderOutcome {
        answer: OrderAnswer::accepted(order, about.side, status, traded),
        refusal: None,
    }
}

/// The status of a rejection: `Killed` for one by the book, also when repeated for a used order
/// id.
fn status_of(rejection: &Rejection, about: &RejectedOrder) -> ResultStatus {
    if about.is_killed_by_book(rejection.reason) {
        ResultStatus::Killed
    } else {
        ResultStatus::Error
    }
}

/// The answer to a repeat: the current status of the first order.
async fn repeated(app: &App, about: &RejectedOrder, first: Sequence) -> OrderOutcome {
    let status = app.read_after(first, |state| {
        let order = state.view.orders().by_id(&about.order)?;
        Some(order_status(&state.view, &order))
    });
    let (status, mut traded, frames) = match status.await {
        Ok(Some(found)) => found,
        Ok(None) => {
            return refused(
                Some(&about.order),
                ResultStatus::Error,
                ErrorCode::Internal.into(),
            );
        }
        Err(refusal) => return refused(Some(&about.order), ResultStatus::Error, refusal),
    };
    traded.receipts = frames
        .iter()
        .filter_map(|&(place, at)| app.shared_view.receipt(place, at))
        .collect();
    OrderOutcome {
        answer: OrderAnswer::accepted(&about.order, about.side, status, traded).repeated(),
        refusal: None,
    }
}

type Frames = Vec<(FramePosition, Sequence)>;

/// The status of an order, and the frames of its trades without duplicates.
fn order_status(view: &View, order: &Order) -> (ResultStatus, ImmediateTrades, Frames) {
    let status = match order.state {
        _ if !order.matched.is_zero() => ResultStatus::Matched,
        OrderState::Live => ResultStatus::Live,
        OrderState::Delayed => ResultStatus::Delayed,
        _ => ResultStatus::Unmatched,
    };
    let slots = view.trades_of_order(order, NAMED_TRADES);
    let records: Vec<_> = slots.iter().filter_map(|&slot| view.trade(slot)).collect();
    let mut frames: Frames = records
        .iter()
        .map(|record| (record.place, record.sequence))
        .collect();
    frames.dedup();
    let traded = ImmediateTrades {
        lots: order.matched,
        value: order.value,
        trades: records.iter().map(|record| record.id.to_string()).collect(),
        receipts: Vec::new(),
    };
    (status, traded, frames)
}
