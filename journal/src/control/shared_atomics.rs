//! The variable fields of the control page: atomics in a map shared by several processes.
#![allow(
    unsafe_code,
    reason = "atomics shared between processes live in a map; argued for at each block"
)]

use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::Duration;

use memmap2::MmapRaw;
use rustix::thread::futex;

use super::WAKE_AT;

/// The mapped page, of the writer or of a reader.
#[derive(Debug)]
pub(crate) struct SharedAtomics(MmapRaw);

impl SharedAtomics {
    /// `map` is a whole page.
    pub(super) fn new(map: MmapRaw) -> Self {
        Self(map)
    }

    /// The 32-bit field at offset `at` of the page, a multiple of four.
    pub(super) fn u32(&self, at: usize) -> &AtomicU32 {
        // SAFETY: the map is a page long and page-aligned, `at` is one of the constants of the
        // page, a multiple of four below its end, and the map lives as long as `self`. Every access
        // by any process is an atomic one of the same size (the file is filled before it has its
        // name), so there is no data race. A reader's map is read-only: it only makes relaxed loads
        // (`ControlView`), which `std::sync::atomic` allows on read-only memory.
        unsafe { &*self.0.as_ptr().add(at).cast::<AtomicU32>() }
    }

    /// The 64-bit field at offset `at`, a multiple of eight.
    pub(super) fn u64(&self, at: usize) -> &AtomicU64 {
        // SAFETY: as in `u32`; `at` is a multiple of eight.
        unsafe { &*self.0.as_ptr().add(at).cast::<AtomicU64>() }
    }

    /// Sleeps while the wake-up count is `seen`, at most for `timeout`.
    pub(super) fn sleep(&self, seen: u32, timeout: Duration) {
        let timeout = futex::Timespec {
            tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(timeout.subsec_nanos()),
        };
        // After any end of the wait (wake-up, timeout, signal, changed count) the caller checks
        // again.
        let _ = futex::wait(
            self.u32(WAKE_AT),
            futex::Flags::empty(),
            seen,
            Some(&timeout),
        );
    }

    /// Wakes all sleepers.
    pub(super) fn wake_all(&self) {
        let everybody = u32::try_from(i32::MAX).expect("a positive number");
        // An error is harmless: every wait has a timeout.
        let _ = futex::wake(self.u32(WAKE_AT), futex::Flags::empty(), everybody);
    }
}
