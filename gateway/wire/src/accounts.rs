//! Balances, wallets, rebates.

pub mod account;
pub mod rebates;
