//! Every asynchronous method of the official SDK.

mod catalog;
mod data;
mod market_data;
mod quotes;
mod trading;

use std::str::FromStr as _;

use polymarket_client_sdk_v2::auth::state::{Authenticated, Unauthenticated};
use polymarket_client_sdk_v2::auth::{Credentials, LocalSigner, Normal, Signer as _};
use polymarket_client_sdk_v2::clob::types::request::CancelMarketOrderRequest;
use polymarket_client_sdk_v2::clob::types::{Side, SignableOrder, SignedOrder};
use polymarket_client_sdk_v2::clob::{Client, Config};
use polymarket_client_sdk_v2::types::{Address, B256, Decimal, U256};
use polymarket_client_sdk_v2::{POLYGON, Result};

use crate::facts::{Facts, Surfaces};
use crate::method::Method;

/// A client with a key, of these surfaces.
type Trader = Client<Authenticated<Normal>>;

/// A client without a key.
fn visitor(facts: &Facts, surfaces: &Surfaces) -> Client<Unauthenticated> {
    let config = Config::builder().geoblock_host(format!("{}/", facts.absent)).build();
    Client::new(&surfaces.trading, config).expect("an address")
}

async fn trader(facts: &Facts, surfaces: &Surfaces) -> Result<Trader> {
    let key = facts.api.key.parse().expect("a UUID");
    let credentials = Credentials::new(key, facts.api.secret.clone(), facts.api.passphrase.clone());
    visitor(facts, surfaces).authentication_builder(&signer(facts)).credentials(credentials).authenticate().await
}

fn signer(facts: &Facts) -> impl polymarket_client_sdk_v2::auth::Signer + Sync + use<> {
    LocalSigner::from_str(&facts.key).expect("a key").with_chain_id(Some(POLYGON))
}

pub async fn methods(facts: &'static Facts) -> Vec<Method> {
    let visitor: &'static _ = Box::leak(Box::new(visitor(facts, &facts.surfaces)));
    let trader: &'static _ = Box::leak(Box::new(trader(facts, &facts.surfaces).await.expect("a client with its key")));
    let mut methods = market_data::methods(visitor, facts);
    methods.extend(trading::methods(visitor, trader, facts));
    methods.extend(quotes::methods(trader, facts));
    methods.extend(data::methods(facts));
    methods.extend(catalog::methods(facts));
    methods
}

fn token(text: &str) -> U256 {
    U256::from_str(text).expect("a token id")
}

fn condition(facts: &Facts) -> B256 {
    facts.market.condition.parse().expect("a condition id")
}

fn wallet(facts: &Facts) -> Address {
    facts.wallet.parse().expect("a wallet")
}

/// The terms of an order that rests.
async fn terms(client: &Trader, facts: &Facts) -> Result<SignableOrder> {
    let price = Decimal::new(11, 2);
    let order = client.limit_order().token_id(token(&facts.market.yes)).side(Side::Buy);
    order.price(price).size(Decimal::from(10)).build().await
}

/// The same, signed by a client whose requests are not seen.
async fn signed(facts: &Facts) -> Result<SignedOrder> {
    let client = trader(facts, &facts.direct).await?;
    let order = terms(&client, facts).await?;
    client.sign(&signer(facts), order).await
}

/// The same, placed.
async fn rested(facts: &Facts) -> Result<String> {
    let client = trader(facts, &facts.direct).await?;
    Ok(client.post_order(signed(facts).await?).await?.order_id)
}

fn of_market(facts: &Facts) -> CancelMarketOrderRequest {
    CancelMarketOrderRequest::builder().market(condition(facts)).build()
}
