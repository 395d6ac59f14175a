//! Payments: rebates, and withdrawals (docs/verify/rules.md §23, §27, §30).

use std::fmt;

use serde::{Deserialize, Serialize};

use foretell_model::{Micros, PaymentSettings, PaymentsUpdate};

use crate::accounts::withdrawals::{LineText, WithdrawalRow};
use crate::operator::values::Number;
use crate::read::body::{OPERATOR, bodies};
use crate::read::query::text_form::digits;
use crate::schema::JsonSchema;
use crate::values::{Collateral, Flag, Optional};

bodies! { OPERATOR: Nothing, PaymentsChange, WithdrawalName, WithdrawalPayment }

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

/// The name of a withdrawal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WithdrawalName {
    /// Its number.
    #[serde(with = "Number")]
    pub withdrawal: u64,
}

/// A withdrawal that was paid outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WithdrawalPayment {
    /// Its number.
    #[serde(with = "Number")]
    pub withdrawal: u64,
    /// The reference of the payment, by which it is found outside; unique as that of a deposit.
    #[serde(with = "LineText")]
    pub payment: String,
}

/// A withdrawal in an operator's list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OperatorWithdrawal {
    /// What its user sees.
    #[serde(flatten)]
    pub row: WithdrawalRow,
    /// Name of the operator who asked for it; empty = its user.
    pub asked_by: String,
    /// Name of the operator who claimed it; empty = nobody.
    pub claimed_by: String,
    /// Name of the operator who paid it or gave it up; empty = nobody.
    pub ended_by: String,
    /// Whether another operator than the one who claimed it must pay it.
    pub needs_second_person: bool,
}

/// Answer of `GET /withdrawals`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OperatorWithdrawals {
    /// Whether withdrawals are shut since a restore.
    pub shut: bool,
    /// How many wait, on all pages.
    pub waiting: usize,
    /// The asked page: of those that wait the largest first, of one amount the oldest; of the others the last
    /// ended first.
    pub withdrawals: Vec<OperatorWithdrawal>,
    /// The `before` of the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Where a page of `GET /withdrawals` begins: after this row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WithdrawalPlace {
    /// The amount of a row that waits; 0 of one that ended.
    pub amount: Micros,
    /// Number of the withdrawal, or place in the list of those that ended.
    pub number: u64,
}

impl WithdrawalPlace {
    /// Reads `NUMBER`, or `MICROS-NUMBER` as [`fmt::Display`] writes it.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (amount, number) = text.split_once('-').unwrap_or(("0", text));
        Some(Self {
            amount: Micros(digits(amount)?),
            number: digits(number)?,
        })
    }
}

impl fmt::Display for WithdrawalPlace {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}-{}", self.amount.0, self.number)
    }
}
