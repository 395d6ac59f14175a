//! The journal: format, writing, crashes, damage, following.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by failing")]

mod common;
mod crash;
mod damage;
mod failing;
mod format;
mod full_disk;
mod leaving;
mod preallocating;
mod records;
mod replica;
mod snapshot;
mod space;
mod writing;
