//! Allocation counters of the current thread.

use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static ALLOCATED_BYTES: Cell<i64> = const { Cell::new(0) };
}

/// Number of allocations of this thread.
#[must_use]
pub fn allocations() -> u64 {
    ALLOCATIONS.get()
}

/// Bytes allocated minus bytes freed by this thread; only differences are meaningful.
#[must_use]
pub fn allocated_bytes() -> i64 {
    ALLOCATED_BYTES.get()
}

/// Whether this program installed [`crate::Allocator`] and so counts.
#[must_use]
pub fn is_counting() -> bool {
    let before = allocations();
    drop(std::hint::black_box(Box::new(0_u64)));
    allocations() != before
}

pub(crate) fn allocate(bytes: usize) {
    ALLOCATIONS.set(ALLOCATIONS.get().wrapping_add(1));
    ALLOCATED_BYTES.set(ALLOCATED_BYTES.get().wrapping_add(signed(bytes)));
}

pub(crate) fn free(bytes: usize) {
    ALLOCATED_BYTES.set(ALLOCATED_BYTES.get().wrapping_sub(signed(bytes)));
}

#[allow(
    clippy::cast_possible_wrap,
    reason = "no block is larger than isize::MAX"
)]
const fn signed(bytes: usize) -> i64 {
    bytes as i64
}
