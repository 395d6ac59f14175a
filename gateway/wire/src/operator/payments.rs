//! Payments: rebates, and withdrawals of two persons (docs/verify/rules.md §23, §27).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use foretell_model::{Micros, PaymentSettings, PaymentsUpdate, WalletAddress};

use crate::operator::form::{Address, Collateral, Flag, HeldName};
use crate::read::form::{Form, Optional, Written};
use crate::written;

/// A change of the settings of payments; absent fields stay as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct PaymentsChange {
    /// A larger withdrawal waits for a second person, whole units; `"0"` = none waits.
    #[serde(with = "Optional::<Collateral>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withdrawal_limit: Option<Micros>,
    /// Whether accrued rebates are paid at 00:00 UTC.
    #[serde(with = "Optional::<Flag>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rebates_daily: Option<bool>,
}

impl PaymentsChange {
    /// The fields that the command names.
    #[must_use]
    pub const fn update(&self) -> PaymentsUpdate {
        PaymentsUpdate {
            withdrawal_limit: self.withdrawal_limit,
            rebates_daily: self.rebates_daily,
        }
    }
}

impl From<PaymentSettings> for PaymentsChange {
    fn from(settings: PaymentSettings) -> Self {
        Self {
            withdrawal_limit: Some(settings.withdrawal_limit),
            rebates_daily: Some(settings.rebates_daily),
        }
    }
}

/// A command without content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// A held withdrawal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeldReference {
    /// The reference of the withdrawal, or its hash.
    #[serde(with = "HeldName")]
    pub reference: String,
}

/// A held withdrawal in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeldRow {
    /// Hash of its reference, which confirming and releasing may name.
    #[schemars(with = "written::Hash")]
    pub reference: String,
    /// The wallet.
    #[serde(with = "Address")]
    pub wallet: WalletAddress,
    /// The amount, whole units.
    #[serde(with = "Collateral")]
    pub amount: Micros,
    /// Name of the operator who asked, who cannot confirm.
    pub asked_by: String,
    /// When, ISO 8601.
    #[schemars(with = "written::Iso")]
    pub asked_at: String,
}

/// Answer of `GET /withdrawals`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeldRows {
    /// Withdrawals that wait for a second person, oldest first.
    pub withdrawals: Vec<HeldRow>,
}
