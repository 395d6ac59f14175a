//! The signers whose signatures this gateway checks without recovery ([`KnownSigner`]).
//!
//! A table costs memory and the time of about 20 recoveries, so only signers who trade get one: the exchange must have
//! accepted `ORDERS` of their orders within `WINDOW`. Tables are built outside the serving threads, one per
//! `BETWEEN_BUILDS` at most. A table depends only on its key. The owner of the key and the owner's wallets are checked
//! before each signature, so a table stays correct when bindings change.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use foretell_auth::{KnownSigner, PublicKey, address_of};
use foretell_model::WalletAddress;
use parking_lot::{Mutex, RwLock};

/// Accepted orders of a signer within [`WINDOW`] before its table is built. A table saves its own cost in about as many.
const ORDERS: u32 = 50;
/// In which orders are counted, from one minute of the process to the next. A table of a signer without an accepted order
/// for as long makes room for another; until then none does, so that more signers than fit do not take turns.
const WINDOW: Duration = Duration::from_secs(60);
/// Between the starts of two builds: one core in fifty at most.
const BETWEEN_BUILDS: Duration = Duration::from_millis(50);
/// Signers whose orders are counted; further ones wait for the next window.
const MAX_COUNTED: usize = 10_000;

/// Who signed, and how the signature was checked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CheckedSigner {
    /// By a table of the signer with this address.
    Known(WalletAddress),
    /// By recovery of this key.
    Recovered(PublicKey),
}

impl CheckedSigner {
    /// The owner of a wallet, whose key is named if it was recovered.
    pub(crate) fn new(owner: WalletAddress, recovered: Option<PublicKey>) -> Self {
        recovered.map_or(Self::Known(owner), Self::Recovered)
    }
}

/// The known signers of the process.
pub(crate) struct KnownSigners {
    began: Instant,
    tables: RwLock<HashMap<WalletAddress, Table>>,
    /// How many tables fit.
    capacity: usize,
    counted: Mutex<Counted>,
}

struct Table {
    signer: Arc<KnownSigner>,
    /// When an order of the signer was last accepted, in milliseconds since the process began.
    last_used: AtomicU64,
}

/// Accepted orders of signers that have no table.
struct Counted {
    window_began: Instant,
    orders: HashMap<PublicKey, u32>,
    next_build: Instant,
}

impl KnownSigners {
    /// None yet, with room for tables of so many MiB.
    pub(crate) fn new(mib: u32, now: Instant) -> Self {
        let mib = usize::try_from(mib).unwrap_or(usize::MAX);
        Self {
            began: now,
            tables: RwLock::default(),
            capacity: mib.saturating_mul(1 << 20) / KnownSigner::BYTES,
            counted: Mutex::new(Counted {
                window_began: now,
                orders: HashMap::new(),
                next_build: now,
            }),
        }
    }

    /// The signer with this address, if it is known.
    pub(crate) fn get(&self, address: &WalletAddress) -> Option<Arc<KnownSigner>> {
        let tables = self.tables.read();
        tables.get(address).map(|table| Arc::clone(&table.signer))
    }

    /// Notes an accepted order of a known signer: refused ones keep no table.
    pub(crate) fn note_use(&self, address: &WalletAddress, now: Instant) {
        if let Some(table) = self.tables.read().get(address) {
            table.last_used.store(self.millis(now), Relaxed);
        }
    }

    /// Bytes of all tables.
    pub(crate) fn bytes(&self) -> usize {
        self.tables.read().len() * KnownSigner::BYTES
    }

    /// Counts an accepted order of a signer whose key was recovered. Whether its table should be built now: not again, if it
    /// has one, which left this signature to recovery or is newer than it.
    pub(crate) fn is_due(&self, key: &PublicKey, now: Instant) -> bool {
        let mut counted = self.counted.lock();
        if now.duration_since(counted.window_began) >= WINDOW {
            counted.window_began = now;
            counted.orders.clear();
        }
        if counted.orders.len() >= MAX_COUNTED && !counted.orders.contains_key(key) {
            return false;
        }
        let orders = counted.orders.entry(*key).or_default();
        *orders += 1;
        if *orders < ORDERS || now < counted.next_build {
            return false;
        }
        counted.next_build = now + BETWEEN_BUILDS;
        let is_known = self.get(&address_of(key)).is_some();
        let is_due = !is_known && self.has_room(now);
        if is_known || is_due {
            counted.orders.remove(key);
        }
        is_due
    }

    /// Builds and keeps the table of a key. Whether it did.
    pub(crate) fn build(&self, key: &PublicKey, now: Instant) -> bool {
        let Some(signer) = KnownSigner::new(key) else {
            return false;
        };
        let mut tables = self.tables.write();
        if tables.contains_key(&signer.address()) {
            return false;
        }
        if tables.len() >= self.capacity {
            let oldest = tables.iter().filter(|(_, table)| self.is_idle(table, now));
            let oldest = oldest.min_by_key(|(_, table)| table.last_used.load(Relaxed));
            let Some(address) = oldest.map(|(address, _)| *address) else {
                return false;
            };
            tables.remove(&address);
        }
        let table = Table {
            last_used: self.millis(now).into(),
            signer: Arc::new(signer),
        };
        tables.insert(table.signer.address(), table);
        true
    }

    fn has_room(&self, now: Instant) -> bool {
        let tables = self.tables.read();
        tables.len() < self.capacity || tables.values().any(|table| self.is_idle(table, now))
    }

    fn is_idle(&self, table: &Table, now: Instant) -> bool {
        let unused = self
            .millis(now)
            .saturating_sub(table.last_used.load(Relaxed));
        u128::from(unused) >= WINDOW.as_millis()
    }

    fn millis(&self, now: Instant) -> u64 {
        let since = now.duration_since(self.began).as_millis();
        u64::try_from(since).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use foretell_auth::Signer;

    use super::*;

    fn key(number: u8) -> PublicKey {
        Signer::from_bytes(&[number; 32]).unwrap().public_key()
    }

    fn address(number: u8) -> WalletAddress {
        Signer::from_bytes(&[number; 32]).unwrap().address()
    }

    /// With room for one table.
    fn one_fits(began: Instant) -> KnownSigners {
        KnownSigners {
            capacity: 1,
            ..KnownSigners::new(1, began)
        }
    }

    /// Counts accepted orders until a table is due; after how many.
    fn until_due(signers: &KnownSigners, key: &PublicKey, now: Instant) -> Option<u32> {
        (1..=2 * ORDERS).find(|_| signers.is_due(key, now))
    }

    #[test]
    fn a_signer_is_known_after_its_orders_of_a_minute() {
        let began = Instant::now();
        let signers = KnownSigners::new(1, began);
        for _ in 1..ORDERS {
            assert!(!signers.is_due(&key(1), began));
        }
        // The next minute counts anew.
        let later = began + WINDOW;
        assert_eq!(until_due(&signers, &key(1), later), Some(ORDERS));
        assert!(signers.get(&address(1)).is_none());
        assert!(signers.build(&key(1), later));
        let known = signers.get(&address(1)).unwrap();
        assert_eq!(known.address(), address(1));
        assert!(signers.get(&address(2)).is_none());
        // Orders that were recovered meanwhile, or that a table leaves to recovery, build none again.
        let next = later + BETWEEN_BUILDS;
        assert_eq!(until_due(&signers, &key(1), next), None);
        assert!(!signers.build(&key(1), next));
        assert_eq!(signers.bytes(), KnownSigner::BYTES);
    }

    #[test]
    fn builds_are_apart() {
        let began = Instant::now();
        let signers = KnownSigners::new(1, began);
        assert_eq!(until_due(&signers, &key(1), began), Some(ORDERS));
        assert_eq!(until_due(&signers, &key(2), began), None);
        assert!(signers.is_due(&key(2), began + BETWEEN_BUILDS));
    }

    #[test]
    fn only_an_idle_signer_makes_room() {
        let began = Instant::now();
        let signers = one_fits(began);
        assert!(signers.build(&key(1), began));
        let used = began + BETWEEN_BUILDS;
        signers.note_use(&address(1), used);

        assert_eq!(until_due(&signers, &key(2), began + WINDOW), None);
        assert!(!signers.build(&key(2), began + WINDOW));
        // What was only looked up keeps no table.
        let idle = used + WINDOW;
        assert!(signers.get(&address(1)).is_some());
        assert!(signers.is_due(&key(2), idle) && signers.build(&key(2), idle));
        assert!(signers.get(&address(1)).is_none());
        assert!(signers.get(&address(2)).is_some());
        assert_eq!(signers.bytes(), KnownSigner::BYTES);
    }

    #[test]
    fn the_longest_unused_leaves_first() {
        let began = Instant::now();
        let signers = KnownSigners {
            capacity: 2,
            ..KnownSigners::new(1, began)
        };
        assert!(signers.build(&key(1), began) && signers.build(&key(2), began));
        signers.note_use(&address(1), began + BETWEEN_BUILDS);
        let idle = began + 2 * WINDOW;
        assert!(signers.build(&key(3), idle));
        assert!(signers.get(&address(1)).is_some());
        assert!(signers.get(&address(2)).is_none());
    }

    #[test]
    fn without_memory_nobody_is_known() {
        let began = Instant::now();
        let signers = KnownSigners::new(0, began);
        assert_eq!(until_due(&signers, &key(1), began), None);
        assert!(!signers.build(&key(1), began));
    }
}
