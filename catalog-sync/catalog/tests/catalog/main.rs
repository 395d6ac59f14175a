//! The catalog from outside: what is put, and what is answered.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by failing")]

mod common;
mod hostile;
mod lists;
mod look_ups;
mod naive;
mod recorded;
mod searching;
mod shapes;
mod updates;
