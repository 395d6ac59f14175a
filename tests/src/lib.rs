//! Shared by the end-to-end, property and architecture tests of the workspace.

pub mod demo;
pub mod exchange;
pub mod failing_disk;
pub mod in_process;
pub mod ledger;
pub mod load;
pub mod operator;
pub mod quotes;
pub mod random;
pub mod sandbox;
pub mod streams;
pub mod webhook_receiver;
pub mod withdrawals;
