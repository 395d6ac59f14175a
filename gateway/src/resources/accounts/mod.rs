//! Balances, keys, rebates, account actions and withdrawals.

pub(crate) mod actions;
pub(crate) mod balances;
pub(crate) mod keys;
pub(crate) mod rebates;
pub(crate) mod withdrawals;
