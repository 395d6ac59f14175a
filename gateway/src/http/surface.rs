//! The surfaces of a gateway.

use crate::policy::rate_limits::Scope;

/// What the body of a failure looks like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ErrorShape {
    /// That of a surface.
    Of(Surface),
    /// That of version 2 of the data surface.
    DataV2,
}

impl From<Surface> for ErrorShape {
    fn from(surface: Surface) -> Self {
        Self::Of(surface)
    }
}

/// A family of paths on a listener of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Surface {
    /// Orders, cancels, books, a caller's own orders and trades.
    Trading,
    /// Trade fills, positions, holders; for addresses on the allowlist.
    Data,
    /// Markets, events, series, tags, search.
    Catalog,
    /// Deposits, markets, modes, health, metrics. Loopback only.
    Operator,
    /// Liveness and readiness, for load balancers.
    Health,
}

impl Surface {
    /// The surface's name in configuration and logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Trading => "trading",
            Self::Data => "data",
            Self::Catalog => "catalog",
            Self::Operator => "operator",
            Self::Health => "health",
        }
    }

    /// The shape of its failures at a path.
    pub(crate) fn error_shape(self, path: &str) -> ErrorShape {
        match self {
            Self::Data if path.starts_with("/v2/") => ErrorShape::DataV2,
            _ => ErrorShape::Of(self),
        }
    }

    /// Whether anybody may be its client: an operator has a token.
    pub(crate) const fn is_public(self) -> bool {
        match self {
            Self::Trading | Self::Data | Self::Catalog => true,
            Self::Operator | Self::Health => false,
        }
    }

    /// What every request counts in; the other surfaces have an allowlist or a token in place of
    /// limits.
    pub(crate) const fn scope(self) -> Option<Scope> {
        match self {
            Self::Trading => Some(Scope::Trading),
            Self::Catalog => Some(Scope::Catalog),
            Self::Data | Self::Operator | Self::Health => None,
        }
    }
}
