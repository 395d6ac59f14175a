//! Series of event groups.

use jiff::Timestamp;

use super::fields::RecordFields;
use super::{Flags, Problems, Skip};

/// A series of event groups. Events inside its record are ignored: they arrive as separate records,
/// which name their series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesRecord {
    /// Its id.
    pub id: u64,
    /// Its short name.
    pub ticker: String,
    /// Its name in URLs.
    pub slug: String,
    /// Its title.
    pub title: String,
    /// The upstream's type word.
    pub series_type: String,
    /// The upstream's word for its recurrence.
    pub recurrence: String,
    /// URL.
    pub image: String,
    /// URL.
    pub icon: String,
    /// Its lifecycle.
    pub flags: Flags,
    /// Creation time.
    pub created_at: Option<Timestamp>,
    /// Time of its last change.
    pub updated_at: Option<Timestamp>,
    /// The original record, without its events.
    pub raw: String,
}

impl SeriesRecord {
    pub(super) fn of(mut fields: RecordFields, problems: &mut Problems) -> Result<Self, Skip> {
        fields.drop("events");
        Ok(Self {
            id: fields.id,
            slug: fields.slug(problems)?,
            ticker: fields.text("ticker", problems),
            title: fields.text("title", problems),
            series_type: fields.text("seriesType", problems),
            recurrence: fields.text("recurrence", problems),
            image: fields.text("image", problems),
            icon: fields.text("icon", problems),
            flags: fields.flags(problems),
            created_at: fields.date("createdAt", problems),
            updated_at: fields.date("updatedAt", problems),
            raw: fields.raw(),
        })
    }
}
