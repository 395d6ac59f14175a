//! The host that a request names. A page of a foreign name that resolves to this machine (DNS rebinding) has
//! that name as its origin and sends it as the host.

use std::net::IpAddr;

use http::header::HOST;
use http::uri::Authority;
use http::{HeaderMap, Uri};

/// The one host that a request names; `None` of a request without one, with several, or with no host.
pub(crate) fn named_host(uri: &Uri, headers: &HeaderMap) -> Option<Authority> {
    if let Some(authority) = uri.authority() {
        return Some(authority.clone());
    }
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return None;
    };
    Authority::try_from(host.as_bytes()).ok()
}

/// Whether a host is a name of this machine that no other site can have.
pub(crate) fn is_this_machine(host: &Authority) -> bool {
    let bare = host.host().trim_start_matches('[').trim_end_matches(']');
    let address = bare.parse::<IpAddr>();
    bare == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_is_this_machine() {
        for (host, expected) in [
            ("localhost:8090", true),
            ("127.0.0.1:8090", true),
            ("127.8.9.1", true),
            ("[::1]:8090", true),
            ("localhost.example.org", false),
            ("127.0.0.1.example.org:8090", false),
            ("192.0.2.1", false),
            ("rebound.example.org:8090", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, host.parse().unwrap());
            let named = named_host(&Uri::from_static("/"), &headers).unwrap();
            assert_eq!(is_this_machine(&named), expected, "{host}");
            headers.append(HOST, host.parse().unwrap());
            assert_eq!(named_host(&Uri::from_static("/"), &headers), None);
        }
    }
}
