//! Keys, balances, heartbeats and the small constant answers (docs/api/authentication.md §2,
//! docs/api/orders.md §5, docs/api/market-data.md §7).

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use foretell_model::{ApiKey, TimeNs, WalletAddress};

use crate::errors::api_error::{ApiError, FieldError};
use crate::errors::error_code::ErrorCode;
use crate::limits::{MAX_HEARTBEAT_ID, SMALL_BODY_BYTES};
use crate::read::body::{object, optional_text, read_text};
use crate::read::json::Value;
use crate::text::ids;
use crate::text::time;

/// Answer of `GET /`, `/ok` and `DELETE /notifications`: the JSON text.
pub const OK: &str = r#""OK""#;
/// Answer of `GET /version`: the version of signed orders.
pub const VERSION: &str = r#"{"version":2}"#;
/// Answer of `GET /order-scoring` until rewards exist.
pub const NOT_SCORING: &str = r#"{"scoring":false}"#;

/// A created or derived key. No `Debug`, because it holds secrets.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeyAnswer<'a> {
    /// The key.
    #[serde(serialize_with = "ids::key_as_text")]
    pub api_key: ApiKey,
    /// 32 bytes as padded base64url.
    pub secret: &'a str,
    /// 64 hex digits.
    pub passphrase: &'a str,
}

/// A list of keys (`GET /auth/readonly-api-keys`; inside [`ApiKeysAnswer`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys(pub Vec<ApiKey>);

impl Serialize for Keys {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(ids::api_key_text))
    }
}

/// Answer of `GET /auth/api-keys`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeysAnswer {
    /// The active keys.
    pub api_keys: Keys,
}

/// Answer of `GET /auth/api-keys?metadata=true`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeyRowsAnswer {
    /// All keys.
    pub api_keys: Vec<ApiKeyRow>,
}

/// One key with its history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeyRow {
    /// The key.
    #[serde(serialize_with = "ids::key_as_text")]
    pub api_key: ApiKey,
    /// The nonce that the key was derived from, decimal.
    pub nonce: String,
    /// `active` or `revoked`.
    pub status: &'static str,
    /// When it was created.
    #[serde(serialize_with = "time::as_iso")]
    pub created_at: TimeNs,
    /// When it was revoked; absent while the key is active.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "iso_or_nothing"
    )]
    pub revoked_at: Option<TimeNs>,
}

fn iso_or_nothing<S: Serializer>(time: &Option<TimeNs>, serializer: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => time::as_iso(time, serializer),
        None => serializer.serialize_none(),
    }
}

/// Answer of `DELETE /auth/api-key`.
pub const REVOKED: &str = r#"{"revoked":true}"#;
/// Answer of `DELETE /auth/api-keys`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RevokedAllAnswer {
    /// Always true.
    pub revoked: bool,
    /// Number of keys that were active, read-only ones included.
    pub keys: usize,
}

/// Answer of `DELETE /auth/readonly-api-key`.
pub const DELETED: &str = r#"{"deleted":true}"#;

/// Answer of `POST /auth/readonly-api-key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadOnlyKeyAnswer {
    /// The key.
    #[serde(serialize_with = "ids::key_as_text")]
    pub api_key: ApiKey,
}

/// Reads the body of `DELETE /auth/api-key`: whether to cancel the key's orders too. An empty body
/// means no.
///
/// # Errors
/// A body that is not an object, or a `cancel` that is not a boolean.
pub fn read_revocation(body: &[u8]) -> Result<bool, ApiError> {
    if body.trim_ascii().is_empty() {
        return Ok(false);
    }
    let mut copy = Vec::new();
    let object = object(body, SMALL_BODY_BYTES, &mut copy)?;
    match object.get("cancel") {
        Value::Null => Ok(false),
        Value::Bool(cancel) => Ok(*cancel),
        other => Err(ApiError::from(FieldError {
            field: "cancel",
            value: Some(other.shown()),
            allowed: "true or false",
        })),
    }
}

/// Reads the body of `DELETE /auth/readonly-api-key`.
///
/// # Errors
/// A body whose `key` is missing or not a UUID.
pub fn read_read_only_key(body: &[u8]) -> Result<ApiKey, ApiError> {
    let mut copy = Vec::new();
    let object = object(body, SMALL_BODY_BYTES, &mut copy)?;
    read_text(&object, "key", "an api key, a UUID", ids::api_key)
}

/// Answer of `GET /auth/ban-status/closed-only`, in both spellings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClosedOnlyAnswer(pub bool);

impl Serialize for ClosedOnlyAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(2))?;
        object.serialize_entry("closed_only", &self.0)?;
        object.serialize_entry("closedOnly", &self.0)?;
        object.end()
    }
}

/// Answer of `GET /balance-allowance`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BalanceAnswer<'a> {
    /// Total collateral in micro units, reserved included.
    pub balance: u64,
    /// Free collateral in micro units.
    pub available: u64,
    /// The configured contracts.
    pub contracts: &'a [WalletAddress],
}

/// The allowance of every contract. The built-in ledger needs no allowances.
const UNLIMITED: &str =
    "115792089237316195423570985008687907853269984665640564039457584007913129639935";

impl Serialize for BalanceAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Allowances<'a>(&'a [WalletAddress]);
        impl Serialize for Allowances<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map(self.0.iter().map(|at| (at.to_string(), UNLIMITED)))
            }
        }
        let mut object = serializer.serialize_map(Some(3))?;
        object.serialize_entry("balance", &self.balance.to_string())?;
        object.serialize_entry("available", &self.available.to_string())?;
        object.serialize_entry("allowances", &Allowances(self.contracts))?;
        object.end()
    }
}

/// Reads the body of `POST /heartbeats`: the id of the running heartbeat chain. `None` (empty body,
/// or an id that is null, empty or absent) starts a chain.
///
/// # Errors
/// A body that is not such an object.
pub fn read_heartbeat(body: &[u8]) -> Result<Option<String>, ApiError> {
    if body.trim_ascii().is_empty() {
        return Ok(None);
    }
    let mut copy = Vec::new();
    let object = object(body, SMALL_BODY_BYTES, &mut copy)?;
    match optional_text(&object, "heartbeat_id")? {
        Some(id) if id.len() > MAX_HEARTBEAT_ID => {
            const ALLOWED: &str = "a text of up to 64 bytes";
            Err(FieldError::wrong("heartbeat_id", id, ALLOWED).into())
        }
        id => Ok(id.map(str::to_owned)),
    }
}

/// Answer of `POST /heartbeats`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HeartbeatAnswer<'a> {
    /// The id that the next heartbeat must carry.
    pub heartbeat_id: &'a str,
}

/// Answer (400) to a heartbeat with a wrong id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WrongHeartbeatAnswer<'a> {
    error: &'static str,
    error_msg: &'static str,
    heartbeat_id: &'a str,
}

impl<'a> WrongHeartbeatAnswer<'a> {
    /// An answer that names the right id.
    #[must_use]
    pub const fn new(heartbeat_id: &'a str) -> Self {
        const TEXT: &str = ErrorCode::WrongHeartbeat.text();
        Self {
            error: TEXT,
            error_msg: TEXT,
            heartbeat_id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_text;
    use rstest::rstest;

    #[test]
    fn keys() {
        let key = ApiKey([0x11; 16]);
        let text = "11111111-1111-1111-1111-111111111111";
        let answer = ApiKeyAnswer {
            api_key: key,
            secret: "s",
            passphrase: "p",
        };
        assert_eq!(
            json_text(&answer),
            format!(r#"{{"apiKey":"{text}","secret":"s","passphrase":"p"}}"#)
        );
        let keys = ApiKeysAnswer {
            api_keys: Keys(vec![key]),
        };
        assert_eq!(json_text(&keys), format!(r#"{{"apiKeys":["{text}"]}}"#));
        let row = |revoked_at| ApiKeyRow {
            api_key: key,
            nonce: "0".into(),
            status: "active",
            created_at: TimeNs(0),
            revoked_at,
        };
        let rows = ApiKeyRowsAnswer {
            api_keys: vec![row(None), row(Some(TimeNs(0)))],
        };
        let start = format!(
            r#"{{"apiKey":"{text}","nonce":"0","status":"active","createdAt":"1970-01-01T00:00:00.000Z""#
        );
        assert_eq!(
            json_text(&rows),
            format!(
                r#"{{"apiKeys":[{start}}},{start},"revokedAt":"1970-01-01T00:00:00.000Z"}}]}}"#
            )
        );
        assert_eq!(
            json_text(&ReadOnlyKeyAnswer { api_key: key }),
            format!(r#"{{"apiKey":"{text}"}}"#)
        );
        assert_eq!(
            json_text(&ClosedOnlyAnswer(true)),
            r#"{"closed_only":true,"closedOnly":true}"#
        );
    }

    #[test]
    fn a_balance_is_in_micros_and_every_contract_may_have_all() {
        let answer = BalanceAnswer {
            balance: 10_000_000,
            available: 3_500_000,
            contracts: &[WalletAddress([1; 20])],
        };
        assert_eq!(
            json_text(&answer),
            format!(
                r#"{{"balance":"10000000","available":"3500000","allowances":{{"0x{}":"{UNLIMITED}"}}}}"#,
                "01".repeat(20)
            )
        );
        assert_eq!(crate::text::decimal::uint256(UNLIMITED), Ok([0xff; 32]));
    }

    #[rstest]
    #[case("", None)]
    #[case("{}", None)]
    #[case(r#"{"heartbeat_id":null}"#, None)]
    #[case(r#"{"heartbeat_id":""}"#, None)]
    #[case(r#"{"heartbeat_id":"abc"}"#, Some("abc"))]
    fn a_heartbeat_starts_or_continues_a_chain(#[case] body: &str, #[case] id: Option<&str>) {
        assert_eq!(read_heartbeat(body.as_bytes()).unwrap().as_deref(), id);
    }

    #[test]
    fn a_wrong_heartbeat_is_told_the_right_one() {
        assert!(read_heartbeat(br#"{"heartbeat_id":1}"#).is_err());
        assert!(read_heartbeat(b"[]").is_err());
        let long = format!(r#"{{"heartbeat_id":"{}"}}"#, "x".repeat(65));
        assert!(read_heartbeat(long.as_bytes()).is_err());
        let refusal: serde_json::Value =
            serde_json::from_str(&json_text(&WrongHeartbeatAnswer::new("abc"))).unwrap();
        assert_eq!(refusal["heartbeat_id"], "abc");
        assert_eq!(refusal["error"], refusal["error_msg"]);
    }

    #[rstest]
    #[case("", Some(false))]
    #[case("{}", Some(false))]
    #[case(r#"{"cancel":true}"#, Some(true))]
    #[case(r#"{"cancel":1}"#, None)]
    #[case("[]", None)]
    fn a_revocation_may_cancel(#[case] body: &str, #[case] cancel: Option<bool>) {
        assert_eq!(read_revocation(body.as_bytes()).ok(), cancel);
    }

    #[test]
    fn a_read_only_key_is_named_by_its_uuid() {
        let body = br#"{"key":"11111111-1111-1111-1111-111111111111"}"#;
        assert_eq!(read_read_only_key(body), Ok(ApiKey([0x11; 16])));
        assert!(read_read_only_key(b"{}").is_err());
        assert!(read_read_only_key(br#"{"key":"x"}"#).is_err());
    }
}
