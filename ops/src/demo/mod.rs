//! `up --demo`: sample markets, funded development wallets, market-making bots.

mod actions;
pub mod banner;
pub mod bots;
mod catalog_updates;
mod market;
mod offers;
pub(crate) mod past;
pub mod quotes;
mod random;
pub mod sample;
mod short_markets;
mod summary;
pub mod wallets;

use std::collections::HashSet;
use std::net::SocketAddr;

use foretell_model::MarketState;
use foretell_operator_client::OperatorClient;
use foretell_wire::operator::{Address, Amount, OperatorCommand, Readable as _, Transfer};
use foretell_wire::text::decimal::Decimal;

use crate::catalog::import_records;
use crate::config::Config;
use crate::failure::Failure;
use crate::profile;
use banner::Banner;
use sample::{Sample, SampleMarket};
use wallets::{BOTS, VISITORS};

/// Report name of the sample in the catalog.
const SAMPLE_NAME: &str = "the demo's sample";
/// Profile bio of each bot on the data surface.
const BOT_BIO: &str = "Quotes every market of the demo.";
/// Collateral of each visitor's wallet.
const VISITOR_FUNDS: &str = "10000";
/// Collateral of each bot's wallet.
const BOT_FUNDS: &str = "5000000";

/// Listen addresses of an exchange.
#[derive(Clone, Copy, Debug)]
pub struct SurfaceAddresses {
    /// The trading surface.
    pub trading: SocketAddr,
    /// The data surface.
    pub data: SocketAddr,
    /// The catalog surface.
    pub catalog: SocketAddr,
    /// The operator surface.
    pub operator: SocketAddr,
}

/// Imports the sample into the catalog, which registers its markets, and funds the wallets through
/// the operator surface. Every step is idempotent, so a second start changes nothing. `command`
/// starts this program against this exchange.
///
/// # Errors
/// The catalog cannot be written, or the operator surface rejects a step.
pub async fn prepare(
    config: &Config,
    surfaces: &SurfaceAddresses,
    client: &OperatorClient,
    command: String,
) -> Result<Banner, Failure> {
    let registered = client.markets("").await?;
    let mut sample = Sample::load()?;
    sample.date_ended(|market| {
        let condition = market.condition_id();
        let mut rows = registered.iter();
        let row = rows.find(|row| row.condition_id.to_string() == condition)?;
        row.end_date.clone()
    });
    let records = sample.records().to_string();
    import_records(config, surfaces.operator, SAMPLE_NAME, records.as_bytes()).await?;
    for (wallets, amount) in [(&VISITORS[..], VISITOR_FUNDS), (&BOTS[..], BOT_FUNDS)] {
        for wallet in wallets {
            let deposit = OperatorCommand::Deposit(funding(wallet.address, amount)?);
            client.send(&deposit).await?;
        }
    }
    for (number, bot) in BOTS.iter().enumerate() {
        let name = format!("Demo bot {}", number + 1);
        profile::create_profile(config, client, (bot.address, &name, BOT_BIO)).await?;
    }
    let active = active_markets(client).await?;
    let is_active = |market: &&SampleMarket| active.contains(&market.condition_id());
    let markets = || sample.events.iter().rev().flat_map(|event| &event.markets);
    let shown = markets().find(is_active).or_else(|| markets().next());
    let shown = shown.ok_or_else(|| Failure::new("the sample is empty"))?;
    let ([token, _], condition) = (shown.token_ids(), shown.condition_id());
    let visitor = client.account(VISITORS[0].address).await?;
    let funded = Decimal::from(visitor.account.free).to_string();
    Ok(Banner {
        trading: format!("http://{}", surfaces.trading),
        data: format!("http://{}", surfaces.data),
        catalog: format!("http://{}", surfaces.catalog),
        operator: client.base().to_owned(),
        token_file: config.operator_token_file().display().to_string(),
        chain: config.signing.chain,
        wallet: VISITORS[0],
        funded,
        markets: markets().filter(is_active).count(),
        question: shown.question.clone(),
        token,
        condition,
        bot: BOTS[0].address,
        command,
    })
}

/// The deposit that funds a wallet; repeated, it changes nothing.
fn funding(wallet: &str, amount: &str) -> Result<Transfer, Failure> {
    Ok(Transfer {
        wallet: Address::parse("wallet", wallet)?,
        amount: Amount::parse("amount", amount)?,
        reference: format!("demo-{wallet}"),
    })
}

/// Condition ids of all active markets.
async fn active_markets(client: &OperatorClient) -> Result<HashSet<String>, Failure> {
    let rows = client.markets("").await?.into_iter();
    let active = rows.filter(|row| row.status == MarketState::Active);
    Ok(active.map(|row| row.condition_id.to_string()).collect())
}
