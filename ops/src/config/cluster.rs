//! The settings of a cluster beyond their types.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use foretell_jetstream::server_host;
use foretell_model::Durability;
use foretell_replication::is_host_name;

use super::settings::{Cluster, ClusterRole};
use crate::config::refusal::Refusal;

impl Cluster {
    /// Names, servers, files and keys.
    pub(crate) fn check(&self, durability: Durability, refusals: &mut Vec<Refusal>) {
        if !self.health_listen.is_empty() {
            refusals.extend(self.health_address().err());
        }
        if self.role == ClusterRole::Standalone {
            return;
        }
        for (setting, text) in [
            ("cluster.host", &self.host),
            ("cluster.stream", &self.stream),
        ] {
            let allowed = "1 to 64 letters, digits and hyphens";
            refusals.extend(Refusal::unless(is_host_name(text), setting, text, allowed));
        }
        let servers = "at least one server of the replicated log";
        refusals.extend(Refusal::unless(
            !self.servers.is_empty(),
            "cluster.servers",
            &self.servers,
            servers,
        ));
        refusals.extend(self.servers.iter().filter_map(refused));
        let has = |file: &Path| !file.as_os_str().is_empty();
        let (certificate, key) = (&self.tls_certificate_file, &self.tls_key_file);
        refusals.extend(Refusal::unless(
            has(certificate) == has(key),
            "cluster.tls_certificate_file",
            certificate,
            "a certificate together with cluster.tls_key_file",
        ));
        refusals.extend(self.reader_keys().err());
        refusals.extend(Refusal::unless(
            durability == Durability::Disk,
            "engine.durability",
            &durability,
            "\"disk\" in a cluster",
        ));
    }

    /// The address of the health listener.
    ///
    /// # Errors
    /// It is not an address.
    pub(crate) fn health_address(&self) -> Result<SocketAddr, Refusal> {
        let (setting, text) = ("cluster.health_listen", &self.health_listen);
        text.parse()
            .map_err(|_| Refusal::new(setting, text, "address:port"))
    }

    /// Public keys of readers by the name of their host.
    ///
    /// # Errors
    /// An entry is no name with a key.
    pub(crate) fn reader_keys(&self) -> Result<BTreeMap<String, [u8; 32]>, Refusal> {
        let parsed = |entry: &String| {
            let (host, digits) = entry.split_once('=')?;
            let mut key = [0; 32];
            hex::decode_to_slice(digits, &mut key).ok()?;
            is_host_name(host).then(|| (host.to_owned(), key))
        };
        let keys = self.readers.iter().map(|entry| {
            let allowed = "host=key with the 64 hex digits of its reader.pub";
            parsed(entry).ok_or_else(|| Refusal::new("cluster.readers", entry, allowed))
        });
        keys.collect()
    }
}

/// Why a server is refused: without TLS, whoever is between it and a host reads and changes what they say.
fn refused(server: &String) -> Option<Refusal> {
    let host = server_host(server);
    let (is_allowed, allowed) = match (server.split_once("://"), host) {
        (Some(("tls", _)), Some(_)) => (true, ""),
        (Some(("nats", _)), Some(host)) => (
            is_loopback(&host),
            "nats:// on loopback alone; name it as tls://, and set cluster.tls_ca_file and \
             cluster.tls_certificate_file with cluster.tls_key_file",
        ),
        _ => (false, "tls:// URLs, and nats:// URLs of loopback addresses"),
    };
    Refusal::unless(is_allowed, "cluster.servers", server, allowed)
}

fn is_loopback(host: &str) -> bool {
    host == "localhost"
        || host
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback())
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
        let mut refusals = Vec::new();
        cluster.check(Durability::Disk, &mut refusals);
        refusals
            .first()
            .map_or(Ok(()), |refusal| Err(refusal.to_string()))
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
            ("nats://10.0.0.1/@127.0.0.1", false),
            ("nats://10.0.0.1?@127.0.0.1", false),
            ("tls://", false),
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
