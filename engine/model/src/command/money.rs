//! Commands that move collateral in and out.

use crate::id::{Reference, WalletAddress};
use crate::quantity::Micros;
use crate::record::records;

records! {
    /// Add collateral; opens the account.
    pub struct Deposit {
        /// The credited wallet.
        pub wallet: WalletAddress,
        /// The amount, above 0.
        pub amount: Micros,
        /// Idempotency key; one scope for all deposits and withdrawals.
        pub reference: Reference,
    }

    /// Take out free collateral. Above the limit of
    /// [`PaymentSettings`](crate::PaymentSettings) it is held (docs/verify/rules.md §27):
    /// `OperatorRequired`, `TooManyHeld`.
    pub struct Withdraw {
        /// The debited wallet; its account must exist.
        pub wallet: WalletAddress,
        /// The amount, above 0, at most the free collateral.
        pub amount: Micros,
        /// As in `Deposit`.
        pub reference: Reference,
    }

    /// Take collected fees out of the exchange.
    pub struct WithdrawFees {
        /// The amount, above 0, at most the balance of the fee account.
        pub amount: Micros,
        /// As in `Deposit`.
        pub reference: Reference,
    }
}
