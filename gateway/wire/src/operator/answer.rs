//! Answers of the operator surface.

use serde::{Deserialize, Serialize};

use foretell_model::{
    ConditionId, FeeSchedule, HoldSet, Lots, MarketState, Micros, Payout, QuestionIndex, Sequence,
    SystemMode, Tick, TokenId, WalletAddress, WalletKind,
};

use crate::operator::markets::clock::TermsChange;
use crate::operator::markets::resolution::PolicyChange;
use crate::operator::payments::PaymentsChange;
use crate::operator::request::SettingsChange;
use crate::operator::values::{Exponent, Holds, Index, Kind, PayoutWord, RatePpm, TokenPair};
use crate::schema::JsonSchema;
use crate::values::{
    self, Address, Collateral, Condition, Mode, Optional, OrDefault, Shares, State, TickSize,
};

/// Answer to every command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandAnswer {
    /// Always true; a rejection is sent as an error.
    #[schemars(extend("const" = true))]
    pub success: bool,
    /// Sequence of the command; 0 for a repeat of a command whose sequence is not remembered.
    pub sequence: u64,
    /// The command was already applied; nothing changed now.
    pub duplicate: bool,
    /// The assigned number of the account, market, event group, key or domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// Number of orders that the command cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled: Option<u32>,
    /// State of a registered market after the command.
    #[serde(with = "Optional::<State>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<MarketState>,
    /// The condition of a registered market.
    #[serde(with = "Optional::<Condition>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition_id: Option<ConditionId>,
    /// The tokens of a registered market.
    #[serde(with = "Optional::<TokenPair>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_ids: Option<[TokenId; 2]>,
    /// The catalog's id of a registered event group.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub event_id: Option<u64>,
    /// The label of the outcome that a payout names, or `half`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub outcome: Option<String>,
    /// The withdrawal waits: for its payment, or for a second person.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub waits: bool,
}

impl CommandAnswer {
    /// The answer to a command applied now or before.
    #[must_use]
    pub const fn new(sequence: Sequence, duplicate: bool) -> Self {
        Self {
            success: true,
            sequence: sequence.0,
            duplicate,
            number: None,
            cancelled: None,
            status: None,
            condition_id: None,
            token_ids: None,
            event_id: None,
            outcome: None,
            waits: false,
        }
    }
}

/// Answer to a snapshot request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SnapshotAnswer {
    /// Sequence of the last command that the snapshot includes.
    pub sequence: u64,
}

/// The exchange's part of the status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StatusAnswer {
    /// Newest durable sequence.
    pub sequence: u64,
    /// Incremented at every recovery.
    pub epoch: u64,
    /// `disk`, `process` or `none`.
    #[serde(with = "values::Durability")]
    pub durability: &'static str,
    /// The mode: which commands the system accepts.
    #[serde(with = "Mode")]
    pub mode: SystemMode,
    /// Rules number in force.
    pub rules: u32,
    /// Number of registered markets.
    pub markets: u64,
    /// Number of open accounts.
    pub accounts: u64,
    /// Number of resting orders.
    pub live_orders: u64,
    /// Number of closed markets without a payout.
    pub unpaid_markets: u64,
    /// Seconds since the oldest of them closed; 0 without one.
    pub oldest_unpaid_seconds: u64,
    /// Whether nothing goes outward since a restore: no withdrawal, webhook, sync or oracle.
    pub outward_closed: bool,
    /// Balance of the fee account, whole units.
    #[serde(with = "Collateral")]
    pub fees: Micros,
    /// All deposits minus all withdrawals, whole units.
    #[serde(with = "Collateral")]
    pub collateral: Micros,
    /// All settings of the core.
    pub settings: SettingsChange,
    /// Settings of payments.
    pub payments: PaymentsChange,
    /// Resolution policy of the site.
    pub policy: PolicyChange,
}

/// An account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccountRow {
    /// Its address.
    #[serde(with = "Address")]
    pub wallet: WalletAddress,
    /// Its owner; the account itself when not bound.
    #[serde(with = "Address")]
    pub owner: WalletAddress,
    /// Its wallet kind.
    #[serde(with = "Kind")]
    pub kind: WalletKind,
    /// Whether it is closed-only: may only reduce positions.
    pub closed_only: bool,
    /// Free collateral, whole units.
    #[serde(with = "Collateral")]
    pub free: Micros,
    /// Reserved collateral, whole units.
    #[serde(with = "Collateral")]
    pub reserved: Micros,
    /// Accrued rebates that are not paid yet, whole units.
    #[serde(with = "OrDefault::<Collateral>", default)]
    pub accrued: Micros,
    /// Number of resting orders.
    pub live_orders: u32,
}

/// Answer of `GET /accounts`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccountRows {
    /// The newest first. A page may be short or empty while `next` is there.
    pub accounts: Vec<AccountRow>,
    /// `before` of the page that goes on with older ones; absent at the oldest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<u32>,
}

/// Answer of the account query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccountAnswer {
    /// The account.
    #[serde(flatten)]
    pub account: AccountRow,
    /// Its share balances.
    pub positions: Vec<PositionAnswer>,
}

/// Shares of one outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PositionAnswer {
    /// Its market.
    #[serde(with = "Condition")]
    pub condition_id: ConditionId,
    /// The outcome, 0 or 1.
    #[schemars(range(max = 1))]
    pub outcome_index: u8,
    /// Free shares.
    #[serde(with = "Shares")]
    pub free: Lots,
    /// Reserved shares.
    #[serde(with = "Shares")]
    pub reserved: Lots,
}

/// Answer of `GET /markets`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MarketRows {
    /// The markets, by number.
    pub markets: Vec<MarketRow>,
}

/// Answer of `GET /events`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventRows {
    /// Neg-risk event groups, the newest first. A page may be short or empty while `next` is there.
    pub events: Vec<EventRow>,
    /// `before` of the page that goes on with older ones; absent at the oldest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<u32>,
}

/// A neg-risk event group with its words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventRow {
    /// The catalog's id.
    pub event_id: u64,
    /// Its title.
    pub title: String,
    /// Its name in URLs.
    pub slug: String,
    /// Its short name.
    pub ticker: String,
    /// Its description.
    pub description: String,
    /// Labels, beside those of its questions.
    pub tags: Vec<String>,
    /// When it was registered, ISO 8601.
    #[schemars(with = "values::Iso")]
    pub registered: String,
    /// Whether the list of questions is final.
    pub frozen: bool,
    /// Whether the operator owns its words; the upstream does otherwise.
    pub own: bool,
    /// Conditions of its questions, in their order.
    #[schemars(with = "Vec<values::Hash>")]
    pub questions: Vec<String>,
}

/// A row of `GET /markets`: the journaled facts of a market, for comparison with a catalog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarketRow {
    /// Its condition.
    #[serde(with = "Condition")]
    pub condition_id: ConditionId,
    /// Tokens of `[Yes, No]`.
    #[serde(with = "TokenPair")]
    pub token_ids: [TokenId; 2],
    /// Its lifecycle state.
    #[serde(with = "State")]
    pub status: MarketState,
    /// Labels of its outcomes.
    pub outcomes: [String; 2],
    /// Whether it is hidden from lists.
    pub archived: bool,
    /// Its tick.
    #[serde(with = "TickSize")]
    pub tick: Tick,
    /// Minimum resting order, shares.
    #[serde(with = "Shares")]
    pub minimum_size: Lots,
    /// Taker fee.
    #[serde(with = "MarketFee")]
    pub fee: FeeSchedule,
    /// Whether it is a question of a neg-risk event group.
    pub neg_risk: bool,
    /// The neg-risk event group of which it is a question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_id: Option<u64>,
    /// Whether that event group's list of questions is final.
    pub event_frozen: bool,
    /// Its bit in signed conversions, if its event group has its own.
    #[serde(with = "Optional::<Index>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question_index: Option<QuestionIndex>,
    /// Who keeps it from trading, while it is paused.
    #[serde(with = "Holds", default)]
    #[serde(skip_serializing_if = "is_unheld")]
    pub holds: HoldSet,
    /// Set when resolved.
    #[serde(with = "Optional::<PayoutWord>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payout: Option<Payout>,
    /// The question.
    pub question: String,
    /// Its name in URLs.
    pub slug: String,
    /// Whether another market has that name, and a request by it means the other.
    #[serde(default)]
    pub slug_taken: bool,
    /// As registered, without later changes of the catalog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_date: Option<String>,
    /// Clock, delay and rebate; absent of an older exchange.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub terms: Option<TermsChange>,
    /// Whether the operator owns its words; the upstream does otherwise.
    #[serde(default)]
    pub own: bool,
    /// Whether nobody holds its shares any more.
    #[serde(default)]
    pub settled: bool,
    /// The policy of its own; absent under that of the site.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub policy: Option<PolicyChange>,
}

fn is_unheld(holds: &HoldSet) -> bool {
    *holds == HoldSet::NONE
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "FeeSchedule", rename_all = "camelCase")]
#[schemars(inline)]
struct MarketFee {
    #[serde(with = "RatePpm")]
    rate_ppm: u32,
    #[serde(with = "Exponent")]
    exponent: u8,
}

#[cfg(test)]
mod tests {
    use foretell_model::{PaymentSettings, ResolutionPolicy, Settings};

    use super::*;
    use crate::json_text;

    #[test]
    fn answers_are_in_whole_units() {
        let mut applied = CommandAnswer::new(Sequence(7), false);
        assert_eq!(
            json_text(&applied),
            r#"{"success":true,"sequence":7,"duplicate":false}"#
        );
        applied.number = Some(3);
        assert_eq!(
            json_text(&applied),
            r#"{"success":true,"sequence":7,"duplicate":false,"number":3}"#
        );
        let status = StatusAnswer {
            sequence: 9,
            epoch: 1,
            durability: "disk",
            mode: SystemMode::PostOnly,
            rules: 1,
            markets: 2,
            accounts: 3,
            live_orders: 4,
            unpaid_markets: 2,
            oldest_unpaid_seconds: 90,
            outward_closed: false,
            fees: Micros(265_260),
            collateral: Micros(10_000_000),
            settings: Settings::default().into(),
            payments: PaymentSettings::default().into(),
            policy: PolicyChange::of(None, ResolutionPolicy::default()),
        };
        insta::assert_snapshot!(serde_json::to_string_pretty(&status).unwrap());
        let account = AccountAnswer {
            account: AccountRow {
                wallet: WalletAddress([1; 20]),
                owner: WalletAddress([2; 20]),
                kind: WalletKind::Safe,
                closed_only: false,
                free: Micros(1_500_000),
                reserved: Micros(0),
                accrued: Micros(250_000),
                live_orders: 1,
            },
            positions: vec![PositionAnswer {
                condition_id: ConditionId([2; 32]),
                outcome_index: 1,
                free: Lots(150),
                reserved: Lots(1),
            }],
        };
        insta::assert_snapshot!(serde_json::to_string_pretty(&account).unwrap());
    }

    #[test]
    fn the_settings_of_an_answer_can_be_sent_back() {
        let text = json_text(&SettingsChange::from(Settings::default()));
        let change: SettingsChange = crate::read::RequestBody::read(text.as_bytes()).unwrap();
        let zero = Settings {
            timestamp_past_ms: 0,
            timestamp_future_ms: 0,
            marketable_minimum: Micros(0),
            gtd_safety_seconds: 0,
            live_orders_per_account: 0,
            remembered_order_ids: 0,
            new_operator_hours: 0,
        };
        assert_eq!(change.update().applied_to(zero), Settings::default());
    }
}
