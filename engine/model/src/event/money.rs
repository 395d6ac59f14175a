//! Collateral that moves.

use crate::id::{AccountNumber, Sequence};
use crate::quantity::Micros;
use crate::record::records;

records! {
    /// Collateral was deposited.
    pub struct Deposited {
        /// The credited account.
        pub account: AccountNumber,
        /// The amount.
        pub amount: Micros,
    }

    /// Collateral was withdrawn.
    pub struct Withdrawn {
        /// The debited account.
        pub account: AccountNumber,
        /// The amount.
        pub amount: Micros,
    }

    /// A withdrawal waits: its amount moves from free to reserved (docs/verify/rules.md §27, §30).
    pub struct WithdrawalRequested {
        /// The account.
        pub account: AccountNumber,
        /// The amount.
        pub amount: Micros,
    }

    /// A withdrawal no longer waits: its amount moves from reserved to free. A paid one is `Withdrawn`
    /// next.
    pub struct WithdrawalReleased {
        /// The account.
        pub account: AccountNumber,
        /// The amount.
        pub amount: Micros,
        /// The command that asked for it.
        pub asked: Sequence,
    }

    /// What an account accrued moved to its free collateral.
    pub struct RebatePaid {
        /// The account.
        pub account: AccountNumber,
        /// The amount, above 0.
        pub amount: Micros,
    }
}
