//! `POST /positions/split`, `/merge`, `/redeem`, `/convert`: account actions on shares other than
//! trading (docs/verify/rules.md §10, §11, docs/api/positions.md).
//!
//! The exchange trusts the gateway for the acting account, so the wallet's owner is checked here,
//! in a view that covers everything durable. The result is decoded from the command's frame, so a
//! retry gets the result of the first request.

mod moved;

use foretell_journal::{Frame, Scratch};
use foretell_model::command::{self, Convert, Merge, Split};
use foretell_model::{
    AccountNumber, Command, ConditionId, EventId, EventNumber, FramePosition, MarketNumber, Micros,
    QuestionSet, Reference, Rejection, RejectionReason, Sequence, TimeNs, WalletAddress,
};
use foretell_view::{self as view, EventGroup, View};
use foretell_wire::errors::api_error::FieldError;
use foretell_wire::orders::action::{
    ActionAnswer, ActionEffect, ActionKind, ConvertAction, PaidBefore, QuestionNames, RedeemAction,
    SetsAction,
};
use foretell_wire::{ApiError, Decimal, ErrorCode};

use crate::access::authenticate::WriteKey;
use crate::access::credentials::Caller;
use crate::app::App;
use crate::catalog::own_catalog::ids::{OWN_IDS, event_record};
use crate::http::answer::Json;
use crate::http::endpoint::RequestPart;
use crate::http::failure::Failure;
use crate::http::operation::Operation;
use crate::http::parts::FromBody;
use crate::http::request_context::RequestContext;
use crate::policy::rate_limits::Writes;
use crate::resources::accounts::balances;

/// Actions among which a payment is searched, the newest before the end of the settlement.
const MAX_SEARCHED_ACTIONS: usize = 4_096;

/// `POST /positions/split`.
pub(crate) async fn split(
    context: RequestContext,
    action: Action,
    FromBody(wanted): FromBody<SetsAction>,
) -> Result<Json<ActionAnswer>, Failure> {
    let command = |account| {
        Ok(Command::Split(Split {
            account,
            market: market(&context.app, wanted.condition)?,
            lots: wanted.lots,
            reference: Reference::of(&wanted.reference),
        }))
    };
    act(&context, &action, wanted.wallet, command, &wanted.reference).await
}

/// `POST /positions/merge`.
pub(crate) async fn merge(
    context: RequestContext,
    action: Action,
    FromBody(wanted): FromBody<SetsAction>,
) -> Result<Json<ActionAnswer>, Failure> {
    let command = |account| {
        Ok(Command::Merge(Merge {
            account,
            market: market(&context.app, wanted.condition)?,
            lots: wanted.lots,
            reference: Reference::of(&wanted.reference),
        }))
    };
    act(&context, &action, wanted.wallet, command, &wanted.reference).await
}

/// `POST /positions/redeem`.
pub(crate) async fn redeem(
    context: RequestContext,
    action: Action,
    FromBody(wanted): FromBody<RedeemAction>,
) -> Result<Json<ActionAnswer>, Failure> {
    let command = |account| {
        Ok(Command::Redeem(command::Redeem {
            account,
            market: market(&context.app, wanted.condition)?,
            reference: Reference::of(&wanted.reference),
        }))
    };
    act(&context, &action, wanted.wallet, command, &wanted.reference).await
}

/// `POST /positions/convert`.
pub(crate) async fn convert(
    context: RequestContext,
    action: Action,
    FromBody(wanted): FromBody<ConvertAction>,
) -> Result<Json<ActionAnswer>, Failure> {
    let command = |account| {
        let (event, questions) = questions(&context.app, wanted.event, &wanted.questions)?;
        Ok(Command::Convert(Convert {
            account,
            event,
            questions,
            lots: wanted.lots,
            reference: Reference::of(&wanted.reference),
        }))
    };
    // The names as sent, because their meaning is the gateway's.
    let evidence = format!("{}\n{}", wanted.reference, wanted.questions.text());
    act(&context, &action, wanted.wallet, command, &evidence).await
}

/// The caller of an action, which counts also when its body is wrong.
pub(crate) struct Action(pub(crate) Caller);

impl RequestPart for Action {
    async fn of(context: &RequestContext) -> Result<Self, Failure> {
        let WriteKey(caller) = WriteKey::of(context).await?;
        context.count(&caller, Writes::Actions, 1)?;
        Ok(Self(caller))
    }

    fn describe(operation: &mut Operation) {
        WriteKey::describe(operation);
        operation.fails(&[ErrorCode::RateLimited]);
    }
}

/// Runs the command of an action for the wallet that acts.
async fn act(
    context: &RequestContext,
    Action(caller): &Action,
    wallet: Option<WalletAddress>,
    command: impl FnOnce(AccountNumber) -> Result<Command, ApiError>,
    evidence: &str,
) -> Result<Json<ActionAnswer>, Failure> {
    let account = account(&context.app, caller, wallet)?;
    submit_action(context, account, command(account)?, evidence).await
}

/// The acting wallet: the one named, if it is the owner's; else chosen as in `/balance-allowance`.
pub(crate) fn account(
    app: &App,
    caller: &Caller,
    named: Option<WalletAddress>,
) -> Result<AccountNumber, ApiError> {
    const ALLOWED: &str = "the address of the API key, or a wallet bound to it";
    let state = app.shared_view.read();
    let accounts = state.view.accounts();
    let Some(wallet) = named else {
        return Ok(balances::wallet(accounts, caller.owner, None).unwrap_or(caller.owner));
    };
    accounts
        .by_wallet(&wallet)
        .filter(|(_, account)| account.owner == caller.owner)
        .map(|(number, _)| number)
        .ok_or_else(|| FieldError::wrong("wallet", &wallet.to_string(), ALLOWED).into())
}

fn market(app: &App, condition: ConditionId) -> Result<MarketNumber, ApiError> {
    let state = app.shared_view.read();
    let found = state.view.markets().by_condition(&condition);
    found
        .map(|(number, _)| number)
        .ok_or_else(|| ErrorCode::MarketNotFound.into())
}

/// The event group of an id, or of the id that its event is shown with.
fn event_group(view: &View, id: EventId) -> Option<(EventNumber, &EventGroup)> {
    let events = view.events();
    let known = events.by_id(id);
    if known.is_some() || id.0 < OWN_IDS {
        return known;
    }
    let mut generated = events.iter().filter(|(_, group)| group.id.0 < OWN_IDS);
    generated.find(|(_, group)| event_record(group.id.0) == id.0)
}

/// The event group and the places of the named questions in its list.
fn questions(
    app: &App,
    id: EventId,
    names: &QuestionNames,
) -> Result<(EventNumber, QuestionSet), ApiError> {
    let state = app.shared_view.read();
    let markets = state.view.markets();
    let (event, group) = event_group(&state.view, id).ok_or(ErrorCode::EventNotFound)?;
    let mut places = QuestionSet::default();
    let mut named = 0;
    for (place, market) in (0..).zip(&group.questions) {
        let question = markets.get(*market).ok_or(ErrorCode::Internal)?;
        let is_named = match names {
            QuestionNames::Bits(bits) => {
                let index = question.question_index();
                index.is_some_and(|index| bits.contains(index.into()))
            }
            QuestionNames::Conditions(conditions) => conditions.contains(&question.condition),
        };
        if is_named {
            places = places.with(place);
            named += 1;
        }
    }
    match named == names.count() {
        true => Ok((event, places)),
        false => Err(ErrorCode::InvalidQuestions.into()),
    }
}

/// Submits the command and returns its result, also when it was applied by an earlier request.
async fn submit_action(
    context: &RequestContext,
    account: AccountNumber,
    command: Command,
    evidence: &str,
) -> Result<Json<ActionAnswer>, Failure> {
    let app = &context.app;
    let sent = context.send(command, Vec::new(), evidence.as_bytes());
    let outcome = sent.await?;
    let wallet = |view: &View| view.accounts().get(account).map(|account| account.wallet);
    let wallet = wallet(&app.shared_view.read().view).ok_or(ErrorCode::Internal)?;
    let done = match outcome {
        Ok(done) => done,
        Err(refusal) => {
            let error = refused(&refusal.rejection, wallet);
            if refusal.rejection.reason != RejectionReason::NothingToRedeem {
                return Err(error.into());
            }
            let paid = |view: &View| payment(view, &command, account);
            let paid = app.read_after(refusal.decided_at, |state| paid(&state.view));
            let paid = paid.await?.ok_or(error)?;
            return Ok(Json::of(&already_paid(app, paid, wallet)));
        }
    };
    let (sequence, duplicate) = (done.sequence(), done.before.is_some());
    let place = (!duplicate).then_some(done.place);
    let (moved, receipt) = action_result(app, place, sequence).await?;
    let answer = ActionAnswer {
        success: true,
        wallet,
        moved,
        sequence: sequence.0,
        transaction_hash: receipt,
        duplicate,
        already_paid: None,
    };
    Ok(Json::of(&answer))
}

/// What a redeem in a settled market was paid before, and the place of the payment's frame. Such a
/// market paid all holders; a wallet that held nothing was paid 0 when it changed last.
fn payment(
    view: &View,
    command: &Command,
    account: AccountNumber,
) -> Option<(PaidBefore, Option<FramePosition>)> {
    let Command::Redeem(command::Redeem { market, .. }) = *command else {
        return None;
    };
    let listed = view.markets().get(market)?;
    let (resolved, settled) = (listed.resolved?, listed.settled?);
    let end = view.actions().count_before(account, TimeNs(settled.0 + 1));
    let mut paid = (view.actions().newest_first(account, end))
        .take(MAX_SEARCHED_ACTIONS)
        .take_while(|action| action.time >= resolved)
        .filter(|action| action.kind == view::ActionKind::Redeem && action.market == market);
    let newest = paid.next();
    let (first, sequence) = newest.map_or((Micros::ZERO, listed.changed), |action| {
        (action.collateral, action.sequence)
    });
    // One payment has a row for each token that the wallet held.
    let others = paid.take_while(|action| action.sequence == sequence);
    let amount = others.fold(first, |amount, action| amount + action.collateral);
    let paid_before = PaidBefore {
        amount,
        sequence: sequence.0,
    };
    Some((paid_before, newest.map(|action| action.place)))
}

/// The answer to a redeem of what was paid before: nothing moves.
fn already_paid(
    app: &App,
    (paid, place): (PaidBefore, Option<FramePosition>),
    wallet: WalletAddress,
) -> ActionAnswer {
    let receipt = place.and_then(|place| app.shared_view.receipt(place, Sequence(paid.sequence)));
    ActionAnswer {
        success: true,
        wallet,
        moved: ActionEffect {
            kind: ActionKind::Redeem,
            collateral: Decimal::ZERO,
            shares: Vec::new(),
        },
        sequence: paid.sequence,
        transaction_hash: receipt.unwrap_or_default(),
        duplicate: false,
        already_paid: Some(paid),
    }
}

/// The result of the command at `sequence`, and its receipt. The command is durable, so a missing
/// frame has a transient cause, and a later retry succeeds.
async fn action_result(
    app: &App,
    place: Option<FramePosition>,
    sequence: Sequence,
) -> Result<(ActionEffect, [u8; 32]), ApiError> {
    let found = app.shared_view.frame(place, sequence).await;
    let (place, bytes) = found.map_err(|_| ErrorCode::OutcomeUnknown)?;
    decode_result(&app.shared_view.read().view, place, &bytes)
        .ok_or_else(|| ErrorCode::Internal.into())
}

fn decode_result(
    view: &View,
    place: FramePosition,
    bytes: &[u8],
) -> Option<(ActionEffect, [u8; 32])> {
    let frame = Frame::parse(bytes, place.segment, place.offset).ok()?;
    let mut scratch = Scratch::default();
    let decoded = frame.decode(&mut scratch).ok()?;
    let (events, time) = (decoded.events, decoded.time);
    let moved = (events.iter()).find_map(|event| moved::by(view, event, time))?;
    Some((moved, frame.receipt()))
}

/// The rejection of an action; closed-only names the wallet, as for orders.
fn refused(refusal: &Rejection, wallet: WalletAddress) -> ApiError {
    match refusal.reason {
        RejectionReason::ClosedOnlyAccount => ErrorCode::ClosedOnly.with([&wallet]),
        _ => ApiError::from_command_rejection(refusal),
    }
}
