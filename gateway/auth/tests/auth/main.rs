//! Signatures and credentials.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by failing")]

mod common;
mod known_answers;
mod known_signers;
mod order_attacks;
mod properties;
mod quote_sets;
mod request_attacks;
