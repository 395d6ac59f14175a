//! Money in and out, wallets and their owners: `/accounts/…`, `/fees/withdraw`.

use foretell_model::{Command, Outcome};
use foretell_view::{Account, View};
use foretell_wire::operator::{
    AccountAnswer, Address, Binding, ClosedOnly, FeesWithdrawal, PlainForm as _, PositionAnswer,
    Transfer, WalletName, read,
};
use foretell_wire::{ErrorCode, json_text};

use super::apply;
use crate::answer::Answer;
use crate::failure::Failure;
use crate::request_context::RequestContext;
use crate::resources::reference;

/// `POST /accounts/deposit`.
pub(crate) async fn deposit(context: RequestContext) -> Result<Answer, Failure> {
    let to: Transfer = read(&context.body)?;
    let command = Command::Deposit {
        wallet: to.wallet,
        amount: to.amount,
        reference: reference(&to.reference),
    };
    apply(&context.app, command, to.reference.as_bytes()).await
}

/// `POST /accounts/withdraw`.
pub(crate) async fn withdraw(context: RequestContext) -> Result<Answer, Failure> {
    let from: Transfer = read(&context.body)?;
    let command = Command::Withdraw {
        wallet: from.wallet,
        amount: from.amount,
        reference: reference(&from.reference),
    };
    apply(&context.app, command, from.reference.as_bytes()).await
}

/// `POST /fees/withdraw`.
pub(crate) async fn withdraw_fees(context: RequestContext) -> Result<Answer, Failure> {
    let fees: FeesWithdrawal = read(&context.body)?;
    let command = Command::WithdrawFees {
        amount: fees.amount,
        reference: reference(&fees.reference),
    };
    apply(&context.app, command, fees.reference.as_bytes()).await
}

/// `POST /accounts/bind`.
pub(crate) async fn bind(context: RequestContext) -> Result<Answer, Failure> {
    let Binding {
        owner,
        wallet,
        kind,
    } = read(&context.body)?;
    let command = Command::BindWallet {
        owner,
        wallet,
        kind,
    };
    apply(&context.app, command, &[]).await
}

/// `POST /accounts/unbind`.
pub(crate) async fn unbind(context: RequestContext) -> Result<Answer, Failure> {
    let WalletName { wallet } = read(&context.body)?;
    apply(&context.app, Command::UnbindWallet { wallet }, &[]).await
}

/// `POST /accounts/closed-only`.
pub(crate) async fn closed_only(context: RequestContext) -> Result<Answer, Failure> {
    let ClosedOnly {
        wallet,
        closed_only,
    } = read(&context.body)?;
    let command = Command::SetClosedOnly {
        wallet,
        closed_only,
    };
    apply(&context.app, command, &[]).await
}

/// `GET /accounts/{wallet}`.
pub(crate) async fn show(context: RequestContext) -> Result<Answer, Failure> {
    let app = &context.app;
    let wallet = Address::parse("wallet", &context.parameter)?;
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
