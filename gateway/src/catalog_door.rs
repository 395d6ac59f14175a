//! The way from a request to the catalog: its reads block, so they run beside the server threads,
//! a bounded number at a time.

use std::path::PathBuf;
use std::sync::Arc;

use foretell_catalog::{Catalog, CatalogError, Sites};
use foretell_wire::Failure as Refusal;
use parking_lot::RwLock;
use tokio::sync::Semaphore;

use crate::failure::Failure;

/// Reads that run at once in a process: more only wait for the same disk and cores.
const AT_ONCE: usize = 8;
/// Reads that may wait for one of those; more are answered 503. At a few milliseconds each the last
/// of them waits about a second.
const WAITING: usize = 2_048;

/// Where the catalog is.
#[derive(Clone, Debug)]
pub struct CatalogConfig {
    /// Its file; it may come to be later.
    pub file: PathBuf,
    /// Creators that the sites of `creator` stand for.
    pub sites: Sites,
}

/// The catalog as handlers see it.
pub(crate) struct CatalogDoor {
    config: CatalogConfig,
    open: RwLock<Option<Arc<Catalog>>>,
    running: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

impl CatalogDoor {
    /// Opens nothing yet.
    pub(crate) fn new(config: CatalogConfig) -> Self {
        Self {
            config,
            open: RwLock::new(None),
            running: Arc::new(Semaphore::new(AT_ONCE)),
            waiting: Arc::new(Semaphore::new(AT_ONCE + WAITING)),
        }
    }

    /// The catalog, opened by the first who asks after it came to be. Blocks.
    pub(crate) fn catalog(&self) -> Result<Arc<Catalog>, CatalogError> {
        if let Some(catalog) = &*self.open.read() {
            return Ok(Arc::clone(catalog));
        }
        let mut open = self.open.write();
        if let Some(catalog) = &*open {
            return Ok(Arc::clone(catalog));
        }
        let catalog = Arc::new(Catalog::open(&self.config.file, self.config.sites.clone())?);
        *open = Some(Arc::clone(&catalog));
        Ok(catalog)
    }

    /// Runs `read` where it may block. It runs to its end, and counts as running until then, even
    /// when the client goes away.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&Catalog) -> Result<T, CatalogError> + Send + 'static,
    ) -> Result<Result<T, CatalogError>, Failure> {
        let waiting = Arc::clone(&self.waiting).try_acquire_owned();
        let waiting = waiting.map_err(|_| Failure::from(Refusal::Busy))?;
        let running = Arc::clone(&self.running).acquire_owned().await;
        let running = running.map_err(|_| Failure::from(Refusal::Internal))?;
        let door = Arc::clone(self);
        let reading = tokio::task::spawn_blocking(move || {
            let _permits = (waiting, running);
            read(&*door.catalog()?)
        });
        reading.await.map_err(|_| Refusal::Internal.into())
    }
}

#[cfg(test)]
mod tests {
    use foretell_catalog::Writer;

    use super::*;

    #[test]
    fn a_catalog_that_comes_later_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("catalog.db");
        let config = CatalogConfig {
            file: file.clone(),
            sites: Sites::default(),
        };
        let door = Arc::new(CatalogDoor::new(config));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let read = || {
            runtime
                .block_on(door.read(|catalog| catalog.state("nothing")))
                .unwrap()
        };
        assert!(matches!(read(), Err(CatalogError::Missing(_))));
        drop(Writer::open(&file).unwrap());
        assert!(matches!(read(), Ok(None)));
    }

    #[test]
    fn reads_beyond_the_bound_are_refused_at_once() {
        let config = CatalogConfig {
            file: PathBuf::from("/nonexistent"),
            sites: Sites::default(),
        };
        let door = Arc::new(CatalogDoor::new(config));
        let all = u32::try_from(AT_ONCE + WAITING).unwrap();
        let _held = Arc::clone(&door.waiting)
            .try_acquire_many_owned(all)
            .unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let refused = runtime.block_on(door.read(|_| Ok(()))).unwrap_err();
        assert_eq!(
            refused.into_answer().status,
            http::StatusCode::SERVICE_UNAVAILABLE
        );
    }
}
