//! Parameters of the operator's lists.

use foretell_model::{ConditionId, EventId, MarketState, WalletAddress};

use crate::operator::payments::WithdrawalPlace;
use crate::parameters;
use crate::read::query::text_form::{
    By, CONDITION, Characters, FLAG, Schema, WALLET, Whole, digits,
};
use crate::text::ids;
use crate::values::{Address, Readable as _, State};

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
const WORDS: Characters = Characters(200);
/// The document refers to a definition that it does not have.
const STATE: By<MarketState> = By {
    schema: Schema::Reference("#/$defs/State"),
    ..By::of::<State>()
};
const SEQUENCE: By<u64> = By::new("a number", digits, Schema::UpTo(u64::MAX));
const PLACE: By<WithdrawalPlace> =
    By::new("the next of a page", WithdrawalPlace::read, Schema::Text);
const NUMBER: By<u32> = By::new(
    "a number up to 4294967295",
    |text| u32::try_from(digits(text)?).ok(),
    Schema::UpTo(u32::MAX as u64),
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

    /// Parameters of `GET /withdrawals`.
    #[derive(Copy)]
    pub struct WithdrawalsQuery: Trading {
        /// Those that ended, in place of those that wait.
        pub ended: bool = or(FLAG, "false"),
        /// Only rows after this one: `next` of the page before.
        pub before: Option<WithdrawalPlace> = optional(PLACE),
        /// Maximum number of rows.
        pub limit: usize = or(Whole { least: 1, most: 500 }, "100"),
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

    /// Parameters of `GET /markets/figures`.
    pub struct FiguresQuery: Trading {
        /// Words of the question or the slug; all must occur, in any case.
        pub search: Option<String> = optional(WORDS),
        /// Only markets in this state.
        pub status: Option<MarketState> = optional(STATE),
        /// The archived markets, or the others.
        pub archived: bool = or(FLAG, "false"),
        /// Maximum number of rows.
        pub limit: usize = or(Whole { least: 1, most: 500 }, "50"),
        /// Only markets registered before the one of this number: `next` of the page before.
        pub before: Option<u32> = optional(NUMBER),
    }

    /// Parameters of `GET /accounts`.
    pub struct AccountsQuery: Trading {
        /// The beginning of an address.
        pub wallet: Option<String> = optional(Characters(42)),
        /// Maximum number of rows.
        pub limit: usize = or(Whole { least: 1, most: 500 }, "50"),
        /// Only accounts opened before the one of this number: `next` of the page before.
        pub before: Option<u32> = optional(NUMBER),
    }

    /// Parameters of `GET /acts`.
    pub struct ActsQuery: Trading {
        /// Only acts of the operator with this name.
        pub operator: Option<String> = optional(WORDS),
        /// Only acts on this market.
        pub condition_id: Option<ConditionId> = optional(CONDITION),
        /// Only commands of this path.
        pub command: Option<String> = optional(WORDS),
        /// Only acts before this sequence: `next` of the page before.
        pub before: Option<u64> = optional(SEQUENCE),
        /// Maximum number of rows.
        pub limit: usize = or(Whole { least: 1, most: 500 }, "100"),
    }

    /// Parameters of `GET /events`.
    #[derive(Copy)]
    pub struct EventsQuery: Trading {
        /// Maximum number of rows.
        pub limit: usize = or(Whole { least: 1, most: 1_000 }, "1000"),
        /// Only event groups registered before the one of this number: `next` of the page before.
        pub before: Option<u32> = optional(NUMBER),
        /// Only the operator's own.
        pub own: bool = or(FLAG, "false"),
    }
}
