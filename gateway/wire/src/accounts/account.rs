//! Keys, balances, heartbeats and the small constant answers (docs/api/authentication.md §2,
//! docs/api/orders.md §5, docs/api/market-data.md §7).

use std::collections::BTreeMap;

use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use foretell_model::{ApiKey, TimeNs, WalletAddress};

use crate::compatibility::Compatibility;
use crate::errors::error_code::ErrorCode;
use crate::limits::MAX_HEARTBEAT_ID;
use crate::read::body::{TRADING, bodies};
use crate::schema::JsonSchema;
use crate::values::{self, Filled, Flag, Key, Optional, OrDefault, hex32, values};

/// The word of answers that say no more than that the request is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Done {
    /// It is done.
    Ok,
}

/// Answer of `GET /version`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct VersionAnswer {
    /// Version of signed orders.
    #[schemars(extend("const" = 2))]
    pub version: u8,
}

/// Answer of `GET /order-scoring`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ScoringAnswer {
    /// Whether the order earns rewards: never, because there are none.
    pub scoring: bool,
}

/// A created or derived key. No `Debug`, because it holds secrets.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeyAnswer<'a> {
    /// The key.
    #[serde(with = "values::Key")]
    pub api_key: ApiKey,
    /// 32 bytes, base64url with padding.
    #[schemars(extend("pattern" = "^[A-Za-z0-9_-]{43}=$"))]
    pub secret: &'a str,
    /// 64 hex digits.
    #[schemars(extend("pattern" = concat!("^", hex32!(digits), "$")))]
    pub passphrase: &'a str,
}

/// A key in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct ListedKey(#[serde(with = "values::Key")] pub ApiKey);

/// Answer of `GET /auth/api-keys`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum KeysAnswer {
    /// The active keys.
    Active(ApiKeysAnswer),
    /// With `metadata=true`, all keys and their history.
    All(ApiKeyRowsAnswer),
}

/// Active keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeysAnswer {
    /// The active keys.
    pub api_keys: Vec<ListedKey>,
}

/// Keys with their history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
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
    #[serde(with = "values::Key")]
    pub api_key: ApiKey,
    /// The nonce that the key was derived from, decimal.
    #[schemars(extend("pattern" = "^[0-9]{1,78}$"))]
    pub nonce: String,
    /// `active` or `revoked`.
    #[schemars(extend("enum" = ["active", "revoked"]))]
    pub status: &'static str,
    /// When it was created.
    #[serde(with = "values::Iso")]
    pub created_at: TimeNs,
    /// When it was revoked; absent while the key is active.
    #[serde(
        skip_serializing_if = "Option::is_none",
        with = "Optional::<values::Iso>"
    )]
    pub revoked_at: Option<TimeNs>,
}

/// Answer of `DELETE /auth/api-key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
#[serde(untagged)]
pub enum RevokedAnswer {
    /// By the interface.
    Revoked {
        /// Always true.
        revoked: bool,
    },
    /// In Polymarket's formats.
    Done(Done),
}

impl RevokedAnswer {
    /// That a key is revoked.
    #[must_use]
    pub const fn in_form(compatibility: Compatibility) -> Self {
        match compatibility {
            Compatibility::Interface => Self::Revoked { revoked: true },
            Compatibility::Polymarket => Self::Done(Done::Ok),
        }
    }
}

/// Answer of `DELETE /auth/api-keys`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RevokedAllAnswer {
    /// Always true.
    pub revoked: bool,
    /// Number of keys that were active, read-only ones included.
    pub keys: usize,
}

/// Answer of `DELETE /auth/readonly-api-key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct DeletedAnswer {
    /// Always true.
    pub deleted: bool,
}

/// Answer of `POST /auth/readonly-api-key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadOnlyKeyAnswer {
    /// The key.
    #[serde(with = "values::Key")]
    pub api_key: ApiKey,
}

/// The body of `DELETE /auth/api-key`, which may be empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct OwnKeyRevocation {
    /// Whether to cancel the key's orders, too; false by default.
    #[serde(with = "OrDefault::<Flag>")]
    pub cancel: bool,
}

bodies!(TRADING: OwnKeyRevocation = default);

/// The body of `DELETE /auth/readonly-api-key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct ReadOnlyKeyRevocation {
    /// The key.
    #[serde(with = "Key")]
    pub key: ApiKey,
}

bodies!(TRADING: ReadOnlyKeyRevocation);

/// Answer of `GET /auth/ban-status/closed-only`, in both spellings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClosedOnlyAnswer {
    /// Whether a wallet of the owner may only close positions.
    closed_only: bool,
    /// The same as `closed_only`.
    #[serde(rename = "closedOnly")]
    same: bool,
}

impl From<bool> for ClosedOnlyAnswer {
    fn from(closed_only: bool) -> Self {
        Self {
            closed_only,
            same: closed_only,
        }
    }
}

/// Answer of `GET /balance-allowance`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BalanceAnswer<'a> {
    /// Total, including the reserved part, in micros.
    #[serde(with = "values::Digits")]
    pub balance: u64,
    /// Free part of the balance, in micros.
    #[serde(with = "values::Digits")]
    pub available: u64,
    /// Allowance by exchange contract: always the greatest, because the ledger needs none.
    #[serde(rename = "allowances", serialize_with = "unlimited")]
    #[schemars(with = "BTreeMap<String, values::Digits>")]
    pub contracts: &'a [WalletAddress],
}

/// The allowance of every contract. The built-in ledger needs no allowances.
const UNLIMITED: &str =
    "115792089237316195423570985008687907853269984665640564039457584007913129639935";

fn unlimited<S: Serializer>(contracts: &[WalletAddress], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(contracts.iter().map(|at| (at.to_string(), UNLIMITED)))
}

/// The body of `POST /heartbeats`, which may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Heartbeat {
    /// Id of the running chain; absent, null or empty starts a chain.
    #[serde(with = "OrDefault::<Filled<ChainId>>")]
    pub heartbeat_id: Option<String>,
}

values! {
    ChainId { reads String: str { "maxLength": MAX_HEARTBEAT_ID }, "a text of up to 64 bytes", |text: &str| (text.len() <= MAX_HEARTBEAT_ID).then(|| text.to_owned()); }
}

bodies!(TRADING: Heartbeat = default);

/// Answer of `POST /heartbeats`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HeartbeatAnswer<'a> {
    /// Id for the next heartbeat.
    heartbeat_id: &'a str,
    #[schemars(extend("const" = "ok"))]
    status: &'static str,
}

impl<'a> HeartbeatAnswer<'a> {
    /// The answer of a chain with this id.
    #[must_use]
    pub const fn new(heartbeat_id: &'a str) -> Self {
        Self {
            heartbeat_id,
            status: "ok",
        }
    }
}

/// Answer (400) to a heartbeat with a wrong id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WrongHeartbeatAnswer<'a> {
    /// Text of the error.
    error: &'static str,
    /// The same as `error`.
    error_msg: &'static str,
    /// Id of the running chain.
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
    use crate::read::RequestBody as _;
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
            api_keys: vec![ListedKey(key)],
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
        let revoked = |form| json_text(&RevokedAnswer::in_form(form));
        assert_eq!(
            [
                revoked(Compatibility::Interface),
                revoked(Compatibility::Polymarket)
            ],
            [r#"{"revoked":true}"#, r#""OK""#]
        );
        assert_eq!(
            json_text(&ClosedOnlyAnswer::from(true)),
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
