//! Restricts the target of a load. Loopback is always allowed; any other server only if the caller
//! declares it as theirs: a load on another owner's server is an attack.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};

use thiserror::Error;

/// A permitted server. It holds the checked address, so a later change of the DNS name has no
/// effect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// Where to connect.
    pub address: SocketAddr,
    /// Value of `Host`.
    pub host: String,
}

/// Why a load is not sent.
#[derive(Debug, Error)]
pub enum TargetError {
    /// Not the URL of a server's root.
    #[error("{url:?} is not http://HOST or http://HOST:PORT: {problem}")]
    Url {
        /// The given URL without a possible password.
        url: String,
        /// The problem.
        problem: &'static str,
    },
    /// The name cannot be resolved.
    #[error("{host}: {source}")]
    Name {
        /// Host and port.
        host: String,
        /// Cause.
        source: io::Error,
    },
    /// The name has no address.
    #[error("{0} has no address")]
    NoAddress(String),
    /// An address is of another machine.
    #[error(
        "{host} is {address}, which is not this machine: loading another machine requires the caller's statement that the server is theirs"
    )]
    NotOurs {
        /// Host and port.
        host: String,
        /// The first such address.
        address: SocketAddr,
    },
}

/// Resolves the server of a URL. `theirs`: the caller declares the server as theirs.
///
/// # Errors
/// As [`TargetError`] says.
pub fn find(url: &str, theirs: bool) -> Result<Target, TargetError> {
    let (host, port) = parse(url)?;
    let addresses = (host.trim_matches(['[', ']']), port).to_socket_addrs();
    let host = if port == HTTP {
        host
    } else {
        format!("{host}:{port}")
    };
    let addresses: Vec<_> = match addresses {
        Ok(addresses) => addresses.collect(),
        Err(source) => return Err(TargetError::Name { host, source }),
    };
    let address = allowed(&host, &addresses, theirs)?;
    Ok(Target { address, host })
}

/// Default port of a URL.
const HTTP: u16 = 80;

/// Host, with brackets around an IPv6 address, and port.
fn parse(url: &str) -> Result<(String, u16), TargetError> {
    let bad = |problem| TargetError::Url {
        url: if url.contains('@') {
            "…@…".to_owned()
        } else {
            url.to_owned()
        },
        problem,
    };
    let rest = match url.split_once("://") {
        Some(("http", rest)) => rest,
        Some(("https", _)) => {
            return Err(bad("TLS is not supported; measure behind the TLS proxy"));
        }
        _ => return Err(bad("another scheme")),
    };
    let authority = rest.strip_suffix('/').unwrap_or(rest);
    if authority.contains('@') {
        return Err(bad("it must not contain credentials"));
    }
    if authority.contains(['/', '?', '#']) {
        return Err(bad("a path"));
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => {
            let port = port.parse().ok().filter(|port| *port != 0);
            (host, port.ok_or_else(|| bad("invalid port"))?)
        }
        _ => (authority, HTTP),
    };
    let bracketed = host.starts_with('[') && host.ends_with(']');
    if host.is_empty() || (host.contains(':') && !bracketed) {
        return Err(bad("no host"));
    }
    Ok((host.to_owned(), port))
}

/// The address to connect to, if all addresses are permitted.
fn allowed(host: &str, addresses: &[SocketAddr], theirs: bool) -> Result<SocketAddr, TargetError> {
    let elsewhere = |address: &&SocketAddr| !address.ip().to_canonical().is_loopback();
    match addresses.iter().find(elsewhere) {
        Some(address) if !theirs => Err(TargetError::NotOurs {
            host: host.to_owned(),
            address: *address,
        }),
        _ => (addresses.first().copied()).ok_or_else(|| TargetError::NoAddress(host.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(&["127.0.0.1:80"], true)]
    #[case(&["127.255.3.4:80"], true)]
    #[case(&["[::1]:80"], true)]
    #[case(&["[::ffff:127.0.0.1]:80"], true)]
    #[case(&["127.0.0.1:80", "[::1]:80"], true)]
    #[case(&["[::ffff:192.0.2.1]:80"], false)]
    #[case(&["[::127.0.0.1]:80"], false)]
    #[case(&["0.0.0.0:80"], false)]
    #[case(&["[::]:80"], false)]
    #[case(&["10.0.0.1:80"], false)]
    #[case(&["192.168.1.1:80"], false)]
    #[case(&["169.254.1.1:80"], false)]
    #[case(&["128.0.0.1:80"], false)]
    #[case(&["192.0.2.1:80"], false)]
    #[case(&["[2001:db8::1]:80"], false)]
    #[case(&["[fe80::1]:80"], false)]
    #[case(&["127.0.0.1:80", "192.0.2.1:80"], false)]
    #[case(&["192.0.2.1:80", "127.0.0.1:80"], false)]
    fn only_loopback_needs_no_confirmation(#[case] addresses: &[&str], #[case] freely: bool) {
        let addresses: Vec<SocketAddr> = addresses.iter().map(|it| it.parse().unwrap()).collect();
        let refused = allowed("name", &addresses, false);
        assert_eq!(refused.is_ok(), freely, "{addresses:?}");
        if let Err(error) = refused {
            let text = error.to_string();
            assert!(text.contains("name") && text.contains("theirs"), "{text}");
        }
        assert_eq!(allowed("name", &addresses, true).unwrap(), addresses[0]);
    }

    #[test]
    fn a_name_without_an_address_is_none() {
        assert!(allowed("name", &[], true).is_err());
    }

    #[rstest]
    #[case("http://localhost", "localhost", 80)]
    #[case("http://localhost:8080/", "localhost", 8080)]
    #[case("http://127.0.0.1:1", "127.0.0.1", 1)]
    #[case("http://[::1]:8080", "[::1]", 8080)]
    #[case("http://[::1]", "[::1]", 80)]
    fn a_url_has_a_host_and_a_port(#[case] url: &str, #[case] host: &str, #[case] port: u16) {
        assert_eq!(parse(url).unwrap(), (host.to_owned(), port));
    }

    #[rstest]
    #[case("localhost:8080")]
    #[case("https://localhost")]
    #[case("ftp://localhost")]
    #[case("http://")]
    #[case("http://:80")]
    #[case("http://::1")]
    #[case("http://localhost:0")]
    #[case("http://localhost:65536")]
    #[case("http://localhost:http")]
    #[case("http://localhost/path")]
    #[case("http://localhost?query")]
    #[case("http://127.0.0.1#@example.org")]
    #[case("http://127.0.0.1@example.org")]
    #[case("http://name:secret@localhost")]
    fn other_urls_are_rejected(#[case] url: &str) {
        let text = parse(url).unwrap_err().to_string();
        assert!(!text.contains("secret"), "{text}");
    }

    #[test]
    fn addresses_need_no_name_server() {
        let found = find("http://127.0.0.1:8080", false).unwrap();
        assert_eq!(found.address, SocketAddr::from(([127, 0, 0, 1], 8080)));
        assert_eq!(found.host, "127.0.0.1:8080");
        assert_eq!(find("http://[::1]:9", false).unwrap().host, "[::1]:9");
        assert!(find("http://192.0.2.1", false).is_err());
        assert!(find("http://[::ffff:192.0.2.1]:80", false).is_err());
        assert!(find("http://0.0.0.0", false).is_err());
    }
}
