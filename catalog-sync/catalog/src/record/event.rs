//! Events: what markets are gathered under.

use foretell_model::WalletAddress;
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::fields::Fields;
use super::terms::address;
use super::{Flags, Kind, MarketRecord, Notes, SeriesRecord, Skip, TagRecord};

/// An event with what its record carried.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRecord {
    /// Its number.
    pub id: u64,
    /// Its short name.
    pub ticker: String,
    /// Its name in URLs.
    pub slug: String,
    /// Its title.
    pub title: String,
    /// What it is about.
    pub description: String,
    /// Where the answer is read.
    pub resolution_source: String,
    /// When it starts.
    pub start_date: Option<Timestamp>,
    /// When it was created for trading, as the upstream says.
    pub creation_date: Option<Timestamp>,
    /// When it ends; may lie before its start.
    pub end_date: Option<Timestamp>,
    /// URL.
    pub image: String,
    /// URL.
    pub icon: String,
    /// Its lifecycle.
    pub flags: Flags,
    /// When the record was made.
    pub created_at: Option<Timestamp>,
    /// When it was last changed.
    pub updated_at: Option<Timestamp>,
    /// Whether its outcomes exclude each other.
    pub neg_risk: bool,
    /// Collateral traded, for sorting.
    pub volume: Option<f64>,
    /// Collateral resting, for sorting.
    pub liquidity: Option<f64>,
    /// Who made it.
    pub creator: Option<WalletAddress>,
    /// More about it, as it stands.
    pub metadata: Map<String, Value>,
    /// Its tags; `None` when the record does not say.
    pub tags: Option<Vec<TagRecord>>,
    /// Its series; `None` when the record does not say.
    pub series: Option<Vec<SeriesRecord>>,
    /// Its markets as far as the record carries them. A market that is missing here is not gone.
    pub markets: Vec<MarketRecord>,
    /// The record as it came, without tags, series and markets.
    pub raw: String,
}

impl EventRecord {
    /// The event inside a market's record: its own list of markets is not followed, so that
    /// records do not nest.
    pub(super) fn inside_market(mut fields: Fields, notes: &mut Notes) -> Result<Self, Skip> {
        fields.drop("markets");
        Self::of(fields, notes)
    }

    pub(super) fn of(mut fields: Fields, notes: &mut Notes) -> Result<Self, Skip> {
        let slug = fields.slug(notes)?;
        let tags = fields.take_records("tags", Kind::Tag, notes, TagRecord::of)?;
        let series = fields.take_records("series", Kind::Series, notes, SeriesRecord::of)?;
        let markets =
            fields.take_records("markets", Kind::Market, notes, MarketRecord::inside_event)?;
        Ok(Self {
            id: fields.id,
            slug,
            ticker: fields.text("ticker", notes),
            title: fields.text("title", notes),
            description: fields.text("description", notes),
            resolution_source: fields.text("resolutionSource", notes),
            start_date: fields.date("startDate", notes),
            creation_date: fields.date("creationDate", notes),
            end_date: fields.date("endDate", notes),
            image: fields.text("image", notes),
            icon: fields.text("icon", notes),
            flags: fields.flags(notes),
            created_at: fields.date("createdAt", notes),
            updated_at: fields.date("updatedAt", notes),
            neg_risk: fields.flag("negRisk", notes).unwrap_or(false),
            volume: fields.number("volume", notes),
            liquidity: fields.number("liquidity", notes),
            creator: address(&fields.text("creator", notes)),
            metadata: fields.object("eventMetadata", notes),
            tags,
            series,
            markets: markets.unwrap_or_default(),
            raw: fields.raw(),
        })
    }
}
