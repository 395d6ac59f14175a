//! Series of events.

use jiff::Timestamp;

use super::fields::Fields;
use super::{Flags, Notes, Skip};

/// A series of events. Events inside a series' record are not read: they come as records of
/// their own, which name their series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesRecord {
    /// Its number.
    pub id: u64,
    /// Its short name.
    pub ticker: String,
    /// Its name in URLs.
    pub slug: String,
    /// Its title.
    pub title: String,
    /// A word of the upstream.
    pub series_type: String,
    /// How often it recurs, a word of the upstream.
    pub recurrence: String,
    /// URL.
    pub image: String,
    /// URL.
    pub icon: String,
    /// Its lifecycle.
    pub flags: Flags,
    /// When it was made.
    pub created_at: Option<Timestamp>,
    /// When it was last changed.
    pub updated_at: Option<Timestamp>,
    /// The record as it came, without its events.
    pub raw: String,
}

impl SeriesRecord {
    pub(super) fn of(mut fields: Fields, notes: &mut Notes) -> Result<Self, Skip> {
        fields.drop("events");
        Ok(Self {
            id: fields.id,
            slug: fields.slug(notes)?,
            ticker: fields.text("ticker", notes),
            title: fields.text("title", notes),
            series_type: fields.text("seriesType", notes),
            recurrence: fields.text("recurrence", notes),
            image: fields.text("image", notes),
            icon: fields.text("icon", notes),
            flags: fields.flags(notes),
            created_at: fields.date("createdAt", notes),
            updated_at: fields.date("updatedAt", notes),
            raw: fields.raw(),
        })
    }
}
