//! Requests of the operator surface, except the parts of a market's registration.

use serde::{Deserialize, Serialize};

use foretell_model::{
    ApiKey, ConditionId, FeeSchedule, Hold, Lots, Micros, Payout, Settings, SettingsUpdate,
    SystemMode, Tick, WalletAddress, WalletKind,
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
use crate::operator::payments::{HeldReference, Nothing, PaymentsChange};
use crate::operator::people::{OperatorAddition, OperatorRevocation};
use crate::operator::profile::ProfileEdit;
use crate::read::form::{Form, Optional, Written};

/// A command of the operator: its path and its body.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum OperatorCommand {
    /// Adds collateral to a wallet.
    Deposit(Transfer),
    /// Takes free collateral out of a wallet.
    Withdraw(Transfer),
    /// Takes collateral out of the fee account.
    WithdrawFees(FeesWithdrawal),
    /// Binds a wallet to its owner.
    BindWallet(Binding),
    /// Removes a wallet's binding.
    UnbindWallet(WalletName),
    /// Restricts an account to reducing its positions, or no longer.
    SetClosedOnly(ClosedOnly),
    /// Revokes an API key permanently.
    RevokeKey(KeyRevocation),
    /// Changes the profile of a wallet.
    DescribeWallet(Box<ProfileEdit>),
    /// Registers a neg-risk event group.
    RegisterEvent(EventRegistration),
    /// Registers a market, and opens it depending on `activate`.
    RegisterMarket(Box<MarketRegistration>),
    /// Opens a registered market.
    Activate(MarketName),
    /// Suspends trading.
    Pause(HoldChange),
    /// Resumes trading.
    Resume(HoldChange),
    /// Ends trading.
    Close(MarketName),
    /// Pays out a closed market.
    Resolve(Resolution),
    /// Hides a market from lists, or shows it again.
    Archive(Archive),
    /// Refines the tick.
    SetTick(TickChange),
    /// Changes the minimum order size.
    SetMinimum(MinimumChange),
    /// Changes the taker fee.
    SetFee(FeeChange),
    /// Changes clock, delay and rebate of a market.
    SetTerms(TermsChange),
    /// Changes the words of a neg-risk event group.
    DescribeEvent(EventEdit),
    /// Changes the words of a market.
    DescribeMarket(Box<MarketEdit>),
    /// Proposes a payout.
    Propose(ProposalRequest),
    /// Disputes a proposal.
    Dispute(DisputeRequest),
    /// Withdraws a proposal.
    WithdrawProposal(ProposalWithdrawal),
    /// Finalises a proposal.
    Finalise(Finalisation),
    /// Changes the policy of the site or of a market.
    SetPolicy(PolicyChange),
    /// Removes the policy of a market.
    ClearPolicy(MarketName),
    /// Lets a wallet propose or dispute.
    ListWallet(WalletListing),
    /// Pays all accrued rebates.
    PayRebates(Nothing),
    /// Changes settings of payments.
    SetPayments(PaymentsChange),
    /// Pays a held withdrawal, as the second person.
    ConfirmWithdrawal(HeldReference),
    /// Gives up a held withdrawal.
    ReleaseWithdrawal(HeldReference),
    /// Adds an operator; its answer is [`crate::operator::OperatorAdded`].
    AddOperator(OperatorAddition),
    /// Revokes an operator.
    RevokeOperator(OperatorRevocation),
    /// Changes the mode of the system.
    SetMode(ModeChange),
    /// Changes settings of the core.
    ChangeSettings(SettingsChange),
}

impl OperatorCommand {
    /// Its path.
    #[must_use]
    pub const fn path(&self) -> &'static str {
        match self {
            Self::Deposit(_) => "/accounts/deposit",
            Self::Withdraw(_) => "/accounts/withdraw",
            Self::WithdrawFees(_) => "/fees/withdraw",
            Self::BindWallet(_) => "/accounts/bind",
            Self::UnbindWallet(_) => "/accounts/unbind",
            Self::SetClosedOnly(_) => "/accounts/closed-only",
            Self::RevokeKey(_) => "/keys/revoke",
            Self::DescribeWallet(_) => "/accounts/describe",
            Self::RegisterEvent(_) => "/events",
            Self::RegisterMarket(_) => "/markets",
            Self::Activate(_) => "/markets/activate",
            Self::Pause(_) => "/markets/pause",
            Self::Resume(_) => "/markets/resume",
            Self::Close(_) => "/markets/close",
            Self::Resolve(_) => "/markets/resolve",
            Self::Archive(_) => "/markets/archive",
            Self::SetTick(_) => "/markets/tick",
            Self::SetMinimum(_) => "/markets/minimum",
            Self::SetFee(_) => "/markets/fee",
            Self::SetTerms(_) => "/markets/terms",
            Self::DescribeEvent(_) => "/events/describe",
            Self::DescribeMarket(_) => "/markets/describe",
            Self::Propose(_) => "/markets/propose",
            Self::Dispute(_) => "/markets/dispute",
            Self::WithdrawProposal(_) => "/markets/withdraw-proposal",
            Self::Finalise(_) => "/markets/finalise",
            Self::SetPolicy(_) => "/policy",
            Self::ClearPolicy(_) => "/policy/clear",
            Self::ListWallet(_) => "/policy/wallets",
            Self::PayRebates(_) => "/rebates/pay",
            Self::SetPayments(_) => "/system/payments",
            Self::ConfirmWithdrawal(_) => "/withdrawals/confirm",
            Self::ReleaseWithdrawal(_) => "/withdrawals/release",
            Self::AddOperator(_) => "/operators",
            Self::RevokeOperator(_) => "/operators/revoke",
            Self::SetMode(_) => "/system/mode",
            Self::ChangeSettings(_) => "/system/settings",
        }
    }

    /// Its idempotency reference.
    #[must_use]
    pub fn reference(&self) -> Option<&str> {
        match self {
            Self::Deposit(transfer) | Self::Withdraw(transfer) => Some(&transfer.reference),
            Self::WithdrawFees(fees) => Some(&fees.reference),
            Self::Propose(proposal) => Some(&proposal.reference),
            _ => None,
        }
    }

    /// The market it concerns.
    #[must_use]
    pub fn condition(&self) -> Option<ConditionId> {
        match self {
            Self::RegisterMarket(market) => Some(market.terms.condition_id),
            Self::Activate(market) | Self::Close(market) => Some(market.condition_id),
            Self::Pause(change) | Self::Resume(change) => Some(change.condition_id),
            Self::Resolve(resolution) => Some(resolution.condition_id),
            Self::Archive(archive) => Some(archive.condition_id),
            Self::SetTick(change) => Some(change.condition_id),
            Self::SetMinimum(change) => Some(change.condition_id),
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WalletName {
    /// The wallet.
    #[serde(with = "Address")]
    pub wallet: WalletAddress,
}

/// Whether an account may only reduce positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarketName {
    /// Its condition.
    #[serde(with = "Condition")]
    pub condition_id: ConditionId,
}

/// The market to hold, or to release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModeChange {
    /// The mode.
    #[serde(with = "Mode")]
    pub mode: SystemMode,
}

/// A change of the core's settings; absent settings stay. The core checks the bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettingsChange {
    /// See [`Settings::timestamp_past_ms`].
    #[serde(with = "Optional::<Number>", default)]
    pub timestamp_past_ms: Option<u64>,
    /// See [`Settings::timestamp_future_ms`].
    #[serde(with = "Optional::<Number>", default)]
    pub timestamp_future_ms: Option<u64>,
    /// See [`Settings::marketable_minimum`].
    #[serde(with = "Optional::<Collateral>", default)]
    pub marketable_minimum: Option<Micros>,
    /// See [`Settings::gtd_safety_seconds`].
    #[serde(with = "Optional::<Number>", default)]
    pub gtd_safety_seconds: Option<u64>,
    /// See [`Settings::live_orders_per_account`].
    #[serde(with = "Optional::<SmallNumber>", default)]
    pub live_orders_per_account: Option<u32>,
    /// See [`Settings::remembered_order_ids`].
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
