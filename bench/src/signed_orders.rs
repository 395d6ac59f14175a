//! Orders as a client signs them, and their requests, byte by byte ready to be sent.

use std::time::{SystemTime, UNIX_EPOCH};

use alloy_primitives::U256;
use foretell_auth::signing::signed_order_id;
use foretell_auth::text::checksum_address;
use foretell_auth::{Domain, L2Credentials, L2Request, OrderFields, Signer};
use foretell_model::{Lots, Side, TimeMs, WalletKind};
use serde_json::json;

use crate::live_exchange::{PREFIX, TOKENS};

/// One share.
const LOTS: Lots = Lots(100);
/// Bids at cents from 1 on; nobody offers, so all of them rest.
const CENTS: u64 = 50;
const UNITS_PER_CENT: u64 = 100;

/// One of them.
pub(crate) struct SignedOrder {
    pub(crate) fields: OrderFields,
    pub(crate) signature: Vec<u8>,
    /// `0x` and 64 hex digits: what the answer must name.
    pub(crate) id: String,
    /// The whole HTTP request.
    pub(crate) request: Vec<u8>,
}

/// A bid that rests; `salt` tells it from the others.
pub(crate) fn sign(
    signer: &Signer,
    credentials: &L2Credentials,
    domain: &Domain,
    salt: u32,
) -> SignedOrder {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let salt = u64::from(salt);
    let mut salt_word = [0; 32];
    salt_word[24..].copy_from_slice(&salt.to_be_bytes());
    let fields = OrderFields {
        salt: salt_word,
        maker: signer.address(),
        signer: signer.address(),
        token: TOKENS[0],
        maker_amount: LOTS.0 * (1 + salt % CENTS) * UNITS_PER_CENT,
        taker_amount: LOTS.micro_shares(),
        side: Side::Buy,
        signature_type: WalletKind::Eoa,
        timestamp: TimeMs(u64::try_from(now.as_millis()).unwrap_or(u64::MAX)),
        metadata: [0; 32],
        builder: [0; 32],
    };
    let signature = signer.sign_order(&fields, domain);
    let body = json!({
        "order": {
            "salt": salt,
            "maker": checksum_address(fields.maker),
            "signer": checksum_address(fields.signer),
            "tokenId": U256::from_be_bytes(fields.token.0).to_string(),
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
        "owner": credentials.api_key(),
        "orderType": "GTC",
        "postOnly": false,
        "deferExec": false,
    })
    .to_string();
    let request = L2Request {
        method: "POST",
        path: "/order",
        body: body.as_bytes(),
    };
    let headers: String = credentials
        .headers(PREFIX, now.as_secs(), &request)
        .into_iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let length = body.len();
    let request = format!(
        "POST /order HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
    );
    SignedOrder {
        id: format!("0x{}", hex::encode(signed_order_id(&fields, domain).0)),
        fields,
        signature,
        request: request.into_bytes(),
    }
}
