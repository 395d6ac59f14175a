//! Whose turn it is to bring the exchange in step: one process at a time. Two that compare at once
//! could both see an event without questions, and the one that knows fewer could make its list
//! final before the other has registered the rest.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::clock::Clock;

/// Between two looks whether the turn is ours.
const LOOK: Duration = Duration::from_millis(50);

/// Held as long as it lives, and given back by the kernel should the process die.
#[derive(Debug)]
pub(crate) struct Turn {
    _file: File,
}

impl Turn {
    /// Waits for the turn of the catalog at `catalog`. Looks again and again instead of blocking, so
    /// that a process that is told to stop can.
    pub(crate) async fn take(catalog: &Path, clock: &dyn Clock) -> io::Result<Self> {
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(catalog.with_extension("turn"))?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) => clock.pause(LOOK).await,
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
        let first = Turn::take(&catalog, &SystemClock).await.unwrap();
        let mut second = Box::pin(Turn::take(&catalog, &SystemClock));
        let look = second
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(look, Poll::Pending), "it is held");
        drop(first);
        second.await.unwrap();
    }
}
