//! Every request of polyoxide's clients.

mod catalog;
mod data;
mod data_v2;
mod trading;

use polyoxide_polymarket::clob::{Account, Chain, CreateOrderParams, Credentials, OrderKind, OrderSide};
use polyoxide_polymarket::{Polymarket, clob::ClobError};

use crate::facts::{Facts, Surfaces};
use crate::method::Method;

/// A client of these surfaces.
fn client(facts: &Facts, surfaces: &Surfaces) -> Polymarket {
    let credentials =
        Credentials { key: facts.api.key.clone(), secret: facts.api.secret.clone(), passphrase: facts.api.passphrase.clone() };
    with_key(facts, surfaces, credentials)
}

/// The same with another key of the interface.
fn with_key(facts: &Facts, surfaces: &Surfaces, credentials: Credentials) -> Polymarket {
    let account = Account::new(facts.key.clone(), credentials).expect("a key");
    Polymarket::builder(account)
        .clob_base_url(&surfaces.trading)
        .gamma_base_url(&surfaces.catalog)
        .data_base_url(&surfaces.data)
        .chain(Chain::PolygonMainnet)
        .build()
        .expect("addresses")
}

pub async fn methods(facts: &'static Facts) -> Vec<Method> {
    let client: &'static Polymarket = Box::leak(Box::new(client(facts, &facts.surfaces)));
    let mut methods = trading::methods(client, facts);
    methods.extend(catalog::methods(client, facts));
    methods.extend(data::methods(facts));
    methods.extend(data_v2::methods(client, facts));
    methods
}

/// The terms of an order that rests.
fn terms(facts: &Facts) -> CreateOrderParams {
    CreateOrderParams {
        token_id: facts.market.yes.clone(),
        price: 0.11,
        size: 10.0,
        side: OrderSide::Buy,
        order_type: OrderKind::Gtc,
        post_only: false,
        expiration: None,
        funder: None,
        signature_type: None,
    }
}

/// An order that rests, placed by a client whose requests are not seen.
async fn rested(facts: &Facts) -> Result<String, ClobError> {
    let client = client(facts, &facts.direct);
    let placed = client.clob.place_order(&terms(facts), None).await?;
    Ok(placed.order_id.expect("the order rests"))
}
