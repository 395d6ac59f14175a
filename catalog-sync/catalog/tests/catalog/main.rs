//! Black-box tests of the catalog: stored records and the answers about them.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by failing")]

mod common;
mod conditions;
mod exchange;
mod hostile;
mod keysets;
mod lists;
mod look_ups;
mod naive;
mod recorded;
mod searching;
mod shapes;
mod updates;
