//! What calls need to know of the running exchange.

use serde::Deserialize;

/// Ids are texts, as the interface has them.
#[derive(Debug, Deserialize)]
pub struct Facts {
    /// The surfaces through which the requests of a call are seen.
    pub surfaces: Surfaces,
    /// The surfaces themselves, for what a call needs first.
    pub direct: Surfaces,
    /// A host of the family that is not here.
    pub absent: String,
    /// The private key and the key of the interface of the caller.
    pub key: String,
    pub api: ApiKey,
    /// The wallet's signature for a key of nonce 0.
    pub signature: WalletSignature,
    pub wallet: String,
    /// The name of its profile.
    pub name: String,
    /// A wallet with a rebate, and its day.
    pub maker: String,
    pub day: String,
    /// An own market with a book on both sides and a trade.
    pub market: MarketIds,
    /// Two questions of an event.
    pub group: EventIds,
    /// An imported event.
    pub record: EventIds,
    /// A builder's code.
    pub builder: String,
}

/// Addresses.
#[derive(Debug, Deserialize)]
pub struct Surfaces {
    pub trading: String,
    pub data: String,
    pub catalog: String,
}

#[derive(Debug, Deserialize)]
pub struct ApiKey {
    pub key: String,
    pub secret: String,
    pub passphrase: String,
}

#[derive(Debug, Deserialize)]
pub struct WalletSignature {
    pub timestamp: u64,
    pub text: String,
}

#[derive(Debug, Deserialize)]
pub struct MarketIds {
    pub id: String,
    pub event: String,
    pub condition: String,
    pub yes: String,
    pub no: String,
}

#[derive(Debug, Deserialize)]
pub struct EventIds {
    pub id: String,
    pub slug: String,
    pub title: String,
    pub market: String,
    #[serde(default)]
    pub market_slug: String,
    #[serde(default)]
    pub tag: String,
    #[serde(default)]
    pub tag_slug: String,
    #[serde(default)]
    pub series: String,
}
