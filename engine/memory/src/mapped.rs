//! Large blocks: mappings of their own, on huge pages, that grow without being copied.
//!
//! A block that grows by copying needs as many fresh bytes as it has, and for a while there are two of
//! it. Fresh memory is dear: the kernel makes it zero, and where the system is a guest, its host may have
//! to find it first. Moving a mapping only moves entries of page tables, a huge page in each.

use std::alloc::Layout;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rustix::mm::{
    Advice, MapFlags, MremapFlags, ProtFlags, madvise, mmap_anonymous, mremap, mremap_fixed, munmap,
};

/// A huge page: blocks of at least so many bytes are large, and start on one.
pub(crate) const LARGE: usize = 2 << 20;

/// From how many bytes on blocks are large; 0 until somebody asks, and then for good, so that each is
/// given back the way it was taken.
static LARGE_FROM: AtomicUsize = AtomicUsize::new(0);

/// For a process in which large blocks come and go, before it takes the first: only those of at least
/// `bytes`, and of a huge page, count as large. Smaller ones stay with the system's allocator, which keeps
/// their memory for the next, and on ordinary pages: for huge ones the kernel would have to move memory
/// about each time. Later on it is a mistake, which a debug build reports and a release passes over.
pub fn large_blocks_come_and_go(bytes: usize) {
    let decided = decide(bytes.max(LARGE));
    debug_assert_eq!(decided, bytes.max(LARGE), "a large block was taken before");
}

fn decide(bytes: usize) -> usize {
    match LARGE_FROM.compare_exchange(0, bytes, Relaxed, Relaxed) {
        Ok(_) => bytes,
        Err(decided) => decided,
    }
}

/// Whether such a block is mapped. What starts on more than a huge page is not: nobody asks for that.
pub(crate) fn is_mapped(asked: Layout) -> bool {
    if asked.size() < LARGE || asked.align() > LARGE || cfg!(miri) {
        return false;
    }
    let decided = match LARGE_FROM.load(Relaxed) {
        0 => decide(LARGE),
        decided => decided,
    };
    asked.size() >= decided
}

/// Fresh zeros from the start of a huge page on, or null when there is no more memory.
pub(crate) fn take(size: usize) -> *mut u8 {
    let block = reserve(size, ProtFlags::READ | ProtFlags::WRITE);
    if !block.is_null() {
        advise(block, size, Advice::LinuxHugepage);
    }
    block
}

/// The same, every page of it there, so that its user meets no fault.
pub(crate) fn take_touched(size: usize) -> *mut u8 {
    let block = take(size);
    if !block.is_null() {
        advise(block, size, Advice::LinuxPopulateWrite);
    }
    block
}

/// Gives a block back.
///
/// # Safety
/// `block` came from here with this size, and nobody uses it any more.
pub(crate) unsafe fn give_back(block: *mut u8, size: usize) {
    // SAFETY: a range that is mapped, of nobody else.
    unsafe { unmap(block, length(size)) }
}

/// Makes a block longer or shorter, at its place or at another one; null when that cannot be.
///
/// # Safety
/// `block` came from here with the size `from`, and nobody refers to it; it is given up unless the answer
/// is null.
pub(crate) unsafe fn resize(block: *mut u8, from: usize, to: usize) -> *mut u8 {
    let (old, new) = (length(from), length(to));
    if old == new {
        return block;
    }
    // SAFETY: the caller's range, whose end goes or gets more behind it.
    if let Ok(same) = unsafe { mremap(block.cast(), old, new, MremapFlags::empty()) } {
        return same.cast();
    }
    if new < old {
        // Its end stays mapped, unused: moving it could lose the end and fail all the same.
        return block;
    }
    // SAFETY: as the caller promises.
    unsafe { move_and_grow(block, from, to) }
}

/// # Safety
/// As of [`resize`], and it is longer afterwards.
unsafe fn move_and_grow(block: *mut u8, from: usize, to: usize) -> *mut u8 {
    let place = reserve(to, ProtFlags::empty());
    if place.is_null() {
        return place;
    }
    let (old, new) = (length(from), length(to));
    // SAFETY: both ranges are this function's alone, and do not overlap: the second was just taken.
    let moved = unsafe { mremap_fixed(block.cast(), old, new, MremapFlags::MAYMOVE, place.cast()) };
    // Where it fails the block is where it was, but the kernel may have cleared the other range first, and
    // given it to another thread since: so that is left alone, addresses without memory.
    moved.map_or(ptr::null_mut(), <*mut _>::cast)
}

/// A range for so many bytes, from the start of a huge page on. The kernel promises the start of an
/// ordinary one alone: so more is taken, and what lies beside goes back.
fn reserve(size: usize, access: ProtFlags) -> *mut u8 {
    let Some(all) = length(size).checked_add(LARGE) else {
        return ptr::null_mut();
    };
    // SAFETY: the kernel chooses a range that is nobody's.
    let Ok(taken) = (unsafe { mmap_anonymous(ptr::null_mut(), all, access, MapFlags::PRIVATE) })
    else {
        return ptr::null_mut();
    };
    let taken = taken.cast::<u8>();
    let before = taken.align_offset(LARGE);
    let block = taken.wrapping_add(before);
    // SAFETY: what lies before and behind the block within the range just taken; nobody knows it yet.
    unsafe {
        unmap(taken, before);
        unmap(block.wrapping_add(length(size)), LARGE - before);
    }
    block
}

/// # Safety
/// The range is mapped, or empty, and nobody refers to it.
unsafe fn unmap(start: *mut u8, bytes: usize) {
    if bytes > 0 {
        // SAFETY: as the caller promises. It fails only where the process has too many mappings; then
        // the memory stays.
        let _ = unsafe { munmap(start.cast(), bytes) };
    }
}

/// Of all of a block: a mapping whose parts are advised differently could not be moved at once. A kernel
/// that knows no huge pages gives small ones, and one that cannot populate leaves the faults to the user.
fn advise(block: *mut u8, size: usize, advice: Advice) {
    // SAFETY: the range is a block just taken; the advice changes how it is mapped, never what it holds.
    let _ = unsafe { madvise(block.cast(), length(size), advice) };
}

/// Of the mapping under a block: whole pages, as large as they are on x86-64 and 64-bit Arm. What is
/// behind its last whole huge page lies on small ones, so that no block takes much more memory than it
/// has bytes.
const fn length(size: usize) -> usize {
    const PAGE: usize = 64 << 10;
    // No layout is longer than `isize::MAX`, so this cannot wrap.
    size.next_multiple_of(PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = 3 * LARGE;

    fn bytes<'b>(block: *mut u8, size: usize) -> &'b mut [u8] {
        assert!(!block.is_null() && block.addr().is_multiple_of(LARGE));
        // SAFETY: the block has so many bytes, and a test uses one slice of it at a time.
        unsafe { std::slice::from_raw_parts_mut(block, size) }
    }

    /// Sizes on and beside the ends of pages, up and down.
    #[test]
    fn a_block_keeps_its_bytes_where_it_can_stay_and_where_it_must_move() {
        const PATH: [usize; 7] = [
            SIZE,
            SIZE + 1,
            SIZE + LARGE,
            SIZE + 5 * LARGE + 77,
            3 * SIZE,
            SIZE + 3,
            2 * SIZE,
        ];
        let mut block = take(PATH[0]);
        bytes(block, PATH[0]).fill(7);
        let (mut others, mut moves) = (Vec::new(), 0);
        for (from, to) in PATH.into_iter().zip(PATH.into_iter().skip(1)) {
            // The kernel places mappings side by side: one of these stands in the way.
            others.push(take(SIZE));
            // SAFETY: the block is used by nobody else, and its size is the one of the step before.
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
        // SAFETY: they came from here, and are given up.
        unsafe {
            give_back(block, PATH[6]);
            others.into_iter().for_each(|other| give_back(other, SIZE));
        }
    }

    #[test]
    fn what_is_taken_is_zero_and_so_are_pages_that_come_to_it() {
        let block = take_touched(SIZE);
        assert!(bytes(block, SIZE).iter().all(|byte| *byte == 0));
        bytes(block, SIZE).fill(1);
        // SAFETY: nobody refers to it.
        let grown = unsafe { resize(block, SIZE, 2 * SIZE) };
        assert!(bytes(grown, 2 * SIZE)[SIZE..].iter().all(|byte| *byte == 0));
        // SAFETY: it is given up.
        unsafe { give_back(grown, 2 * SIZE) };
    }

    #[test]
    fn more_than_there_is_is_null_and_what_was_there_stays() {
        const ALL: usize = isize::MAX.unsigned_abs();
        assert!(take(ALL).is_null());
        let block = take(SIZE);
        bytes(block, SIZE).fill(9);
        // SAFETY: nobody refers to it.
        assert!(unsafe { resize(block, SIZE, ALL) }.is_null());
        assert!(bytes(block, SIZE).iter().all(|byte| *byte == 9));
        // SAFETY: it is given up.
        unsafe { give_back(block, SIZE) };
    }
}
