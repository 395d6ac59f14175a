//! Target of a load, and the account that sends it.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use foretell_auth::{Domain, Domains, L2Credentials, Signer};

use crate::error::MeasureError;
use crate::harness::live_exchange::PREFIX;
use crate::harness::threads::joined;
use crate::workloads::signed_orders::{self, Sender, SignedOrder, Terms};

/// A server, a market on it, and an account that trades there.
pub(super) struct Endpoint {
    pub(super) address: SocketAddr,
    /// Value of `Host`.
    pub(super) host: String,
    /// Family of credential headers.
    pub(super) prefix: String,
    pub(super) signer: Signer,
    pub(super) credentials: L2Credentials,
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
        credentials: L2Credentials,
    ) -> Result<Self, MeasureError> {
        Ok(Self {
            address,
            host: "bench".to_owned(),
            prefix: PREFIX.to_owned(),
            signer: signed_orders::signer()?,
            credentials,
            domain: signed_orders::domain_of(domains, false)?,
            terms: Terms::LIVE_EXCHANGE,
            live_orders: None,
            salts: AtomicU64::new(0),
        })
    }

    pub(super) fn sender(&self) -> Sender<'_> {
        Sender {
            prefix: &self.prefix,
            host: &self.host,
            credentials: &self.credentials,
        }
    }

    /// Signs `orders` orders, each with its own salt, on all cores.
    pub(super) fn sign(&self, orders: usize) -> Result<Vec<SignedOrder>, MeasureError> {
        let first = self.salts.fetch_add(orders as u64, Ordering::Relaxed);
        let salts: Vec<u64> = (first..first + orders as u64).collect();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let sign = |salt: &u64| {
            let key = self.credentials.api_key();
            signed_orders::sign(&self.signer, key, &self.domain, &self.terms, *salt)
        };
        std::thread::scope(|scope| {
            let parts: Vec<_> = salts
                .chunks(orders.div_ceil(cores).max(1))
                .map(|salts| scope.spawn(move || salts.iter().map(sign).collect::<Vec<_>>()))
                .collect();
            // All are joined, also after one that panicked.
            let parts: Vec<_> = parts.into_iter().map(|part| part.join()).collect();
            let parts = parts.into_iter().map(|part| joined("a signer", part));
            let signed = parts.collect::<Result<Vec<_>, _>>()?;
            Ok(signed.into_iter().flatten().collect())
        })
    }
}
