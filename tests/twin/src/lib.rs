//! The naive exchange, obviously right; used by tests and fuzzers.
