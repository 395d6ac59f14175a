//! The growth test with a raised threshold: freed memory is reused without page faults.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by failing")]

#[path = "growing/support.rs"]
mod support;

use support::grow_and_shrink;

const MIB: usize = 1 << 20;

#[test]
fn blocks_keep_their_bytes_and_those_that_come_and_go_stay_with_the_allocator() {
    foretell_memory::set_large_block_threshold(32 << 20);
    grow_and_shrink(&[1, 2, 3, 40, 3, 70, 33, 31, 1, 17]);
    // Twice, because the system's allocator adapts to freed blocks.
    for _ in 0..2 {
        drop(std::hint::black_box(vec![1_u8; 5 * MIB]));
    }
    let faults = faults();
    for _ in 0..100 {
        drop(std::hint::black_box(vec![1_u8; 5 * MIB]));
    }
    let faults = self::faults() - faults;
    assert!(faults < 1_280, "{faults}: fresh pages each time");
}

/// Page faults of this process so far.
fn faults() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    fields.split_whitespace().nth(7).unwrap().parse().unwrap()
}
