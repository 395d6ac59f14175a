//! Lists of what the exchange does not have: their parameters are checked, none selects a row.

use foretell_wire::ApiError;
use foretell_wire::parameters;
use foretell_wire::read::query::family::Family;
use foretell_wire::read::query::parameters::{ParameterSet, Parameters};
use foretell_wire::read::query::reader::Reader;

use super::filters::Page;
use super::forms::{Entry, Flag, MAX_ENTRIES};

parameters! {
    /// Page and order of an empty list.
    pub struct EmptyPage: Catalog {
        /// The page.
        page: Page = group(),
        /// Has no effect on an empty list.
        order: Vec<String> = list(Entry, MAX_ENTRIES),
        /// Has no effect on an empty list.
        ascending: Option<bool> = optional(Flag),
    }

    /// Parameters of `GET /teams`.
    pub struct TeamsQuery: Catalog {
        /// Page and order.
        page: EmptyPage = group(),
        /// Has no effect on an empty list.
        abbreviation: Vec<String> = list(Entry, MAX_ENTRIES),
        /// Has no effect on an empty list.
        league: Vec<String> = list(Entry, MAX_ENTRIES),
        /// Has no effect on an empty list.
        name: Vec<String> = list(Entry, MAX_ENTRIES),
        /// Has no effect on an empty list.
        provider_id: Vec<String> = list(Entry, MAX_ENTRIES),
    }

    /// Parameters of `GET /comments` and of those of a user.
    pub struct CommentsQuery: Catalog {
        /// Page and order.
        page: EmptyPage = group(),
        /// Kind of record.
        parent_entity_type: Vec<String> = list(Entry, MAX_ENTRIES),
        /// Id of the record.
        parent_entity_id: Vec<String> = list(Entry, MAX_ENTRIES),
        /// Has no effect on an empty list.
        get_positions: Option<bool> = optional(Flag),
        /// Has no effect on an empty list.
        holders_only: Option<bool> = optional(Flag),
        /// Has no effect on an empty list.
        after_cursor: Vec<String> = list(Entry, MAX_ENTRIES),
    }
}

/// A query without parameters.
#[derive(Clone, Copy, Debug)]
pub struct NoQuery;

impl Parameters for NoQuery {
    const FAMILY: Family = Family::Catalog;
    const SET: &'static ParameterSet = &ParameterSet::of(&[]);

    fn take(_: &Reader<'_>) -> Result<Self, ApiError> {
        Ok(Self)
    }
}
