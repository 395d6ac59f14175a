//! The settings of a cluster beyond their types.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use super::settings::{Cluster, ClusterRole};
use crate::failure::Failure;

impl Cluster {
    /// Names, servers, files and keys.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if !self.health_listen.is_empty() {
            self.health_address()?;
        }
        if self.role == ClusterRole::Standalone {
            return Ok(());
        }
        for (setting, text) in [
            ("cluster.host", &self.host),
            ("cluster.stream", &self.stream),
        ] {
            if !is_name(text) {
                return Err(Failure::new(format!(
                    "{setting} is {text:?}, allowed are 1 to 64 letters, digits and hyphens"
                )));
            }
        }
        if self.servers.is_empty() {
            return Err(Failure::new(
                "cluster.servers is empty: name the servers of the replicated log",
            ));
        }
        self.servers
            .iter()
            .try_for_each(|server| check_server(server))?;
        let has = |file: &std::path::Path| !file.as_os_str().is_empty();
        if has(&self.tls_certificate_file) != has(&self.tls_key_file) {
            return Err(Failure::new(
                "cluster.tls_certificate_file and cluster.tls_key_file go together",
            ));
        }
        self.reader_keys().map(drop)
    }

    /// The address of the health listener.
    ///
    /// # Errors
    /// It is not an address.
    pub fn health_address(&self) -> Result<SocketAddr, Failure> {
        self.health_listen.parse().map_err(|_| {
            Failure::new(format!(
                "cluster.health_listen is {:?}, allowed is address:port",
                self.health_listen
            ))
        })
    }

    /// Public keys of readers by the name of their host.
    ///
    /// # Errors
    /// An entry is no name with a key.
    pub fn reader_keys(&self) -> Result<BTreeMap<String, [u8; 32]>, Failure> {
        let parsed = |entry: &String| {
            let (host, digits) = entry.split_once('=')?;
            let mut key = [0; 32];
            hex::decode_to_slice(digits, &mut key).ok()?;
            is_name(host).then(|| (host.to_owned(), key))
        };
        let entries = self.readers.iter();
        let keys = entries.map(|entry| {
            parsed(entry).ok_or_else(|| {
                Failure::new(format!(
                    "cluster.readers has {entry:?}, allowed is host=key with the 64 hex digits of its reader.pub"
                ))
            })
        });
        keys.collect()
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 64
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// Without TLS, whoever is between a host and a server reads and changes what they say.
fn check_server(server: &str) -> Result<(), Failure> {
    let wrong = |why: &str| {
        Err(Failure::new(format!(
            "cluster.servers has {server:?}: {why}"
        )))
    };
    match server.split_once("://") {
        Some(("tls", _)) => Ok(()),
        Some(("nats", place)) if is_loopback(place) => Ok(()),
        Some(("nats", _)) => wrong(
            "nats:// is allowed on loopback alone; name it as tls://, and set cluster.tls_ca_file and \
             cluster.tls_certificate_file with cluster.tls_key_file, or cluster.credentials_file",
        ),
        _ => wrong("allowed are tls:// URLs, and nats:// URLs of loopback addresses"),
    }
}

/// Whether the place of a URL, `user@address:port`, is this machine.
fn is_loopback(place: &str) -> bool {
    let address = place.rsplit('@').next().unwrap_or(place);
    let host = match address.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => address.split([':', '/']).next(),
    };
    host.is_some_and(|host| {
        host == "localhost"
            || host
                .parse()
                .is_ok_and(|address: IpAddr| address.is_loopback())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(change: impl FnOnce(&mut Cluster)) -> Result<(), String> {
        let mut cluster = Cluster {
            role: ClusterRole::Leader,
            host: "alpha".to_owned(),
            servers: vec!["tls://nats-1.example.org:4222".to_owned()],
            ..Cluster::default()
        };
        change(&mut cluster);
        cluster.check().map_err(|error| error.to_string())
    }

    #[test]
    fn a_server_without_tls_is_on_this_machine() {
        for (server, is_allowed) in [
            ("nats://127.0.0.1:4222", true),
            ("nats://127.3.2.1", true),
            ("nats://user:word@localhost:4222", true),
            ("nats://[::1]:4222", true),
            ("tls://10.0.0.1:4222", true),
            ("nats://10.0.0.1:4222", false),
            ("nats://127.0.0.1@10.0.0.1:4222", false),
            ("nats://127.0.0.1.example.org:4222", false),
            ("nats://localhost.example.org", false),
            ("nats://[2001:db8::1]:4222", false),
            ("http://127.0.0.1:4222", false),
            ("127.0.0.1:4222", false),
        ] {
            let checked = host(|cluster| cluster.servers = vec![server.to_owned()]);
            assert_eq!(checked.is_ok(), is_allowed, "{server}: {checked:?}");
        }
        let refused = host(|cluster| cluster.servers.push("nats://10.0.0.1:4222".to_owned()));
        assert!(refused.unwrap_err().contains("name it as tls://"));
    }

    #[test]
    fn a_reader_is_a_name_with_a_key() {
        let key = "ab".repeat(32);
        for (entry, is_allowed) in [
            (format!("gamma={key}"), true),
            (format!("={key}"), false),
            (format!("gamma={}", &key[1..]), false),
            ("gamma".to_owned(), false),
        ] {
            let checked = host(|cluster| cluster.readers = vec![entry.clone()]);
            assert_eq!(checked.is_ok(), is_allowed, "{entry}: {checked:?}");
        }
    }
}
