//! The settings of a cluster as its parts take them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use foretell_engine::ClusterConfig;
use foretell_jetstream::Settings;

use crate::config::{ClusterRole, Config};

/// How to reach the log.
pub(crate) fn log_settings(config: &Config) -> Settings {
    let cluster = &config.cluster;
    let file = |path: &PathBuf| (!path.as_os_str().is_empty()).then(|| path.clone());
    let certificate = file(&cluster.tls_certificate_file);
    Settings {
        host: cluster.host.clone(),
        servers: cluster.servers.clone(),
        stream: cluster.stream.clone(),
        credentials_file: file(&cluster.credentials_file),
        tls_ca_file: file(&cluster.tls_ca_file),
        tls_certificate: certificate.zip(file(&cluster.tls_key_file)),
    }
}

/// The engine's part of the settings; `None` of a host that is alone.
pub(crate) fn engine_config(config: &Config, fingerprint: &str) -> Option<ClusterConfig> {
    let cluster = &config.cluster;
    let role = match cluster.role {
        ClusterRole::Standalone => return None,
        ClusterRole::Leader => foretell_engine::ClusterRole::Leader,
        ClusterRole::Standby => foretell_engine::ClusterRole::Standby,
        ClusterRole::Reader => foretell_engine::ClusterRole::Reader,
    };
    Some(ClusterConfig {
        role,
        host: cluster.host.clone(),
        address: cluster.address.clone(),
        takeover_after: Duration::from_millis(cluster.takeover_after_ms.into()),
        fingerprint: fingerprint.to_owned(),
        log: Arc::new(log_settings(config)),
    })
}
