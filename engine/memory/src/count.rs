//! What this thread took and gave back.

use std::cell::Cell;

thread_local! {
    static MADE: Cell<u64> = const { Cell::new(0) };
    static HELD: Cell<i64> = const { Cell::new(0) };
}

/// Allocations this thread made so far.
#[must_use]
pub fn made() -> u64 {
    MADE.get()
}

/// Bytes this thread took less those it gave back; meaningful as a difference.
#[must_use]
pub fn held() -> i64 {
    HELD.get()
}

/// Whether this program counts: it installed [`crate::Allocator`].
#[must_use]
pub fn are_counted() -> bool {
    let before = made();
    drop(std::hint::black_box(Box::new(0_u64)));
    made() != before
}

pub(crate) fn add(bytes: usize) {
    MADE.set(MADE.get().wrapping_add(1));
    HELD.set(HELD.get().wrapping_add(signed(bytes)));
}

pub(crate) fn give_back(bytes: usize) {
    HELD.set(HELD.get().wrapping_sub(signed(bytes)));
}

#[allow(
    clippy::cast_possible_wrap,
    reason = "no block is larger than isize::MAX"
)]
const fn signed(bytes: usize) -> i64 {
    bytes as i64
}
