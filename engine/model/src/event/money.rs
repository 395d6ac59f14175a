//! Collateral that moves.

use crate::id::{AccountNumber, Sequence};
use crate::quantity::Micros;

/// Collateral was deposited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deposited {
    /// The credited account.
    pub account: AccountNumber,
    /// The amount.
    pub amount: Micros,
}

/// Collateral was withdrawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Withdrawn {
    /// The debited account.
    pub account: AccountNumber,
    /// The amount.
    pub amount: Micros,
}

/// A withdrawal waits for a second person: its amount moves from free to reserved
/// (docs/verify/rules.md §27).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WithdrawalHeld {
    /// The account.
    pub account: AccountNumber,
    /// The amount.
    pub amount: Micros,
}

/// A held withdrawal no longer waits: its amount moves from reserved to free. A confirmed
/// one is `Withdrawn` next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WithdrawalReleased {
    /// The account.
    pub account: AccountNumber,
    /// The amount.
    pub amount: Micros,
    /// The command that asked for it.
    pub asked: Sequence,
}

/// What an account accrued moved to its free collateral.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RebatePaid {
    /// The account.
    pub account: AccountNumber,
    /// The amount, above 0.
    pub amount: Micros,
}
