//! The settings of a cluster as its parts take them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use foretell_auth::{MasterSecret, MasterSecretError};
use foretell_engine::{ClusterConfig, EXIT_REFUSED};
use foretell_jetstream::Settings;
use foretell_replication::Keys;

use crate::config::{ClusterRole, Config};
use crate::failure::Failure;

/// Where a missing key comes from.
const KEY_HINT: &str = "copy it from a host of this cluster that may lead; `foretell cluster init` makes the key of a new \
                        cluster";

/// Names of the files with keys that a host of this role has from one that may lead. A reader makes `reader.key` and
/// `reader.pub` itself.
pub(crate) fn copied_keys(role: ClusterRole) -> Vec<&'static str> {
    let shared = [
        "master.secret",
        "operator.token",
        "sync.token",
        "checkpoint.key",
        "checkpoint.pub",
    ];
    let of_cluster: &[&str] = match role {
        ClusterRole::Standalone => &[],
        ClusterRole::Leader | ClusterRole::Standby => &["cluster.key", "cluster.pub"],
        ClusterRole::Reader => &["cluster.pub"],
    };
    [&shared[..], of_cluster].concat()
}

/// The role as the engine takes it; `None` of a host that is alone.
pub(crate) const fn role(role: ClusterRole) -> Option<foretell_engine::ClusterRole> {
    match role {
        ClusterRole::Standalone => None,
        ClusterRole::Leader => Some(foretell_engine::ClusterRole::Leader),
        ClusterRole::Standby => Some(foretell_engine::ClusterRole::Standby),
        ClusterRole::Reader => Some(foretell_engine::ClusterRole::Reader),
    }
}

/// How to reach the log.
pub(crate) fn log_settings(config: &Config) -> Settings {
    let cluster = &config.cluster;
    let file = |path: &PathBuf| (!path.as_os_str().is_empty()).then(|| path.clone());
    let certificate = file(&cluster.tls_certificate_file);
    Settings {
        host: cluster.host.clone(),
        servers: cluster.servers.clone(),
        stream: cluster.stream.clone(),
        may_lead: cluster.role != ClusterRole::Reader,
        tls_ca_file: file(&cluster.tls_ca_file),
        tls_certificate: certificate.zip(file(&cluster.tls_key_file)),
    }
}

/// The keys of this host: of one that may lead `cluster.key`, of a reader `cluster.pub` and a key of its own, which is
/// made when it is missing.
///
/// # Errors
/// The key of the cluster is missing, or a file is no key.
pub(crate) fn keys(config: &Config) -> Result<Keys, Failure> {
    let keys = read_keys(config, MasterSecret::load_or_create)?;
    let public = match config.cluster.role {
        ClusterRole::Reader => config.reader_public_key_file(),
        _ => config.cluster_public_key_file(),
    };
    write_public_key(&public, keys.public_key())?;
    Ok(keys)
}

/// Finds what [`keys`] finds, and makes nothing.
///
/// # Errors
/// As [`keys`].
pub(crate) fn check_keys(config: &Config) -> Result<(), Failure> {
    let own = |file: &Path| match file.symlink_metadata() {
        Ok(_) => MasterSecret::load(file),
        Err(_) => MasterSecret::generate(),
    };
    read_keys(config, own).map(drop)
}

/// `own` reads a reader's key.
fn read_keys(
    config: &Config,
    own: impl Fn(&Path) -> Result<MasterSecret, MasterSecretError>,
) -> Result<Keys, Failure> {
    let refused = |text: String| Failure::new(text).code(EXIT_REFUSED);
    let cluster = &config.cluster;
    let readers = cluster.reader_keys()?;
    let keys = if cluster.role == ClusterRole::Reader {
        let file = config.cluster_public_key_file();
        let key = public_key(&file).map_err(|why| refused(why).hint(KEY_HINT))?;
        let own = own(&config.reader_key_file()).map_err(|error| refused(error.to_string()))?;
        Keys::of_reader(&cluster.host, own.bytes(), &key, &readers)
    } else {
        let secret = MasterSecret::load(&config.cluster_key_file())
            .map_err(|error| refused(error.to_string()).hint(KEY_HINT))?;
        Keys::of_leader(&cluster.host, secret.bytes(), &readers)
    };
    keys.map_err(|error| refused(format!("cluster.pub, cluster.readers: {error}")))
}

fn public_key(file: &Path) -> Result<[u8; 32], String> {
    let text =
        std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut key = [0; 32];
    hex::decode_to_slice(text.trim(), &mut key)
        .map_err(|_| format!("{}: 64 hex digits expected", file.display()))?;
    Ok(key)
}

/// Writes a public key, unless the file has it.
pub(crate) fn write_public_key(path: &Path, key: [u8; 32]) -> Result<(), Failure> {
    let text = format!("{}\n", hex::encode(key));
    if std::fs::read_to_string(path).is_ok_and(|written| written == text) {
        return Ok(());
    }
    std::fs::write(path, text).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

/// The engine's part of the settings; `None` of a host that is alone.
///
/// # Errors
/// As [`keys`].
pub(crate) fn engine_config(
    config: &Config,
    fingerprint: &str,
) -> Result<Option<ClusterConfig>, Failure> {
    let cluster = &config.cluster;
    let Some(role) = role(cluster.role) else {
        return Ok(None);
    };
    Ok(Some(ClusterConfig {
        role,
        host: cluster.host.clone(),
        address: cluster.address.clone(),
        takeover_after: Duration::from_millis(cluster.takeover_after_ms.into()),
        fingerprint: fingerprint.to_owned(),
        keys: keys(config)?,
        log: Arc::new(log_settings(config)),
    }))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn config(directory: &Path, role: ClusterRole) -> Config {
        let mut config = Config::default();
        config.data.directory = directory.to_owned();
        (config.cluster.role, config.cluster.host) = (role, "alpha".to_owned());
        config
    }

    #[test]
    fn every_key_is_on_its_page() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let keys = [ClusterRole::Leader, ClusterRole::Reader].map(copied_keys);
        let file = "docs/operate/install.md";
        let text = std::fs::read_to_string(root.join(file)).unwrap();
        for key in keys.iter().flatten().chain(&["reader.key", "reader.pub"]) {
            assert!(text.contains(key), "{file} without {key}");
        }
        assert!(!keys[1].contains(&"cluster.key"), "a reader does not lead");
    }

    #[test]
    fn a_host_without_the_cluster_s_key_is_told_where_it_comes_from() {
        for (role, file) in [
            (ClusterRole::Leader, "cluster.key"),
            (ClusterRole::Standby, "cluster.key"),
            (ClusterRole::Reader, "cluster.pub"),
        ] {
            let directory = tempfile::tempdir().unwrap();
            let refused = keys(&config(directory.path(), role)).map(drop);
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains(file), "{refused}");
            assert!(refused.contains("cluster init"), "{refused}");
            let files = std::fs::read_dir(directory.path()).unwrap().count();
            assert_eq!(files, 0, "{role:?}: it makes none of its own");
        }
    }

    #[test]
    fn a_reader_gets_the_public_half_and_makes_a_key_of_its_own() {
        let (leads, reads) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let host = config(leads.path(), ClusterRole::Leader);
        MasterSecret::load_or_create(&host.cluster_key_file()).unwrap();
        let cluster = keys(&host).unwrap().public_key();
        let reader = config(reads.path(), ClusterRole::Reader);
        std::fs::copy(
            host.cluster_public_key_file(),
            reader.cluster_public_key_file(),
        )
        .unwrap();
        let own = keys(&reader).unwrap().public_key();
        assert_ne!(own, cluster);
        assert_eq!(keys(&reader).unwrap().public_key(), own, "it is made once");
        assert_eq!(public_key(&reader.reader_public_key_file()), Ok(own));
        for secret in [host.cluster_key_file(), reader.reader_key_file()] {
            let mode = std::fs::metadata(secret).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}
