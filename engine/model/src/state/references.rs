//! Remembered references.

use crate::command::CommandKind;
use crate::id::{AccountNumber, Reference, Sequence};
use crate::market::QuestionSet;
use crate::quantity::Micros;
use crate::record::records;
use crate::time::TimeNs;

records! {
    /// Sorted by sequence. An applied account action (split, merge, redeem, convert) first evicts
    /// up to `EVICTED_PER_COMMAND` account references, oldest first, whose time +
    /// `REFERENCE_MEMORY_NS` is below its own time. Operators' references are kept. A repeat has
    /// the same content: command kind, account, market or event group, amount, questions.
    ///
    /// Each account is bounded. An applied action first evicts as above, but while
    /// `MAX_REMEMBERED_REFERENCES` or more are remembered it also evicts those whose time +
    /// `REQUEST_MEMORY_NS` is below its own. Then it evicts the oldest reference of its own
    /// account, if the account holds `REFERENCES_PER_ACCOUNT`. A merge or redeem is never rejected for memory. A split or
    /// convert with a new reference is `TooManyReferences` when its account holds
    /// `REFERENCES_PER_ACCOUNT` or more and the time of the account's oldest + `REQUEST_MEMORY_NS`
    /// is not below the time of the command.
    ///
    /// Proposals have a scope of their own, stored as `None` with the code of the command.
    /// The account is the proposing wallet (0 for an operator), the object the market, the amount
    /// (0 without a window, else window + 1) × 4 + payout code, the
    /// questions the first 16 bytes of the evidence hash. A paid withdrawal
    /// has its number as the amount and account 0.
    pub struct RememberedReference {
        /// Sequence of the command.
        pub sequence: Sequence,
        /// Time of the command.
        pub time: TimeNs,
        /// Scope: an account, or `None` for operators' deposits and withdrawals.
        pub scope: Option<AccountNumber>,
        /// The reference.
        pub reference: Reference,
        /// The kind of the command.
        pub kind: CommandKind,
        /// The account of the action, also for deposits and withdrawals; 0 for fees.
        pub account: AccountNumber,
        /// Market or event group number; 0 without.
        pub object: u32,
        /// Micros or lots, or the number of a paid withdrawal; 0 for redeem.
        pub amount: u64,
        /// Questions of a convert.
        pub questions: QuestionSet,
        /// Collateral of the outcome; 0 when the outcome has none.
        pub collateral: Micros,
        /// Whether it is of a withdrawal that ended without a payment.
        pub released: bool,
    }
}
