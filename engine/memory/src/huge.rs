//! Which blocks lie on huge pages.

use std::alloc::Layout;

/// Blocks of at least this many bytes do: a huge page.
pub(crate) const LARGE: usize = 2 << 20;

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
    if block.is_null() || !is_large(asked) || cfg!(miri) {
        return;
    }
    let whole_pages = asked.size() / PAGE * PAGE;
    // SAFETY: the range lies in a block just taken; the advice changes how it is mapped, never
    // what it holds.
    let _ = unsafe {
        rustix::mm::madvise(block.cast(), whole_pages, rustix::mm::Advice::LinuxHugepage)
    };
}
