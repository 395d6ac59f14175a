//! Requests of the operator surface, except the parts of a market's registration.

use serde::{Deserialize, Serialize};

use foretell_model::{
    ApiKey, CommandKind, ConditionId, FeeSchedule, Hold, Lots, Micros, Payout, Settings,
    SettingsUpdate, SystemMode, Tick, WalletAddress, WalletKind,
};

use crate::operator::form::{
    Address, Amount, BoundKind, Collateral, Condition, Exponent, Flag, HoldName, Key, Mode, Number,
    PayoutText, RatePpm, Reference, Shares, SmallNumber, TickSize,
};
use crate::operator::markets::clock::TermsChange;
use crate::operator::markets::payout_name::PayoutName;
use crate::operator::markets::register::{
    EventEdit, EventRegistration, MarketEdit, MarketRegistration,
};
use crate::operator::markets::resolution::{
    DisputeRequest, Finalisation, PolicyChange, ProposalRequest, ProposalWithdrawal, WalletListing,
};
use crate::operator::payments::{Nothing, PaymentsChange, WithdrawalName, WithdrawalPayment};
use crate::operator::people::{OperatorAddition, OperatorRevocation};
use crate::operator::profile::ProfileEdit;
use crate::read::form::{Form, Optional, Written};
use crate::schema::JsonSchema;

/// The path of the request for a snapshot, which is no command: it changes no state.
pub const SNAPSHOT_PATH: &str = "/snapshot";

/// Declares the commands: the kind in the journal, the body, the path.
macro_rules! operator_commands {
    ($($(#[$doc:meta])* $kind:ident($body:ty) at $path:literal;)+) => {
        /// A command of the operator: its body, sent by POST to its path. Each variant has the name
        /// of its [`CommandKind`].
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum OperatorCommand { $($(#[$doc])* $kind($body)),+ }

        impl OperatorCommand {
            /// The path of each kind.
            pub const PATHS: &[(CommandKind, &'static str)] =
                &[$((CommandKind::$kind, $path)),+];

            /// The path of a kind; `None` when operators do not send it.
            #[must_use]
            pub const fn path_of(kind: CommandKind) -> Option<&'static str> {
                match kind {
                    $(CommandKind::$kind => Some($path),)+
                    _ => None,
                }
            }

            /// Its path.
            #[must_use]
            pub const fn path(&self) -> &'static str {
                match self { $(Self::$kind(_) => $path),+ }
            }
        }
    };
}

operator_commands! {
    /// Adds collateral to a wallet.
    Deposit(Transfer) at "/accounts/deposit";
    /// Takes free collateral out of a wallet.
    Withdraw(Transfer) at "/accounts/withdraw";
    /// Takes a requested withdrawal on, in order to pay it.
    ClaimWithdrawal(WithdrawalName) at "/withdrawals/claim";
    /// Says that a withdrawal was paid.
    PayWithdrawal(WithdrawalPayment) at "/withdrawals/pay";
    /// Gives up a withdrawal.
    FailWithdrawal(WithdrawalName) at "/withdrawals/fail";
    /// Lets withdrawals go on after a restore.
    OpenWithdrawals(Nothing) at "/withdrawals/open";
    /// Pays all accrued rebates.
    PayRebates(Nothing) at "/rebates/pay";
    /// Takes collateral out of the fee account.
    WithdrawFees(FeesWithdrawal) at "/fees/withdraw";
    /// Binds a wallet to its owner.
    BindWallet(Binding) at "/accounts/bind";
    /// Removes a wallet's binding.
    UnbindWallet(WalletName) at "/accounts/unbind";
    /// Restricts an account to reducing its positions, or no longer.
    SetClosedOnly(ClosedOnly) at "/accounts/closed-only";
    /// Changes the profile of a wallet.
    DescribeWallet(Box<ProfileEdit>) at "/accounts/describe";
    /// Revokes an API key permanently.
    RevokeKey(KeyRevocation) at "/keys/revoke";
    /// Registers a neg-risk event group.
    RegisterEvent(EventRegistration) at "/events";
    /// Changes the words of a neg-risk event group.
    DescribeEvent(EventEdit) at "/events/describe";
    /// Registers a market, and opens it depending on `activate`.
    RegisterMarket(Box<MarketRegistration>) at "/markets";
    /// Changes the words of a market.
    DescribeMarket(Box<MarketEdit>) at "/markets/describe";
    /// Opens a registered market.
    ActivateMarket(MarketName) at "/markets/activate";
    /// Suspends trading.
    PauseMarket(HoldChange) at "/markets/pause";
    /// Resumes trading.
    ResumeMarket(HoldChange) at "/markets/resume";
    /// Ends trading.
    CloseMarket(MarketName) at "/markets/close";
    /// Hides a market from lists, or shows it again.
    ArchiveMarket(Archive) at "/markets/archive";
    /// Refines the tick.
    SetTick(TickChange) at "/markets/tick";
    /// Changes the minimum order size.
    SetMinimumSize(MinimumChange) at "/markets/minimum";
    /// Changes the taker fee.
    SetFee(FeeChange) at "/markets/fee";
    /// Changes clock, delay and rebate of a market.
    SetTerms(TermsChange) at "/markets/terms";
    /// Pays out a closed market.
    ResolveMarket(Resolution) at "/markets/resolve";
    /// Proposes a payout.
    Propose(ProposalRequest) at "/markets/propose";
    /// Disputes a proposal.
    Dispute(DisputeRequest) at "/markets/dispute";
    /// Withdraws a proposal.
    WithdrawProposal(ProposalWithdrawal) at "/markets/withdraw-proposal";
    /// Finalises a proposal.
    Finalise(Finalisation) at "/markets/finalise";
    /// Changes the policy of the site or of a market.
    SetPolicy(PolicyChange) at "/policy";
    /// Removes the policy of a market.
    ClearPolicy(MarketName) at "/policy/clear";
    /// Lets a wallet propose or dispute.
    ListWallet(WalletListing) at "/policy/wallets";
    /// Adds an operator; its answer is [`crate::operator::OperatorAdded`].
    AddOperator(OperatorAddition) at "/operators";
    /// Revokes an operator.
    RevokeOperator(OperatorRevocation) at "/operators/revoke";
    /// Changes the mode of the system.
    SetMode(ModeChange) at "/system/mode";
    /// Changes settings of the core.
    ChangeSettings(SettingsChange) at "/system/settings";
    /// Changes settings of payments.
    SetPayments(PaymentsChange) at "/system/payments";
}

impl OperatorCommand {
    /// The market it concerns.
    #[must_use]
    pub fn condition(&self) -> Option<ConditionId> {
        match self {
            Self::RegisterMarket(market) => Some(market.terms.condition_id),
            Self::ActivateMarket(market) | Self::CloseMarket(market) => Some(market.condition_id),
            Self::PauseMarket(change) | Self::ResumeMarket(change) => Some(change.condition_id),
            Self::ResolveMarket(resolution) => Some(resolution.condition_id),
            Self::ArchiveMarket(archive) => Some(archive.condition_id),
            Self::SetTick(change) => Some(change.condition_id),
            Self::SetMinimumSize(change) => Some(change.condition_id),
            Self::SetFee(change) => Some(change.condition_id),
            Self::SetTerms(change) => Some(change.condition_id),
            Self::Propose(proposal) => Some(proposal.condition_id),
            Self::Dispute(dispute) => Some(dispute.condition_id),
            Self::WithdrawProposal(proposal) => Some(proposal.condition_id),
            Self::Finalise(proposal) => Some(proposal.condition_id),
            _ => None,
        }
    }
}

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
