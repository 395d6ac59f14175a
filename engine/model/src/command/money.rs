//! Commands that move collateral in and out.

use crate::id::{AccountNumber, Reference, Sequence, WalletAddress};
use crate::quantity::Micros;
use crate::record::records;
use crate::time::TimeMs;

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
    /// [`PaymentSettings`](crate::PaymentSettings) it waits for a second person
    /// (docs/verify/rules.md §27): `OperatorRequired`, `TooManyWithdrawals`.
    pub struct Withdraw {
        /// The debited wallet; its account must exist.
        pub wallet: WalletAddress,
        /// The amount, above 0, at most the free collateral.
        pub amount: Micros,
        /// As in `Deposit`.
        pub reference: Reference,
    }

    /// Ask for free collateral; its amount is reserved until the withdrawal ends. Evidence: the signed
    /// words ([`crate::evidence`]). Rejected in this order: `ReferenceReused`, `TooManyReferences`,
    /// `UnknownAccount`, `KeyOfAnotherOwner`, `WithdrawalsShut`, `ValidityOutOfRange`, `AmountZero`,
    /// `NotEnoughCollateral`, `TooManyWithdrawals` (docs/verify/rules.md §30).
    pub struct RequestWithdrawal {
        /// Who signed it; must be the owner of the account.
        pub owner: AccountNumber,
        /// The debited account.
        pub account: AccountNumber,
        /// The amount, above 0, at most the free collateral.
        pub amount: Micros,
        /// Idempotency key; its scope is the account.
        pub reference: Reference,
        /// Last time at which it may be accepted: later than that of the account's last request, at
        /// most [`crate::limits::MAX_WITHDRAWAL_VALIDITY_MS`] ahead.
        pub valid_until: TimeMs,
    }

    /// The user gives up a withdrawal that nobody claimed. One of another
    /// account is unknown (docs/verify/rules.md §30).
    pub struct CancelWithdrawal {
        /// The account that asked.
        pub account: AccountNumber,
        /// Number of the withdrawal: the sequence of its request.
        pub withdrawal: Sequence,
    }

    /// A withdrawal was paid outside; its amount leaves the exchange. Evidence: the text of the payment.
    /// (docs/verify/rules.md §30).
    pub struct PayWithdrawal {
        /// Number of the withdrawal: the sequence of its request.
        pub withdrawal: Sequence,
        /// Idempotency key: the reference of the payment outside, in the scope of `Deposit`.
        pub payment: Reference,
    }

    /// Take collected fees out of the exchange.
    pub struct WithdrawFees {
        /// The amount, above 0, at most the balance of the fee account.
        pub amount: Micros,
        /// As in `Deposit`.
        pub reference: Reference,
    }
}
