//! How the process takes memory: [`Allocator`] is what the binary installs. And how it asks for memory
//! before it is needed ([`near`]).
//!
//! Large blocks lie on huge pages. The matcher's tables are read at random: on 4 KiB pages most
//! reads would miss the translation cache before they miss the data. They grow where they lie, or move
//! without being copied (`mapped.rs`). Every allocation is counted per thread, so that "the matcher
//! allocates nothing" is measured rather than believed.
//!
//! A crate of its own because it needs `unsafe`, and the binary, the bench and tests all use it.
//! Deliberately absent: pools, and any policy of who may take how much.

#![allow(
    unsafe_code,
    reason = "an allocator is an unsafe trait; every block comes from the system's allocator or the kernel"
)]

mod count;
mod mapped;
pub mod near;

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;

pub use count::{are_counted, held, made};
pub use mapped::large_blocks_come_and_go;

/// The system's allocator, with large blocks mapped and on huge pages, counting.
#[derive(Clone, Copy, Debug)]
pub struct Allocator;

// SAFETY: whether a block is mapped or taken from `System` follows from the asked layout in a way that
// never changes once it was asked, so a block is given back the way it was taken. Mappings start on huge
// pages, and what needs more is not mapped, so a block is as long and at least as aligned as asked.
// Nothing here unwinds: the counters are constant-initialised thread-locals without destructors, and
// the kernel's refusals are null, or ignored where they are about advice.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, asked: Layout) -> *mut u8 {
        count::add(asked.size());
        if mapped::is_mapped(asked) {
            return mapped::take(asked.size());
        }
        // SAFETY: the caller asks for more than 0 bytes.
        unsafe { System.alloc(asked) }
    }

    unsafe fn alloc_zeroed(&self, asked: Layout) -> *mut u8 {
        count::add(asked.size());
        if mapped::is_mapped(asked) {
            return mapped::take_touched(asked.size());
        }
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(asked) }
    }

    unsafe fn dealloc(&self, block: *mut u8, asked: Layout) {
        count::give_back(asked.size());
        if mapped::is_mapped(asked) {
            // SAFETY: with the same layout it was mapped, and the caller gives it up.
            return unsafe { mapped::give_back(block, asked.size()) };
        }
        // SAFETY: with the same layout it was taken from `System`.
        unsafe { System.dealloc(block, asked) }
    }

    unsafe fn realloc(&self, block: *mut u8, asked: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps `size` within what a layout of this alignment allows.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, asked.align()) };
        let resized = match (mapped::is_mapped(asked), mapped::is_mapped(wanted)) {
            // SAFETY: it is mapped, and the caller gives it up unless the answer is null.
            (true, true) => unsafe { mapped::resize(block, asked.size(), size) },
            // SAFETY: it came from `System` with the asked layout; `size` is above 0.
            (false, false) => unsafe { System.realloc(block, asked, size) },
            _ => ptr::null_mut(),
        };
        if !resized.is_null() {
            count::give_back(asked.size());
            count::add(size);
            return resized;
        }
        // It changes from one to the other, or cannot be moved: maybe there is memory for another one.
        // SAFETY: `size` is above 0, as the caller promises.
        let other = unsafe { self.alloc(wanted) };
        if !other.is_null() {
            // SAFETY: both blocks hold this many bytes, and the new one overlaps nothing in use.
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
            mapped::LARGE - 1,
            mapped::LARGE,
            mapped::LARGE * 3 + 5,
            mapped::LARGE * 9,
        ] {
            let used = std::hint::black_box(vec![7_u8; size]);
            drop(used);
            let zeroed = std::hint::black_box(vec![0_u8; size]);
            assert!(zeroed.iter().all(|byte| *byte == 0), "{size}");
            let address = zeroed.as_ptr().addr();
            assert!(size < mapped::LARGE || address.is_multiple_of(mapped::LARGE));
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
