//! Servers under test in this process: an exchange, and baseline servers with the same interface.

use std::path::Path;

use foretell_auth::{Domains, L2Credentials};
use foretell_model::Sequence;

use super::endpoint::Endpoint;
use crate::baselines::checking_server::Checks;
use crate::baselines::group_sync::GroupSync;
use crate::baselines::serving_thread::ServingThread;
use crate::error::MeasureError;
use crate::harness::live_exchange::{self, LiveExchange};
use crate::harness::thread_time::ThreadTime;
use crate::workloads::signed_orders;

pub(super) struct ServerUnderTest {
    pub(super) endpoint: Endpoint,
    /// Names of its serving threads.
    threads: Vec<String>,
    server: Server,
}

enum Server {
    Exchange(Box<LiveExchange>),
    Bare(ServingThread, Option<GroupSync>),
}

impl ServerUnderTest {
    /// An engine with durability `disk` and a gateway of one thread, on an empty directory.
    pub(super) fn exchange(data: &Path) -> Result<Self, MeasureError> {
        let domains = Domains::default();
        let owner = signed_orders::signer()?.address();
        let exchange = LiveExchange::start(data, &domains, owner)?;
        let credentials = L2Credentials::from_trio(owner, &exchange.key);
        Ok(Self {
            endpoint: Endpoint::bench(exchange.trading, &domains, credentials)?,
            threads: vec![exchange.serving_thread()],
            server: Server::Exchange(Box::new(exchange)),
        })
    }

    /// Baseline: hyper with the checks only.
    pub(super) fn checks() -> Result<Self, MeasureError> {
        Self::bare("bare-checks", None)
    }

    /// Baseline: the checks, and a thread that writes and syncs to a file in `directory`.
    pub(super) fn checks_and_sync(directory: &Path) -> Result<Self, MeasureError> {
        Self::bare("bare-and-sync", Some(directory))
    }

    fn bare(name: &str, directory: Option<&Path>) -> Result<Self, MeasureError> {
        let domains = Domains::default();
        let owner = signed_orders::signer()?.address();
        let sync = directory.map(GroupSync::start).transpose();
        let (sync, link) = sync
            .map_err(MeasureError::io("starting the floor's sync"))?
            .unzip();
        let server = Checks::new(owner, &domains)
            .serve(name, link)
            .map_err(MeasureError::io("starting a bare server"))?;
        let (master, origin) = live_exchange::secrets(owner);
        let trio = master.trio(&origin, domains.chain_id());
        let credentials = L2Credentials::from_trio(owner, &trio);
        Ok(Self {
            endpoint: Endpoint::bench(server.address, &domains, credentials)?,
            threads: vec![name.to_owned()],
            server: Server::Bare(server, sync),
        })
    }

    /// CPU time of its serving threads so far; threads have their names after the first answer.
    pub(super) fn serving_nanos(&self) -> Result<u64, MeasureError> {
        let nanos = self
            .threads
            .iter()
            .map(|name| ThreadTime::of(name)?.nanos());
        let total: std::io::Result<u64> = nanos.sum();
        total.map_err(MeasureError::io("reading a clock"))
    }

    /// Registers further markets on an exchange, up to `count` in all. Returns the last frame.
    pub(super) fn register_markets(&self, count: u32) -> Result<Sequence, MeasureError> {
        match &self.server {
            Server::Exchange(exchange) => exchange.register_markets(count),
            Server::Bare(..) => Ok(Sequence(0)),
        }
    }

    pub(super) fn stop(self) -> Result<(), MeasureError> {
        match self.server {
            Server::Exchange(exchange) => exchange.stop(),
            Server::Bare(server, sync) => {
                server.stop()?;
                sync.map_or(Ok(()), GroupSync::join)
            }
        }
    }
}
