//! Resolution: proposals, disputes, policies (docs/verify/rules.md §24).

use serde::{Deserialize, Serialize};

use foretell_model::{
    ConditionId, MarketState, Payout, PolicyUpdate, ResolutionPolicy, RoleSet, WalletAddress,
};

use crate::operator::markets::payout_name::PayoutName;
use crate::operator::values::{Hash, Number, PayoutText, PayoutWord, Roles, Seconds, Source};
use crate::read::body::{OPERATOR, bodies};
use crate::schema::JsonSchema;
use crate::values::{self, Address, Condition, Flag, Optional, OrDefault, Reference, State};

bodies! { OPERATOR: DisputeRequest, Finalisation, PolicyChange, ProposalRequest, ProposalWithdrawal, WalletListing }

/// A proposal of a payout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProposalRequest {
    /// The closed market.
    #[serde(with = "Condition")]
    pub condition_id: ConditionId,
    /// The outcome that pays, `half` or `outside`.
    #[serde(with = "PayoutText")]
    pub payout: PayoutName,
    /// Number of the disputed proposal that it replaces; none by default.
    #[serde(with = "Optional::<Number>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<u64>,
    /// What decides the answer: a URL or words.
    #[serde(with = "OrDefault::<Source>", default)]
    pub source: String,
    /// SHA-256 of the evidence; zeros without.
    #[serde(with = "OrDefault::<Hash>", default)]
    pub evidence_sha256: [u8; 32],
    /// Challenge window; the policy's shortest by default.
    #[serde(with = "Optional::<Seconds>", default)]
    pub window_seconds: Option<u32>,
    /// The proposing wallet, which the policy lists; the operator itself by default.
    #[serde(with = "Optional::<Address>", default)]
    pub wallet: Option<WalletAddress>,
    /// Idempotency reference.
    #[serde(with = "Reference")]
    pub reference: String,
}

/// A dispute of a proposal. The `reason` of the body is its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DisputeRequest {
    /// The market.
    #[serde(with = "Condition")]
    pub condition_id: ConditionId,
    /// The payout that the disputer holds right.
    #[serde(with = "Optional::<PayoutText>", default)]
    pub counter: Option<PayoutName>,
    /// The disputing wallet, which the policy lists; the operator itself by default.
    #[serde(with = "Optional::<Address>", default)]
    pub wallet: Option<WalletAddress>,
}

/// A proposal to withdraw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProposalWithdrawal {
    /// The market.
    #[serde(with = "Condition")]
    pub condition_id: ConditionId,
    /// The wallet that proposed; the operator itself by default.
    #[serde(with = "Optional::<Address>", default)]
    pub wallet: Option<WalletAddress>,
}

/// A proposal to finalise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Finalisation {
    /// The market.
    #[serde(with = "Condition")]
    pub condition_id: ConditionId,
    /// Number of the proposal, from the review queue; the current one by default, unless a second person
    /// is asked.
    #[serde(with = "Optional::<Number>", default)]
    pub proposal: Option<u64>,
}

/// A change of a policy; absent fields stay as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct PolicyChange {
    /// The market; the site by default.
    #[serde(with = "Optional::<Condition>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition_id: Option<ConditionId>,
    /// Roles that propose.
    #[serde(with = "Optional::<Roles>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposers: Option<RoleSet>,
    /// Roles that dispute.
    #[serde(with = "Optional::<Roles>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disputers: Option<RoleSet>,
    /// The shortest challenge window.
    #[serde(with = "Optional::<Seconds>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum_window_seconds: Option<u32>,
    /// Whether an operator other than the proposer must finalise it.
    #[serde(with = "Optional::<Flag>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_person: Option<bool>,
    /// Whether the exchange finalises an undisputed proposal when its window ends.
    #[serde(with = "Optional::<Flag>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_time: Option<bool>,
}

impl PolicyChange {
    /// The fields that the command names.
    #[must_use]
    pub const fn update(&self) -> PolicyUpdate {
        PolicyUpdate {
            proposers: self.proposers,
            disputers: self.disputers,
            minimum_window_seconds: self.minimum_window_seconds,
            second_person: self.second_person,
            by_time: self.by_time,
        }
    }

    /// The change that sets a whole policy.
    #[must_use]
    pub const fn of(condition_id: Option<ConditionId>, policy: ResolutionPolicy) -> Self {
        Self {
            condition_id,
            proposers: Some(policy.proposers),
            disputers: Some(policy.disputers),
            minimum_window_seconds: Some(policy.minimum_window_seconds),
            second_person: Some(policy.second_person),
            by_time: Some(policy.by_time),
        }
    }
}

/// What a wallet may do in resolution; neither removes it from the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WalletListing {
    /// The market, which has a policy of its own; the site by default.
    #[serde(with = "Optional::<Condition>", default)]
    pub condition_id: Option<ConditionId>,
    /// The wallet.
    #[serde(with = "Address")]
    pub wallet: WalletAddress,
    /// Whether it may propose.
    #[serde(with = "Flag")]
    pub propose: bool,
    /// Whether it may dispute.
    #[serde(with = "Flag")]
    pub dispute: bool,
}

/// A proposal in the review queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewRow {
    /// The market.
    #[serde(with = "Condition")]
    pub condition_id: ConditionId,
    /// Its question.
    pub question: String,
    /// Its name in URLs.
    pub slug: String,
    /// Labels of its outcomes.
    pub outcomes: [String; 2],
    /// Its state.
    #[serde(with = "State")]
    pub status: MarketState,
    /// Number of the proposal, which finalising names.
    pub proposal: u64,
    /// The proposed payout.
    #[serde(with = "PayoutWord")]
    pub payout: Payout,
    /// Its label: that of the outcome, `half` or `outside`.
    pub outcome: String,
    /// Who proposed it: the name of an operator, or a wallet.
    pub proposed_by: String,
    /// When, ISO 8601.
    #[schemars(with = "values::Iso")]
    pub proposed_at: String,
    /// What decides the answer.
    pub source: String,
    /// SHA-256 of the evidence; zeros without.
    #[serde(with = "Hash")]
    pub evidence_sha256: [u8; 32],
    /// End of the challenge window, ISO 8601.
    #[schemars(with = "values::Iso")]
    pub challenge_ends: String,
    /// Whether the challenge window has ended, by the exchange's clock.
    pub challenge_over: bool,
    /// Whether an operator other than the proposer must finalise it.
    pub second_person: bool,
    /// Whether the exchange finalises it when the window ends without a dispute.
    pub by_time: bool,
    /// Its dispute.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub dispute: Option<DisputeRow>,
}

/// A dispute in the review queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DisputeRow {
    /// Who disputed it; empty when its event group forbids the payout.
    pub disputed_by: String,
    /// When, ISO 8601.
    #[schemars(with = "values::Iso")]
    pub disputed_at: String,
    /// The payout that the disputer holds right.
    #[serde(with = "Optional::<PayoutWord>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counter: Option<Payout>,
    /// Its label: that of the outcome, `half` or `outside`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub counter_outcome: Option<String>,
    /// The reason.
    pub reason: String,
}

/// Answer of `GET /review`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewRows {
    /// Closed markets without a proposal, by market number: they wait for one.
    pub closed: Vec<ClosedRow>,
    /// Proposals, those whose window ends first at the front.
    pub proposals: Vec<ReviewRow>,
}

/// A closed market without a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClosedRow {
    /// The market.
    #[serde(with = "Condition")]
    pub condition_id: ConditionId,
    /// Its question.
    pub question: String,
    /// Its name in URLs.
    pub slug: String,
    /// Labels of its outcomes.
    pub outcomes: [String; 2],
    /// When it was closed, ISO 8601.
    #[schemars(with = "values::Iso")]
    pub closed_at: String,
    /// Seconds since then.
    pub closed_seconds: u64,
}
