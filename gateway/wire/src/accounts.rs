//! Balances, wallets, rebates.

pub mod account;
pub mod rebates;
pub mod withdrawals;
