//! Which blocks lie on huge pages.

use std::alloc::Layout;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Blocks of at least this many bytes do: a huge page.
pub(crate) const LARGE: usize = 2 << 20;

/// From how many bytes on huge pages are asked for.
static ADVISED_FROM: AtomicUsize = AtomicUsize::new(LARGE);

/// Asks for huge pages only from blocks of `bytes` on, in this process and from now on. Where large
/// blocks come and go the kernel would have to move memory about to make room for each.
pub fn huge_pages_from(bytes: usize) {
    ADVISED_FROM.store(bytes.max(LARGE), Relaxed);
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
    const PAGE: usize = 4_096;
    if block.is_null() || asked.size() < ADVISED_FROM.load(Relaxed) || cfg!(miri) {
        return;
    }
    let whole_pages = asked.size() / PAGE * PAGE;
    // SAFETY: the range lies in a block just taken; the advice changes how it is mapped, never
    // what it holds.
    let _ = unsafe {
        rustix::mm::madvise(block.cast(), whole_pages, rustix::mm::Advice::LinuxHugepage)
    };
}
