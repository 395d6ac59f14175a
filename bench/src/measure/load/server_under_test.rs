//! Servers under test in this process: an exchange, and baseline servers with the same interface.

use std::path::Path;

use foretell_auth::Domains;
use foretell_model::{Sequence, WalletAddress};

use super::endpoint::{Endpoint, Trader};
use crate::baselines::checking_server::Checks;
use crate::baselines::group_sync::GroupSync;
use crate::baselines::serving_thread::ServingThread;
use crate::error::MeasureError;
use crate::harness::live_exchange::{LiveExchange, LiveOptions};
use crate::harness::thread_time::ThreadTime;

pub(super) struct ServerUnderTest {
    pub(super) endpoint: Endpoint,
    /// Names of its serving threads.
    threads: Vec<String>,
    server: Server,
}

/// The traders, and their addresses.
fn traders(
    signers: u32,
    domains: &Domains,
) -> Result<(Vec<Trader>, Vec<WalletAddress>), MeasureError> {
    let traders = (0..signers).map(|number| Trader::numbered(number, domains));
    let traders: Vec<_> = traders.collect::<Result<_, _>>()?;
    let owners = traders.iter().map(|trader| trader.signer.address());
    let owners = owners.collect();
    Ok((traders, owners))
}

enum Server {
    Exchange(Box<LiveExchange>),
    Bare(ServingThread, Option<GroupSync>),
}

impl ServerUnderTest {
    /// An engine with durability `disk` and a gateway of one thread, on an empty directory.
    pub(super) fn exchange(
        data: &Path,
        signers: u32,
        signer_cache_mib: u32,
    ) -> Result<Self, MeasureError> {
        let domains = Domains::default();
        let (traders, owners) = traders(signers, &domains)?;
        let options = LiveOptions {
            signer_cache_mib,
            ..LiveOptions::default()
        };
        let exchange = LiveExchange::start_with(data, &domains, &owners, options)?;
        Ok(Self {
            endpoint: Endpoint::bench(exchange.trading, &domains, traders)?,
            threads: vec![exchange.serving_thread()],
            server: Server::Exchange(Box::new(exchange)),
        })
    }

    /// Baseline: hyper with the checks only.
    pub(super) fn checks(signers: u32) -> Result<Self, MeasureError> {
        Self::bare("bare-checks", signers, None)
    }

    /// Baseline: the checks, and a thread that writes and syncs to a file in `directory`.
    pub(super) fn checks_and_sync(signers: u32, directory: &Path) -> Result<Self, MeasureError> {
        Self::bare("bare-and-sync", signers, Some(directory))
    }

    fn bare(name: &str, signers: u32, directory: Option<&Path>) -> Result<Self, MeasureError> {
        let domains = Domains::default();
        let (traders, owners) = traders(signers, &domains)?;
        let sync = directory.map(GroupSync::start).transpose();
        let (sync, link) = sync
            .map_err(MeasureError::io("starting the floor's sync"))?
            .unzip();
        let server = Checks::new(&owners, &domains)
            .serve(name, link)
            .map_err(MeasureError::io("starting a bare server"))?;
        Ok(Self {
            endpoint: Endpoint::bench(server.address, &domains, traders)?,
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
