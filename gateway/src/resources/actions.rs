//! `POST /positions/split`, `/merge`, `/redeem`, `/convert`: what an account does with its shares
//! beside trading them (protocol 5, 16).
//!
//! The exchange takes an action from whoever the gateway says acts, so the wallet's owner is
//! checked here, in a view that shows everything that is durable. What was done is told from the
//! frame of the command: a retry is answered with what the first request did.

mod moved;

use foretell_journal::{Frame, Scratch};
use foretell_link::Reply;
use foretell_model::{
    AccountNumber, Command, ConditionId, EventId, EventNumber, FramePlace, MarketNumber, Refusal,
    RefusalReason, Sequence, Verdict, WalletAddress,
};
use foretell_view::View;
use foretell_wire::action::{ActionAnswer, Moved, read_convert, read_redeem, read_sets};
use foretell_wire::failure::FieldProblem;
use foretell_wire::{Failure as Refused, json_text};

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Caller, Level};
use crate::call::Call;
use crate::failure::Failure;
use crate::rate_limits::{Standing, Writes};
use crate::resources::{balances, place_of, reference};

/// `POST /positions/split`.
pub(crate) async fn split(call: Call) -> Result<Answer, Failure> {
    let (caller, standing) = caller(&call).await?;
    let wanted = read_sets(&call.body)?;
    let account = account(&call.app, &caller, wanted.wallet)?;
    let command = Command::Split {
        account,
        market: market(&call.app, wanted.condition)?,
        lots: wanted.lots,
        reference: reference(&wanted.reference),
    };
    let acted = act(&call, account, command, &wanted.reference).await?;
    Ok(acted.stands(standing))
}

/// `POST /positions/merge`.
pub(crate) async fn merge(call: Call) -> Result<Answer, Failure> {
    let (caller, standing) = caller(&call).await?;
    let wanted = read_sets(&call.body)?;
    let account = account(&call.app, &caller, wanted.wallet)?;
    let command = Command::Merge {
        account,
        market: market(&call.app, wanted.condition)?,
        lots: wanted.lots,
        reference: reference(&wanted.reference),
    };
    let acted = act(&call, account, command, &wanted.reference).await?;
    Ok(acted.stands(standing))
}

/// `POST /positions/redeem`.
pub(crate) async fn redeem(call: Call) -> Result<Answer, Failure> {
    let (caller, standing) = caller(&call).await?;
    let wanted = read_redeem(&call.body)?;
    let account = account(&call.app, &caller, wanted.wallet)?;
    let command = Command::Redeem {
        account,
        market: market(&call.app, wanted.condition)?,
        reference: reference(&wanted.reference),
    };
    let acted = act(&call, account, command, &wanted.reference).await?;
    Ok(acted.stands(standing))
}

/// `POST /positions/convert`.
pub(crate) async fn convert(call: Call) -> Result<Answer, Failure> {
    let (caller, standing) = caller(&call).await?;
    let wanted = read_convert(&call.body)?;
    let account = account(&call.app, &caller, wanted.wallet)?;
    let command = Command::Convert {
        account,
        event: event(&call.app, wanted.event)?,
        questions: wanted.questions,
        lots: wanted.lots,
        reference: reference(&wanted.reference),
    };
    let acted = act(&call, account, command, &wanted.reference).await?;
    Ok(acted.stands(standing))
}

/// Who asks, by the keys and bindings that are durable now. The action is counted.
async fn caller(call: &Call) -> Result<(Caller, Option<Standing>), Failure> {
    call.app.replica.caught_up().await?;
    let caller = call.app.auth.l2(call, Level::Write).await?;
    let standing = call.count(&caller, Writes::Actions, 1)?;
    Ok((caller, standing))
}

/// The wallet that acts: the one named, if it is the owner's; else as `/balance-allowance` picks.
fn account(
    app: &App,
    caller: &Caller,
    named: Option<WalletAddress>,
) -> Result<AccountNumber, Refused> {
    const ALLOWED: &str = "the address of the API key, or a wallet bound to it";
    let state = app.replica.read();
    let accounts = state.view.accounts();
    let Some(wallet) = named else {
        return Ok(balances::wallet(accounts, caller.owner, None).unwrap_or(caller.owner));
    };
    accounts
        .by_wallet(&wallet)
        .filter(|(_, account)| account.owner == caller.owner)
        .map(|(number, _)| number)
        .ok_or_else(|| FieldProblem::wrong("wallet", &wallet.to_string(), ALLOWED).into())
}

fn market(app: &App, condition: ConditionId) -> Result<MarketNumber, Refused> {
    let state = app.replica.read();
    let found = state.view.markets().by_condition(&condition);
    found
        .map(|(number, _)| number)
        .ok_or(Refused::MarketNotFound)
}

fn event(app: &App, id: EventId) -> Result<EventNumber, Refused> {
    let state = app.replica.read();
    let found = state.view.events().by_id(id);
    found
        .map(|(number, _)| number)
        .ok_or(Refused::Unknown("event not found"))
}

/// Gives the command and tells what it did, now or when it was given first.
async fn act(
    call: &Call,
    account: AccountNumber,
    command: Command,
    reference: &str,
) -> Result<Answer, Failure> {
    let app = &call.app;
    let pending = app.engine.submit(command, reference.as_bytes())?;
    let reply = call.reply(pending).await?;
    let wallet = |view: &View| view.accounts().get(account).map(|account| account.wallet);
    let wallet = wallet(&app.replica.read().view).ok_or(Refused::Internal)?;
    let (place, sequence, duplicate) = match reply.verdict {
        Verdict::Applied(_) => (Some(reply.place), reply.sequence, false),
        Verdict::Repeated { first, .. } => (None, first, true),
        Verdict::Refused(refusal) => return Err(refused(&refusal, wallet).into()),
    };
    let (moved, receipt) = done(app, place, sequence).await?;
    let answer = ActionAnswer {
        success: true,
        wallet,
        moved,
        sequence: sequence.0,
        transaction_hash: receipt,
        duplicate,
    };
    Ok(at(&reply, &answer))
}

fn at(reply: &Reply, answer: &ActionAnswer) -> Answer {
    Answer::json(json_text(answer)).at(place_of(reply))
}

/// What the command at a sequence did, and its receipt. It is durable, so that its frame can only
/// be missing for a reason that a later retry does not meet.
async fn done(
    app: &App,
    place: Option<FramePlace>,
    sequence: Sequence,
) -> Result<(Moved, [u8; 32]), Refused> {
    let found = app.replica.frame(place, sequence).await;
    let (place, bytes) = found.ok_or(Refused::OutcomeUnknown)?;
    told(&app.replica.read().view, place, &bytes).ok_or(Refused::Internal)
}

fn told(view: &View, place: FramePlace, bytes: &[u8]) -> Option<(Moved, [u8; 32])> {
    let frame = Frame::parse(bytes, place.segment, place.offset).ok()?;
    let mut scratch = Scratch::default();
    let events = frame.decode(&mut scratch).ok()?.events;
    let moved = events.iter().find_map(|event| moved::by(view, event))?;
    Some((moved, frame.receipt()))
}

/// The refusal of an action; closed-only names the wallet, as it does for orders.
fn refused(refusal: &Refusal, wallet: WalletAddress) -> Refused {
    match refusal.reason {
        RefusalReason::ClosedOnlyAccount => Refused::ClosedOnly { wallet },
        _ => Refused::of_command(refusal),
    }
}
