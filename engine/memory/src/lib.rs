//! How the process takes memory: [`Allocator`] is what the binary installs. And how it asks for memory
//! before it is needed ([`near`]).
//!
//! Large blocks lie on huge pages. The matcher's tables are read at random: on 4 KiB pages most
//! reads would miss the translation cache before they miss the data. They grow where they lie, or
//! move without being copied ([`mapped`]). Every allocation is counted
//! per thread, so that "the matcher allocates nothing" is measured rather than believed.
//!
//! A crate of its own because it needs `unsafe`, and the binary, the bench and tests all use it.
//! Deliberately absent: pools, and any policy of who may take how much.

#![allow(
    unsafe_code,
    reason = "an allocator is an unsafe trait; every block comes from the system's allocator or the kernel"
)]

mod count;
mod huge;
mod mapped;
pub mod near;

use std::alloc::{GlobalAlloc, Layout, System};

pub use count::{are_counted, held, made};
pub use huge::large_blocks_come_and_go;

/// The system's allocator, with large blocks mapped and on huge pages, counting.
#[derive(Clone, Copy, Debug)]
pub struct Allocator;

// SAFETY: whether a block is mapped, and with which layout it is taken from `System` if not, are
// functions of the asked layout that never change once they were asked, so a block is given back the
// way it was taken. `huge::layout` only ever raises the alignment, and mappings start on huge pages, so
// a block is as long and at least as aligned as asked. Nothing here unwinds: the counters are constant-initialised thread-locals without
// destructors, and `huge::advise` ignores failure.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, asked: Layout) -> *mut u8 {
        count::add(asked.size());
        let block = if mapped::is_mapped(asked) {
            mapped::take(asked.size())
        } else {
            // SAFETY: the caller asks for more than 0 bytes, and the layout keeps the size.
            unsafe { System.alloc(huge::layout(asked)) }
        };
        huge::advise(block, asked);
        block
    }

    unsafe fn alloc_zeroed(&self, asked: Layout) -> *mut u8 {
        if !huge::is_large(asked) {
            count::add(asked.size());
            // SAFETY: as in `alloc`.
            return unsafe { System.alloc_zeroed(asked) };
        }
        // Advised before it is touched, and touched here, so that its user meets no fault.
        // SAFETY: the caller keeps the contract of `alloc`.
        let block = unsafe { self.alloc(asked) };
        if block.is_null() {
            return block;
        }
        if mapped::is_mapped(asked) {
            // SAFETY: the block is mapped; fresh mappings are zero.
            unsafe { mapped::touch(block, asked.size()) };
        } else {
            // SAFETY: the block has `size` bytes that nobody else knows yet.
            unsafe { block.write_bytes(0, asked.size()) };
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, asked: Layout) {
        count::give_back(asked.size());
        if mapped::is_mapped(asked) {
            // SAFETY: with the same layout `alloc` mapped it, and the caller gives it up.
            return unsafe { mapped::give_back(block, asked.size()) };
        }
        // SAFETY: the block came from `alloc` with the same asked layout, so from `System` with
        // this one.
        unsafe { System.dealloc(block, huge::layout(asked)) }
    }

    unsafe fn realloc(&self, block: *mut u8, asked: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps `size` within what a layout of this alignment allows.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, asked.align()) };
        if mapped::is_mapped(asked) && mapped::is_mapped(wanted) {
            // SAFETY: it is mapped, and the caller gives it up unless the answer is null.
            let resized = unsafe { mapped::resize(block, asked.size(), size) };
            if !resized.is_null() {
                count::give_back(asked.size());
                count::add(size);
                huge::advise(resized, wanted);
                return resized;
            }
            // Whatever the kernel has against moving it, there may be memory for another one.
        }
        if !huge::is_large(asked) && !huge::is_large(wanted) {
            count::give_back(asked.size());
            count::add(size);
            // SAFETY: the block came from `System` with the asked layout.
            return unsafe { System.realloc(block, asked, size) };
        }
        // SAFETY: `size` is above 0, as the caller promises.
        let moved = unsafe { self.alloc(wanted) };
        if !moved.is_null() {
            // SAFETY: both blocks hold this many bytes, and the new one overlaps nothing in use.
            unsafe { moved.copy_from_nonoverlapping(block, asked.size().min(size)) };
            // SAFETY: the caller gives the old block up.
            unsafe { self.dealloc(block, asked) };
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static ALLOCATOR: Allocator = Allocator;

    /// Past the first huge page, and past the size from which on blocks are mapped.
    #[test]
    fn blocks_keep_their_bytes_as_they_grow_and_shrink_again() {
        let mut bytes: Vec<u8> = Vec::new();
        for step in 0..40_000_000_u32 {
            bytes.push(step.to_le_bytes()[0]);
        }
        let expected = (0..40_000_000_u32).map(|step| step.to_le_bytes()[0]);
        assert!(bytes.iter().copied().eq(expected));
        for left in [17_000_000, 5_000_000] {
            bytes.truncate(left);
            bytes.shrink_to_fit();
        }
        bytes.truncate(1_000);
        bytes.shrink_to_fit();
        let expected = (0..1_000_u32).map(|step| step.to_le_bytes()[0]);
        assert!(bytes.iter().copied().eq(expected));
    }

    #[test]
    fn zeroed_blocks_are_zero_also_where_others_were() {
        for size in [
            1_usize,
            4_096,
            huge::LARGE - 1,
            huge::LARGE,
            huge::LARGE * 3 + 5,
            huge::LARGE * 9,
        ] {
            let used = std::hint::black_box(vec![7_u8; size]);
            drop(used);
            let zeroed = std::hint::black_box(vec![0_u8; size]);
            assert!(zeroed.iter().all(|byte| *byte == 0), "{size}");
            let address = zeroed.as_ptr().addr();
            assert!(size < huge::LARGE || address.is_multiple_of(huge::LARGE));
        }
    }

    #[test]
    fn what_is_taken_is_counted_and_what_is_given_back_is_taken_off() {
        assert!(are_counted());
        let (before, held_before) = (made(), held());
        let block = std::hint::black_box(vec![1_u8; 3 << 20]);
        assert_eq!((made() - before, held() - held_before), (1, 3 << 20));
        drop(block);
        assert_eq!((made() - before, held() - held_before), (1, 0));
    }
}
