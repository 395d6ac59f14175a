//! Markets from registration to payout.

pub(crate) mod market_figures;
pub(crate) mod market_list;
pub(crate) mod markets;
pub(crate) mod own_markets;
pub(crate) mod resolution;
