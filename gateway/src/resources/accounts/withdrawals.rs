//! `POST /withdrawals`, `GET /withdrawals`, `DELETE /withdrawals/{number}`: money out, asked for by its
//! owner's signature (docs/verify/rules.md §30, docs/api/withdrawals.md).

use foretell_auth::withdrawal::{
    WITHDRAWAL_DOMAIN_NAME, WITHDRAWAL_DOMAIN_VERSION, WITHDRAWAL_TYPE, WithdrawalMessage,
};
use foretell_model::command::{CancelWithdrawal, RequestWithdrawal};
use foretell_model::evidence::WithdrawalEvidence;
use foretell_model::{AccountNumber, Command, Reference, Sequence};
use foretell_wire::ErrorCode;
use foretell_wire::accounts::signing_domain::SigningDomain;
use foretell_wire::accounts::withdrawals::{
    WithdrawalNumber, WithdrawalRequest, WithdrawalRow, WithdrawalsQuery,
};
use foretell_wire::limits::PAGE_ROWS;
use foretell_wire::read::page::{Cursor, Page};

use crate::access::authenticate::ReadKey;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::{FromBody, FromPath, FromQuery};
use crate::http::request_context::RequestContext;
use crate::render::withdrawal_json::{ended_before, row};
use crate::resources::accounts::actions::{self, Action};

/// `POST /withdrawals`.
pub(crate) async fn request(
    context: RequestContext,
    action: Action,
    FromBody(asked): FromBody<WithdrawalRequest>,
) -> Result<Json<WithdrawalRow>, Failure> {
    let account = actions::account(&context.app, &action.0, Some(asked.wallet))?;
    let chain = context.app.auth.domains.chain_id();
    check_signature(&context, &action, &asked, chain).await?;
    let command = Command::RequestWithdrawal(RequestWithdrawal {
        owner: action.0.owner,
        account,
        amount: asked.amount,
        reference: Reference::of(&asked.reference),
        valid_until: asked.valid_until,
    });
    let signed = WithdrawalEvidence {
        chain,
        destination: &asked.destination,
        reference: &asked.reference,
        signature: &asked.signature,
    };
    let mut evidence = Vec::new();
    signed.encode(&mut evidence);
    let shown = submit(&context, account, command, None, &evidence).await?;
    // The command names the destination in its evidence alone.
    if shown.destination != asked.destination {
        return Err(ErrorCode::ReferenceReused.into());
    }
    Ok(Json::of(&shown))
}

/// The owner of the wallet must have signed the request.
async fn check_signature(
    context: &RequestContext,
    action: &Action,
    asked: &WithdrawalRequest,
    chain: u64,
) -> Result<(), Failure> {
    let message = WithdrawalMessage {
        wallet: asked.wallet,
        destination: &asked.destination,
        amount: asked.amount,
        reference: &asked.reference,
        valid_until: asked.valid_until,
    };
    let salt = *context.app.shared_view.read().view.branch();
    let recover = || message.signer(chain, &salt, &asked.signature);
    let signer = context.gate.run(recover).await;
    let signer = signer.map_err(|_| ErrorCode::Busy)?;
    let signer = signer.map_err(|error| ErrorCode::InvalidSignature.with([&error]))?;
    let state = context.app.shared_view.read();
    let owner = state.view.accounts().get(action.0.owner);
    let owner = owner.ok_or(ErrorCode::Internal)?.wallet;
    match signer == owner {
        true => Ok(()),
        false => {
            let check = format!("{signer} signed, {owner} owns the wallet");
            Err(ErrorCode::InvalidSignature.with([&check]).into())
        }
    }
}

/// `DELETE /withdrawals/{number}`.
pub(crate) async fn cancel(
    context: RequestContext,
    action: Action,
    FromPath(WithdrawalNumber(number)): FromPath<WithdrawalNumber>,
) -> Result<Json<WithdrawalRow>, Failure> {
    let owner = action.0.owner;
    let found = context.app.find(|view| {
        let account = view.withdrawals().waiting().get(number)?.account;
        let is_own = view.accounts().get(account)?.owner == owner;
        is_own.then_some(account)
    });
    let account = match found.await? {
        Some(account) => account,
        None => return Err(not_waiting(&context, owner, number)),
    };
    let command = Command::CancelWithdrawal(CancelWithdrawal {
        account,
        withdrawal: number,
    });
    let shown = submit(&context, account, command, Some(number), &[]).await?;
    Ok(Json::of(&shown))
}

/// The error of a cancel of a withdrawal that does not wait.
fn not_waiting(context: &RequestContext, owner: AccountNumber, number: Sequence) -> Failure {
    let state = context.app.shared_view.read();
    let mut wallets = state.view.accounts().wallets_of(owner);
    match wallets.find_map(|wallet| state.view.withdrawals().find(wallet, number)) {
        Some(ended) => ended_before(&ended, |_| "an operator".to_owned()).into(),
        None => ErrorCode::WithdrawalNotFound.into(),
    }
}

/// Submits a command and answers with the withdrawal after it: the one with this number, or the one that
/// the command asks for.
async fn submit(
    context: &RequestContext,
    account: AccountNumber,
    command: Command,
    number: Option<Sequence>,
    evidence: &[u8],
) -> Result<WithdrawalRow, Failure> {
    let done = context.command(command, evidence).await?;
    let number = number.unwrap_or(done.sequence());
    let shown = context.app.read_after(done.decided_at, |state| {
        let found = state.view.withdrawals().find(account, number)?;
        row(&state.view, &found)
    });
    Ok(shown.await?.ok_or(ErrorCode::Internal)?)
}

/// `GET /withdrawals`: those of a wallet that wait, then those that ended, the newest first.
pub(crate) async fn list(
    context: RequestContext,
    ReadKey(caller): ReadKey,
    FromQuery(query): FromQuery<WithdrawalsQuery>,
) -> Result<Json<Page<WithdrawalRow>>, Failure> {
    let app = &context.app;
    let account = actions::account(app, &caller, query.wallet)?;
    let state = app.shared_view.read();
    let view = &state.view;
    let all = view.withdrawals();
    let mut rows = Vec::new();
    // The offset is the number of rows that are older.
    let end = match query.cursor.offset() {
        0 => {
            rows.extend(all.waiting().of(account).filter_map(|it| row(view, it)));
            all.ended_count_of(account)
        }
        offset => offset.min(all.ended_count_of(account)),
    };
    let ended = all.ended_of(account, end).take(PAGE_ROWS);
    let before = rows.len();
    rows.extend(ended.filter_map(|it| row(view, &it)));
    let left = end.saturating_sub((rows.len() - before) as u64);
    let next = (left > 0).then(|| Cursor::at(left));
    let page = Page::new(rows, PAGE_ROWS, next);
    Ok(Json::of(&page).at(state.position()))
}

/// `GET /withdrawals/domain`: what a client needs in order to sign.
pub(crate) async fn domain(
    context: RequestContext,
) -> Result<Json<SigningDomain<'static>>, Failure> {
    let app = &context.app;
    Ok(Json::of(&SigningDomain {
        name: WITHDRAWAL_DOMAIN_NAME,
        version: WITHDRAWAL_DOMAIN_VERSION,
        chain_id: app.auth.domains.chain_id(),
        salt: *app.shared_view.read().view.branch(),
        message_type: WITHDRAWAL_TYPE,
    }))
}
