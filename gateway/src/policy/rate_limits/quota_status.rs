//! A client's rate limit status, and its response headers.

use http::{HeaderMap, HeaderName};

use crate::policy::rate_limits::scopes::{Cap, Scope};
use crate::policy::rate_limits::window::Millis;

pub(crate) const RATELIMIT_LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
pub(crate) const RATELIMIT_REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
pub(crate) const RATELIMIT_RESET: HeaderName = HeaderName::from_static("ratelimit-reset");

/// The window with the fewest remaining requests among those that a request counts in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct QuotaStatus {
    /// Limit of the window.
    pub(crate) limit: u32,
    /// Requests still admitted.
    pub(crate) remaining: u32,
    /// Seconds until the window admits more, rounded up.
    pub(crate) reset: u32,
}

impl QuotaStatus {
    pub(crate) fn new(cap: Cap, remaining: u32, reset: Millis) -> Self {
        Self {
            limit: cap.most,
            remaining,
            reset: seconds(reset),
        }
    }

    /// The window that is full first.
    pub(crate) fn tightest(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        let both = [one, other].into_iter().flatten();
        both.min_by_key(|status| status.remaining)
    }

    /// Adds the headers, unless another window has set them.
    pub(crate) fn add_headers(&self, headers: &mut HeaderMap) {
        if headers.contains_key(RATELIMIT_LIMIT) {
            return;
        }
        headers.insert(RATELIMIT_LIMIT, self.limit.into());
        headers.insert(RATELIMIT_REMAINING, self.remaining.into());
        headers.insert(RATELIMIT_RESET, self.reset.into());
    }
}

/// A rejection by a rate limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RateLimited {
    /// The window that is full.
    pub(crate) scope: Scope,
    /// Its status; `reset` is the time until the request would be admitted.
    pub(crate) status: QuotaStatus,
}

impl RateLimited {
    pub(crate) fn new(cap: Cap, wait: Millis) -> Self {
        Self {
            scope: cap.scope,
            status: QuotaStatus {
                limit: cap.most,
                remaining: 0,
                reset: seconds(wait).max(1),
            },
        }
    }
}

fn seconds(millis: Millis) -> u32 {
    u32::try_from(millis.div_ceil(1_000)).unwrap_or(u32::MAX)
}
