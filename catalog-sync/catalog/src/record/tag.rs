//! Tags.

use jiff::Timestamp;

use super::fields::Fields;
use super::{Notes, Skip};

/// A tag of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagRecord {
    /// Its number.
    pub id: u64,
    /// Its name for people.
    pub label: String,
    /// Its name in URLs.
    pub slug: String,
    /// When it was made.
    pub created_at: Option<Timestamp>,
    /// When it was last changed.
    pub updated_at: Option<Timestamp>,
    /// Whether its label is to be translated.
    pub requires_translation: bool,
    /// The record as it came.
    pub raw: String,
}

impl TagRecord {
    pub(super) fn of(fields: Fields, notes: &mut Notes) -> Result<Self, Skip> {
        Ok(Self {
            id: fields.id,
            slug: fields.slug(notes)?,
            label: fields.text("label", notes),
            created_at: fields.date("createdAt", notes),
            updated_at: fields.date("updatedAt", notes),
            requires_translation: fields.flag("requiresTranslation", notes).unwrap_or(false),
            raw: fields.raw(),
        })
    }
}
