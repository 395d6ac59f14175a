//! The hash-chained, memory-mapped journal.
