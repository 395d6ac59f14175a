//! Money in and out, wallets and their owners: `/accounts/…`, `/fees/withdraw`.

use foretell_model::{Command, Outcome};
use foretell_view::{Account, View};
use foretell_wire::api_error::FieldError;
use foretell_wire::operator::{
    AccountAnswer, PositionAnswer, read_binding, read_closed_only, read_fees_withdrawal,
    read_transfer, read_unbinding,
};
use foretell_wire::{ApiError, ErrorCode, ids, json_text};

use super::submit_or_reject;
use crate::answer::Answer;
use crate::failure::Failure;
use crate::request_context::RequestContext;
use crate::resources::reference;

/// `POST /accounts/deposit`.
pub(crate) async fn deposit(context: RequestContext) -> Result<Answer, Failure> {
    let to = read_transfer(&context.body)?;
    let (wallet, amount) = (to.wallet, to.amount);
    let command = Command::Deposit {
        wallet,
        amount,
        reference: reference(&to.reference),
    };
    Ok(
        submit_or_reject(&context.app, command, to.reference.as_bytes())
            .await?
            .answer(),
    )
}

/// `POST /accounts/withdraw`.
pub(crate) async fn withdraw(context: RequestContext) -> Result<Answer, Failure> {
    let from = read_transfer(&context.body)?;
    let (wallet, amount) = (from.wallet, from.amount);
    let command = Command::Withdraw {
        wallet,
        amount,
        reference: reference(&from.reference),
    };
    Ok(
        submit_or_reject(&context.app, command, from.reference.as_bytes())
            .await?
            .answer(),
    )
}

/// `POST /fees/withdraw`.
pub(crate) async fn withdraw_fees(context: RequestContext) -> Result<Answer, Failure> {
    let fees = read_fees_withdrawal(&context.body)?;
    let command = Command::WithdrawFees {
        amount: fees.amount,
        reference: reference(&fees.reference),
    };
    Ok(
        submit_or_reject(&context.app, command, fees.reference.as_bytes())
            .await?
            .answer(),
    )
}

/// `POST /accounts/bind`.
pub(crate) async fn bind(context: RequestContext) -> Result<Answer, Failure> {
    let binding = read_binding(&context.body)?;
    let (owner, wallet, kind) = (binding.owner, binding.wallet, binding.kind);
    Ok(submit_or_reject(
        &context.app,
        Command::BindWallet {
            owner,
            wallet,
            kind,
        },
        &[],
    )
    .await?
    .answer())
}

/// `POST /accounts/unbind`.
pub(crate) async fn unbind(context: RequestContext) -> Result<Answer, Failure> {
    let wallet = read_unbinding(&context.body)?;
    Ok(
        submit_or_reject(&context.app, Command::UnbindWallet { wallet }, &[])
            .await?
            .answer(),
    )
}

/// `POST /accounts/closed-only`.
pub(crate) async fn closed_only(context: RequestContext) -> Result<Answer, Failure> {
    let mark = read_closed_only(&context.body)?;
    let (wallet, closed_only) = (mark.wallet, mark.closed_only);
    Ok(submit_or_reject(
        &context.app,
        Command::SetClosedOnly {
            wallet,
            closed_only,
        },
        &[],
    )
    .await?
    .answer())
}

/// `GET /accounts/{wallet}`.
pub(crate) async fn show(context: RequestContext) -> Result<Answer, Failure> {
    let app = &context.app;
    let wallet = ids::address(&context.parameter).ok_or_else(|| {
        const ALLOWED: &str = "an address, 0x and 40 hex digits";
        ApiError::from(FieldError::wrong("wallet", &context.parameter, ALLOWED))
    })?;
    context.wait_fresh().await?;
    let found = app.find(|view| {
        let (number, account) = view.accounts().by_wallet(&wallet)?;
        let live_orders = view.orders().live_count_of(number);
        describe(view, account, live_orders)
    });
    let account = found.await?.ok_or(ErrorCode::AccountNotFound)?;
    Ok(Answer::json(json_text(&account)).at(app.shared_view.read().position()))
}

fn describe(view: &View, account: &Account, live_orders: usize) -> Option<AccountAnswer> {
    let mut positions = Vec::new();
    for (market, held) in account.balances() {
        let condition_id = view.markets().get(market)?.condition;
        for &outcome in Outcome::ALL {
            if !held.total(outcome).is_zero() {
                positions.push(PositionAnswer {
                    condition_id,
                    outcome_index: outcome.code(),
                    free: held.free(outcome),
                    reserved: held.reserved(outcome),
                });
            }
        }
    }
    Some(AccountAnswer {
        wallet: account.wallet,
        owner: view.accounts().get(account.owner)?.wallet,
        kind: account.kind,
        closed_only: account.closed_only,
        free: account.free,
        reserved: account.reserved,
        live_orders: u32::try_from(live_orders).unwrap_or(u32::MAX),
        positions,
    })
}
