//! The processes of an exchange: each one's start, and the supervisor that starts all of them.

pub(crate) mod cluster_config;
mod drill;
mod fd_limit;
pub(crate) mod listen;
pub(crate) mod process;
mod roster;
pub(crate) mod sandbox;
mod supervisor;
pub(crate) mod up;
mod watchdog;
