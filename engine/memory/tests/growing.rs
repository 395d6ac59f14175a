//! Blocks that grow and shrink across the threshold for mapping.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by failing")]
#![allow(unsafe_code, reason = "an allocator is called as one")]

use std::alloc::{GlobalAlloc as _, Layout};

use foretell_memory::Allocator;

#[path = "growing/support.rs"]
mod support;

use support::grow_and_shrink;

const MIB: usize = 1 << 20;

/// One test, because all parts measure the memory of the same process.
#[test]
fn blocks_keep_their_bytes_and_take_no_more_than_they_need() {
    grow_and_shrink(&[1, 2, 3, 40, 3, 2, 1, 17]);
    growing_touches_nothing();
    what_is_given_back_is_gone();
}

/// A copied block would have all its pages resident.
fn growing_touches_nothing() {
    let before = status_bytes("VmRSS");
    let mut block: Vec<u8> = Vec::with_capacity(256 * MIB);
    block.push(1);
    let touched = || status_bytes("VmRSS").saturating_sub(before);
    assert!(touched() < 8 * MIB, "{} bytes for a first one", touched());
    block.reserve_exact(512 * MIB);
    assert_eq!(block[0], 1);
    assert!(touched() < 8 * MIB, "{} bytes to grow", touched());
}

/// Frees memory and address space: allocates over a hundred times the peak usage in total.
fn what_is_given_back_is_gone() {
    let before = (status_bytes("VmRSS"), status_bytes("VmSize"));
    for round in 0..300 {
        let layout = Layout::from_size_align(4 * MIB + round * 999, 8).unwrap();
        // SAFETY: each layout is the block's current one; no other code uses the block.
        unsafe {
            let block = Allocator.alloc_zeroed(layout);
            let grown = Allocator.realloc(block, layout, 2 * layout.size());
            grown.add(2 * layout.size() - 1).write(1);
            let layout = Layout::from_size_align(2 * layout.size(), 8).unwrap();
            Allocator.dealloc(grown, layout);
        }
    }
    let more = |now: usize, before: usize| now.saturating_sub(before) / MIB;
    let memory = more(status_bytes("VmRSS"), before.0);
    let addresses = more(status_bytes("VmSize"), before.1);
    assert!(
        memory < 32 && addresses < 32,
        "{memory} and {addresses} MiB"
    );
}

/// A field of the kernel's status of this process, in bytes.
fn status_bytes(name: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    let number = line.split_whitespace().nth(1).unwrap();
    number.parse::<usize>().unwrap() * 1_024
}
