//! Requests of the operator surface, except the parts of a market's registration.

use serde::{Deserialize, Serialize};

use foretell_model::{
    ApiKey, ConditionId, FeeSchedule, Hold, Lots, Micros, Payout, Settings, SettingsUpdate,
    SystemMode, Tick, WalletAddress, WalletKind,
};

use crate::operator::markets::payout_name::PayoutName;
use crate::operator::values::{
    BoundKind, Exponent, HoldName, Number, PayoutText, RatePpm, SmallNumber,
};
use crate::read::body::{OPERATOR, bodies};
use crate::schema::JsonSchema;
use crate::values::{
    Address, Amount, Collateral, Condition, Flag, Key, Mode, Optional, Reference, Shares, TickSize,
};

bodies! { OPERATOR: Archive, Binding, ClosedOnly, FeeChange, FeesWithdrawal, HoldChange, KeyRevocation, MarketName, MinimumChange, ModeChange, Resolution, SettingsChange, TickChange, Transfer, WalletName }

/// A deposit or a withdrawal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    /// The wallet.
    #[serde(with = "Address")]
    pub wallet: WalletAddress,
    /// The amount, above 0.
    #[serde(with = "Amount")]
    pub amount: Micros,
    /// Idempotency reference.
    #[serde(with = "Reference")]
    pub reference: String,
}

/// A withdrawal from the fee account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FeesWithdrawal {
    /// The amount, above 0.
    #[serde(with = "Amount")]
    pub amount: Micros,
    /// Idempotency reference.
    #[serde(with = "Reference")]
    pub reference: String,
}

/// A binding of a wallet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    /// The owner.
    #[serde(with = "Address")]
    pub owner: WalletAddress,
    /// The wallet to bind.
    #[serde(with = "Address")]
    pub wallet: WalletAddress,
    /// Its kind: proxy, safe or deposit.
    #[serde(with = "BoundKind")]
    pub kind: WalletKind,
}

/// The wallet to unbind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WalletName {
    /// The wallet.
    #[serde(with = "Address")]
    pub wallet: WalletAddress,
}

/// Whether an account may only reduce positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClosedOnly {
    /// The wallet.
    #[serde(with = "Address")]
    pub wallet: WalletAddress,
    /// On or off.
    #[serde(with = "Flag")]
    pub closed_only: bool,
}

/// A permanent revocation of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyRevocation {
    /// The key.
    #[serde(with = "Key")]
    pub api_key: ApiKey,
    /// Whether to cancel its owner's orders too; false by default.
    #[serde(with = "Optional::<Flag>", default)]
    pub cancel_orders: Option<bool>,
}

/// The market to activate, pause, resume or close.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarketName {
    /// Its condition.
    #[serde(with = "Condition")]
    pub condition_id: ConditionId,
}

/// The market to hold, or to release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HoldChange {
    /// Its condition.
    #[serde(with = "Condition")]
    pub condition_id: ConditionId,
    /// Whose hold: that of the sender by default.
    #[serde(with = "Optional::<HoldName>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold: Option<Hold>,
}

/// The payout of a market.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resolution {
    /// The market.
    #[serde(with = "Condition")]
    pub condition_id: ConditionId,
    /// The outcome that pays, or `half`.
    #[serde(with = "PayoutText")]
    pub payout: PayoutName,
    /// Number of the disputed proposal that it replaces; none by default.
    #[serde(with = "Optional::<Number>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<u64>,
}

impl Resolution {
    /// The payout of a market without a disputed proposal.
    #[must_use]
    pub fn new(condition_id: ConditionId, payout: Payout) -> Self {
        Self {
            condition_id,
            payout: payout.into(),
            proposal: None,
        }
    }
}

/// Whether a market is hidden from lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Archive {
    /// The market.
    #[serde(with = "Condition")]
    pub condition_id: ConditionId,
    /// Hidden or not.
    #[serde(with = "Flag")]
    pub archived: bool,
}

/// A finer tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TickChange {
    /// The market.
    #[serde(with = "Condition")]
    pub condition_id: ConditionId,
    /// The new tick.
    #[serde(with = "TickSize")]
    pub tick_size: Tick,
}

/// A new minimum order size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MinimumChange {
    /// The market.
    #[serde(with = "Condition")]
    pub condition_id: ConditionId,
    /// The new minimum.
    #[serde(with = "Shares")]
    pub minimum_order_size: Lots,
}

/// A new taker fee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FeeChange {
    /// The market.
    #[serde(with = "Condition")]
    pub condition_id: ConditionId,
    /// The rate in parts per million.
    #[serde(with = "RatePpm")]
    pub rate_ppm: u32,
    /// The exponent.
    #[serde(with = "Exponent")]
    pub exponent: u8,
}

impl FeeChange {
    /// The new schedule.
    #[must_use]
    pub const fn fee(&self) -> FeeSchedule {
        FeeSchedule {
            rate_ppm: self.rate_ppm,
            exponent: self.exponent,
        }
    }
}

/// A mode of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModeChange {
    /// The mode.
    #[serde(with = "Mode")]
    pub mode: SystemMode,
}

/// A change of the core's settings; absent settings stay. The core checks the bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct SettingsChange {
    /// Largest age of an order's timestamp, ms.
    #[schemars(range(min = 1_000, max = 86_400_000))]
    #[serde(with = "Optional::<Number>", default)]
    pub timestamp_past_ms: Option<u64>,
    /// Largest lead of an order's timestamp, ms.
    #[schemars(range(max = 86_400_000))]
    #[serde(with = "Optional::<Number>", default)]
    pub timestamp_future_ms: Option<u64>,
    /// Smallest marketable BUY, 0 to 1000 whole units.
    #[serde(with = "Optional::<Collateral>", default)]
    pub marketable_minimum: Option<Micros>,
    /// Smallest distance of a GTD expiration, seconds.
    #[schemars(range(max = 86_400))]
    #[serde(with = "Optional::<Number>", default)]
    pub gtd_safety_seconds: Option<u64>,
    /// Most live orders of an account.
    #[schemars(range(min = 1))]
    #[serde(with = "Optional::<SmallNumber>", default)]
    pub live_orders_per_account: Option<u32>,
    /// Order ids remembered per owner.
    #[schemars(range(min = 1))]
    #[serde(with = "Optional::<SmallNumber>", default)]
    pub remembered_order_ids: Option<u32>,
}

impl SettingsChange {
    /// The named settings.
    #[must_use]
    pub const fn update(self) -> SettingsUpdate {
        SettingsUpdate {
            timestamp_past_ms: self.timestamp_past_ms,
            timestamp_future_ms: self.timestamp_future_ms,
            marketable_minimum: self.marketable_minimum,
            gtd_safety_seconds: self.gtd_safety_seconds,
            live_orders_per_account: self.live_orders_per_account,
            remembered_order_ids: self.remembered_order_ids,
            // The configuration of the engine alone has it.
            new_operator_hours: None,
        }
    }
}

/// The change that sets all settings, so that an answer can be edited and sent back.
impl From<Settings> for SettingsChange {
    fn from(settings: Settings) -> Self {
        Self {
            timestamp_past_ms: Some(settings.timestamp_past_ms),
            timestamp_future_ms: Some(settings.timestamp_future_ms),
            marketable_minimum: Some(settings.marketable_minimum),
            gtd_safety_seconds: Some(settings.gtd_safety_seconds),
            live_orders_per_account: Some(settings.live_orders_per_account),
            remembered_order_ids: Some(settings.remembered_order_ids),
        }
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
