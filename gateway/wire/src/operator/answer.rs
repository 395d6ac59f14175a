//! Answers of the operator surface.

use serde::Serialize;

use foretell_model::{
    ConditionId, Lots, Micros, Sequence, Settings, SystemMode, WalletAddress, WalletKind,
};

use super::request::{mode_word, wallet_kind_word};
use crate::decimal;
use crate::ids;

/// Answer to every command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommandAnswer {
    /// Always true; a rejection is sent as an error.
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
        }
    }
}

/// Answer of the status query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StatusAnswer {
    /// Newest durable sequence.
    pub sequence: u64,
    /// Incremented at every recovery.
    pub epoch: u64,
    /// `disk`, `process` or `none`.
    pub durability: &'static str,
    /// The mode: which commands the system accepts.
    #[serde(serialize_with = "mode")]
    pub mode: SystemMode,
    /// Rules number in force.
    pub rules: u32,
    /// Number of registered markets.
    pub markets: u64,
    /// Number of open accounts.
    pub accounts: u64,
    /// Number of resting orders.
    pub live_orders: u64,
    /// Balance of the fee account, whole units.
    #[serde(serialize_with = "decimal::as_text")]
    pub fees: Micros,
    /// All deposits minus all withdrawals, whole units.
    #[serde(serialize_with = "decimal::as_text")]
    pub collateral: Micros,
    /// The core's settings.
    #[serde(serialize_with = "settings")]
    pub settings: Settings,
}

fn mode<S: serde::Serializer>(mode: &SystemMode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(mode_word(*mode))
}

/// Writes the fields of a settings change, so that an answer can be edited and sent back.
fn settings<S: serde::Serializer>(settings: &Settings, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Fields {
        timestamp_past_ms: u64,
        timestamp_future_ms: u64,
        #[serde(serialize_with = "decimal::as_text")]
        marketable_minimum: Micros,
        gtd_safety_seconds: u64,
        live_orders_per_account: u32,
        remembered_order_ids: u32,
    }
    Fields {
        timestamp_past_ms: settings.timestamp_past_ms,
        timestamp_future_ms: settings.timestamp_future_ms,
        marketable_minimum: settings.marketable_minimum,
        gtd_safety_seconds: settings.gtd_safety_seconds,
        live_orders_per_account: settings.live_orders_per_account,
        remembered_order_ids: settings.remembered_order_ids,
    }
    .serialize(serializer)
}

/// Answer of the account query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AccountAnswer {
    /// Its address.
    #[serde(serialize_with = "ids::shown")]
    pub wallet: WalletAddress,
    /// Its owner; the account itself when not bound.
    #[serde(serialize_with = "ids::shown")]
    pub owner: WalletAddress,
    /// Its wallet kind.
    #[serde(serialize_with = "kind")]
    pub kind: WalletKind,
    /// Whether it is closed-only: may only reduce positions.
    pub closed_only: bool,
    /// Free collateral, whole units.
    #[serde(serialize_with = "decimal::as_text")]
    pub free: Micros,
    /// Reserved collateral, whole units.
    #[serde(serialize_with = "decimal::as_text")]
    pub reserved: Micros,
    /// Number of resting orders.
    pub live_orders: u32,
    /// Its share balances.
    pub positions: Vec<PositionAnswer>,
}

fn kind<S: serde::Serializer>(kind: &WalletKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(wallet_kind_word(*kind))
}

/// Shares of one outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PositionAnswer {
    /// Its market.
    #[serde(serialize_with = "ids::shown")]
    pub condition_id: ConditionId,
    /// The outcome, 0 or 1.
    pub outcome_index: u8,
    /// Free shares.
    #[serde(serialize_with = "decimal::as_text")]
    pub free: Lots,
    /// Reserved shares.
    #[serde(serialize_with = "decimal::as_text")]
    pub reserved: Lots,
}

#[cfg(test)]
mod tests {
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
            fees: Micros(265_260),
            collateral: Micros(10_000_000),
            settings: Settings::default(),
        };
        insta::assert_snapshot!(serde_json::to_string_pretty(&status).unwrap());
        let account = AccountAnswer {
            wallet: WalletAddress([1; 20]),
            owner: WalletAddress([2; 20]),
            kind: WalletKind::Safe,
            closed_only: false,
            free: Micros(1_500_000),
            reserved: Micros(0),
            live_orders: 1,
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
        let text = {
            #[derive(Serialize)]
            #[serde(transparent)]
            struct Only(#[serde(serialize_with = "settings")] Settings);
            json_text(&Only(Settings::default()))
        };
        let change = crate::operator::read_settings(text.as_bytes()).unwrap();
        let zero = Settings {
            timestamp_past_ms: 0,
            timestamp_future_ms: 0,
            marketable_minimum: Micros(0),
            gtd_safety_seconds: 0,
            live_orders_per_account: 0,
            remembered_order_ids: 0,
        };
        assert_eq!(change.applied_to(zero), Settings::default());
    }
}
