//! The allocator of the binary ([`Allocator`]), and prefetching ([`prefetch`]).
//!
//! Large blocks are on huge pages: the matcher reads its tables at random, and on 4 KiB pages most
//! reads would miss the TLB as well as the data cache. Large blocks grow in place or move without
//! copying (`large_blocks.rs`). Allocations are counted per thread, so that tests can verify that the
//! matcher does not allocate.
//!
//! A separate crate because it needs `unsafe`, and the binary, the bench and tests all use it.
//! Deliberately absent: pools, and quotas.

#![allow(
    unsafe_code,
    reason = "an allocator is an unsafe trait; every block comes from the system's allocator or the kernel"
)]

mod count;
mod large_blocks;
pub mod prefetch;

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;

pub use count::{allocated_bytes, allocations, is_counting};
pub use large_blocks::set_large_block_threshold;

/// The system's allocator, plus huge-page mappings for large blocks, plus counters.
#[derive(Clone, Copy, Debug)]
pub struct Allocator;

// SAFETY: whether a block is mapped or comes from `System` is a function of its layout that never
// changes after its first use, so a block is freed the way it was allocated. Mappings are aligned
// to huge pages, and larger alignments are not mapped, so a block has at least the requested size
// and alignment. No code here unwinds: the counters are constant-initialised thread-locals without
// destructors, and kernel errors become null, or are ignored for advice.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, asked: Layout) -> *mut u8 {
        count::allocate(asked.size());
        if large_blocks::is_mapped(asked) {
            return large_blocks::map(asked.size());
        }
        // SAFETY: the caller requests more than 0 bytes.
        unsafe { System.alloc(asked) }
    }

    unsafe fn alloc_zeroed(&self, asked: Layout) -> *mut u8 {
        count::allocate(asked.size());
        if large_blocks::is_mapped(asked) {
            return large_blocks::map_populated(asked.size());
        }
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(asked) }
    }

    unsafe fn dealloc(&self, block: *mut u8, asked: Layout) {
        count::free(asked.size());
        if large_blocks::is_mapped(asked) {
            // SAFETY: a block of this layout was mapped, and the caller gives it up.
            return unsafe { large_blocks::unmap_block(block, asked.size()) };
        }
        // SAFETY: a block of this layout came from `System`.
        unsafe { System.dealloc(block, asked) }
    }

    unsafe fn realloc(&self, block: *mut u8, asked: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps `size` within what a layout of this alignment allows.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, asked.align()) };
        let resized = match (
            large_blocks::is_mapped(asked),
            large_blocks::is_mapped(wanted),
        ) {
            // SAFETY: it is mapped, and the caller gives it up unless the result is null.
            (true, true) => unsafe { large_blocks::resize(block, asked.size(), size) },
            // SAFETY: it came from `System` with this layout; `size` is above 0.
            (false, false) => unsafe { System.realloc(block, asked, size) },
            _ => ptr::null_mut(),
        };
        if !resized.is_null() {
            count::free(asked.size());
            count::allocate(size);
            return resized;
        }
        // The kind of block changes, or it cannot be resized: try a new block.
        // SAFETY: `size` is above 0, as the caller promises.
        let other = unsafe { self.alloc(wanted) };
        if !other.is_null() {
            // SAFETY: both blocks have this many bytes, and the new one overlaps no block in use.
            unsafe { other.copy_from_nonoverlapping(block, asked.size().min(size)) };
            // SAFETY: the caller gives the old block up.
            unsafe { self.dealloc(block, asked) };
        }
        other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static ALLOCATOR: Allocator = Allocator;

    #[test]
    fn zeroed_blocks_are_zero_also_where_others_were() {
        for size in [
            1_usize,
            4_096,
            large_blocks::HUGE_PAGE - 1,
            large_blocks::HUGE_PAGE,
            large_blocks::HUGE_PAGE * 3 + 5,
            large_blocks::HUGE_PAGE * 9,
        ] {
            let used = std::hint::black_box(vec![7_u8; size]);
            drop(used);
            let zeroed = std::hint::black_box(vec![0_u8; size]);
            assert!(zeroed.iter().all(|byte| *byte == 0), "{size}");
            let address = zeroed.as_ptr().addr();
            assert!(
                size < large_blocks::HUGE_PAGE || address.is_multiple_of(large_blocks::HUGE_PAGE)
            );
        }
    }

    #[test]
    fn what_is_taken_is_counted_and_what_is_given_back_is_taken_off() {
        assert!(is_counting());
        let (before, held_before) = (allocations(), allocated_bytes());
        let block = std::hint::black_box(vec![1_u8; 3 << 20]);
        assert_eq!(
            (allocations() - before, allocated_bytes() - held_before),
            (1, 3 << 20)
        );
        drop(block);
        assert_eq!(
            (allocations() - before, allocated_bytes() - held_before),
            (1, 0)
        );
    }
}
