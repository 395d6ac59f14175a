//! Rate limits (docs/api/limits.md): sliding windows by client address before any check
//! of credentials, and by API key and its owner for writes whose HMAC is valid.
//!
//! Counters belong to the process and are shared by its threads. Only admitted requests count, so a
//! client that keeps retrying is admitted again as its window slides. Deliberately absent: counters
//! shared between gateways (each enforces its part of the limits), and persistence across restarts.

mod journal_charge;
mod quota_status;
mod scopes;
mod table;
mod window;

use std::time::{Duration, Instant};

use foretell_model::{AccountNumber, KeyNumber};
use http::HeaderName;

pub(crate) use journal_charge::{JournalCharge, Payer};
pub(crate) use quota_status::{QuotaStatus, RateLimited};
use quota_status::{RATELIMIT_LIMIT, RATELIMIT_REMAINING, RATELIMIT_RESET};
pub use scopes::RateLimits;
pub(crate) use scopes::{Scope, Writes};
use table::Table;
pub(crate) use window::Millis;

use crate::http::connections::client_quotas::Client;
use crate::policy::limits::WORK_BURST;
use crate::policy::work::Share;

/// Shards of 1,024 windows for addresses; an address has two or three windows.
const ADDRESS_SHARDS: usize = 64;
/// The same for API keys; clients without a key cannot evict these windows.
const KEY_SHARDS: usize = 16;

/// The headers with a client's limit status.
pub(crate) const HEADERS: [HeaderName; 3] = [RATELIMIT_LIMIT, RATELIMIT_REMAINING, RATELIMIT_RESET];

/// The counters of the process.
pub(crate) struct RateLimiter {
    limits: RateLimits,
    gateways: u32,
    since: Instant,
    addresses: Table,
    keys: Table,
    owners: Table,
}

impl RateLimiter {
    /// Counters of one of `gateways` processes that serve the same surfaces.
    pub(crate) fn new(limits: RateLimits, gateways: u32) -> Self {
        Self {
            limits,
            gateways,
            since: Instant::now(),
            addresses: Table::new(ADDRESS_SHARDS),
            keys: Table::new(KEY_SHARDS),
            owners: Table::new(KEY_SHARDS),
        }
    }

    /// Converts a time to the windows' clock.
    pub(crate) fn at(&self, time: Instant) -> Millis {
        let passed = time.saturating_duration_since(self.since);
        u64::try_from(passed.as_millis()).unwrap_or(u64::MAX)
    }

    /// Counts a request from an address in its scope and all wider ones; `None` without a limit.
    pub(crate) fn request(
        &self,
        now: Millis,
        client: Client,
        scope: Scope,
    ) -> Result<Option<QuotaStatus>, RateLimited> {
        let caps = self.caps(scope.all());
        if caps.clone().next().is_none() {
            return Ok(None);
        }
        self.addresses.charge(now, client.number(), caps, 1)
    }

    /// Counts a request of an address at `at`, whose key is proved now, for the key in place of the
    /// address: those who share an address do not use up each other's windows.
    pub(crate) fn prove(
        &self,
        (at, now): (Millis, Millis),
        client: Client,
        key: KeyNumber,
        scope: Scope,
    ) -> Result<Option<QuotaStatus>, RateLimited> {
        let caps = self.caps(scope.all());
        if caps.clone().next().is_none() {
            return Ok(None);
        }
        let status = (self.keys).charge(now, u64::from(key.0), caps.clone(), 1)?;
        self.addresses.refund(at, client.number(), caps, 1);
        Ok(status)
    }

    /// Counts `count` writes of a key, at least one, and of its owner. A rejection by the owner's
    /// windows leaves them counted for the key. Returns the tightest of the windows.
    pub(crate) fn writes(
        &self,
        now: Millis,
        (owner, key): (AccountNumber, KeyNumber),
        writes: Writes,
        count: usize,
    ) -> Result<Option<QuotaStatus>, RateLimited> {
        let cost = u32::try_from(count).unwrap_or(u32::MAX).max(1);
        let charge = |table: &Table, number: u32, scopes: &'static [Scope]| {
            let caps = self.caps(scopes.iter().copied());
            if caps.clone().next().is_none() {
                return Ok(None);
            }
            table.charge(now, u64::from(number), caps, cost)
        };
        let of_key = charge(&self.keys, key.0, writes.of_key())?;
        let of_owner = charge(&self.owners, owner.0, writes.of_owner())?;
        Ok(QuotaStatus::tightest(of_key, of_owner))
    }

    /// Takes back `count` writes of an owner that were counted at `at`.
    pub(crate) fn refund(&self, at: Millis, owner: AccountNumber, writes: Writes, count: u32) {
        let caps = self.caps(writes.of_owner().iter().copied());
        self.owners.refund(at, u64::from(owner.0), caps, count);
    }

    /// The part of a thread's time that a client may use; `None` is everything.
    pub(crate) fn work_share(&self) -> Option<Share> {
        let cap = self.limits.cap(Scope::Work, self.gateways)?;
        let per_second = u64::from(cap.most) / Scope::Work.seconds();
        Some(Share {
            thousandths: u32::try_from(per_second).unwrap_or(u32::MAX).max(1),
            burst: WORK_BURST,
        })
    }

    /// The rejection of a client that has to wait for its turn for too long.
    pub(crate) fn work_refused(&self, wait: Duration) -> Option<RateLimited> {
        let cap = self.limits.cap(Scope::Work, self.gateways)?;
        let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        Some(RateLimited::new(cap, millis))
    }

    fn caps(
        &self,
        scopes: impl Iterator<Item = Scope> + Clone,
    ) -> impl Iterator<Item = scopes::Cap> + Clone {
        scopes.filter_map(|scope| self.limits.cap(scope, self.gateways))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(text: &str) -> Client {
        Client::of(text.parse().expect("an address"))
    }

    /// The number of requests of one client admitted at `now`.
    fn admitted(limiter: &RateLimiter, now: Millis, client: Client, scope: Scope) -> u32 {
        let request = || limiter.request(now, client, scope);
        (0..).find(|_| request().is_err()).expect("a cap")
    }

    #[test]
    fn a_window_slides_for_each_client() {
        let limiter = RateLimiter::new(RateLimits::default(), 1);
        let [one, two] = [client("192.0.2.1"), client("192.0.2.2")];
        for (client, now, most) in [
            (one, 0, 200),
            (one, 9_999, 0),
            (two, 9_999, 200),
            (one, 10_500, 200),
        ] {
            assert_eq!(admitted(&limiter, now, client, Scope::Book), most, "{now}");
        }
    }

    #[test]
    fn scopes_share_the_wider_windows() {
        let one = client("2001:db8::1");
        let neighbour = client("2001:db8::ffff");
        let limiter = RateLimiter::new(RateLimits::default(), 1);
        assert_eq!(admitted(&limiter, 0, one, Scope::Ledger), 150);
        assert_eq!(
            admitted(&limiter, 0, neighbour, Scope::Ledger),
            0,
            "one network"
        );
        assert_eq!(admitted(&limiter, 0, one, Scope::Trading), 5_000 - 150);
        // 500 events and 300 markets together are below 900; a smaller limit rejects some.
        let limits = RateLimits {
            catalog_listings: 600,
            ..RateLimits::default()
        };
        let limiter = RateLimiter::new(limits, 1);
        assert_eq!(admitted(&limiter, 0, one, Scope::CatalogEvents), 500);
        assert_eq!(admitted(&limiter, 0, one, Scope::CatalogMarkets), 100);
    }

    #[test]
    fn keys_of_one_owner_share_what_the_owner_may_do() {
        let limiter = RateLimiter::new(RateLimits::default(), 1);
        let (owner, other) = (AccountNumber(1), AccountNumber(2));
        let order = |owner, key| limiter.writes(0, (owner, KeyNumber(key)), Writes::Orders, 15);
        let mut placed = 0;
        for key in 0..16 {
            while order(owner, key).is_ok() {
                placed += 15;
            }
        }
        assert_eq!(placed, 4_800);
        let refused = order(owner, 20).unwrap_err();
        assert_eq!(refused.scope, Scope::OwnerOrderBurst);
        assert!(order(other, 21).is_ok());

        let act = |key| limiter.writes(0, (owner, KeyNumber(key)), Writes::Actions, 1);
        let acted = (0..).find(|key| act(*key).is_err());
        assert_eq!(acted, Some(50));
    }

    #[test]
    fn an_owner_has_its_sets_and_the_quotes_that_they_change() {
        let limiter = RateLimiter::new(RateLimits::default(), 1);
        let (owner, other) = (AccountNumber(1), AccountNumber(2));
        // As `POST /quotes` counts a set of 64 that keeps some.
        let set = |owner, key, kept| {
            limiter.writes(0, (owner, KeyNumber(key)), Writes::QuoteSets, 1)?;
            let status = limiter.writes(0, (owner, KeyNumber(key)), Writes::Quotes, 64)?;
            limiter.refund(0, owner, Writes::Quotes, kept);
            Ok::<_, RateLimited>(status.expect("a limit"))
        };
        let sets = |owner, kept| (0..).find(|key| set(owner, *key, kept).is_err());
        assert_eq!(sets(owner, 0), Some(1_000), "64,000 changed quotes");
        let refused = set(owner, 9_999, 0).unwrap_err();
        assert_eq!(refused.scope, Scope::QuoteChanges);
        assert_eq!(
            (refused.status.limit, refused.status.remaining),
            (64_000, 0)
        );
        let status = set(other, 0, 64).unwrap();
        assert_eq!((status.limit, status.remaining), (64_000, 63_936));
        assert_eq!(sets(other, 64), Some(1_999), "2,000 sets that keep all");
        let refused = set(other, 9_999, 64).unwrap_err();
        assert_eq!(refused.scope, Scope::QuoteSets);
        // A set that ends quotes alone is a cancel of its key.
        for writes in [Writes::Cancels, Writes::Orders] {
            assert!(limiter.writes(0, (owner, KeyNumber(0)), writes, 1).is_ok());
        }
    }

    #[test]
    fn what_is_given_back_counts_in_its_own_window() {
        let limiter = RateLimiter::new(RateLimits::default(), 1);
        let caller = (AccountNumber(1), KeyNumber(1));
        let quotes = |now, count| limiter.writes(now, caller, Writes::Quotes, count);
        assert!(quotes(0, 64_000).is_ok() && quotes(1, 1).is_err());
        limiter.refund(0, caller.0, Writes::Quotes, 10);
        assert!(quotes(9_000, 10).is_ok() && quotes(9_000, 1).is_err());
        // More than was counted is not owed, and a window that is gone takes nothing.
        limiter.refund(9_000, caller.0, Writes::Quotes, 1_000);
        assert!(quotes(9_500, 10).is_ok() && quotes(9_500, 1).is_err());
        limiter.refund(0, caller.0, Writes::Quotes, 64_000);
        let remaining = |status: Option<QuotaStatus>| status.map(|status| status.remaining);
        let later = quotes(100_000, 1).unwrap();
        limiter.refund(0, caller.0, Writes::Quotes, 64_000);
        assert_eq!(remaining(later), Some(63_999));
        assert_eq!(remaining(quotes(100_000, 1).unwrap()), Some(63_998));
    }

    #[test]
    fn a_request_whose_key_is_proved_leaves_its_address_to_others() {
        let limiter = RateLimiter::new(RateLimits::default(), 1);
        let one = client("192.0.2.1");
        let read = |key| {
            limiter.request(0, one, Scope::Ledger)?;
            limiter.prove((0, 1), one, KeyNumber(key), Scope::Ledger)
        };
        let reads = |key| (0..).find(|_| read(key).is_err()).expect("a cap");
        assert_eq!([reads(1), reads(2)], [150, 150], "a window for each key");
        // Those that their key's window refused stay with the address, as invented keys do.
        assert_eq!(admitted(&limiter, 1, one, Scope::Ledger), 148);
        let status = limiter.prove((0, 1), one, KeyNumber(3), Scope::Ledger);
        assert_eq!(status.unwrap().map(|status| status.remaining), Some(149));
    }

    #[test]
    fn writes_are_held_to_both_windows() {
        let limiter = RateLimiter::new(RateLimits::default(), 1);
        let key = KeyNumber(7);
        let owner = AccountNumber(1);
        let orders = |now, count| limiter.writes(now, (owner, key), Writes::Orders, count);
        let mut placed = 0;
        // 15 a batch until the burst window is full; ten such bursts fill the sustained window.
        for burst in 0..11_u64 {
            let now = burst * 10_500;
            while orders(now, 15).is_ok() {
                placed += 15;
            }
        }
        assert_eq!(placed, 24_000);
        let refused = orders(11 * 10_500, 1).unwrap_err();
        assert_eq!(refused.scope, Scope::OrderSustained);
        assert_eq!(
            (refused.status.limit, refused.status.remaining),
            (24_000, 0)
        );
        assert!(orders(630_000, 15).is_ok(), "ten minutes later");
        assert!(
            limiter.writes(0, (owner, key), Writes::Cancels, 1).is_ok(),
            "cancels go on"
        );
        let other = (AccountNumber(2), KeyNumber(8));
        assert!(limiter.writes(0, other, Writes::Orders, 15).is_ok());
    }

    #[test]
    fn gateways_share_the_caps_and_zero_is_off() {
        let limits = RateLimits {
            book: 0,
            trading: 0,
            ..RateLimits::default()
        };
        let limiter = RateLimiter::new(limits, 16);
        let one = client("192.0.2.1");
        let asked = limiter.request(0, one, Scope::Book);
        assert_eq!(asked, Ok(None));
        assert_eq!(
            admitted(&limiter, 0, one, Scope::Health),
            4,
            "50 over 16, rounded up"
        );
        let off = RateLimiter::new(RateLimits::off(), 1);
        for _ in 0..100 {
            let asked = off.request(0, one, Scope::Health);
            assert_eq!(asked, Ok(None));
        }
    }

    #[test]
    fn threads_share_the_counters() {
        let limiter = RateLimiter::new(RateLimits::default(), 1);
        let one = client("192.0.2.1");
        let ask = || {
            (0..100)
                .filter(|_| limiter.request(0, one, Scope::Book).is_ok())
                .count()
        };
        let let_in: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().expect("no panic"))
                .sum()
        });
        assert_eq!(let_in, 200);
    }
}
