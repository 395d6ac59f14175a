//! Commands about markets and event groups.

pub(crate) mod clock;
pub(crate) mod content;
pub(crate) mod description;
pub(crate) mod market_terms;
pub(crate) mod payout_name;
pub(crate) mod register;
pub(crate) mod resolution;
