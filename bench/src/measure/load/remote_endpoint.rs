//! A server that the caller runs: obtains an API key there and derives order terms from a market's
//! book.

use std::sync::atomic::AtomicU64;

use foretell_auth::{Domains, L2Credentials, Signer};
use foretell_model::TokenId;
use foretell_wire::text::decimal;
use serde_json::Value;

use super::LoadScope;
use super::endpoint::{Endpoint, Trader};
use crate::error::MeasureError;
use crate::harness::http::Connection;
use crate::harness::latency::now_ms;
use crate::harness::load_target::Target;
use crate::workloads::signed_orders::{self, Terms};

/// Maximum live orders of an account there, minus room for existing ones (docs/verify/rules.md §9).
const LIVE_ORDERS: usize = 4_000;
/// A cent in price units: a multiple of every tick except 0.1.
const CENT: u64 = 100;
/// The lowest price at a tick of 0.1.
const TENTH: u64 = 1_000;

/// Obtains an API key for the account and reads the token's book.
///
/// # Errors
/// The key or the token is invalid, the server cannot be reached or rejects a request, or the token
/// is offered at the lowest price.
pub(super) fn open(scope: &LoadScope, target: Target) -> Result<Endpoint, MeasureError> {
    let key = scope.private_key()?;
    let signer = Signer::from_hex(key.trim()).ok_or_else(|| {
        MeasureError::wrong("the private key is not 64 hex digits of a valid key")
    })?;
    let domains = Domains::standard(scope.chain, true).map_err(MeasureError::wrong)?;
    let digits = scope.token.as_deref().unwrap_or_default();
    let token = decimal::uint256(digits)
        .map(TokenId)
        .map_err(|_| MeasureError::wrong("the token is not a number in decimal digits"))?;
    let credentials = credentials(&target, &scope.header_prefix, &signer, domains.chain_id())?;
    let query = format!("/book?token_id={digits}");
    let book = ask(&target, &request("GET", &query, &target.host, ""))?;
    let neg_risk = book["neg_risk"].as_bool().unwrap_or_default();
    Ok(Endpoint {
        address: target.address,
        host: target.host,
        prefix: scope.header_prefix.clone(),
        traders: vec![Trader {
            signer,
            credentials,
        }],
        domain: signed_orders::domain_of(&domains, neg_risk)?,
        terms: terms(token, &book)?,
        live_orders: Some(LIVE_ORDERS),
        salts: AtomicU64::new(0),
    })
}

fn credentials(
    target: &Target,
    prefix: &str,
    signer: &Signer,
    chain: u64,
) -> Result<L2Credentials, MeasureError> {
    let headers: String = signer
        .l1_headers(prefix, chain, now_ms().0 / 1_000, 0)
        .into_iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let request = request("POST", "/auth/api-key", &target.host, &headers);
    let key = ask(target, &request)?;
    let text = |name: &str| key[name].as_str().unwrap_or_default();
    let [id, secret, passphrase] = ["apiKey", "secret", "passphrase"].map(text);
    L2Credentials::from_texts(signer.address(), id, secret, passphrase)
        .filter(|_| !id.is_empty())
        .ok_or_else(|| MeasureError::wrong("the server gave no API key"))
}

fn request(method: &str, path: &str, host: &str, headers: &str) -> Vec<u8> {
    let length = if method == "POST" {
        "Content-Length: 0\r\n"
    } else {
        ""
    };
    format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n{headers}{length}\r\n").into_bytes()
}

/// Sends one request; the response must be 200 and JSON. Its text is shown only if it is a
/// rejection.
fn ask(target: &Target, request: &[u8]) -> Result<Value, MeasureError> {
    let mut connection =
        Connection::open(target.address).map_err(MeasureError::io("connecting"))?;
    let answer = connection
        .ask(request)
        .map_err(MeasureError::io("waiting for an answer"))?;
    if answer.status != 200 {
        let line = request
            .split(|byte| *byte == b'\r')
            .next()
            .unwrap_or_default();
        return Err(MeasureError::Wrong(format!(
            "{}: {} {}",
            String::from_utf8_lossy(line),
            answer.status,
            String::from_utf8_lossy(answer.body)
        )));
    }
    serde_json::from_slice(answer.body).map_err(|_| MeasureError::wrong("an answer is not JSON"))
}

/// The smallest bids at the lowest price, which must rest.
fn terms(token: TokenId, book: &Value) -> Result<Terms, MeasureError> {
    let text = |name: &str| book[name].as_str().unwrap_or_default();
    let wrong = |name| MeasureError::Wrong(format!("the book's {name} cannot be read"));
    let lots = decimal::lots(text("min_order_size")).ok_or_else(|| wrong("min_order_size"))?;
    let tick = decimal::tick(text("tick_size")).ok_or_else(|| wrong("tick_size"))?;
    let lowest = if tick.text() == "0.1" { TENTH } else { CENT };
    let asks = book["asks"].as_array().ok_or_else(|| wrong("asks"))?;
    let units = |ask: &Value| decimal::fixed_point(ask["price"].as_str().unwrap_or_default(), 4);
    let crossed = |ask: &Value| units(ask).is_none_or(|units| units <= lowest);
    if asks.iter().any(crossed) {
        return Err(MeasureError::Wrong(format!(
            "this token is offered at {lowest} / 10,000, where the load would bid: its orders \
             must rest; take another token"
        )));
    }
    Ok(Terms {
        token,
        lots,
        lowest,
        prices: 1,
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case("0.01", json!([]), Some(100))]
    #[case("0.1", json!([{"price": "0.2", "size": "1"}]), Some(1_000))]
    #[case("0.1", json!([{"price": "0.1", "size": "1"}]), None)]
    #[case("0.001", json!([{"price": "0.9", "size": "1"}, {"price": "0.01", "size": "1"}]), None)]
    #[case("0.01", json!([{"price": "dear", "size": "1"}]), None)]
    #[case("0.05", json!([]), None)]
    fn bids_rest_at_the_lowest_price(
        #[case] tick: &str,
        #[case] asks: Value,
        #[case] lowest: Option<u64>,
    ) {
        let book = json!({"tick_size": tick, "min_order_size": "5", "asks": asks});
        let terms = terms(TokenId([1; 32]), &book).ok();
        assert_eq!(
            terms.map(|terms| (terms.lots.0, terms.lowest)),
            lowest.map(|it| (500, it))
        );
    }
}
