//! Withdrawals that users sign (docs/api/withdrawals.md), and their rows for users and operators.

use serde::{Deserialize, Serialize};

use foretell_model::evidence::WithdrawalEvidence;
use foretell_model::limits::MAX_DESTINATION_BYTES;
use foretell_model::{Micros, Sequence, TimeMs, TimeNs, WalletAddress};

use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::parameters;
use crate::read::body::{TRADING, bodies};
use crate::read::page::Cursor;
use crate::read::path::PathParameter;
use crate::schema::JsonSchema;
use crate::values::{self, Millis, PageStart, Signature65, Uint, Wallet, values};

/// A signed request of a withdrawal. Its fields are those of the signed message.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WithdrawalRequest {
    /// The wallet; its owner signs.
    #[serde(with = "Wallet")]
    pub wallet: WalletAddress,
    /// Where the money goes, in words that the operator understands.
    #[serde(with = "LineText")]
    pub destination: String,
    /// The amount in micros, above 0.
    #[serde(with = "AmountMicros")]
    pub amount: Micros,
    /// Idempotency reference, unique per wallet for 30 days among the newest 512.
    #[serde(with = "LineText")]
    pub reference: String,
    /// Unix milliseconds until which it may be accepted: later than in the wallet's last request, at
    /// most a day ahead.
    #[serde(with = "Millis")]
    pub valid_until: TimeMs,
    /// EIP-712 signature of the owner, 65 bytes.
    #[serde(with = "Signature65")]
    pub signature: Vec<u8>,
}

bodies!(TRADING: WithdrawalRequest);

values! {
    /// A line of printable ASCII.
    pub(crate) LineText {
        reads String: str { "minLength": 1, "maxLength": MAX_DESTINATION_BYTES, "pattern": "^[ -~]+$" }, "a text of 1 to 128 printable ASCII characters", |text: &str| WithdrawalEvidence::is_text(text).then(|| text.to_owned()), String::as_str;
    }
    AmountMicros { reads Micros: Uint, "digits, micros, 1 to 1000000000000000", |digits: &Uint| digits.to_u64().filter(|micros| (1..=1_000_000_000_000_000).contains(micros)).map(Micros); }
}

/// The number of a withdrawal in a path.
#[derive(Clone, Copy, Debug)]
pub struct WithdrawalNumber(pub Sequence);

impl PathParameter for WithdrawalNumber {
    type Schema = u64;
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::WithdrawalNotFound];

    fn read(text: &str) -> Result<Self, ApiError> {
        let number = text.parse().ok().filter(|_| !text.starts_with('+'));
        let number = number.map(|number| Self(Sequence(number)));
        number.ok_or_else(|| ErrorCode::WithdrawalNotFound.into())
    }
}

parameters! {
    /// Parameters of `GET /withdrawals`.
    pub struct WithdrawalsQuery: Trading {
        /// The wallet; by default the owner's only bound wallet, else the owner.
        pub wallet: Option<WalletAddress> = optional(Wallet),
        /// Cursor of the page.
        pub cursor: Cursor = or(PageStart, "") as "next_cursor",
    }
}

/// What became of a withdrawal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WithdrawalStatus {
    /// It waits for a cashier; its user may cancel it.
    Requested,
    /// A cashier pays it.
    Claimed,
    /// It was paid.
    Paid,
    /// An operator gave it up; the amount is free again.
    Failed,
    /// Its user cancelled it; the amount is free again.
    Cancelled,
}

/// A withdrawal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WithdrawalRow {
    /// Its number: the sequence of the command that asked for it.
    pub withdrawal: u64,
    /// The wallet.
    #[serde(with = "values::Address")]
    pub wallet: WalletAddress,
    /// Where the money goes; empty when an operator asked for it.
    pub destination: String,
    /// The amount, whole units.
    #[serde(with = "values::Amount")]
    pub amount: Micros,
    /// Its reference.
    pub reference: String,
    /// What became of it.
    pub status: WithdrawalStatus,
    /// When it was asked for.
    #[serde(with = "values::Iso")]
    pub requested_at: TimeNs,
    /// When its status changed last.
    #[serde(with = "values::Iso")]
    pub changed_at: TimeNs,
    /// The reference of the payment outside; empty until it is paid.
    pub payment: String,
}
