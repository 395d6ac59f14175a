//! How many connections may be open: in all, and from one client.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;

/// A client as it is counted: an IPv4 address, or the 64-bit network of an IPv6 one, because one
/// subscriber has all of those addresses. An IPv4 address in IPv6 clothes is that IPv4 address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Client(u64);

impl Client {
    /// A number no other client has.
    pub(crate) fn number(self) -> u64 {
        self.0
    }

    pub(crate) fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self(u64::from(u32::from(address))),
            // The networks ::/64 to 0:0:ffff:ffff::/64 are not routed, so the two kinds never meet.
            IpAddr::V6(address) => {
                let [network @ .., _, _, _, _, _, _, _, _] = address.octets();
                Self(u64::from_be_bytes(network))
            }
        }
    }
}

/// The counters of one process.
pub(crate) struct ConnectionCaps {
    total: usize,
    per_client: usize,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    total: usize,
    by_client: HashMap<Client, usize>,
}

impl ConnectionCaps {
    pub(crate) fn new(total: usize, per_client: usize) -> Arc<Self> {
        Arc::new(Self {
            total,
            per_client,
            open: Mutex::default(),
        })
    }

    /// Counts a connection in, unless a cap is reached.
    pub(crate) fn admit(self: &Arc<Self>, client: Client) -> Option<Admitted> {
        let mut open = self.open.lock();
        if open.total >= self.total {
            return None;
        }
        let of_client = open.by_client.entry(client).or_default();
        if *of_client >= self.per_client {
            return None;
        }
        *of_client += 1;
        open.total += 1;
        drop(open);
        Some(Admitted {
            caps: Arc::clone(self),
            client,
        })
    }

    /// Open connections.
    pub(crate) fn open(&self) -> usize {
        self.open.lock().total
    }
}

/// An open connection, counted out when dropped.
pub(crate) struct Admitted {
    caps: Arc<ConnectionCaps>,
    client: Client,
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let mut open = self.caps.open.lock();
        open.total -= 1;
        if let Some(of_client) = open.by_client.get_mut(&self.client) {
            *of_client -= 1;
            if *of_client == 0 {
                open.by_client.remove(&self.client);
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
    fn caps_hold_in_all_and_for_each_client_and_free_on_close() {
        let caps = ConnectionCaps::new(3, 2);
        let [a, b] = [client("192.0.2.1"), client("192.0.2.2")];
        let first = caps.admit(a).expect("room");
        let _second = caps.admit(a).expect("room");
        assert!(caps.admit(a).is_none(), "the client's cap");
        let _third = caps.admit(b).expect("room");
        assert!(caps.admit(b).is_none(), "the total");
        drop(first);
        assert!(caps.admit(b).is_some());
        assert_eq!(caps.open(), 2);
        assert_eq!(caps.open.lock().by_client.len(), 2);
    }
}
