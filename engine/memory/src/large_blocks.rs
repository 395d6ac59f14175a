//! Large blocks: own mappings on huge pages that grow without copying.
//!
//! Growing by copying needs both blocks at once, and fresh memory for the whole new one. Fresh
//! memory is expensive: the kernel zeroes it, and on a virtual machine the host may have to provide
//! it first. Moving a mapping only moves page-table entries, one per huge page.

use std::alloc::Layout;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rustix::mm::{
    Advice, MapFlags, MremapFlags, ProtFlags, madvise, mmap_anonymous, mremap, mremap_fixed, munmap,
};

/// Size of a huge page: the minimum size, and the alignment, of a large block.
pub(crate) const HUGE_PAGE: usize = 2 << 20;

/// Threshold for large blocks in bytes; 0 until first use and constant afterwards, so that every
/// block is freed the way it was allocated.
static THRESHOLD: AtomicUsize = AtomicUsize::new(0);

/// Raises the threshold for large blocks to at least `bytes` (minimum: a huge page). For a process
/// that allocates and frees large blocks often. Smaller blocks stay with the system's allocator,
/// which reuses their memory on ordinary pages; for huge pages the kernel would have to compact
/// memory each time. Call before the first large block: a later call has no effect, and panics in
/// debug builds.
pub fn set_large_block_threshold(bytes: usize) {
    let threshold = fix_threshold(bytes.max(HUGE_PAGE));
    debug_assert_eq!(
        threshold,
        bytes.max(HUGE_PAGE),
        "a large block was taken before"
    );
}

fn fix_threshold(bytes: usize) -> usize {
    match THRESHOLD.compare_exchange(0, bytes, Relaxed, Relaxed) {
        Ok(_) => bytes,
        Err(threshold) => threshold,
    }
}

/// Whether a block of this layout is mapped. Alignments above a huge page are not; no code uses
/// them.
pub(crate) fn is_mapped(asked: Layout) -> bool {
    if asked.size() < HUGE_PAGE || asked.align() > HUGE_PAGE || cfg!(miri) {
        return false;
    }
    let threshold = match THRESHOLD.load(Relaxed) {
        0 => fix_threshold(HUGE_PAGE),
        threshold => threshold,
    };
    asked.size() >= threshold
}

/// A zeroed block aligned to a huge page, or null when memory is exhausted.
pub(crate) fn map(size: usize) -> *mut u8 {
    let block = reserve(size, ProtFlags::READ | ProtFlags::WRITE);
    if !block.is_null() {
        advise(block, size, Advice::LinuxHugepage);
    }
    block
}

/// As [`map`], with every page populated, so that first use causes no page fault.
pub(crate) fn map_populated(size: usize) -> *mut u8 {
    let block = map(size);
    if !block.is_null() {
        advise(block, size, Advice::LinuxPopulateWrite);
    }
    block
}

/// Unmaps a block.
///
/// # Safety
/// `block` came from this module with this size and is not used any more.
pub(crate) unsafe fn unmap_block(block: *mut u8, size: usize) {
    // SAFETY: the range is mapped and belongs only to this block.
    unsafe { unmap(block, length(size)) }
}

/// Resizes a block in place or by moving it; null when neither is possible.
///
/// # Safety
/// `block` came from this module with the size `from` and is not referenced. The caller gives it up
/// unless the result is null.
pub(crate) unsafe fn resize(block: *mut u8, from: usize, to: usize) -> *mut u8 {
    let (old, new) = (length(from), length(to));
    if old == new {
        return block;
    }
    // SAFETY: the caller's range; it is truncated or extended at its end.
    if let Ok(same) = unsafe { mremap(block.cast(), old, new, MremapFlags::empty()) } {
        return same.cast();
    }
    if new < old {
        // The end stays mapped but unused: moving the block could free the end and still fail.
        return block;
    }
    // SAFETY: as the caller promises.
    unsafe { move_and_grow(block, from, to) }
}

/// # Safety
/// As [`resize`], and `to` is longer than `from`.
unsafe fn move_and_grow(block: *mut u8, from: usize, to: usize) -> *mut u8 {
    let range = reserve(to, ProtFlags::empty());
    if range.is_null() {
        return range;
    }
    let (old, new) = (length(from), length(to));
    // SAFETY: this function owns both ranges, and they do not overlap: the second was just
    // reserved.
    let moved = unsafe { mremap_fixed(block.cast(), old, new, MremapFlags::MAYMOVE, range.cast()) };
    // On failure the block is unchanged. The kernel may have unmapped the reserved range first, and
    // another thread may have mapped it since. So it is not unmapped: that leaks address space, not
    // memory.
    moved.map_or(ptr::null_mut(), <*mut _>::cast)
}

/// Maps `size` bytes aligned to a huge page. The kernel guarantees alignment to an ordinary page
/// only, so a larger range is mapped and its ends are unmapped.
fn reserve(size: usize, access: ProtFlags) -> *mut u8 {
    let Some(all) = length(size).checked_add(HUGE_PAGE) else {
        return ptr::null_mut();
    };
    // SAFETY: the kernel chooses an unused range.
    let Ok(taken) = (unsafe { mmap_anonymous(ptr::null_mut(), all, access, MapFlags::PRIVATE) })
    else {
        return ptr::null_mut();
    };
    let taken = taken.cast::<u8>();
    let before = taken.align_offset(HUGE_PAGE);
    let block = taken.wrapping_add(before);
    // SAFETY: the ends of the range just mapped, outside of the block; not shared with other code
    // yet.
    unsafe {
        unmap(taken, before);
        unmap(block.wrapping_add(length(size)), HUGE_PAGE - before);
    }
    block
}

/// # Safety
/// The range is mapped, or empty, and is not referenced.
unsafe fn unmap(start: *mut u8, bytes: usize) {
    if bytes > 0 {
        // SAFETY: as the caller promises. It fails only when the process has too many mappings; the
        // memory then stays mapped.
        let _ = unsafe { munmap(start.cast(), bytes) };
    }
}

/// Advises the whole block: a mapping with differing advice could not be moved in one call.
/// Failures are harmless: without huge pages the block has small pages, without populate its user
/// takes page faults.
fn advise(block: *mut u8, size: usize, advice: Advice) {
    // SAFETY: the range is a block just mapped; the advice changes its pages, never its contents.
    let _ = unsafe { madvise(block.cast(), length(size), advice) };
}

/// Length of the mapping under a block: whole pages, up to 64 KiB as on 64-bit Arm. The part after
/// its last whole huge page is on small pages, so a block uses little more memory than its size.
const fn length(size: usize) -> usize {
    const PAGE: usize = 64 << 10;
    // Cannot overflow: a layout is at most `isize::MAX` long.
    size.next_multiple_of(PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = 3 * HUGE_PAGE;

    fn bytes<'b>(block: *mut u8, size: usize) -> &'b mut [u8] {
        assert!(!block.is_null() && block.addr().is_multiple_of(HUGE_PAGE));
        // SAFETY: the block has `size` bytes, and a test uses one slice of it at a time.
        unsafe { std::slice::from_raw_parts_mut(block, size) }
    }

    /// Sizes at and near page boundaries, growing and shrinking.
    #[test]
    fn a_block_keeps_its_bytes_where_it_can_stay_and_where_it_must_move() {
        const PATH: [usize; 7] = [
            SIZE,
            SIZE + 1,
            SIZE + HUGE_PAGE,
            SIZE + 5 * HUGE_PAGE + 77,
            3 * SIZE,
            SIZE + 3,
            2 * SIZE,
        ];
        let mut block = map(PATH[0]);
        bytes(block, PATH[0]).fill(7);
        let (mut others, mut moves) = (Vec::new(), 0);
        for (from, to) in PATH.into_iter().zip(PATH.into_iter().skip(1)) {
            // The kernel places mappings next to each other: one of these blocks growth in place.
            others.push(map(SIZE));
            // SAFETY: the block is used by no other code, and its size is that of the previous
            // step.
            let resized = unsafe { resize(block, from, to) };
            moves += usize::from(resized != block);
            block = resized;
            let now = bytes(block, to);
            let kept = from.min(to);
            assert!(now[..kept].iter().all(|byte| *byte == 7), "{from} to {to}");
            now.fill(7);
        }
        assert!(moves > 0, "none had to move");
        assert!(moves < PATH.len() - 1, "one that gets shorter stays");
        // SAFETY: they came from `map` and are given up.
        unsafe {
            unmap_block(block, PATH[6]);
            others
                .into_iter()
                .for_each(|other| unmap_block(other, SIZE));
        }
    }

    #[test]
    fn what_is_taken_is_zero_and_so_are_pages_that_come_to_it() {
        let block = map_populated(SIZE);
        assert!(bytes(block, SIZE).iter().all(|byte| *byte == 0));
        bytes(block, SIZE).fill(1);
        // SAFETY: the block is not referenced.
        let grown = unsafe { resize(block, SIZE, 2 * SIZE) };
        assert!(bytes(grown, 2 * SIZE)[SIZE..].iter().all(|byte| *byte == 0));
        // SAFETY: it is given up.
        unsafe { unmap_block(grown, 2 * SIZE) };
    }

    #[test]
    fn more_than_there_is_is_null_and_what_was_there_stays() {
        const ALL: usize = isize::MAX.unsigned_abs();
        assert!(map(ALL).is_null());
        let block = map(SIZE);
        bytes(block, SIZE).fill(9);
        // SAFETY: the block is not referenced.
        assert!(unsafe { resize(block, SIZE, ALL) }.is_null());
        assert!(bytes(block, SIZE).iter().all(|byte| *byte == 9));
        // SAFETY: it is given up.
        unsafe { unmap_block(block, SIZE) };
    }
}
