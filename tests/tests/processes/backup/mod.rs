//! Backups, restores and archives of a real exchange: killed at any moment, with flipped bits, and whole.

mod flipped_bits;
mod given_away;
mod killed;
mod money_after;
mod outward;
mod site;
mod whole;
