//! Accounts, keys, and what waits for them.

use crate::id::{
    AccountNumber, ApiKey, KeyNumber, OperatorNumber, Reference, Sequence, WalletAddress,
};
use crate::market::WalletKind;
use crate::quantity::Micros;
use crate::record::records;
use crate::time::TimeMs;

records! {
    /// Sorted by number.
    pub struct Account {
        /// Number.
        pub account: AccountNumber,
        /// Address.
        pub wallet: WalletAddress,
        /// The owner; the account itself when not bound.
        pub owner: AccountNumber,
        /// Wallet kind in relation to the owner; `Eoa` when not bound.
        pub kind: WalletKind,
        /// Only reducing orders are accepted.
        pub closed_only: bool,
        /// A heartbeat chain is running.
        pub heartbeat: bool,
        /// Free collateral.
        pub free: Micros,
        /// Collateral reserved by live BUYs and by withdrawals that wait.
        pub reserved: Micros,
        /// Number of live orders.
        pub live_orders: u32,
        /// `valid_until` of its last request of a withdrawal; 0 before the first.
        pub withdrawal_valid_until: TimeMs,
    }

    /// Sorted by number.
    pub struct Key {
        /// Number.
        pub key: KeyNumber,
        /// Text.
        pub api_key: ApiKey,
        /// Owner.
        pub owner: AccountNumber,
        /// Nonce.
        #[serde(serialize_with = "crate::id::as_id")]
        pub nonce: [u8; 32],
        /// Whether the key may only read.
        pub read_only: bool,
        /// Whether the key is not revoked.
        pub live: bool,
    }

    /// Sorted by account; only amounts above 0.
    pub struct Accrued {
        /// The account.
        pub account: AccountNumber,
        /// Accrued rebates.
        pub amount: Micros,
    }

    /// Sorted by sequence. The amount is part of the account's `reserved`.
    pub struct PendingWithdrawal {
        /// Its number: the sequence of the command that asked for it.
        pub withdrawal: Sequence,
        /// Whether an operator asked for it; else its user.
        pub by_operator: bool,
        /// The operator who claimed it, at once the one who asked; 0 = nobody.
        pub claimed_by: OperatorNumber,
        /// Whether it was above the limit when it was claimed: a second person pays it.
        pub two_persons: bool,
        /// The account.
        pub account: AccountNumber,
        /// The amount.
        pub amount: Micros,
        /// The reference.
        pub reference: Reference,
    }
}
