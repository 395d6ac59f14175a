//! Typed data (EIP-712) as wallets get it, restricted to the statements of this exchange: the
//! request of an API key, an order, and a withdrawal. The digest is computed from parsed fields, never taken.

use foretell_auth::domains::{Domain, Domains};
use foretell_auth::eip712::{
    DOMAIN_TYPE, DOMAIN_TYPE_WITH_SALT, DOMAIN_TYPE_WITHOUT_CONTRACT, Hash, L1_DOMAIN_NAME,
    L1_DOMAIN_VERSION, L1_MESSAGE, L1_TYPE, ORDER_TYPE, digest, l1_digest, order_struct_hash,
};
use foretell_auth::order::OrderFields;
use foretell_auth::text::parse_decimal_256;
use foretell_auth::withdrawal::{
    WITHDRAWAL_DOMAIN_NAME, WITHDRAWAL_DOMAIN_VERSION, WITHDRAWAL_TYPE, WithdrawalMessage,
};
use foretell_model::{Micros, Side, TimeMs, TokenId, WalletAddress, WalletKind};
use foretell_wire::text::ids;
use serde_json::{Map, Value};
use thiserror::Error;

/// Why typed data is not signed.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum TypedDataError {
    /// The domain has another chain than this exchange.
    #[error("domain.chainId is not {0}, the chain of this exchange")]
    Chain(u64),
    /// Neither the domain of L1 statements nor one of orders or of withdrawals.
    #[error("domain is not a domain of this exchange: see /ui/api/site")]
    Domain,
    /// Another type than those of this exchange.
    #[error("types.{0} is not the type that this exchange signs")]
    Types(&'static str),
    /// A field is missing or wrong.
    #[error("{field} is missing or wrong, allowed: {allowed}")]
    Field {
        field: &'static str,
        allowed: &'static str,
    },
}

const DIGITS: &str = "decimal digits, below the type's limit";
const ADDRESS: &str = "0x and 40 hex digits";

fn wrong(field: &'static str, allowed: &'static str) -> TypedDataError {
    TypedDataError::Field { field, allowed }
}

/// The digest that `signer` signs for typed data, if it is a statement of this exchange that the
/// signer makes itself. `salt` names the journal.
pub(crate) fn digest_of(
    data: &Value,
    signer: WalletAddress,
    domains: &Domains,
    salt: &[u8; 32],
) -> Result<Hash, TypedDataError> {
    let chain = domains.chain_id();
    let domain = object(data, "domain")?;
    if number(domain.get("chainId")) != Some(chain.into()) {
        return Err(TypedDataError::Chain(chain));
    }
    let message = object(data, "message")?;
    match data.get("primaryType").and_then(Value::as_str) {
        Some("ClobAuth") => {
            check_type(data, "ClobAuth", L1_TYPE)?;
            check_domain_type(data, DOMAIN_TYPE_WITHOUT_CONTRACT)?;
            check_statement_domain(domain)?;
            statement_digest(message, signer, chain)
        }
        Some("Order") => {
            check_type(data, "Order", ORDER_TYPE)?;
            check_domain_type(data, DOMAIN_TYPE)?;
            let domain = order_domain(domain, domains)?;
            let order = order(message)?;
            // A maker that is not the signer itself is a contract wallet of the same owner.
            if order.signer != signer {
                return Err(wrong("message.signer", "the account that signs"));
            }
            Ok(digest(
                domain.separator(),
                &order_struct_hash(&order.words()),
            ))
        }
        Some("Withdrawal") => {
            check_type(data, "Withdrawal", WITHDRAWAL_TYPE)?;
            check_domain_type(data, DOMAIN_TYPE_WITH_SALT)?;
            check_withdrawal_domain(domain, salt)?;
            Ok(withdrawal(message)?.digest(chain, salt))
        }
        _ => Err(wrong("primaryType", "ClobAuth, Order, Withdrawal")),
    }
}

fn object<'v>(
    data: &'v Value,
    field: &'static str,
) -> Result<&'v Map<String, Value>, TypedDataError> {
    let found = data.get(field).and_then(Value::as_object);
    found.ok_or_else(|| wrong(field, "an object"))
}

/// Checks that `types` describes a type by exactly these fields in this order.
fn check_type(data: &Value, name: &'static str, expected: &str) -> Result<(), TypedDataError> {
    let fields = data
        .get("types")
        .and_then(|types| types.get(name)?.as_array());
    let described = fields.and_then(|fields| {
        let field = |field: &Value| {
            let part = |name| field.get(name)?.as_str();
            Some(format!("{} {}", part("type")?, part("name")?))
        };
        let fields: Option<Vec<_>> = fields.iter().map(field).collect();
        Some(format!("{name}({})", fields?.join(",")))
    });
    match described {
        Some(described) if described == expected => Ok(()),
        _ => Err(TypedDataError::Types(name)),
    }
}

/// Checks the domain's type if it is given: libraries may leave it out.
fn check_domain_type(data: &Value, expected: &str) -> Result<(), TypedDataError> {
    match data
        .get("types")
        .and_then(|types| types.get("EIP712Domain"))
    {
        None => Ok(()),
        Some(_) => check_type(data, "EIP712Domain", expected),
    }
}

fn check_statement_domain(domain: &Map<String, Value>) -> Result<(), TypedDataError> {
    let is = |field, expected| domain.get(field).and_then(Value::as_str) == Some(expected);
    let known = is("name", L1_DOMAIN_NAME) && is("version", L1_DOMAIN_VERSION);
    // Name, version and chain; a contract or a salt would be part of the separator.
    if known && domain.len() == 3 {
        Ok(())
    } else {
        Err(TypedDataError::Domain)
    }
}

fn check_withdrawal_domain(
    domain: &Map<String, Value>,
    salt: &[u8; 32],
) -> Result<(), TypedDataError> {
    let text = |field| domain.get(field).and_then(Value::as_str);
    let is_known = text("name") == Some(WITHDRAWAL_DOMAIN_NAME)
        && text("version") == Some(WITHDRAWAL_DOMAIN_VERSION)
        && text("salt").and_then(ids::bytes32) == Some(*salt);
    match is_known && domain.len() == 4 {
        true => Ok(()),
        false => Err(TypedDataError::Domain),
    }
}

fn withdrawal(message: &Map<String, Value>) -> Result<WithdrawalMessage<'_>, TypedDataError> {
    let text = |field| message.get(field).and_then(Value::as_str);
    let amount = |field| u64::try_from(number(message.get(field))?).ok();
    let any = "a text";
    Ok(WithdrawalMessage {
        wallet: text("wallet")
            .and_then(ids::address)
            .ok_or_else(|| wrong("message.wallet", ADDRESS))?,
        destination: text("destination").ok_or_else(|| wrong("message.destination", any))?,
        amount: amount("amount")
            .map(Micros)
            .ok_or_else(|| wrong("message.amount", DIGITS))?,
        reference: text("reference").ok_or_else(|| wrong("message.reference", any))?,
        valid_until: amount("validUntil")
            .map(TimeMs)
            .ok_or_else(|| wrong("message.validUntil", "unix milliseconds"))?,
    })
}

fn order_domain<'d>(
    domain: &Map<String, Value>,
    domains: &'d Domains,
) -> Result<&'d Domain, TypedDataError> {
    let text = |field| domain.get(field).and_then(Value::as_str);
    let contract = text("verifyingContract").and_then(ids::address);
    let is = |known: &&Domain| {
        text("name") == Some(known.name())
            && text("version") == Some(known.version())
            && contract == Some(known.contract())
    };
    let found = domains.iter().find(is).filter(|_| domain.len() == 4);
    found.ok_or(TypedDataError::Domain)
}

fn statement_digest(
    message: &Map<String, Value>,
    signer: WalletAddress,
    chain: u64,
) -> Result<Hash, TypedDataError> {
    let text = |field| message.get(field).and_then(Value::as_str);
    if text("message") != Some(L1_MESSAGE) {
        return Err(wrong("message.message", "the text of the statement"));
    }
    if text("address").and_then(ids::address) != Some(signer) {
        return Err(wrong("message.address", "the account that signs"));
    }
    let is_time = |text: &&str| text.len() <= 20 && text.bytes().all(|byte| byte.is_ascii_digit());
    let timestamp = text("timestamp").filter(is_time);
    let timestamp = timestamp.ok_or_else(|| wrong("message.timestamp", "unix seconds"))?;
    let nonce = word(message, "nonce").ok_or_else(|| wrong("message.nonce", DIGITS))?;
    Ok(l1_digest(signer, timestamp, &nonce, chain))
}

fn order(message: &Map<String, Value>) -> Result<OrderFields, TypedDataError> {
    let field = |field| message.get(field);
    let address = |value: Option<&Value>| value?.as_str().and_then(ids::address);
    let amount = |value: Option<&Value>| u64::try_from(number(value)?).ok();
    let code = |value: Option<&Value>| u8::try_from(number(value)?).ok();
    let bytes = |value: Option<&Value>| value?.as_str().and_then(ids::bytes32);
    Ok(OrderFields {
        salt: word(message, "salt").ok_or_else(|| wrong("message.salt", DIGITS))?,
        maker: address(field("maker")).ok_or_else(|| wrong("message.maker", ADDRESS))?,
        signer: address(field("signer")).ok_or_else(|| wrong("message.signer", ADDRESS))?,
        token: word(message, "tokenId")
            .map(TokenId)
            .ok_or_else(|| wrong("message.tokenId", DIGITS))?,
        maker_amount: amount(field("makerAmount"))
            .ok_or_else(|| wrong("message.makerAmount", DIGITS))?,
        taker_amount: amount(field("takerAmount"))
            .ok_or_else(|| wrong("message.takerAmount", DIGITS))?,
        side: code(field("side"))
            .and_then(Side::from_code)
            .ok_or_else(|| wrong("message.side", "0, 1"))?,
        signature_type: code(field("signatureType"))
            .and_then(WalletKind::from_code)
            .ok_or_else(|| wrong("message.signatureType", "0, 1, 2, 3"))?,
        timestamp: amount(field("timestamp"))
            .map(TimeMs)
            .ok_or_else(|| wrong("message.timestamp", "unix milliseconds"))?,
        metadata: bytes(field("metadata"))
            .ok_or_else(|| wrong("message.metadata", "0x and 64 hex digits"))?,
        builder: bytes(field("builder"))
            .ok_or_else(|| wrong("message.builder", "0x and 64 hex digits"))?,
    })
}

/// An unsigned integer: a JSON number, decimal digits, or `0x` and hex digits.
fn number(value: Option<&Value>) -> Option<u128> {
    match value? {
        Value::Number(number) => number.as_u64().map(u128::from),
        Value::String(text) => match text.strip_prefix("0x") {
            Some(digits) => u128::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        },
        _ => None,
    }
}

/// A 256-bit unsigned integer, big-endian: decimal digits, or a JSON number.
fn word(message: &Map<String, Value>, field: &str) -> Option<[u8; 32]> {
    match message.get(field)? {
        Value::Number(number) => parse_decimal_256(&number.as_u64()?.to_string()),
        Value::String(text) => parse_decimal_256(text),
        _ => None,
    }
}

#[cfg(test)]
#[path = "typed_data_tests.rs"]
mod tests;
