//! Errors of upstream requests.

use std::time::Duration;

use thiserror::Error;

/// A request that returned no page.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UpstreamError {
    /// No connection, or it broke.
    #[error("{url}: no answer: {reason}")]
    NoAnswer {
        /// The requested URL.
        url: String,
        /// The cause.
        reason: String,
    },
    /// A status that is not 200.
    #[error("{url}: the upstream returned {status}")]
    Status {
        /// The requested URL.
        url: String,
        /// The status.
        status: u16,
        /// The pause from `Retry-After`.
        retry_after: Option<Duration>,
    },
    /// More than [`crate::limits::MAX_REDIRECTS`] redirects, or one to another origin.
    #[error("{url}: the upstream redirected {reason}")]
    Redirects {
        /// The requested URL.
        url: String,
        /// The target, or the number of redirects.
        reason: String,
    },
    /// Not JSON, for example a login page or a proxy's error page.
    #[error("{url}: the upstream returned {given}, expected application/json")]
    NotJson {
        /// The requested URL.
        url: String,
        /// Its content type, or its first bytes.
        given: String,
    },
    /// Truncated JSON, or JSON without a list.
    #[error("{url}: the page is broken: {reason}")]
    Broken {
        /// The requested URL.
        url: String,
        /// Position and cause.
        reason: String,
    },
    /// More bytes than a page may have.
    #[error("{url}: the page has more than {limit} bytes")]
    TooLarge {
        /// The requested URL.
        url: String,
        /// The limit.
        limit: usize,
    },
}

impl UpstreamError {
    /// Whether the same request may succeed later.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::NoAnswer { .. } | Self::Broken { .. } | Self::NotJson { .. } => true,
            Self::Status { status, .. } => matches!(*status, 408 | 425 | 429) || *status >= 500,
            Self::Redirects { .. } | Self::TooLarge { .. } => false,
        }
    }

    /// Whether the upstream understood the request and will not answer it.
    #[must_use]
    pub const fn is_rejection(&self) -> bool {
        matches!(
            self,
            Self::Status {
                status: 400..=499,
                ..
            }
        ) && !self.is_transient()
    }

    /// The pause that the upstream requested.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
