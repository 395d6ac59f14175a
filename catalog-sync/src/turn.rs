//! Whose turn it is to bring the exchange in step: one process at a time. Two that compare at once
//! could both see an event without questions, and the one that knows fewer could make its list
//! final before the other has registered the rest.

use std::fs::File;
use std::io;
use std::path::Path;

/// Held as long as it lives, and given back by the kernel should the process die.
#[derive(Debug)]
pub(crate) struct Turn {
    _file: File,
}

impl Turn {
    /// Waits for the turn of the catalog at `catalog`.
    pub(crate) async fn take(catalog: &Path) -> io::Result<Self> {
        let path = catalog.with_extension("turn");
        let wait = move || {
            let file = File::options()
                .create(true)
                .truncate(false)
                .write(true)
                .open(path)?;
            file.lock()?;
            Ok(Self { _file: file })
        };
        tokio::task::spawn_blocking(wait)
            .await
            .map_err(io::Error::other)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "current_thread")]
    async fn one_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let catalog = directory.path().join("catalog.db");
        let first = Turn::take(&catalog).await.unwrap();
        let second = tokio::spawn({
            let catalog = catalog.clone();
            async move { Turn::take(&catalog).await.map(|_| ()) }
        });
        let third = File::options()
            .write(true)
            .open(catalog.with_extension("turn"))
            .unwrap();
        assert!(third.try_lock().is_err(), "it is held");
        drop((first, third));
        second.await.unwrap().unwrap();
    }
}
