//! The four lists of an upstream.

use foretell_catalog::record::RecordKind;

/// A list of an upstream and the kind of its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// All lists in the order of a full pass: referenced records first.
    pub const ALL: [Self; 4] = [Self::Tags, Self::Series, Self::Events, Self::Markets];

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

    /// The list with that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|resource| resource.name() == name)
    }

    /// The next list of a full pass.
    #[must_use]
    pub const fn next(self) -> Option<Self> {
        match self {
            Self::Tags => Some(Self::Series),
            Self::Series => Some(Self::Events),
            Self::Events => Some(Self::Markets),
            Self::Markets => None,
        }
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
