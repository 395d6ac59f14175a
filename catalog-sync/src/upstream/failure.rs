//! Why an upstream's answer could not be used.

use std::time::Duration;

use thiserror::Error;

/// A request that brought no page.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Failure {
    /// No connection, or it broke.
    #[error("{url}: no answer: {reason}")]
    NoAnswer {
        /// What was asked.
        url: String,
        /// Why not.
        reason: String,
    },
    /// A status that is not 200.
    #[error("{url}: the upstream answers {status}")]
    Status {
        /// What was asked.
        url: String,
        /// The status.
        status: u16,
        /// What `Retry-After` asked for.
        retry_after: Option<Duration>,
    },
    /// More than [`crate::limits::MAX_REDIRECTS`] redirects, or one to another origin.
    #[error("{url}: the upstream redirects {reason}")]
    Redirects {
        /// What was asked.
        url: String,
        /// Where to, or how often.
        reason: String,
    },
    /// Something that is no JSON: a login page, an error page of a proxy.
    #[error("{url}: the upstream answers {given}, expected application/json")]
    NotJson {
        /// What was asked.
        url: String,
        /// What it says it is, or how it begins.
        given: String,
    },
    /// JSON that ends too early or is no list.
    #[error("{url}: the page is broken: {reason}")]
    Broken {
        /// What was asked.
        url: String,
        /// Where and how.
        reason: String,
    },
    /// More bytes than a page may have.
    #[error("{url}: the page has more than {limit} bytes")]
    TooLarge {
        /// What was asked.
        url: String,
        /// The bound.
        limit: usize,
    },
}

impl Failure {
    /// Whether the same request may succeed later.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::NoAnswer { .. } | Self::Broken { .. } | Self::NotJson { .. } => true,
            Self::Status { status, .. } => matches!(*status, 408 | 425 | 429) || *status >= 500,
            Self::Redirects { .. } | Self::TooLarge { .. } => false,
        }
    }

    /// How long the upstream asked us to wait.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
