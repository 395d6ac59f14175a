//! The four lists of an upstream.

use foretell_catalog::record::Kind;

/// A kind of record, and the list of an upstream that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resource {
    /// Labels of events.
    Tags,
    /// Events that come back.
    Series,
    /// Events with their markets and tags.
    Events,
    /// Markets with short forms of their events.
    Markets,
}

impl Resource {
    /// All, in the order a full pass reads them: what others refer to comes first.
    pub const ALL: [Self; 4] = [Self::Tags, Self::Series, Self::Events, Self::Markets];

    /// Its path below the base URL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tags => "tags",
            Self::Series => "series",
            Self::Events => "events",
            Self::Markets => "markets",
        }
    }

    /// The list of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|resource| resource.name() == name)
    }

    /// The one that a full pass reads after it.
    #[must_use]
    pub const fn next(self) -> Option<Self> {
        match self {
            Self::Tags => Some(Self::Series),
            Self::Series => Some(Self::Events),
            Self::Events => Some(Self::Markets),
            Self::Markets => None,
        }
    }

    /// What its rows are.
    #[must_use]
    pub const fn kind(self) -> Kind {
        match self {
            Self::Tags => Kind::Tag,
            Self::Series => Kind::Series,
            Self::Events => Kind::Event,
            Self::Markets => Kind::Market,
        }
    }
}
