//! Balances, wallets, rebates.

pub mod account;
pub mod rebates;
pub mod signing_domain;
pub mod withdrawals;
