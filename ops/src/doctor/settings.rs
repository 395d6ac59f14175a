//! What a start needs besides allowed values: files that can be read, secrets, addresses of their own.
//!
//! Each check is the function that the start itself calls, without its effects.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foretell_auth::MasterSecret;
use foretell_catalog_sync::clock::SystemClock;
use foretell_catalog_sync::upstream::{Bounds, Upstream};

use crate::config::refusal::Refusal;
use crate::config::{ClusterRole, Config};
use crate::data_directory;
use crate::page;
use crate::processes::cluster_config;
use crate::processes::process::{self, MASTER_SECRET_VARIABLE};
use crate::secret_file;

/// The surfaces' settings and addresses.
pub(super) fn surfaces(config: &Config) -> Vec<(&'static str, SocketAddr)> {
    let mut surfaces = vec![
        ("trading.listen", config.trading.listen),
        ("gateway.data_listen", config.gateway.data_listen),
        ("catalog.listen", config.catalog.listen),
        ("operator.listen", config.operator.listen),
    ];
    let health = config.cluster.health_address().ok();
    surfaces.extend(health.map(|address| ("cluster.health_listen", address)));
    surfaces
}

/// Surfaces that would listen where another one does.
pub(super) fn shared_addresses(config: &Config) -> Vec<Refusal> {
    let surfaces = surfaces(config);
    let is_shared = |one: SocketAddr, other: SocketAddr| {
        let is_any = one.ip().is_unspecified() || other.ip().is_unspecified();
        one.port() == other.port() && one.port() != 0 && (is_any || one.ip() == other.ip())
    };
    let refusal = |(index, &(setting, address)): (usize, &(&str, SocketAddr))| {
        let mut before = surfaces[..index].iter();
        let (other, _) = before.find(|(_, other)| is_shared(*other, address))?;
        let allowed = format_args!("an address that {other} does not have");
        Some(Refusal::new(setting, &address, allowed))
    };
    surfaces.iter().enumerate().filter_map(refusal).collect()
}

pub(super) fn unreadable_files(config: &Config) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let logo = &config.site.logo;
    if config.site.page && is_set(logo) {
        let wrong = page::logo(logo).err();
        refusals.extend(wrong.map(|why| Refusal::failed("site.logo", logo, why)));
    }
    let stages = &config.log.stages;
    if is_set(stages) && stages.exists() && !stages.is_dir() {
        refusals.push(Refusal::new("log.stages", stages, "a directory"));
    }
    let cluster = &config.cluster;
    if cluster.role == ClusterRole::Standalone {
        return refusals;
    }
    for (setting, file) in [
        ("cluster.tls_ca_file", &cluster.tls_ca_file),
        (
            "cluster.tls_certificate_file",
            &cluster.tls_certificate_file,
        ),
        ("cluster.tls_key_file", &cluster.tls_key_file),
    ] {
        if is_set(file)
            && let Err(why) = std::fs::read(file)
        {
            refusals.push(Refusal::failed(setting, file, why));
        }
    }
    refusals
}

/// Files of tokens that settings name, and the secret of the environment.
pub(super) fn named_secrets(config: &Config) -> Vec<Refusal> {
    let operator = &config.operator;
    let named = [
        (
            "operator.token_file",
            secret_file::OPERATOR_TOKEN,
            &operator.token_file,
        ),
        (
            "operator.oracle_secret_file",
            secret_file::ORACLE_SECRET,
            &operator.oracle_secret_file,
        ),
        (
            "webhooks.secret_file",
            secret_file::WEBHOOKS_SECRET,
            &config.webhooks.secret_file,
        ),
    ];
    let named = named.into_iter().filter(|(_, _, file)| is_set(file));
    let mut refusals: Vec<_> = named
        .filter_map(|(setting, noun, file)| {
            let why = secret_file::load(noun, file).err()?;
            Some(Refusal::failed(setting, file, why))
        })
        .collect();
    let wrong = MasterSecret::from_env(MASTER_SECRET_VARIABLE).err();
    refusals.extend(wrong.map(|why| Refusal::other(MASTER_SECRET_VARIABLE, why.to_string())));
    refusals
}

/// Secrets of the data directory that are there and are none; the start makes a missing one.
fn own_secrets(config: &Config) -> Vec<Refusal> {
    let is_there = |file: &PathBuf| file.symlink_metadata().is_ok();
    let tokens = [
        (secret_file::OPERATOR_TOKEN, config.operator_token_file()),
        (secret_file::SYNC_TOKEN, config.sync_token_file()),
    ];
    let tokens = tokens.into_iter().filter(|(_, file)| is_there(file));
    let tokens =
        tokens.filter_map(|(noun, file)| Some(secret_file::load(noun, &file).err()?.to_string()));
    let secrets = [config.checkpoint_key_file(), config.master_secret_file()];
    let secrets = secrets.into_iter().filter(is_there);
    let secrets = secrets.filter_map(|file| Some(MasterSecret::load(&file).err()?.to_string()));
    let wrong = tokens.chain(secrets);
    wrong
        .map(|why| Refusal::other("data.directory", why))
        .collect()
}

/// Keys of a cluster whose settings hold. No start makes the key of the cluster.
fn cluster_keys(config: &Config) -> Option<Refusal> {
    let mut refusals = Vec::new();
    config
        .cluster
        .check(config.engine.durability, &mut refusals);
    if config.cluster.role == ClusterRole::Standalone || !refusals.is_empty() {
        return None;
    }
    let wrong = cluster_config::check_keys(config).err()?;
    Some(Refusal::other("data.directory", wrong.to_string()))
}

/// The data directory, its secrets, and the keys of a cluster in it.
pub(super) fn data_directory(config: &Config) -> Vec<Refusal> {
    match data_directory::check_data_directory(&config.data.directory) {
        Ok(()) => own_secrets(config)
            .into_iter()
            .chain(cluster_keys(config))
            .collect(),
        Err(why) => vec![Refusal::other("data.directory", why.to_string())],
    }
}

/// Connections that the open files of this process allow.
pub(super) fn connections(config: &Config) -> Vec<Refusal> {
    let wrong = process::connections(config).err();
    let refusal =
        |why: crate::failure::Failure| Refusal::other("gateway.connections", why.to_string());
    wrong.map(refusal).into_iter().collect()
}

/// The configuration of a gateway.
pub(super) fn gateway(config: &Config) -> Vec<Refusal> {
    let wrong = process::check_gateway(config).err();
    let refusal = |why: crate::failure::Failure| Refusal::other("gateway", why.to_string());
    wrong.map(refusal).into_iter().collect()
}

/// The URL of the upstream.
pub(super) fn upstream(config: &Config) -> Vec<Refusal> {
    let upstream = &config.catalog.upstream;
    if upstream.is_empty() {
        return Vec::new();
    }
    let wrong = Upstream::new(upstream, Bounds::default(), Arc::new(SystemClock)).err();
    let refusal = |why| Refusal::failed("catalog.upstream", upstream, why);
    wrong.map(refusal).into_iter().collect()
}

fn is_set(file: &Path) -> bool {
    !file.as_os_str().is_empty()
}
