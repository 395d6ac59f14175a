//! Target of a load, and the accounts that send it.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use foretell_auth::{Domain, Domains, L2Credentials, Signer};

use crate::error::MeasureError;
use crate::harness::live_exchange::{self, PREFIX};
use crate::harness::threads::joined;
use crate::workloads::signed_orders::{self, Sender, SignedOrder, Terms};

/// An account that trades.
pub(super) struct Trader {
    pub(super) signer: Signer,
    pub(super) credentials: L2Credentials,
}

impl Trader {
    /// The account with this number of a [`crate::harness::live_exchange`].
    pub(super) fn numbered(number: u32, domains: &Domains) -> Result<Self, MeasureError> {
        let signer = signed_orders::numbered_signer(number)?;
        let owner = signer.address();
        let credentials = L2Credentials::from_trio(owner, &live_exchange::trio(owner, domains));
        Ok(Self {
            signer,
            credentials,
        })
    }
}

/// A server, a market on it, and accounts that trade there.
pub(super) struct Endpoint {
    pub(super) address: SocketAddr,
    /// Value of `Host`.
    pub(super) host: String,
    /// Family of credential headers.
    pub(super) prefix: String,
    /// At least one.
    pub(super) traders: Vec<Trader>,
    pub(super) domain: Domain,
    pub(super) terms: Terms,
    /// Maximum live orders at the end of a run; `None` without a limit.
    pub(super) live_orders: Option<usize>,
    pub(super) salts: AtomicU64,
}

impl Endpoint {
    /// A [`crate::harness::live_exchange`], or a baseline server with its interface.
    pub(super) fn bench(
        address: SocketAddr,
        domains: &Domains,
        traders: Vec<Trader>,
    ) -> Result<Self, MeasureError> {
        Ok(Self {
            address,
            host: "bench".to_owned(),
            prefix: PREFIX.to_owned(),
            traders,
            domain: signed_orders::domain_of(domains, false)?,
            terms: Terms::LIVE_EXCHANGE,
            live_orders: None,
            salts: AtomicU64::new(0),
        })
    }

    /// What sends requests of a trader.
    pub(super) fn sender<'a>(&'a self, trader: &'a Trader) -> Sender<'a> {
        Sender {
            prefix: &self.prefix,
            host: &self.host,
            credentials: &trader.credentials,
        }
    }

    /// Signs an order for each of these traders, each with its own salt, on all cores.
    pub(super) fn sign(&self, traders: &[&Trader]) -> Result<Vec<SignedOrder>, MeasureError> {
        let orders = traders.len();
        let first = self.salts.fetch_add(orders as u64, Ordering::Relaxed);
        let orders: Vec<(u64, &Trader)> = (first..).zip(traders.iter().copied()).collect();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let sign = |(salt, trader): &(u64, &Trader)| {
            let key = trader.credentials.api_key();
            signed_orders::sign(&trader.signer, key, &self.domain, &self.terms, *salt)
        };
        std::thread::scope(|scope| {
            let parts: Vec<_> = orders
                .chunks(orders.len().div_ceil(cores).max(1))
                .map(|orders| scope.spawn(move || orders.iter().map(sign).collect::<Vec<_>>()))
                .collect();
            // All are joined, also after one that panicked.
            let parts: Vec<_> = parts.into_iter().map(|part| part.join()).collect();
            let parts = parts.into_iter().map(|part| joined("a signer", part));
            let signed = parts.collect::<Result<Vec<_>, _>>()?;
            Ok(signed.into_iter().flatten().collect())
        })
    }
}
