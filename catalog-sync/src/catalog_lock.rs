//! Lock that lets one process at a time reconcile a catalog with the exchange. Two concurrent
//! comparisons could both see an event group without questions. The one with fewer questions could
//! then finalize the list before the other registers its questions.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::clock::Clock;

/// Interval between attempts to take the lock.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The lock. Dropping it releases it; the kernel releases it if the process dies.
#[derive(Debug)]
pub(crate) struct CatalogLock {
    _file: File,
}

impl CatalogLock {
    /// Waits for the lock of the catalog at `catalog`. It polls instead of blocking, so that the
    /// process can stop while it waits.
    pub(crate) async fn take(catalog: &Path, clock: &dyn Clock) -> io::Result<Self> {
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(catalog.with_extension("turn"))?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) => clock.pause(POLL_INTERVAL).await,
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::clock::SystemClock;

    #[tokio::test(flavor = "current_thread")]
    async fn one_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let catalog = directory.path().join("catalog.db");
        let first = CatalogLock::take(&catalog, &SystemClock).await.unwrap();
        let mut second = Box::pin(CatalogLock::take(&catalog, &SystemClock));
        let polled = second
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(polled, Poll::Pending), "it is held");
        drop(first);
        second.await.unwrap();
    }
}
