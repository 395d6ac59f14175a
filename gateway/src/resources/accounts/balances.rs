//! `GET /balance-allowance` and `/balance-allowance/update` (docs/api/market-data.md §7).

use foretell_model::{AccountNumber, Lots, MarketNumber, Outcome, WalletKind};
use foretell_view::{Accounts, View};
use foretell_wire::ErrorCode;
use foretell_wire::accounts::account::BalanceAnswer;
use foretell_wire::read::query::trading::{BalanceAsset, BalanceQuery};

use crate::access::authenticate::ReadKey;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromQuery;
use crate::http::request_context::RequestContext;
use crate::resources::market_of;

/// Both paths; the built-in ledger has nothing to update.
pub(crate) async fn one(
    context: RequestContext,
    ReadKey(caller): ReadKey,
    FromQuery(wanted): FromQuery<BalanceQuery>,
) -> Result<Json<BalanceAnswer<'static>>, Failure> {
    let app = &context.app;
    let token = match &wanted.asset {
        BalanceAsset::Collateral => None,
        BalanceAsset::Conditional(token) => {
            let found = app.find(|view| market_of(view, token)).await?;
            Some(found.ok_or(ErrorCode::OrderbookNotFound)?)
        }
    };
    let state = app.shared_view.read();
    let accounts = state.view.accounts();
    let wallet = wallet(accounts, caller.owner, wanted.kind);
    let amounts = wallet.and_then(|wallet| amounts(&state.view, wallet, token));
    let (balance, available) = amounts.unwrap_or_default();
    let answer = BalanceAnswer {
        balance,
        available,
        contracts: &app.auth.contracts,
    };
    Ok(Json::of(&answer).at(state.position()))
}

/// The owner's wallet for a request: the wallet of the kind named; else its only bound wallet, else
/// the owner itself.
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

/// The total and the free amount, in micros.
fn amounts(
    view: &View,
    wallet: AccountNumber,
    token: Option<(MarketNumber, Outcome)>,
) -> Option<(u64, u64)> {
    let account = view.accounts().get(wallet)?;
    Some(match token {
        None => (account.total().0, account.free.0),
        Some((market, outcome)) => {
            let held = view.holdings().balance(wallet, market);
            let micros = |lots: Lots| lots.micro_shares();
            (micros(held.total(outcome)), micros(held.free(outcome)))
        }
    })
}
