//! How a client stands with its closest window, and how an answer says so.

use http::{HeaderMap, HeaderName};

use super::scopes::{Cap, Scope};
use super::window::Millis;

pub(crate) const RATELIMIT_LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
pub(crate) const RATELIMIT_REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
pub(crate) const RATELIMIT_RESET: HeaderName = HeaderName::from_static("ratelimit-reset");

/// The window with the least room of those a request counts in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Standing {
    /// What the window takes.
    pub(crate) limit: u32,
    /// What it takes yet.
    pub(crate) remaining: u32,
    /// Seconds until it takes more again, rounded up.
    pub(crate) reset: u32,
}

impl Standing {
    pub(super) fn new(cap: Cap, remaining: u32, reset: Millis) -> Self {
        Self {
            limit: cap.most,
            remaining,
            reset: seconds(reset),
        }
    }

    /// Says so, unless another window said so already.
    pub(crate) fn tell(&self, headers: &mut HeaderMap) {
        if headers.contains_key(RATELIMIT_LIMIT) {
            return;
        }
        headers.insert(RATELIMIT_LIMIT, self.limit.into());
        headers.insert(RATELIMIT_REMAINING, self.remaining.into());
        headers.insert(RATELIMIT_RESET, self.reset.into());
    }
}

/// A request that is one too many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Refused {
    /// Which window is full.
    pub(crate) scope: Scope,
    /// It; its reset is when the request would be let in.
    pub(crate) standing: Standing,
}

impl Refused {
    pub(super) fn new(cap: Cap, wait: Millis) -> Self {
        Self {
            scope: cap.scope,
            standing: Standing {
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
