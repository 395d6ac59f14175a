//! The lists of an upstream.

use std::fmt;

use foretell_catalog::record::RecordKind;
use serde::{Deserialize, Serialize};

/// A resource of an upstream and the kind of its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Resource {
    /// Labels of events.
    Tags,
    /// Recurring series of event groups.
    Series,
    /// Event groups with their markets and tags.
    Events,
    /// Markets with short forms of their event groups.
    Markets,
}

impl Resource {
    /// Its path relative to the base URL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tags => "tags",
            Self::Series => "series",
            Self::Events => "events",
            Self::Markets => "markets",
        }
    }

    /// Whether it may have pages by cursor.
    #[must_use]
    pub const fn has_keyset(self) -> bool {
        matches!(self, Self::Events | Self::Markets)
    }

    /// The kind of its rows.
    #[must_use]
    pub const fn kind(self) -> RecordKind {
        match self {
            Self::Tags => RecordKind::Tag,
            Self::Series => RecordKind::Series,
            Self::Events => RecordKind::Event,
            Self::Markets => RecordKind::Market,
        }
    }
}

/// A list of an upstream: a whole resource, or its open or its closed records. Both are always asked
/// for, because an upstream may leave out either by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct List {
    /// The resource.
    pub resource: Resource,
    /// The value of `closed`.
    pub closed: Option<bool>,
}

impl List {
    /// All lists in the order of a full pass: what can be traded, then names, then history.
    pub const ALL: [Self; 6] = [
        Self::of(Resource::Events, Some(false)),
        Self::of(Resource::Markets, Some(false)),
        Self::of(Resource::Tags, None),
        Self::of(Resource::Series, None),
        Self::of(Resource::Events, Some(true)),
        Self::of(Resource::Markets, Some(true)),
    ];

    /// A list.
    #[must_use]
    pub const fn of(resource: Resource, closed: Option<bool>) -> Self {
        Self { resource, closed }
    }
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.closed {
            Some(false) => "open ",
            Some(true) => "closed ",
            None => "",
        })?;
        f.write_str(self.resource.name())
    }
}
