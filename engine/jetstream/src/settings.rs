//! How to reach the servers.

use std::path::PathBuf;
use std::time::Duration;

use async_nats::{Client, ConnectOptions, ServerAddr};
use foretell_replication::LogError;

/// Timeout of a request.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_millis(1_000);
/// A connection attempt ends after this.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Pause between two attempts.
const RECONNECT_PAUSE: Duration = Duration::from_millis(200);
/// A connection without an answer to two pings is closed.
const PING_INTERVAL: Duration = Duration::from_secs(1);

/// Servers, certificates, names.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Name of this host, for the servers' lists of connections.
    pub host: String,
    /// `nats://` or `tls://` URLs.
    pub servers: Vec<String>,
    /// Name of the stream.
    pub stream: String,
    /// File with the authority of the servers' certificates.
    pub tls_ca_file: Option<PathBuf>,
    /// Whether this host may lead: then it makes the stream of the heartbeat again when the servers lost it.
    pub may_lead: bool,
    /// Files with the certificate of this host and its key.
    pub tls_certificate: Option<(PathBuf, PathBuf)>,
}

/// Host of a server's URL, as the client reads it.
#[must_use]
pub fn server_host(url: &str) -> Option<String> {
    let address: ServerAddr = url.parse().ok()?;
    let host = address.host();
    (!host.is_empty()).then(|| host.to_owned())
}

impl Settings {
    /// Subject of the journal's messages.
    #[must_use]
    pub fn journal_subject(&self) -> String {
        format!("{}.journal", self.stream)
    }

    /// Name of the stream with the heartbeat.
    #[must_use]
    pub fn heartbeat_stream(&self) -> String {
        format!("{}-heartbeat", self.stream)
    }

    /// Subject of the heartbeat.
    #[must_use]
    pub fn heartbeat_subject(&self) -> String {
        format!("{}.heartbeat", self.stream)
    }

    /// Name of the stream with the hosts' records.
    #[must_use]
    pub fn hosts_stream(&self) -> String {
        format!("{}-hosts", self.stream)
    }

    /// Subject of a host's record.
    #[must_use]
    pub fn host_subject(&self, host: &str) -> String {
        format!("{}.hosts.{host}", self.stream)
    }

    /// Connects. With `patient` it returns at once and connects when a server is there.
    pub(crate) async fn connect(&self, patient: bool) -> Result<Client, LogError> {
        let failed = |error: String| LogError::Unreachable(error);
        let mut options = ConnectOptions::new()
            .name(format!("foretell {}", self.host))
            .connection_timeout(CONNECT_TIMEOUT)
            .ping_interval(PING_INTERVAL)
            .max_reconnects(None)
            .reconnect_delay_callback(|_| RECONNECT_PAUSE);
        if patient {
            options = options.retry_on_initial_connect();
        }
        let is_tls = |server: &String| server.starts_with("tls://");
        // What else a server names is reached over TLS or not at all.
        options = match self.servers.iter().any(is_tls) {
            true => options.require_tls(true),
            false => options.ignore_discovered_servers(),
        };
        if let Some(file) = &self.tls_ca_file {
            options = options.add_root_certificates(file.clone());
        }
        if let Some((certificate, key)) = &self.tls_certificate {
            options = options.add_client_certificate(certificate.clone(), key.clone());
        }
        options
            .connect(self.servers.clone())
            .await
            .map_err(|error| failed(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn a_server_without_tls_names_no_others() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            let (mut client, _) = listener.accept().await.unwrap();
            let info = "INFO {\"max_payload\":1048576,\"connect_urls\":[\"10.0.0.1:4222\"]}\r\n";
            client.write_all(info.as_bytes()).await.unwrap();
            let mut read = [0; 4_096];
            while client.read(&mut read).await.unwrap() > 0 {
                client.write_all(b"PONG\r\n").await.unwrap();
            }
        });
        let settings = Settings {
            servers: vec![format!("nats://127.0.0.1:{port}")],
            ..Settings::default()
        };
        let client = settings.connect(false).await.unwrap();
        let pool = client.server_pool().await.unwrap();
        let hosts: Vec<_> = pool.iter().map(|server| server.addr.host()).collect();
        assert_eq!(hosts, ["127.0.0.1"]);
    }
}
