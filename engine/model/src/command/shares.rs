//! Commands that make and end shares: split, merge, redeem, convert.

use crate::id::{AccountNumber, EventNumber, MarketNumber, Reference};
use crate::market::QuestionSet;
use crate::quantity::Lots;
use crate::record::records;

records! {
    /// Split: collateral into full sets.
    pub struct Split {
        /// The account.
        pub account: AccountNumber,
        /// The market.
        pub market: MarketNumber,
        /// Number of sets in lots, above 0.
        pub lots: Lots,
        /// Idempotency key; its scope is the account.
        pub reference: Reference,
    }

    /// Merge: full sets into collateral.
    pub struct Merge {
        /// The account.
        pub account: AccountNumber,
        /// The market.
        pub market: MarketNumber,
        /// Number of sets in lots, above 0.
        pub lots: Lots,
        /// As in `Split`.
        pub reference: Reference,
    }

    /// Redeem: holdings of a resolved market into their payout.
    pub struct Redeem {
        /// The account.
        pub account: AccountNumber,
        /// The market.
        pub market: MarketNumber,
        /// As in `Split`.
        pub reference: Reference,
    }

    /// Convert: No of some questions into collateral and Yes of the others and of the outside question
    /// (docs/verify/rules.md §11).
    pub struct Convert {
        /// The account.
        pub account: AccountNumber,
        /// The event group.
        pub event: EventNumber,
        /// The questions whose No is converted; at least one, all below the list's length.
        pub questions: QuestionSet,
        /// Lots of each question, above 0.
        pub lots: Lots,
        /// As in `Split`.
        pub reference: Reference,
    }
}
