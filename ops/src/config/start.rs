//! What a start needs besides allowed values: files that can be read, secrets, addresses of their own.
//!
//! Each check is the function that the start itself calls, without its effects.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foretell_auth::MasterSecret;
use foretell_catalog_sync::clock::SystemClock;
use foretell_catalog_sync::upstream::{Bounds, Upstream};
use foretell_gateway::OperatorToken;

use crate::config::refusal::Refusal;
use crate::config::{ClusterRole, Config};
use crate::data_directory;
use crate::page;
use crate::processes::cluster_config;
use crate::processes::process::{self, MASTER_SECRET_VARIABLE};

impl Config {
    /// What stands in the way of a start with these settings.
    pub(super) fn start_refusals(&self) -> Vec<Refusal> {
        let mut refusals = self.shared_addresses();
        refusals.extend(self.unreadable_files());
        refusals.extend(self.wrong_secrets());
        let (directory, upstream) = (&self.data.directory, &self.catalog.upstream);
        match data_directory::check_data_directory(directory) {
            Ok(()) => {
                refusals.extend(self.wrong_own_secrets());
                refusals.extend(self.wrong_cluster_keys());
            }
            Err(why) => refusals.push(Refusal::other("data.directory", why.to_string())),
        }
        let wrong = process::connections(self).err();
        refusals.extend(wrong.map(|why| Refusal::other("gateway.connections", why.to_string())));
        if !upstream.is_empty() {
            let clock = Arc::new(SystemClock);
            let wrong = Upstream::new(upstream, Bounds::default(), clock).err();
            refusals.extend(wrong.map(|why| Refusal::failed("catalog.upstream", upstream, why)));
        }
        refusals
    }

    /// Surfaces that would listen where another one does.
    fn shared_addresses(&self) -> Vec<Refusal> {
        let mut surfaces = vec![
            ("trading.listen", self.trading.listen),
            ("gateway.data_listen", self.gateway.data_listen),
            ("catalog.listen", self.catalog.listen),
            ("operator.listen", self.operator.listen),
        ];
        let health = self.cluster.health_address().ok();
        surfaces.extend(health.map(|address| ("cluster.health_listen", address)));
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

    fn unreadable_files(&self) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        let logo = &self.site.logo;
        if self.site.page && is_set(logo) {
            let wrong = page::logo(logo).err();
            refusals.extend(wrong.map(|why| Refusal::failed("site.logo", logo, why)));
        }
        let stages = &self.log.stages;
        if is_set(stages) && stages.exists() && !stages.is_dir() {
            refusals.push(Refusal::new("log.stages", stages, "a directory"));
        }
        let cluster = &self.cluster;
        if cluster.role == ClusterRole::Standalone {
            return refusals;
        }
        for (setting, file) in [
            ("cluster.credentials_file", &cluster.credentials_file),
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
    fn wrong_secrets(&self) -> Vec<Refusal> {
        let operator = &self.operator;
        let named = [
            ("operator.token_file", &operator.token_file),
            ("operator.oracle_secret_file", &operator.oracle_secret_file),
        ];
        let named = named.into_iter().filter(|(_, file)| is_set(file));
        let mut refusals: Vec<_> = named
            .filter_map(|(setting, file)| {
                let why = OperatorToken::load(file).err()?;
                Some(Refusal::failed(setting, file, why))
            })
            .collect();
        let wrong = MasterSecret::from_env(MASTER_SECRET_VARIABLE).err();
        refusals.extend(wrong.map(|why| Refusal::other(MASTER_SECRET_VARIABLE, why.to_string())));
        refusals
    }

    /// Secrets of the data directory that are there and are none; the start makes a missing one.
    fn wrong_own_secrets(&self) -> Vec<Refusal> {
        let is_there = |file: &PathBuf| file.symlink_metadata().is_ok();
        let tokens = [self.operator_token_file(), self.sync_token_file()];
        let tokens = tokens.into_iter().filter(is_there);
        let tokens = tokens.filter_map(|file| Some(OperatorToken::load(&file).err()?.to_string()));
        let secrets = [self.checkpoint_key_file(), self.master_secret_file()];
        let secrets = secrets.into_iter().filter(is_there);
        let secrets = secrets.filter_map(|file| Some(MasterSecret::load(&file).err()?.to_string()));
        let wrong = tokens.chain(secrets);
        wrong
            .map(|why| Refusal::other("data.directory", why))
            .collect()
    }

    /// Keys of a cluster whose settings hold. No start makes the key of the cluster.
    fn wrong_cluster_keys(&self) -> Option<Refusal> {
        let mut refusals = Vec::new();
        self.cluster.check(self.engine.durability, &mut refusals);
        if self.cluster.role == ClusterRole::Standalone || !refusals.is_empty() {
            return None;
        }
        let wrong = cluster_config::check_keys(self).err()?;
        Some(Refusal::other("data.directory", wrong.to_string()))
    }
}

fn is_set(file: &Path) -> bool {
    !file.as_os_str().is_empty()
}
