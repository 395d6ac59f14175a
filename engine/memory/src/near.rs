//! Brings memory near before it is needed. It changes nothing but time.

/// Asks the processor for every cache line of an item and goes on without waiting.
#[inline(always)]
pub fn bring<T>(item: &T) {
    let start = std::ptr::from_ref(item).cast::<u8>();
    for line in 0..size_of::<T>().div_ceil(LINE) {
        request(start.wrapping_add(line * LINE));
    }
    // What does not start on a line may end on one more. Asking twice costs less than finding out.
    if size_of::<T>() > align_of::<T>() {
        request(start.wrapping_add(size_of::<T>() - 1));
    }
}

/// The same for items side by side, as long as they like: each line is asked for once.
#[inline]
pub fn bring_all<T>(items: &[T]) {
    let bytes = items.as_ptr_range();
    let (start, end) = (bytes.start.cast::<u8>(), bytes.end.cast::<u8>());
    let mut line = start.wrapping_sub(start.addr() % LINE);
    while line < end {
        request(line);
        line = line.wrapping_add(LINE);
    }
}

/// The same for bytes that are no longer than a cache line. Each line is asked for once: where an
/// address has to be looked up first, asking twice costs as much again.
#[inline(always)]
pub fn bring_short(bytes: &[u8]) {
    let (first, last) = (bytes.as_ptr(), bytes.as_ptr_range().end.wrapping_sub(1));
    request(first);
    if first.addr() / LINE != last.addr() / LINE {
        request(last);
    }
}

/// Bytes of a cache line.
pub const LINE: usize = 64;

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
#[allow(
    unsafe_code,
    reason = "the intrinsic is unsafe; measured: most of a command's time, and of a search in a long \
              list, was waiting for memory"
)]
fn request(address: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: every x86-64 processor has this instruction. It reads nothing the program can see,
    // and never faults, whatever the address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
}

/// Elsewhere there is no stable way to ask: the memory is waited for when it is needed.
#[cfg(any(not(target_arch = "x86_64"), miri))]
#[inline(always)]
fn request(_: *const u8) {}
