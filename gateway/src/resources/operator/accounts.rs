//! Money in and out, wallets and their owners: `/accounts/…`, `/fees/withdraw`.

use foretell_model::{AccountNumber, Command, Outcome, WalletAddress};
use foretell_view::{Account, View};
use foretell_wire::ErrorCode;
use foretell_wire::operator::{
    AccountAnswer, AccountRow, AccountRows, AccountsQuery, CommandAnswer, PositionAnswer,
    ProfileEdit,
};

use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::{FromBody, FromPath, FromQuery};
use crate::http::request_context::RequestContext;
use crate::resources::operator::market_life::own_markets::describe_as;
use crate::view::search::{PageBack, STEP, in_steps};

/// `POST /accounts/describe`: changes the profile of a wallet.
pub(crate) async fn describe_wallet(
    context: RequestContext,
    FromBody(edit): FromBody<ProfileEdit>,
) -> Result<Json<CommandAnswer>, Failure> {
    let evidence = edit.to_evidence()?;
    let wallet = edit.wallet;
    describe_as(&context, Command::DescribeWallet { wallet }, &evidence).await
}

/// `GET /accounts`: by the beginning of the address, the newest first.
pub(crate) async fn list(
    context: RequestContext,
    FromQuery(query): FromQuery<AccountsQuery>,
) -> Result<Json<AccountRows>, Failure> {
    let app = &context.app;
    app.shared_view.catch_up().await?;
    let beginning = query.wallet.unwrap_or_default().to_lowercase();
    let mut page = PageBack::new(query.before, query.limit);
    let ((), position) = in_steps(app, |state| {
        let view = &state.view;
        let accounts = view.accounts().before(page.before().map(AccountNumber));
        let accounts = accounts.map(|(number, account)| (number.0, (number, account)));
        page.step(STEP, accounts, |(number, account)| {
            let is_wanted = account.wallet.to_string().starts_with(&beginning);
            is_wanted
                .then(|| account_row(view, number, account))
                .flatten()
        })
    })
    .await;
    let (accounts, next) = page.finish();
    Ok(Json::of(&AccountRows { accounts, next }).at(position))
}

/// `GET /accounts/{wallet}`.
pub(crate) async fn show(
    context: RequestContext,
    FromPath(wallet): FromPath<WalletAddress>,
) -> Result<Json<AccountAnswer>, Failure> {
    let app = &context.app;
    let found = app.find(|view| {
        let (number, account) = view.accounts().by_wallet(&wallet)?;
        Some(AccountAnswer {
            account: account_row(view, number, account)?,
            positions: positions(view, number)?,
        })
    });
    let account = found.await?.ok_or(ErrorCode::AccountNotFound)?;
    Ok(Json::of(&account).at(app.shared_view.read().position()))
}

fn positions(view: &View, account: AccountNumber) -> Option<Vec<PositionAnswer>> {
    let mut positions = Vec::new();
    for (market, held) in view.holdings().balances(account) {
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
    Some(positions)
}

fn account_row(view: &View, number: AccountNumber, account: &Account) -> Option<AccountRow> {
    let live_orders = view.orders().live_count_of(number);
    Some(AccountRow {
        wallet: account.wallet,
        owner: view.accounts().get(account.owner)?.wallet,
        kind: account.kind,
        closed_only: account.closed_only,
        free: account.free,
        reserved: account.reserved,
        accrued: account.accrued,
        live_orders: u32::try_from(live_orders).unwrap_or(u32::MAX),
    })
}
