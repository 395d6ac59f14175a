//! Keys, balances, heartbeats and the small constant answers (docs/api/authentication.md §2,
//! docs/api/orders.md §5, docs/api/market-data.md §7).

use schemars::JsonSchema;
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use foretell_model::{ApiKey, TimeNs, WalletAddress};

use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::limits::MAX_HEARTBEAT_ID;
use crate::read::body::{RequestBody, TRADING, bodies};
use crate::read::form::{Filled, Form, OrDefault, forms};
use crate::read::forms::{Flag, Key};
use crate::text::ids;
use crate::text::time;
use crate::written;

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeyRow {
    /// The key.
    #[serde(with = "written::Key")]
    pub api_key: ApiKey,
    /// The nonce that the key was derived from, decimal.
    #[schemars(extend("pattern" = "^[0-9]{1,78}$"))]
    pub nonce: String,
    /// `active` or `revoked`.
    #[schemars(extend("enum" = ["active", "revoked"]))]
    pub status: &'static str,
    /// When it was created.
    #[serde(with = "written::Iso")]
    pub created_at: TimeNs,
    /// When it was revoked; absent while the key is active.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "iso_or_nothing"
    )]
    #[schemars(with = "Option<written::Iso>")]
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

/// The body of `DELETE /auth/api-key`, which may be empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct OwnKeyRevocation {
    /// Whether to cancel the key's orders, too; false by default.
    #[serde(with = "OrDefault::<Flag>")]
    pub cancel: bool,
}

impl RequestBody for OwnKeyRevocation {
    fn read(body: &[u8]) -> Result<Self, ApiError> {
        TRADING.read_or_default(body)
    }
}

/// The body of `DELETE /auth/readonly-api-key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct ReadOnlyKeyRevocation {
    /// The key.
    #[serde(with = "Key")]
    pub key: ApiKey,
}

bodies!(TRADING: ReadOnlyKeyRevocation);

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

/// The body of `POST /heartbeats`, which may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Heartbeat {
    /// The id of the running heartbeat chain; `None` (null, empty or absent) starts a chain.
    #[serde(with = "OrDefault::<Filled<ChainId>>")]
    pub heartbeat_id: Option<String>,
}

forms! {
    ChainId(String, str): "a text of up to 64 bytes", |text: &str| (text.len() <= MAX_HEARTBEAT_ID).then(|| text.to_owned());
}

impl RequestBody for Heartbeat {
    fn read(body: &[u8]) -> Result<Self, ApiError> {
        TRADING.read_or_default(body)
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
        let heartbeat = Heartbeat::read(body.as_bytes()).unwrap();
        assert_eq!(heartbeat.heartbeat_id.as_deref(), id);
    }

    #[test]
    fn a_wrong_heartbeat_is_told_the_right_one() {
        assert!(Heartbeat::read(br#"{"heartbeat_id":1}"#).is_err());
        assert!(Heartbeat::read(b"[]").is_err());
        let long = format!(r#"{{"heartbeat_id":"{}"}}"#, "x".repeat(65));
        assert!(Heartbeat::read(long.as_bytes()).is_err());
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
        let revocation = OwnKeyRevocation::read(body.as_bytes());
        assert_eq!(revocation.ok().map(|it| it.cancel), cancel);
    }

    #[test]
    fn a_read_only_key_is_named_by_its_uuid() {
        let body = br#"{"key":"11111111-1111-1111-1111-111111111111"}"#;
        let key = ApiKey([0x11; 16]);
        assert_eq!(
            ReadOnlyKeyRevocation::read(body),
            Ok(ReadOnlyKeyRevocation { key })
        );
        assert!(ReadOnlyKeyRevocation::read(b"{}").is_err());
        assert!(ReadOnlyKeyRevocation::read(br#"{"key":"x"}"#).is_err());
    }
}
