//! The allowlist of addresses that may use a surface (docs/api/overview.md §6).

use ipnet::IpNet;

use crate::policy::client_address::{ClientAddress, contains};

/// Allowed networks.
#[derive(Clone, Debug)]
pub(crate) struct Allowlist(Vec<IpNet>);

impl Allowlist {
    pub(crate) fn new(networks: Vec<IpNet>) -> Self {
        Self(networks)
    }

    /// Whether a client is allowed. A client with an unknown address is not, even if its proxy is.
    pub(crate) fn admits(&self, client: ClientAddress) -> bool {
        match client {
            ClientAddress::Known(address) => contains(&self.0, address),
            ClientAddress::BehindProxy(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_admit_their_addresses_and_nobody_unknown() {
        let networks = ["127.0.0.0/8", "::1/128", "2001:db8::/32"];
        let networks = networks.map(|text| text.parse().expect("a network"));
        let list = Allowlist::new(networks.to_vec());
        for (address, admitted) in [
            ("127.0.0.1", true),
            ("127.255.0.1", true),
            ("::1", true),
            ("2001:db8:7::7", true),
            ("128.0.0.1", false),
            ("::2", false),
            ("2001:db9::1", false),
        ] {
            let address = address.parse().expect("an address");
            assert_eq!(
                list.admits(ClientAddress::Known(address)),
                admitted,
                "{address}"
            );
            assert!(
                !list.admits(ClientAddress::BehindProxy(address)),
                "{address}"
            );
        }
        let nobody = Allowlist::new(Vec::new());
        assert!(!nobody.admits(ClientAddress::Known([127, 0, 0, 1].into())));
    }
}
