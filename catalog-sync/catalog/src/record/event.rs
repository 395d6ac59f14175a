//! Event groups, each with its markets.

use foretell_model::WalletAddress;
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::fields::RecordFields;
use super::terms::address;
use super::{Flags, MarketRecord, Problems, RecordKind, SeriesRecord, Skip, TagRecord};

/// A parsed event group.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRecord {
    /// Its id.
    pub id: u64,
    /// Its short name.
    pub ticker: String,
    /// Its name in URLs.
    pub slug: String,
    /// Its title.
    pub title: String,
    /// Its description.
    pub description: String,
    /// The source that decides the answer.
    pub resolution_source: String,
    /// When it starts.
    pub start_date: Option<Timestamp>,
    /// When it was created for trading, according to the upstream.
    pub creation_date: Option<Timestamp>,
    /// When it ends; may be before its start.
    pub end_date: Option<Timestamp>,
    /// URL.
    pub image: String,
    /// URL.
    pub icon: String,
    /// Its lifecycle.
    pub flags: Flags,
    /// Creation time of the record.
    pub created_at: Option<Timestamp>,
    /// Time of its last change.
    pub updated_at: Option<Timestamp>,
    /// Whether its outcomes exclude each other.
    pub neg_risk: bool,
    /// Traded collateral, for sorting.
    pub volume: Option<f64>,
    /// Resting collateral, for sorting.
    pub liquidity: Option<f64>,
    /// Traded collateral of a day.
    pub volume_24hr: Option<f64>,
    /// The upstream's measure of how open the answer is.
    pub competitive: Option<f64>,
    /// Whether the upstream features it.
    pub featured: bool,
    /// Whether it was made with the upstream's "create your own market".
    pub cyom: bool,
    /// The game it is about.
    pub game_id: String,
    /// Its creator.
    pub creator: Option<WalletAddress>,
    /// Further fields, unchanged.
    pub metadata: Map<String, Value>,
    /// Its tags; `None` when the record lacks the field.
    pub tags: Option<Vec<TagRecord>>,
    /// Its series; `None` when the record lacks the field.
    pub series: Option<Vec<SeriesRecord>>,
    /// Markets contained in the record. A known market that is missing here still exists.
    pub markets: Vec<MarketRecord>,
    /// Whether the record lists markets and each of them could be read.
    pub has_all_markets: bool,
    /// The original record, without tags, series and markets.
    pub raw: String,
}

impl EventRecord {
    /// The event inside a market's record. Its own list of markets is ignored, so that records do
    /// not nest.
    pub(super) fn inside_market(
        mut fields: RecordFields,
        problems: &mut Problems,
    ) -> Result<Self, Skip> {
        fields.drop("markets");
        Self::of(fields, problems)
    }

    pub(super) fn of(mut fields: RecordFields, problems: &mut Problems) -> Result<Self, Skip> {
        let slug = fields.slug(problems)?;
        let tags = fields.take_records("tags", RecordKind::Tag, problems, TagRecord::of)?;
        let series =
            fields.take_records("series", RecordKind::Series, problems, SeriesRecord::of)?;
        let skipped = problems.skipped.len();
        let markets = fields.take_records(
            "markets",
            RecordKind::Market,
            problems,
            MarketRecord::inside_event,
        )?;
        Ok(Self {
            id: fields.id,
            slug,
            ticker: fields.text("ticker", problems),
            title: fields.text("title", problems),
            description: fields.text("description", problems),
            resolution_source: fields.text("resolutionSource", problems),
            start_date: fields.date("startDate", problems),
            creation_date: fields.date("creationDate", problems),
            end_date: fields.date("endDate", problems),
            image: fields.text("image", problems),
            icon: fields.text("icon", problems),
            flags: fields.flags(problems),
            created_at: fields.date("createdAt", problems),
            updated_at: fields.date("updatedAt", problems),
            neg_risk: fields.flag("negRisk", problems).unwrap_or(false),
            volume: fields.number("volume", problems),
            liquidity: fields.number("liquidity", problems),
            volume_24hr: fields.number("volume24hr", problems),
            competitive: fields.number("competitive", problems),
            featured: fields.flag("featured", problems).unwrap_or(false),
            cyom: fields.flag("cyom", problems).unwrap_or(false),
            game_id: fields.text("gameId", problems),
            creator: address(&fields.text("creator", problems)),
            metadata: fields.object("eventMetadata", problems),
            tags,
            series,
            has_all_markets: markets.as_ref().is_some_and(|it| !it.is_empty())
                && problems.skipped.len() == skipped,
            markets: markets.unwrap_or_default(),
            raw: fields.raw(),
        })
    }
}
