//! The processes of the exchange as subcommands, and what they share: runtime, signals, readiness.

use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};
use std::sync::Arc;
use std::time::Duration;

use foretell_auth::{MasterSecret, Window};
use foretell_checkpoint::Signer;
use foretell_engine::{Checkpoints, EngineConfig, EngineError, SigningDomain, Waiting};
use foretell_gateway::{
    CatalogConfig, ConnectionLimits, GatewayConfig, GatewayPlace, OracleConfig, Origin,
    RequestPolicyConfig, Surface,
};
use foretell_journal::disk::Disk;
use foretell_matching::Capacity;
use foretell_model::{OperatorName, Sequence};
use serde_json::{Value, json};

use super::cluster_config;
use super::fd_limit;
use crate::backup::record::LastBackup;
use crate::cli::{self, EngineArgs, GatewayArgs};
use crate::config::{ClusterRole, Config, Wait};
use crate::data_directory::check_owner;
use crate::exit_codes::GENERAL;
use crate::failure::Failure;
use crate::operator::listening;
use crate::output;
use crate::page;
use crate::secret_file;

/// Environment variable that holds the master secret instead of its file.
pub(crate) const MASTER_SECRET_VARIABLE: &str = "FORETELL_MASTER_SECRET";
/// Interval between checkpoints while the journal grows.
const CHECKPOINT_INTERVAL: Duration = Duration::from_mins(1);
/// How long a gateway waits to be ready before it listens anyway.
const READY_PATIENCE: Duration = Duration::from_secs(5);
/// Larger than any response, in bytes. Responses are short-lived: on huge pages each large one
/// would wait for the kernel to clear a page. The view's tables grow beyond this size.
const LARGEST_ANSWER: usize = 32 << 20;
/// Maximum server threads when the setting is 0 (one per core).
const MAX_DEFAULT_THREADS: usize = 8;

/// `foretell engine`: runs until SIGTERM.
///
/// # Errors
/// The engine does not start, or ends with an I/O error; the exit code says which.
pub(crate) fn engine(
    config: &Config,
    arguments: &EngineArgs,
    disk: Arc<dyn Disk>,
) -> Result<ExitCode, Failure> {
    stop_with_parent(arguments.supervised)?;
    check_owner(&config.data.directory)?;
    // Each gateway thread has a socket here, in addition to segments and snapshots.
    fd_limit::raise();
    let mut engine = engine_config(config)?;
    engine.journal.disk = disk;
    engine.journal.after_io_error = arguments.recovery.after_io_error;
    engine.accept_divergence = arguments.recovery.accept_divergence.map(Sequence);
    engine.accept_clock_jump = arguments.recovery.accept_clock_jump;
    engine.ignore_snapshots = arguments.recovery.full_replay;
    engine.beginning.sandbox = arguments.sandbox;
    engine.beginning.pays_on_redeem = arguments.pays_on_redeem;
    engine.checkpoints = Some(checkpoints(config)?);
    engine.stage_log = config.stage_log();
    if config.cluster.role != ClusterRole::Standalone {
        let fingerprint = arguments.cluster_fingerprint.as_deref().ok_or_else(|| {
            Failure::new("the engine of a cluster's host is started by `foretell up`")
                .code(foretell_engine::EXIT_REFUSED)
        })?;
        engine.cluster = cluster_config::engine_config(config, fingerprint)?;
        engine.journal.staging_bytes = foretell_journal::replica::MAX_ITEM_BYTES;
    }
    foretell_engine::run(&engine, |ready| {
        let more = json!({ "epoch": ready.epoch, "sequence": ready.sequence.0 });
        report_ready("engine", &more);
    })
    .map(|()| ExitCode::SUCCESS)
    .map_err(|error| engine_failure(&error))
}

/// What the settings say of an engine, alone or of a cluster.
pub(crate) fn engine_config(config: &Config) -> Result<EngineConfig, Failure> {
    let mut engine = EngineConfig::new(config.data.directory.clone());
    engine.journal.durability = config.engine.durability;
    match config.engine.wait {
        Wait::Auto => {}
        Wait::Spin => engine.waiting = Waiting::Spin,
        Wait::Yield => engine.waiting = Waiting::Yield,
        Wait::Park => engine.waiting = Waiting::Park,
    }
    let orders = usize::try_from(config.engine.reserve_orders).unwrap_or(usize::MAX);
    let accounts = usize::try_from(config.engine.reserve_accounts).unwrap_or(usize::MAX);
    engine.capacity = Capacity {
        accounts,
        keys: accounts,
        orders,
        positions: orders,
        ..Capacity::default()
    };
    engine.ring_capacity = usize::try_from(config.engine.ring).unwrap_or(usize::MAX);
    engine.journal.segment_bytes = config.engine.segment_mib << 20;
    engine.journal.disk_reserve_bytes = u64::from(config.engine.disk_reserve_mib) << 20;
    engine.post_only_after_restart =
        Duration::from_secs(u64::from(config.engine.post_only_seconds));
    engine.settings.new_operator_hours = config.engine.new_operator_hours;
    engine.domains = config
        .signing
        .parsed()?
        .iter()
        .map(|domain| SigningDomain {
            number: domain.number(),
            separator: *domain.separator(),
            text: domain.text(),
        })
        .collect();
    Ok(engine)
}

/// The key that signs checkpoints, made at the first start, with its public half in a file.
pub(crate) fn checkpoints(config: &Config) -> Result<Checkpoints, Failure> {
    let secret = MasterSecret::load_or_create(&config.checkpoint_key_file())
        .map_err(|error| Failure::new(error.to_string()))?;
    let signer = Signer::from_secret(secret.bytes());
    cluster_config::write_public_key(&config.checkpoint_public_key_file(), signer.public_key())?;
    Ok(Checkpoints {
        signer,
        file: config
            .data
            .directory
            .join(foretell_engine::CHECKPOINTS_NAME),
        interval: CHECKPOINT_INTERVAL,
    })
}

pub(crate) fn engine_failure(error: &EngineError) -> Failure {
    let failure = Failure::new(error.to_string()).code(error.exit_code());
    match error {
        EngineError::Failed(_) => failure.hint(
            "check the disk first, then start once with --after-io-error, which bypasses the page cache",
        ),
        _ => failure,
    }
}

/// `foretell gateway`: runs until SIGTERM.
///
/// # Errors
/// A secret, a domain or an address is invalid.
pub(crate) fn gateway(config: &Config, arguments: &GatewayArgs) -> Result<ExitCode, Failure> {
    stop_with_parent(arguments.supervised)?;
    check_owner(&config.data.directory)?;
    foretell_memory::set_large_block_threshold(LARGEST_ANSWER);
    let gateway = gateway_config(config, arguments)
        .map_err(|failure| failure.code(foretell_engine::EXIT_REFUSED))?;
    let mut listening = None;
    foretell_gateway::run(gateway, |addresses| {
        let operator = addresses
            .iter()
            .find(|(surface, _)| *surface == Surface::Operator);
        listening =
            operator.and_then(|(_, address)| listening::announce(&config.data.directory, *address));
        let addresses: serde_json::Map<String, Value> = addresses
            .iter()
            .map(|(surface, address)| (surface.name().to_owned(), json!(address.to_string())))
            .collect();
        report_ready("gateway", &Value::Object(addresses));
    })
    .map(|()| ExitCode::SUCCESS)
    .map_err(|error| Failure::new(error.to_string()))
}

/// Makes the configuration of a gateway, as its start does, once the first start has made the secrets.
///
/// # Errors
/// Those with which a gateway refuses to start.
pub(crate) fn check_gateway(config: &Config) -> Result<(), Failure> {
    let secrets = [
        config.operator_token_file(),
        config.sync_token_file(),
        config.master_secret_file(),
    ];
    if !secrets.iter().all(|file| file.exists()) {
        return Ok(());
    }
    let mut surfaces = vec![
        cli::Surface::Trading,
        cli::Surface::Data,
        cli::Surface::Catalog,
        cli::Surface::Operator,
    ];
    if !config.cluster.health_listen.is_empty() {
        surfaces.push(cli::Surface::Health);
    }
    let arguments = GatewayArgs {
        surfaces,
        one_of: 1,
        ..GatewayArgs::default()
    };
    gateway_config(config, &arguments).map(drop)
}

/// The configuration of a gateway that serves the surfaces of `arguments`.
fn gateway_config(config: &Config, arguments: &GatewayArgs) -> Result<GatewayConfig, Failure> {
    let listen = arguments
        .surfaces
        .iter()
        .map(|surface| match surface {
            cli::Surface::Trading => Ok((Surface::Trading, config.trading.listen)),
            cli::Surface::Data => Ok((Surface::Data, config.gateway.data_listen)),
            cli::Surface::Catalog => Ok((Surface::Catalog, config.catalog.listen)),
            cli::Surface::Operator => Ok((Surface::Operator, config.operator.listen)),
            cli::Surface::Health => Ok((Surface::Health, config.cluster.health_address()?)),
        })
        .collect::<Result<_, Failure>>()?;
    let is_operator = arguments.surfaces.contains(&cli::Surface::Operator);
    let token = |noun: &str, path: PathBuf| match is_operator {
        true => secret_file::load(noun, &path).map(Some),
        false => Ok(None),
    };
    // Gateways that are started by hand, each with its own operator surface, are scraped one by one.
    let is_one_of_many = arguments.number.is_some() && arguments.one_of > 1;
    Ok(GatewayConfig {
        place: GatewayPlace {
            number: arguments.number.unwrap_or(1),
            of: arguments.one_of,
            directory: is_one_of_many.then(|| config.data.directory.clone()),
        },
        journal: config
            .data
            .directory
            .join(foretell_engine::JOURNAL_DIRECTORY),
        snapshots: config
            .data
            .directory
            .join(foretell_engine::SNAPSHOT_DIRECTORY),
        last_backup: LastBackup::path(&config.data.directory),
        reports: config.data.directory.clone(),
        checkpoints: config
            .data
            .directory
            .join(foretell_engine::CHECKPOINTS_NAME),
        checked_at_start: foretell_gateway::CHECKED_AT_START,
        chunking: Default::default(),
        engine_socket: config.data.directory.join(foretell_engine::SOCKET_NAME),
        cluster_status: (config.cluster.role != ClusterRole::Standalone).then(|| {
            config
                .data
                .directory
                .join(foretell_engine::CLUSTER_STATUS_NAME)
        }),
        listen,
        threads: threads(config.gateway.threads),
        connections: connections(config)?,
        streams: config.streams.limits(),
        policy: request_policy(config, arguments)?,
        prefixes: config.gateway.header_prefixes.clone(),
        ready_patience: READY_PATIENCE,
        compatibility: config.compatibility,
        window: Window {
            past_seconds: u64::from(config.gateway.timestamp_past_seconds),
            future_seconds: u64::from(config.gateway.timestamp_future_seconds),
        },
        dev_auth_hints: config.gateway.dev_auth_hints,
        master: master_secret(config)?,
        domains: config.signing.parsed()?,
        signer_cache_mib: config.gateway.signer_cache_mib,
        catalog: Some(CatalogConfig {
            file: config.catalog_file(),
            sites: config.catalog.creators()?,
        }),
        stage_log: config.stage_log(),
        page: match config.site.page {
            true => Some(page::of(&config.site, arguments.development_wallets)?),
            false => None,
        },
        oracle: match is_operator {
            true => oracle(config)?,
            false => None,
        },
        operator_token: token(secret_file::OPERATOR_TOKEN, config.operator_token_file())?,
        sync_token: token(secret_file::SYNC_TOKEN, config.sync_token_file())?,
    })
}

/// The adapter of an oracle, when a secret is configured.
fn oracle(config: &Config) -> Result<Option<OracleConfig>, Failure> {
    let file = &config.operator.oracle_secret_file;
    if file.as_os_str().is_empty() {
        return Ok(None);
    }
    let name = OperatorName::new(&config.operator.oracle_operator);
    let secret = secret_file::load(secret_file::ORACLE_SECRET, file)?;
    Ok(name.map(|operator| OracleConfig { secret, operator }))
}

/// Who may ask, and how often: of the limits the part of one of `arguments.one_of` gateways.
fn request_policy(
    config: &Config,
    arguments: &GatewayArgs,
) -> Result<RequestPolicyConfig, Failure> {
    let origins = config.gateway.cors_origins.iter();
    Ok(RequestPolicyConfig {
        limits: config.limits.clone(),
        gateways: arguments.one_of,
        trusted_proxies: config.gateway.trusted_proxies.clone(),
        origins: origins
            .map(|text| Origin::parse(text))
            .collect::<Result<_, _>>()
            .map_err(|error| Failure::new(error.to_string()))?,
        data_allowlist: config.gateway.data_allowlist.clone(),
        operator_hosts: config.operator.hosts.clone(),
    })
}

/// The configured connection limits, lowered to the available descriptors.
///
/// # Errors
/// Too few descriptors are available.
pub(crate) fn connections(config: &Config) -> Result<ConnectionLimits, Failure> {
    let number = |setting| usize::try_from(setting).unwrap_or(usize::MAX);
    let limits = ConnectionLimits {
        total: number(config.gateway.connections),
        per_address: number(config.gateway.connections_per_address),
        http2: config.gateway.http2,
        ..ConnectionLimits::default()
    };
    fd_limit::fit(limits, fd_limit::raise())
}

fn threads(configured: u32) -> usize {
    match usize::try_from(configured) {
        Ok(0) | Err(_) => std::thread::available_parallelism()
            .map_or(1, |cores| cores.get().min(MAX_DEFAULT_THREADS)),
        Ok(threads) => threads,
    }
}

pub(crate) fn master_secret(config: &Config) -> Result<MasterSecret, Failure> {
    let from_environment = MasterSecret::from_env(MASTER_SECRET_VARIABLE)
        .map_err(|error| Failure::new(error.to_string()).code(foretell_engine::EXIT_REFUSED))?;
    match from_environment {
        Some(secret) => Ok(secret),
        None => MasterSecret::load_or_create(&config.master_secret_file())
            .map_err(|error| Failure::new(error.to_string()).code(foretell_engine::EXIT_REFUSED)),
    }
}

/// Requests SIGTERM from the kernel when the parent process `supervisor` ends.
///
/// # Errors
/// The kernel refuses, or the parent has ended already.
pub(crate) fn stop_with_parent(supervisor: Option<i32>) -> Result<(), Failure> {
    let Some(supervisor) = supervisor else {
        return Ok(());
    };
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))
        .map_err(|error| Failure::new(format!("cannot follow the supervisor: {error}")))?;
    // A parent that ended before the line above sends no signal.
    let parent = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get());
    if parent != Some(supervisor) {
        return Err(Failure::new(format!(
            "process {supervisor}, the parent of this process, has exited"
        )));
    }
    Ok(())
}

/// Reports readiness to the supervisor by one JSON line on standard output.
pub(crate) fn report_ready(name: &str, more: &Value) {
    let mut line = json!({ "ready": name });
    if let (Value::Object(line), Value::Object(more)) = (&mut line, more) {
        line.extend(more.clone());
    }
    output::line(&line.to_string());
}

/// SIGTERM or SIGINT.
pub(crate) struct StopSignal {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

impl StopSignal {
    /// Registers both handlers.
    ///
    /// # Errors
    /// The handlers cannot be installed.
    pub(crate) fn install() -> Result<Self, Failure> {
        use tokio::signal::unix::{SignalKind, signal};
        let install = |kind| {
            signal(kind)
                .map_err(|error| Failure::new(format!("cannot listen for signals: {error}")))
        };
        Ok(Self {
            terminate: install(SignalKind::terminate())?,
            interrupt: install(SignalKind::interrupt())?,
        })
    }

    /// Waits for a signal.
    pub(crate) async fn wait(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Failure of a supervisor whose child ended for good; the exit code is the child's.
#[must_use]
pub(crate) fn ended(name: &str, status: ExitStatus) -> Failure {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Failure::new(format!(
        "{name} ended ({status}) and will not be restarted: see its log"
    ))
    .code(code.unwrap_or(GENERAL))
}
