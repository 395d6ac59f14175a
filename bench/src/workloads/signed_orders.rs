//! Orders signed as by a client, and complete request bytes.

use alloy_primitives::U256;
use foretell_auth::signing::signed_order_id;
use foretell_auth::text::checksum_address;
use foretell_auth::{Domain, Domains, L2Credentials, L2Request, OrderFields, Signer};
use foretell_model::{Lots, Side, TokenId, WalletKind};
use serde_json::json;

use super::venue::{self, UNITS_PER_CENT};
use crate::error::MeasureError;
use crate::harness::latency::now_ms;
use crate::harness::live_exchange::PREFIX;

/// Private key of no value, for exchanges of our own. Others differ in the first bytes.
const PRIVATE_KEY: [u8; 32] = [0x42; 32];

/// Owner of the first account on exchanges of our own.
pub(crate) fn signer() -> Result<Signer, MeasureError> {
    numbered_signer(0)
}

/// Owner of the account with this number.
pub(crate) fn numbered_signer(number: u32) -> Result<Signer, MeasureError> {
    let mut key = PRIVATE_KEY;
    for (byte, change) in key.iter_mut().zip(number.to_le_bytes()) {
        *byte ^= change;
    }
    Signer::from_bytes(&key).ok_or_else(|| MeasureError::wrong("a private key is invalid"))
}

/// The default signing domain of plain or neg-risk markets.
pub(crate) fn domain(neg_risk: bool) -> Result<Domain, MeasureError> {
    domain_of(&Domains::default(), neg_risk)
}

/// The signing domain of plain or neg-risk markets.
pub(crate) fn domain_of(domains: &Domains, neg_risk: bool) -> Result<Domain, MeasureError> {
    let first = domains.candidates(neg_risk).next().cloned();
    first.ok_or_else(|| MeasureError::wrong("no signing domain for the market"))
}

/// Common terms of a measurement's orders: bids that rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub(crate) token: TokenId,
    pub(crate) lots: Lots,
    /// The lowest price in units of 0.0001; the others are multiples of it.
    pub(crate) lowest: u64,
    /// Number of prices.
    pub(crate) prices: u64,
}

impl Terms {
    /// One share at cents from 1 on, in the market of a [`crate::harness::live_exchange`], where there are
    /// no asks.
    pub(crate) const LIVE_EXCHANGE: Self = Self {
        token: venue::tokens(0)[0],
        lots: Lots(100),
        lowest: UNITS_PER_CENT,
        prices: 50,
    };

    /// The token id in the interface's format.
    pub(crate) fn token_text(&self) -> String {
        U256::from_be_bytes(self.token.0).to_string()
    }
}

pub(crate) struct SignedOrder {
    pub(crate) fields: OrderFields,
    pub(crate) signature: Vec<u8>,
    /// Order id, `0x` and 64 hex digits: the answer must name it.
    pub(crate) id: String,
    /// Body of `POST /order`, one element of that of `POST /orders`.
    pub(crate) body: String,
}

/// Signs a bid; `salt` distinguishes orders of the same millisecond, and is at most 2^53.
pub(crate) fn sign(
    signer: &Signer,
    api_key: &str,
    domain: &Domain,
    terms: &Terms,
    salt: u64,
) -> SignedOrder {
    let mut salt_word = [0; 32];
    salt_word[24..].copy_from_slice(&salt.to_be_bytes());
    let fields = OrderFields {
        salt: salt_word,
        maker: signer.address(),
        signer: signer.address(),
        token: terms.token,
        maker_amount: terms.lots.0 * (1 + salt % terms.prices) * terms.lowest,
        taker_amount: terms.lots.micro_shares(),
        side: Side::Buy,
        signature_type: WalletKind::Eoa,
        timestamp: now_ms(),
        metadata: [0; 32],
        builder: [0; 32],
    };
    let signature = signer.sign_order(&fields, domain);
    let body = json!({
        "order": {
            "salt": salt,
            "maker": checksum_address(fields.maker),
            "signer": checksum_address(fields.signer),
            "tokenId": terms.token_text(),
            "makerAmount": fields.maker_amount.to_string(),
            "takerAmount": fields.taker_amount.to_string(),
            "side": "BUY",
            "expiration": "0",
            "signatureType": fields.signature_type.code(),
            "timestamp": fields.timestamp.0.to_string(),
            "metadata": format!("0x{}", hex::encode(fields.metadata)),
            "builder": format!("0x{}", hex::encode(fields.builder)),
            "signature": format!("0x{}", hex::encode(&signature)),
        },
        "owner": api_key,
        "orderType": "GTC",
        "postOnly": false,
        "deferExec": false,
    })
    .to_string();
    SignedOrder {
        id: format!("0x{}", hex::encode(signed_order_id(&fields, domain).0)),
        fields,
        signature,
        body,
    }
}

/// Credentials and host of requests.
pub(crate) struct Sender<'a> {
    /// Family of credential headers.
    pub(crate) prefix: &'a str,
    /// Value of `Host`.
    pub(crate) host: &'a str,
    pub(crate) credentials: &'a L2Credentials,
}

impl<'a> Sender<'a> {
    /// For a [`crate::harness::live_exchange`].
    pub(crate) const fn bench(credentials: &'a L2Credentials) -> Self {
        Self {
            prefix: PREFIX,
            host: "bench",
            credentials,
        }
    }

    /// The complete HTTP request, signed as of `seconds` of the wall clock.
    pub(crate) fn request(&self, method: &str, path: &str, body: &str, seconds: u64) -> Vec<u8> {
        let signed = L2Request {
            method,
            path,
            body: body.as_bytes(),
        };
        let headers: String = self
            .credentials
            .headers(self.prefix, seconds, &signed)
            .into_iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        let (host, length) = (self.host, body.len());
        format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
        )
        .into_bytes()
    }
}
