//! Parameters of the operator's lists.

use foretell_model::{ConditionId, EventId, MarketState, WalletAddress};

use crate::operator::payments::WithdrawalPlace;
use crate::parameters;
use crate::read::query::text_form::{Characters, Whole, digits};
use crate::values::{Address, Condition, FlagText, State, values};

/// Most conditions, and most events, that a request may name.
const MAX_NAMED: usize = 100;

const WORDS: Characters = Characters(200);

values! {
    Event { reads EventId: str as Sequence, "a number", |text| digits(text).map(EventId); }
    Sequence { reads u64: str { "type": "integer", "minimum": 0, "maximum": u64::MAX }, "a number", digits; }
    Place { reads WithdrawalPlace: str, "the next of a page", WithdrawalPlace::read; }
    Number { reads u32: str { "type": "integer", "minimum": 0, "maximum": u32::MAX }, "a number up to 4294967295", |text| u32::try_from(digits(text)?).ok(); }
    Offset { reads usize: str as Sequence, "a number", |text| usize::try_from(digits(text)?).ok(); }
}

parameters! {
    /// Parameters of `GET /keys`.
    #[derive(Copy)]
    pub struct OwnerQuery: Trading {
        /// Address of the owner.
        pub owner: WalletAddress = required(Address),
    }

    /// Parameters of `GET /withdrawals`.
    #[derive(Copy)]
    pub struct WithdrawalsQuery: Trading {
        /// Those that ended, in place of those that wait.
        pub ended: bool = or(FlagText, "false"),
        /// Only rows after this one: `next` of the page before.
        pub before: Option<WithdrawalPlace> = optional(Place),
        /// Maximum number of rows.
        pub limit: usize = or(Whole(1, 500), "100"),
    }

    /// Parameters of `GET /markets`.
    pub struct MarketsQuery: Trading {
        /// Only these markets: condition ids, comma-separated or repeated.
        pub conditions: Vec<ConditionId> = list(Condition, MAX_NAMED) as "condition_id",
        /// Also the questions of these neg-risk event groups: ids, comma-separated or repeated.
        pub events: Vec<EventId> = list(Event, MAX_NAMED) as "event_id",
        /// Maximum number of rows; all by default.
        pub limit: Option<usize> = optional(Whole(1, 10_000)),
        /// Rows to skip.
        pub offset: usize = or(Offset, "0"),
    }

    /// Parameters of `GET /markets/figures`.
    pub struct FiguresQuery: Trading {
        /// Words of the question or the slug; all must occur, in any case.
        pub search: Option<String> = optional(WORDS),
        /// Only markets in this state.
        pub status: Option<MarketState> = optional(State),
        /// The archived markets, or the others.
        pub archived: bool = or(FlagText, "false"),
        /// Maximum number of rows.
        pub limit: usize = or(Whole(1, 500), "50"),
        /// Only markets registered before the one of this number: `next` of the page before.
        pub before: Option<u32> = optional(Number),
    }

    /// Parameters of `GET /accounts`.
    pub struct AccountsQuery: Trading {
        /// The beginning of an address.
        pub wallet: Option<String> = optional(Characters(42)),
        /// Maximum number of rows.
        pub limit: usize = or(Whole(1, 500), "50"),
        /// Only accounts opened before the one of this number: `next` of the page before.
        pub before: Option<u32> = optional(Number),
    }

    /// Parameters of `GET /acts`.
    pub struct ActsQuery: Trading {
        /// Only acts of the operator with this name.
        pub operator: Option<String> = optional(WORDS),
        /// Only acts on this market.
        pub condition_id: Option<ConditionId> = optional(Condition),
        /// Only commands of this path.
        pub command: Option<String> = optional(WORDS),
        /// Only acts before this sequence: `next` of the page before.
        pub before: Option<u64> = optional(Sequence),
        /// Maximum number of rows.
        pub limit: usize = or(Whole(1, 500), "100"),
    }

    /// Parameters of `GET /events`.
    #[derive(Copy)]
    pub struct EventsQuery: Trading {
        /// Maximum number of rows.
        pub limit: usize = or(Whole(1, 1_000), "1000"),
        /// Only event groups registered before the one of this number: `next` of the page before.
        pub before: Option<u32> = optional(Number),
        /// Only the operator's own.
        pub own: bool = or(FlagText, "false"),
    }
}
