//! Which blocks lie on huge pages.

use std::alloc::Layout;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::mapped;

/// Blocks of at least this many bytes do: a huge page.
pub(crate) const LARGE: usize = 2 << 20;

/// From how many bytes on huge pages are asked for.
static ADVISED_FROM: AtomicUsize = AtomicUsize::new(LARGE);

/// For a process in which large blocks come and go, at its start: blocks of less than `bytes` are not put
/// on huge pages, for which the kernel would have to move memory about, and are not mapped but kept by the
/// system's allocator for the next.
pub fn large_blocks_come_and_go(bytes: usize) {
    ADVISED_FROM.store(bytes.max(LARGE), Relaxed);
    mapped::decide(bytes.max(LARGE));
}

pub(crate) const fn is_large(asked: Layout) -> bool {
    asked.size() >= LARGE
}

/// The layout a block is really taken with: a large one starts on a huge page.
pub(crate) const fn layout(asked: Layout) -> Layout {
    if !is_large(asked) || asked.align() >= LARGE {
        return asked;
    }
    match Layout::from_size_align(asked.size(), LARGE) {
        Ok(aligned) => aligned,
        // Within 2 MiB of the end of the address space: no system has that much anyway.
        Err(_) => asked,
    }
}

/// Asks the kernel for huge pages under a large block. Where it has none, small ones do.
pub(crate) fn advise(block: *mut u8, asked: Layout) {
    if block.is_null() || asked.size() < ADVISED_FROM.load(Relaxed) || cfg!(miri) {
        return;
    }
    let bytes = if mapped::is_mapped(asked) {
        // All of it: a mapping whose parts are advised differently cannot be moved at once.
        mapped::length(asked.size())
    } else {
        const PAGE: usize = 4_096;
        asked.size() / PAGE * PAGE
    };
    // SAFETY: the range lies in a block just taken; the advice changes how it is mapped, never
    // what it holds.
    let _ = unsafe { rustix::mm::madvise(block.cast(), bytes, rustix::mm::Advice::LinuxHugepage) };
}
