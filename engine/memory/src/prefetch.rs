//! Prefetching: loads cache lines before they are needed. No effect except on timing.

/// Prefetches every cache line of an item without waiting.
#[inline(always)]
pub fn item<T>(item: &T) {
    let start = std::ptr::from_ref(item).cast::<u8>();
    for line in 0..size_of::<T>().div_ceil(CACHE_LINE) {
        request(start.wrapping_add(line * CACHE_LINE));
    }
    // An item that is not aligned to a line may span one more. A second prefetch is cheaper than a
    // check.
    if size_of::<T>() > align_of::<T>() {
        request(start.wrapping_add(size_of::<T>() - 1));
    }
}

/// As [`item`], for bytes no longer than a cache line. Each line is prefetched once: when the
/// address misses the TLB, a second prefetch doubles the cost.
#[inline(always)]
pub fn short_slice(bytes: &[u8]) {
    let (first, last) = (bytes.as_ptr(), bytes.as_ptr_range().end.wrapping_sub(1));
    request(first);
    if first.addr() / CACHE_LINE != last.addr() / CACHE_LINE {
        request(last);
    }
}

/// Bytes of a cache line.
pub const CACHE_LINE: usize = 64;

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
#[allow(
    unsafe_code,
    reason = "the intrinsic is unsafe; measured: most of a command's time, and of a search in a long \
              list, was waiting for memory"
)]
fn request(address: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: every x86-64 CPU has this instruction. It has no visible effect and never faults,
    // whatever the address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
}

/// Other targets have no stable prefetch intrinsic.
#[cfg(any(not(target_arch = "x86_64"), miri))]
#[inline(always)]
fn request(_: *const u8) {}
