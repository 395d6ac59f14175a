//! Bounded access from requests to the catalog: its reads block, so they run on a thread pool next
//! to the server threads.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use foretell_catalog::{Catalog, CatalogError, Exchange};
use foretell_wire::ErrorCode;
use parking_lot::RwLock;
use tokio::sync::Semaphore;

use crate::config::CatalogConfig;
use crate::http::failure::Failure;
use crate::policy::work;

/// Concurrent reads of a process; more would only contend for the same disk and cores.
const MAX_CONCURRENT_READS: usize = 8;
/// Reads that may queue for one of those; further ones get 503. At a few milliseconds each the last
/// of the queue waits about a second.
const MAX_QUEUED_READS: usize = 2_048;

/// The catalog as handlers use it.
pub(crate) struct CatalogPool {
    config: CatalogConfig,
    open: RwLock<Option<Arc<Catalog>>>,
    exchange: OnceLock<Arc<dyn Exchange>>,
    running: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

impl CatalogPool {
    /// Does not open the file yet.
    pub(crate) fn new(config: CatalogConfig) -> Self {
        Self {
            config,
            open: RwLock::new(None),
            exchange: OnceLock::new(),
            running: Arc::new(Semaphore::new(MAX_CONCURRENT_READS)),
            waiting: Arc::new(Semaphore::new(MAX_CONCURRENT_READS + MAX_QUEUED_READS)),
        }
    }

    /// Asks an exchange about markets from the catalog's opening on.
    pub(crate) fn ask(&self, exchange: Arc<dyn Exchange>) {
        // The app asks once, when it is made.
        let _ = self.exchange.set(exchange);
    }

    pub(crate) fn file(&self) -> &Path {
        &self.config.file
    }

    /// The catalog, opened by the first call after its file exists. Blocks.
    pub(crate) fn catalog(&self) -> Result<Arc<Catalog>, CatalogError> {
        if let Some(catalog) = &*self.open.read() {
            return Ok(Arc::clone(catalog));
        }
        let mut open = self.open.write();
        if let Some(catalog) = &*open {
            return Ok(Arc::clone(catalog));
        }
        let catalog = Catalog::open(&self.config.file, self.config.sites.clone())?;
        let catalog = Arc::new(catalog.with_exchange(self.exchange.get().cloned()));
        *open = Some(Arc::clone(&catalog));
        Ok(catalog)
    }

    /// Runs `read` on a thread that may block. It runs to its end and keeps its permit even when
    /// the client disconnects.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&Catalog) -> Result<T, CatalogError> + Send + 'static,
    ) -> Result<Result<T, CatalogError>, Failure> {
        let waiting = Arc::clone(&self.waiting).try_acquire_owned();
        let waiting = waiting.map_err(|_| Failure::from(ErrorCode::Busy))?;
        let running = Arc::clone(&self.running).acquire_owned().await;
        let running = running.map_err(|_| Failure::from(ErrorCode::Internal))?;
        let pool = Arc::clone(self);
        let reading = work::blocking(move || {
            let _permits = (waiting, running);
            pool.catalog().and_then(|catalog| read(&catalog))
        });
        Ok(reading.await.map_err(|_| ErrorCode::Internal)?)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use foretell_catalog::{Sites, Writer};

    use super::*;
    use crate::http::surface::Surface;

    #[test]
    fn a_catalog_that_comes_later_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("catalog.db");
        let config = CatalogConfig {
            file: file.clone(),
            sites: Sites::default(),
        };
        let pool = Arc::new(CatalogPool::new(config));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let read = || {
            runtime
                .block_on(pool.read(|catalog| catalog.state("nothing")))
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
        let pool = Arc::new(CatalogPool::new(config));
        let all = u32::try_from(MAX_CONCURRENT_READS + MAX_QUEUED_READS).unwrap();
        let _held = Arc::clone(&pool.waiting)
            .try_acquire_many_owned(all)
            .unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let refused = runtime.block_on(pool.read(|_| Ok(()))).unwrap_err();
        assert_eq!(
            refused.render(Surface::Catalog).status,
            http::StatusCode::SERVICE_UNAVAILABLE
        );
    }
}
