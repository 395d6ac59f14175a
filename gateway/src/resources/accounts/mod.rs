//! Balances, keys, rebates and account actions.

pub(crate) mod actions;
pub(crate) mod balances;
pub(crate) mod keys;
pub(crate) mod rebates;
