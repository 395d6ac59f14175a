//! `GET /balance-allowance` and `/balance-allowance/update` (protocol 6, 11).

use foretell_model::{AccountNumber, Lots, MarketNumber, Outcome, WalletKind};
use foretell_view::{Account, Accounts};
use foretell_wire::account::BalanceAnswer;
use foretell_wire::query::{Asset, BalanceQuery};
use foretell_wire::{Failure as Refusal, json_text};

use crate::answer::Answer;
use crate::auth::Level;
use crate::call::Call;
use crate::failure::Failure;
use crate::resources::market_of;

/// Both paths: the built-in ledger has nothing to update.
pub(crate) async fn one(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let caller = app.auth.l2(&call, Level::Read).await?;
    let wanted = BalanceQuery::of(&call.query()?)?;
    app.fresh(&call).await?;
    let token = match &wanted.asset {
        Asset::Collateral => None,
        Asset::Conditional(token) => {
            let found = app.find(|view| market_of(view, token)).await?;
            Some(found.ok_or(Refusal::NoOrderbook)?)
        }
    };
    let state = app.replica.read();
    let accounts = state.view.accounts();
    let account = wallet(accounts, caller.owner, wanted.kind).and_then(|it| accounts.get(it));
    let (balance, available) = account.map_or((0, 0), |account| amounts(account, token));
    let answer = BalanceAnswer {
        balance,
        available,
        contracts: &app.auth.contracts,
    };
    Ok(Answer::json(json_text(&answer)).at(state.place()))
}

/// The owner's wallet a request means: that of the kind it names; else its only bound wallet, else
/// itself.
pub(crate) fn wallet(
    accounts: &Accounts,
    owner: AccountNumber,
    kind: Option<WalletKind>,
) -> Option<AccountNumber> {
    if let Some(kind) = kind {
        return accounts.wallet_of_kind(owner, kind);
    }
    let mut bound = accounts.wallets_of(owner).filter(|wallet| *wallet != owner);
    match (bound.next(), bound.next()) {
        (Some(only), None) => Some(only),
        _ => Some(owner),
    }
}

/// All of it, and what is not reserved, in micros.
fn amounts(account: &Account, token: Option<(MarketNumber, Outcome)>) -> (u64, u64) {
    match token {
        None => (account.total().0, account.free.0),
        Some((market, outcome)) => {
            let held = account.holding(market);
            let micros = |lots: Lots| lots.micro_shares();
            (micros(held.total(outcome)), micros(held.free(outcome)))
        }
    }
}
