//! Counters of a bounded resource by client: connections, bytes of unread answers, waiting
//! requests. There is a bound for the process and one for each client.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;

/// A client for counting: an IPv4 address, or the 64-bit network of an IPv6 address, because one
/// subscriber has a whole such network. IPv4-mapped IPv6 addresses count as IPv4.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Client(u64);

impl Client {
    /// A number unique to this client.
    pub(crate) fn number(self) -> u64 {
        self.0
    }

    pub(crate) fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self(u64::from(u32::from(address))),
            // The networks ::/64 to 0:0:ffff:ffff::/64 are not routed, so IPv4 and IPv6 numbers
            // never collide.
            IpAddr::V6(address) => {
                let [network @ .., _, _, _, _, _, _, _, _] = address.octets();
                Self(u64::from_be_bytes(network))
            }
        }
    }
}

/// Bounds of a resource.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    pub(crate) total: usize,
    pub(crate) per_client: usize,
}

/// The counters of one resource.
pub(crate) struct ClientQuotas {
    bound: Bound,
    held: Mutex<Usage>,
}

#[derive(Default)]
struct Usage {
    total: usize,
    by_client: HashMap<Client, usize>,
}

/// Which bound is exceeded, and by how much.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LimitExceeded {
    /// The client's bound.
    Client(usize),
    /// The bound of all clients together.
    Total(usize),
}

impl ClientQuotas {
    pub(crate) fn new(bound: Bound) -> Arc<Self> {
        Arc::new(Self {
            bound,
            held: Mutex::default(),
        })
    }

    /// Takes `amount` for `client`, unless that exceeds a bound. A client without any gets the
    /// amount even if it alone exceeds the client's bound.
    pub(crate) fn take(
        self: &Arc<Self>,
        client: Client,
        amount: usize,
    ) -> Result<Reservation, LimitExceeded> {
        let mut held = self.held.lock();
        let of_client = held.by_client.get(&client).copied().unwrap_or_default();
        if of_client > 0 {
            within(of_client, amount, self.bound.per_client).map_err(LimitExceeded::Client)?;
        }
        within(held.total, amount, self.bound.total).map_err(LimitExceeded::Total)?;
        held.add(client, amount);
        drop(held);
        Ok(self.reserve(client, amount))
    }

    /// As [`Self::take`] without the client's bound, and with `beyond` more than the total bound.
    pub(crate) fn take_beyond(
        self: &Arc<Self>,
        client: Client,
        amount: usize,
        beyond: usize,
    ) -> Result<Reservation, LimitExceeded> {
        let mut held = self.held.lock();
        let total = self.bound.total.saturating_add(beyond);
        within(held.total, amount, total).map_err(LimitExceeded::Total)?;
        held.add(client, amount);
        drop(held);
        Ok(self.reserve(client, amount))
    }

    /// As [`Self::take`] without any bound.
    pub(crate) fn take_unbounded(self: &Arc<Self>, client: Client, amount: usize) -> Reservation {
        self.held.lock().add(client, amount);
        self.reserve(client, amount)
    }

    /// The amount of all clients together.
    pub(crate) fn held(&self) -> usize {
        self.held.lock().total
    }

    fn reserve(self: &Arc<Self>, client: Client, amount: usize) -> Reservation {
        Reservation {
            quotas: Arc::clone(self),
            client,
            amount,
        }
    }
}

/// Checks that `amount` more is within a bound; the error is the excess.
fn within(held: usize, amount: usize, bound: usize) -> Result<(), usize> {
    match held.saturating_add(amount).saturating_sub(bound) {
        0 => Ok(()),
        excess => Err(excess),
    }
}

impl Usage {
    fn add(&mut self, client: Client, amount: usize) {
        self.total += amount;
        *self.by_client.entry(client).or_default() += amount;
    }
}

/// An amount taken by a client, released on drop.
pub(crate) struct Reservation {
    quotas: Arc<ClientQuotas>,
    client: Client,
    amount: usize,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut held = self.quotas.held.lock();
        held.total -= self.amount;
        if let Some(of_client) = held.by_client.get_mut(&self.client) {
            *of_client -= self.amount;
            if *of_client == 0 {
                held.by_client.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(text: &str) -> Client {
        Client::of(text.parse().expect("an address"))
    }

    #[test]
    fn addresses_of_one_client_count_together() {
        assert_eq!(client("::ffff:192.0.2.7"), client("192.0.2.7"));
        assert_eq!(client("2001:db8::1"), client("2001:db8::ffff:2"));
        assert_ne!(client("2001:db8::1"), client("2001:db8:0:1::1"));
        assert_ne!(client("192.0.2.7"), client("192.0.2.8"));
    }

    #[test]
    fn bounds_hold_in_all_and_for_each_client_and_what_is_dropped_is_free() {
        let bound = Bound {
            total: 30,
            per_client: 20,
        };
        let quotas = ClientQuotas::new(bound);
        let [a, b] = [client("192.0.2.1"), client("192.0.2.2")];
        let first = quotas.take(a, 12).expect("room");
        let _second = quotas.take(a, 8).expect("room");
        assert_eq!(quotas.take(a, 3).err(), Some(LimitExceeded::Client(3)));
        let _third = quotas.take(b, 10).expect("room");
        assert_eq!(quotas.take(b, 1).err(), Some(LimitExceeded::Total(1)));
        assert!(quotas.take_beyond(b, 3, 2).is_err());
        let beyond = quotas.take_beyond(b, 2, 2).expect("room beyond");
        assert_eq!(quotas.held(), 32);
        let anyway = quotas.take_unbounded(a, 100);
        assert_eq!(quotas.held(), 132);
        drop((first, beyond, anyway));
        assert!(quotas.take(b, 5).is_ok());
        assert_eq!(quotas.held(), 18);
        assert_eq!(quotas.held.lock().by_client.len(), 2);
    }

    #[test]
    fn one_thing_larger_than_a_share_is_for_who_holds_nothing() {
        let bound = Bound {
            total: 100,
            per_client: 10,
        };
        let quotas = ClientQuotas::new(bound);
        let [a, b] = [client("192.0.2.1"), client("192.0.2.2")];
        let large = quotas.take(a, 50).expect("the first");
        assert_eq!(quotas.take(a, 1).err(), Some(LimitExceeded::Client(41)));
        assert_eq!(quotas.take(b, 51).err(), Some(LimitExceeded::Total(1)));
        drop(large);
        assert!(quotas.take(a, 1).is_ok());
        assert!(quotas.held.lock().by_client.is_empty());
    }
}
