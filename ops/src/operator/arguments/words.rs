//! Words of arguments. Each serializes as the exchange spells it.

use clap::ValueEnum;
use serde::Serialize;

/// A kind of a bound wallet.
#[derive(Clone, Copy, Debug, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BoundKind {
    /// Signature type 1
    Proxy,
    /// Signature type 2
    Safe,
    /// Signature type 3
    Deposit,
}

/// A role of an operator that is a person.
#[derive(Clone, Copy, Debug, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Role {
    /// Everything
    Admin,
    /// Markets, event groups, mode
    Markets,
    /// Proposals and payouts
    Resolver,
    /// Deposits, withdrawals, rebates
    Cashier,
    /// Wallets and keys of users
    Support,
    /// Reads
    ReadOnly,
}

/// A mode of the system.
#[derive(Clone, Copy, Debug, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mode {
    /// All orders and cancels
    Running,
    /// Only post-only orders and cancels
    PostOnly,
    /// Only cancels
    CancelOnly,
    /// No new orders
    Paused,
}

#[cfg(test)]
mod tests {
    use foretell_model::{OperatorRole, SystemMode, WalletKind};
    use foretell_wire::operator::wallet_kind_word;
    use foretell_wire::text::words::{mode_word, role_word};

    use super::*;

    fn sent<T: ValueEnum + Serialize>() -> Vec<serde_json::Value> {
        let values = T::value_variants().iter();
        values.map(|value| serde_json::json!(value)).collect()
    }

    #[test]
    fn the_words_are_those_of_the_exchange() {
        let modes = SystemMode::ALL.iter().map(|mode| mode_word(*mode));
        assert_eq!(sent::<Mode>(), modes.collect::<Vec<_>>());
        let kinds = WalletKind::ALL
            .iter()
            .filter(|kind| **kind != WalletKind::Eoa);
        let kinds = kinds.map(|kind| wallet_kind_word(*kind));
        assert_eq!(sent::<BoundKind>(), kinds.collect::<Vec<_>>());
        let roles = OperatorRole::ALL
            .iter()
            .filter(|role| **role != OperatorRole::Sync);
        assert_eq!(
            sent::<Role>(),
            roles.map(|role| role_word(*role)).collect::<Vec<_>>()
        );
    }
}
