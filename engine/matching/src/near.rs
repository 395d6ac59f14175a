//! Brings memory near before it is needed. It changes nothing but time.

/// Asks the processor for every cache line of an item and goes on without waiting.
#[inline(always)]
pub(crate) fn bring<T>(item: &T) {
    let start = std::ptr::from_ref(item).cast::<u8>();
    for line in 0..size_of::<T>().div_ceil(LINE) {
        request(start.wrapping_add(line * LINE));
    }
    // What does not start on a line may end on one more. Asking twice costs less than finding out.
    if size_of::<T>() > align_of::<T>() {
        request(start.wrapping_add(size_of::<T>() - 1));
    }
}

/// Bytes of a cache line.
const LINE: usize = 64;

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
#[allow(
    unsafe_code,
    reason = "the intrinsic is unsafe; measured: most of a command's time was waiting for memory"
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
