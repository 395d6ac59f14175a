//! What a client may use: addresses, origins, rates, limits.

pub(crate) mod allowlist;
pub(crate) mod client_address;
pub(crate) mod cors;
pub(crate) mod host;
pub(crate) mod limits;
pub(crate) mod rate_limits;
pub(crate) mod request_policy;
pub(crate) mod work;
