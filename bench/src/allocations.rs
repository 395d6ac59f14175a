//! Counts what a thread allocates, so that "nothing" can be measured rather than believed.

#![allow(
    unsafe_code,
    reason = "an allocator is an unsafe trait; every call goes unchanged to the system's"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<i64> = const { Cell::new(0) };
}

/// The system's allocator, counting per thread. A program that installs it as its global
/// allocator can be measured; it costs two additions in memory of the thread's own.
#[derive(Clone, Copy, Debug)]
pub struct CountingAllocator;

// SAFETY: each method hands its arguments to `System` and gives back what it answers, so
// `System` keeps the contract. The counters are constant-initialised thread-locals without
// destructors: touching them neither allocates nor unwinds.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size(), 0);
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size(), 0);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(0, 0, layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(1, size, layout.size());
        // SAFETY: as above.
        unsafe { System.realloc(block, layout, size) }
    }
}

fn count(allocations: u64, taken: usize, given_back: usize) {
    // No layout is larger than `isize::MAX`, so neither cast loses anything.
    #[allow(clippy::cast_possible_wrap)]
    let change = taken as i64 - given_back as i64;
    COUNT.set(COUNT.get().wrapping_add(allocations));
    BYTES.set(BYTES.get().wrapping_add(change));
}

/// Whether this program counts: it installed [`CountingAllocator`].
#[must_use]
pub fn are_counted() -> bool {
    let before = made();
    drop(std::hint::black_box(Box::new(0_u64)));
    made() != before
}

/// Allocations this thread made so far.
#[must_use]
pub fn made() -> u64 {
    COUNT.get()
}

/// Bytes this thread took and did not give back; meaningful as a difference.
#[must_use]
pub fn held() -> i64 {
    BYTES.get()
}
