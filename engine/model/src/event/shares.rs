//! Shares made and ended outside of trades.

use crate::id::{AccountNumber, EventNumber, MarketNumber};
use crate::market::QuestionSet;
use crate::quantity::{Lots, Micros};
use crate::record::records;

records! {
    /// Collateral was split into full sets.
    pub struct Split {
        /// The account.
        pub account: AccountNumber,
        /// The market.
        pub market: MarketNumber,
        /// Number of sets in lots.
        pub lots: Lots,
    }

    /// Full sets were merged into collateral.
    pub struct Merged {
        /// The account.
        pub account: AccountNumber,
        /// The market.
        pub market: MarketNumber,
        /// Number of sets in lots.
        pub lots: Lots,
    }

    /// Holdings of a resolved market were redeemed.
    pub struct Redeemed {
        /// The account.
        pub account: AccountNumber,
        /// The market.
        pub market: MarketNumber,
        /// Burned lots of `[Yes, No]`.
        pub lots: [Lots; 2],
        /// Collateral paid.
        pub payout: Micros,
    }

    /// No of some questions was converted into collateral and Yes of the others and of the outside question.
    pub struct Converted {
        /// The account.
        pub account: AccountNumber,
        /// The event group.
        pub event: EventNumber,
        /// The questions whose No was converted.
        pub questions: QuestionSet,
        /// Lots of each question.
        pub lots: Lots,
        /// Collateral received: lots × (k − 1), in whole units.
        pub collateral: Micros,
    }
}
