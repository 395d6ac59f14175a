//! Tags.

use jiff::Timestamp;

use super::fields::RecordFields;
use super::{Problems, Skip};

/// A tag of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagRecord {
    /// Its id.
    pub id: u64,
    /// Its display name.
    pub label: String,
    /// Its name in URLs.
    pub slug: String,
    /// Creation time.
    pub created_at: Option<Timestamp>,
    /// Time of its last change.
    pub updated_at: Option<Timestamp>,
    /// Whether its label should be translated.
    pub requires_translation: bool,
    /// Whether it is shown in any case.
    pub force_show: bool,
    /// The original record.
    pub raw: String,
}

impl TagRecord {
    pub(super) fn of(fields: RecordFields, problems: &mut Problems) -> Result<Self, Skip> {
        Ok(Self {
            id: fields.id,
            slug: fields.slug(problems)?,
            label: fields.text("label", problems),
            created_at: fields.date("createdAt", problems),
            updated_at: fields.date("updatedAt", problems),
            requires_translation: fields
                .flag("requiresTranslation", problems)
                .unwrap_or(false),
            force_show: fields.flag("forceShow", problems).unwrap_or(false),
            raw: fields.raw(),
        })
    }
}
