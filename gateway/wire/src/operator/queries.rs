//! Parameters of the operator's lists.

use foretell_model::{ConditionId, EventId, WalletAddress};

use crate::operator::form::Address;
use crate::parameters;
use crate::read::form::PlainForm as _;
use crate::read::query::text_form::{By, CONDITION, Schema, WALLET, Whole, digits};
use crate::text::ids;

/// Most conditions, and most events, that a request may name.
const MAX_NAMED: usize = 100;

const OWNER: By<WalletAddress> = By {
    allowed: Address::ALLOWED,
    read: ids::typed_address,
    ..WALLET
};
const EVENT: By<EventId> = By::new(
    "a number",
    |text| digits(text).map(EventId),
    Schema::UpTo(u64::MAX),
);
const OFFSET: By<usize> = By::new(
    "a number",
    |text| usize::try_from(digits(text)?).ok(),
    Schema::UpTo(u64::MAX),
);

parameters! {
    /// Parameters of `GET /keys`.
    #[derive(Copy)]
    pub struct OwnerQuery: Trading {
        /// Address of the owner.
        pub owner: WalletAddress = required(OWNER),
    }

    /// Parameters of `GET /markets`.
    pub struct MarketsQuery: Trading {
        /// Only these markets: condition ids, comma-separated or repeated.
        pub conditions: Vec<ConditionId> = list(CONDITION, MAX_NAMED) as "condition_id",
        /// Also the questions of these neg-risk event groups: ids, comma-separated or repeated.
        pub events: Vec<EventId> = list(EVENT, MAX_NAMED) as "event_id",
        /// Maximum number of rows; all by default.
        pub limit: Option<usize> = optional(Whole { least: 1, most: 10_000 }),
        /// Rows to skip.
        pub offset: usize = or(OFFSET, "0"),
    }

    /// Parameters of `GET /events`.
    #[derive(Copy)]
    pub struct EventsQuery: Trading {
        /// Maximum number of rows.
        pub limit: usize = or(Whole { least: 1, most: 1_000 }, "1000"),
        /// Rows to skip.
        pub offset: usize = or(OFFSET, "0"),
    }
}
