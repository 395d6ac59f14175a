//! Endpoints of one record and of what belongs to it.

use foretell_model::WalletAddress;
use foretell_wire::read::path::{PathParameter, PathText};
use foretell_wire::read::query::family::Family;
use foretell_wire::values::Readable as _;
use foretell_wire::{ApiError, ErrorCode, parameters};

use super::events::EventExtras;
use super::forms::{self, Address, Flag, Id, LOCALE, Locale, STATUS, Text};

parameters! {
    /// Parameters of an endpoint that returns the record named in its path.
    #[derive(Default)]
    pub struct OneQuery: Catalog {
        /// Wallet address of a creator, or a site of `[catalog.sites]`: other records are 404.
        pub creator: Option<String> = optional(Text),
        /// Language of the texts; one is stored.
        pub locale: Locale = or(LOCALE, "en"),
    }

    /// Those of a market.
    #[derive(Default)]
    pub struct OneMarketQuery: Catalog {
        /// Of every record.
        pub one: OneQuery = group(),
        /// Add `tags` of the event.
        pub include_tag: bool = or(Flag, "false"),
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
        pub include_template: bool = or(Flag, "false"),
    }

    /// Parameters of `GET /public-profile`.
    #[derive(Copy)]
    pub struct ProfileQuery: Catalog {
        /// Wallet address.
        pub wallet: WalletAddress = required(Address) as "address",
    }

    /// Parameters of `/tags/…/related-tags`.
    #[derive(Copy)]
    pub struct RelatedQuery: Catalog {
        /// Related tags always have an event.
        pub omit_empty: Option<bool> = optional(Flag),
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
    type Schema = Id;
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::InvalidCatalogParameter];

    fn read(text: &str) -> Result<Self, ApiError> {
        let PathText(text) = PathText::read(text)?;
        let id = forms::id(&text).map(Self);
        id.ok_or_else(|| Family::Catalog.wrong("id", &text, Id::ALLOWED))
    }
}
