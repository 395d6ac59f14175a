//! The client's address: the peer of the connection, or the address that a trusted proxy names
//! (docs/api/overview.md §6).

use std::net::{IpAddr, SocketAddr};

use http::header::FORWARDED;
use http::{HeaderMap, HeaderName};
use ipnet::IpNet;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The proxies whose `X-Forwarded-For` is trusted. `Forwarded` is ignored: a proxy that sets one of
/// the two headers may pass the other on unchanged from the client.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrustedProxies(Vec<IpNet>);

/// A client's address, if known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ClientAddress {
    /// The client's address.
    Known(IpAddr),
    /// A proxy is in between: a trusted one that names no valid address, or one that is not
    /// trusted.
    BehindProxy(IpAddr),
}

impl ClientAddress {
    /// The address for counting; for an unknown client the proxy's.
    pub(crate) fn counted(self) -> IpAddr {
        match self {
            Self::Known(address) | Self::BehindProxy(address) => address,
        }
    }
}

/// Who sent a request: the peer of the connection, and the client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sender {
    pub(crate) peer: IpAddr,
    pub(crate) client: ClientAddress,
}

impl Sender {
    /// Whether a program of this machine sent it, directly or through proxies of this machine.
    pub(crate) fn is_on_this_machine(self) -> bool {
        let is_local = |address: IpAddr| address.to_canonical().is_loopback();
        match self.client {
            ClientAddress::Known(client) => is_local(client) && is_local(self.peer),
            ClientAddress::BehindProxy(_) => false,
        }
    }
}

impl TrustedProxies {
    pub(crate) fn new(networks: Vec<IpNet>) -> Self {
        Self(networks)
    }

    /// The client of a request. `X-Forwarded-For` counts only from a trusted proxy; then the client
    /// is the right-most hop that is not a trusted proxy, because that hop wrote everything to its
    /// left. Several header lines form one list. From another peer the header only shows that the
    /// peer is an untrusted proxy.
    pub(crate) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> ClientAddress {
        let peer = peer.to_canonical();
        let mut last = peer;
        if !self.trusts(peer) {
            let forwards = [X_FORWARDED_FOR, FORWARDED]
                .iter()
                .any(|it| headers.contains_key(it));
            return if forwards {
                ClientAddress::BehindProxy(peer)
            } else {
                ClientAddress::Known(peer)
            };
        }
        for line in headers.get_all(X_FORWARDED_FOR).iter().rev() {
            let Ok(line) = line.to_str() else {
                return ClientAddress::BehindProxy(last);
            };
            for hop in line.rsplit(',') {
                let Some(address) = hop_address(hop.trim()) else {
                    return ClientAddress::BehindProxy(last);
                };
                if !self.trusts(address) {
                    return ClientAddress::Known(address);
                }
                last = address;
            }
        }
        // All hops are proxies: the farthest one is the client.
        ClientAddress::Known(last)
    }

    /// Whether a peer is a trusted proxy, which connects for many clients.
    pub(crate) fn trusts(&self, address: IpAddr) -> bool {
        contains(&self.0, address)
    }
}

/// Whether one of the networks contains a canonical address.
pub(crate) fn contains(networks: &[IpNet], address: IpAddr) -> bool {
    networks.iter().any(|network| network.contains(&address))
}

/// Parses an address with or without a port; an IPv4-mapped IPv6 address becomes IPv4.
fn hop_address(text: &str) -> Option<IpAddr> {
    let bare = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(text);
    let address = bare.parse::<IpAddr>();
    let address = address.or_else(|_| text.parse::<SocketAddr>().map(|it| it.ip()));
    address.ok().map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn only_peers_of_this_machine_are_local() {
        use ClientAddress::{BehindProxy, Known};
        let address = |text: &str| -> IpAddr { text.parse().expect("an address") };
        for (peer, client, expected) in [
            ("127.0.0.1", Known(address("127.0.0.1")), true),
            ("::1", Known(address("::1")), true),
            ("::ffff:127.0.0.1", Known(address("127.0.0.1")), true),
            ("192.0.2.1", Known(address("192.0.2.1")), false),
            ("192.0.2.1", Known(address("127.0.0.1")), false),
            ("127.0.0.1", Known(address("192.0.2.1")), false),
            ("127.0.0.1", BehindProxy(address("127.0.0.1")), false),
            ("0.0.0.0", Known(address("0.0.0.0")), false),
        ] {
            let peer = address(peer);
            let sender = Sender { peer, client };
            assert_eq!(sender.is_on_this_machine(), expected, "{sender:?}");
        }
    }

    fn client(proxies: &[&str], peer: &str, lines: &[&'static str]) -> ClientAddress {
        let networks = proxies.iter().map(|text| text.parse().expect("a network"));
        let mut headers = HeaderMap::new();
        if !proxies.is_empty() && !lines.is_empty() {
            headers.insert(FORWARDED, HeaderValue::from_static("for=127.0.0.1"));
        }
        for line in lines {
            headers.append(X_FORWARDED_FOR, HeaderValue::from_static(line));
        }
        TrustedProxies::new(networks.collect()).client(peer.parse().expect("an address"), &headers)
    }

    fn known(text: &str) -> ClientAddress {
        ClientAddress::Known(text.parse().expect("an address"))
    }

    fn unknown(proxy: &str) -> ClientAddress {
        ClientAddress::BehindProxy(proxy.parse().expect("an address"))
    }

    #[test]
    fn only_a_trusted_peer_is_believed() {
        for peer in ["203.0.113.9", "::ffff:203.0.113.9"] {
            let found = client(&["10.0.0.0/8"], peer, &["127.0.0.1"]);
            assert_eq!(found, unknown("203.0.113.9"), "{peer}");
            assert_eq!(client(&["10.0.0.0/8"], peer, &[]), known("203.0.113.9"));
        }
        assert_eq!(client(&[], "127.0.0.1", &["8.8.8.8"]), unknown("127.0.0.1"));
        assert_eq!(client(&[], "127.0.0.1", &[]), known("127.0.0.1"));
        for peer in ["10.1.2.3", "::ffff:10.1.2.3"] {
            let found = client(&["10.0.0.0/8"], peer, &["203.0.113.9"]);
            assert_eq!(found, known("203.0.113.9"), "{peer}");
        }
    }

    #[test]
    fn it_is_the_rightmost_hop_that_is_no_proxy() {
        let proxies = ["10.0.0.0/8", "2001:db8::/32"];
        for (lines, expected) in [
            (vec!["203.0.113.9"], "203.0.113.9"),
            // Hops that the client wrote itself are on the left.
            (vec!["127.0.0.1, 203.0.113.9"], "203.0.113.9"),
            (vec!["127.0.0.1", "203.0.113.9"], "203.0.113.9"),
            (vec!["127.0.0.1", "203.0.113.9, 10.9.9.9"], "203.0.113.9"),
            (
                vec!["203.0.113.9", "10.9.9.9", "2001:db8::1"],
                "203.0.113.9",
            ),
            (vec!["nonsense, 203.0.113.9"], "203.0.113.9"),
            (vec!["203.0.113.9:4711"], "203.0.113.9"),
            (vec!["[2001:db9::1]:4711"], "2001:db9::1"),
            (vec!["[2001:db9::1]"], "2001:db9::1"),
            (vec!["::ffff:203.0.113.9"], "203.0.113.9"),
            // The proxy itself is the client.
            (vec![], "10.1.2.3"),
            (vec!["10.7.7.7, 10.8.8.8"], "10.7.7.7"),
        ] {
            assert_eq!(
                client(&proxies, "10.1.2.3", &lines),
                known(expected),
                "{lines:?}"
            );
        }
    }

    #[test]
    fn a_hop_without_an_address_is_nobody_in_particular() {
        for hop in ["unknown", "", "_hidden", "127.1", "203.0.113.9,"] {
            let found = client(&["10.0.0.0/8"], "10.1.2.3", &[hop]);
            assert_eq!(found, unknown("10.1.2.3"), "{hop:?}");
        }
    }
}
