//! Endpoints of one record and of what belongs to it.

use foretell_model::WalletAddress;
use foretell_wire::read::path::{PathParameter, PathText};
use foretell_wire::read::query::family::Family;
#[cfg(feature = "documents")]
use foretell_wire::schema::{JsonSchema, Schema, SchemaGenerator, json_schema};
use foretell_wire::{ApiError, ErrorCode, parameters};

use super::events::EventExtras;
use super::forms::{self, ADDRESS, FLAG, ID, LOCALE, Locale, STATUS, TEXT};

parameters! {
    /// Parameters of an endpoint that returns the record named in its path.
    #[derive(Default)]
    pub struct OneQuery: Catalog {
        /// Wallet address of a creator, or a site of `[catalog.sites]`: other records are 404.
        pub creator: Option<String> = optional(TEXT),
        /// Language of the texts; one is stored.
        pub locale: Locale = or(LOCALE, "en"),
    }

    /// Those of a market.
    #[derive(Default)]
    pub struct OneMarketQuery: Catalog {
        /// Of every record.
        pub one: OneQuery = group(),
        /// Add `tags` of the event.
        pub include_tag: bool = or(FLAG, "false"),
    }

    /// Those of an event.
    #[derive(Default)]
    pub struct OneEventQuery: Catalog {
        /// Of every record.
        pub one: OneQuery = group(),
        /// Stored fields to add.
        pub extras: EventExtras = group(),
    }

    /// Those of a tag.
    #[derive(Default)]
    pub struct OneTagQuery: Catalog {
        /// Of every record.
        pub one: OneQuery = group(),
        /// Add stored `templates`.
        pub include_template: bool = or(FLAG, "false"),
    }

    /// Parameters of `GET /public-profile`.
    #[derive(Copy)]
    pub struct ProfileQuery: Catalog {
        /// Wallet address.
        pub wallet: WalletAddress = required(ADDRESS) as "address",
    }

    /// Parameters of `/tags/…/related-tags`.
    #[derive(Copy)]
    pub struct RelatedQuery: Catalog {
        /// Related tags always have an event.
        pub omit_empty: Option<bool> = optional(FLAG),
        /// Events that count.
        pub closed: Option<bool> = or(STATUS, "all") as "status",
        /// Language of the texts; one is stored.
        pub locale: Locale = or(LOCALE, "en"),
    }
}

/// The id in a path such as `/events/{id}`: up to 63 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordId(pub u64);

impl PathParameter for RecordId {
    type Schema = Self;
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::InvalidCatalogParameter];

    fn read(text: &str) -> Result<Self, ApiError> {
        let PathText(text) = PathText::read(text)?;
        let id = forms::id(&text).map(Self);
        id.ok_or_else(|| Family::Catalog.wrong("id", &text, ID.allowed))
    }
}

#[cfg(feature = "documents")]
impl JsonSchema for RecordId {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RecordId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 0, "maximum": i64::MAX })
    }
}
