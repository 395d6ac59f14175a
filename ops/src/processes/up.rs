//! `foretell up`: starts a whole exchange.

use std::cell::Cell;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

use foretell_engine::JOURNAL_DIRECTORY;
use foretell_gateway::host_reports::{HostReport as _, WebhooksReport};
use serde_json::{Value, json};
use socket2::Socket;
use tracing::{error, warn};

use super::listen::reserve;
use super::roster::Reports;
use super::sandbox::{self, Announcement, Request, Sandbox};
use super::supervisor::{ProcessSpec, Report, Supervisor};
use super::watchdog::{self, Watchdog};
use super::{cluster_config, drill, process};
use crate::cli::Up;
use crate::config::{ClusterRole, Config};
use crate::data_directory;
use crate::demo;
use crate::doctor;
use crate::failure::Failure;
use crate::fingerprint::fingerprint;
use crate::operator::client;
use crate::output::{self, Output};
use foretell_journal::wall_clock;

/// Starts engine and gateways, with `--demo` also the sample and the bots; ends on Ctrl-C or
/// SIGTERM.
///
/// # Errors
/// The data directory, the ports or the demo's preparation fail. Later failures of a child are
/// logged and the child is restarted.
pub(crate) fn run(
    config: &Config,
    file: Option<&Path>,
    up: &Up,
    mut sandbox: Option<Sandbox>,
    output: Output,
) -> Result<ExitCode, Failure> {
    // Single-threaded on purpose: see `Supervisor::start`.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start the supervisor: {error}")))?;
    runtime.block_on(async {
        let mut exchange = RunningExchange::prepare(config, file, up)?;
        let mut stop = process::StopSignal::install()?;
        loop {
            let (mut supervisor, reports) = Supervisor::new(up.sandbox);
            let reports = Reports::new(reports, &exchange.config.data.directory);
            let outcome = tokio::select! {
                outcome = exchange.open(&mut supervisor, reports, up, output) => outcome,
                () = stop.wait() => Ok(()),
                request = request(sandbox.as_mut()) => match request {
                    Request::End => exchange.ended_early(),
                    Request::Reset(sandbox) => {
                        supervisor.close().await;
                        exchange.reset(sandbox)?;
                        continue;
                    }
                },
            };
            watchdog::stopping();
            match &sandbox {
                Some(sandbox) => supervisor.end(!sandbox.is_disposable()).await,
                None => supervisor.stop().await,
            }
            sandbox.map_or(Ok(()), Sandbox::end)?;
            return outcome.map(|()| ExitCode::SUCCESS);
        }
    })
}

/// Waits for a request on a sandbox's standard input; for that of others for ever.
async fn request(sandbox: Option<&mut Sandbox>) -> Request<'_> {
    match sandbox {
        Some(sandbox) => sandbox.request().await,
        None => std::future::pending().await,
    }
}

/// Makes the files that the processes of an exchange share.
fn prepare_files(config: &Config) -> Result<(), Failure> {
    data_directory::prepare_data_directory(&config.data.directory)?;
    data_directory::prepare_operator_token(&config.operator_token_file())?;
    data_directory::prepare_operator_token(&config.sync_token_file())?;
    // Must exist before its readers start.
    data_directory::prepare_catalog(&config.catalog_file())
}

/// State for the lifetime of the exchange: settings with the actual ports.
struct RunningExchange {
    config: Config,
    file: Option<PathBuf>,
    trading: SocketAddr,
    data: SocketAddr,
    catalog: SocketAddr,
    operator: SocketAddr,
    /// Digest of the secrets that hosts of a cluster share.
    fingerprint: Option<String>,
    /// Whether a sandbox has said that it is ready.
    announced: Cell<bool>,
    /// Bound sockets that reserve the ports; see [`reserve`].
    _reserved: Vec<Socket>,
}

impl RunningExchange {
    fn prepare(config: &Config, file: Option<&Path>, up: &Up) -> Result<Self, Failure> {
        if up.drill {
            drill::prepare(config)?;
        }
        prepare_files(config)?;
        if up.demo && config.gateway.dev_auth_hints {
            tracing::info!("401 responses contain hints: demo mode");
        }
        if up.sandbox && config.cluster.role != ClusterRole::Standalone {
            let what = "a host of a cluster cannot be a sandbox";
            return Err(Failure::new(what).code(foretell_engine::EXIT_REFUSED));
        }
        let journal = config.data.directory.join(JOURNAL_DIRECTORY);
        if up.sandbox && journal.exists() && !doctor::is_sandbox(&journal) {
            let what = format!("{} is not a sandbox", config.data.directory.display());
            return Err(Failure::new(what)
                .hint("start it without --sandbox, or choose another --data")
                .code(foretell_engine::EXIT_REFUSED));
        }
        let fingerprint = match config.cluster.role {
            ClusterRole::Standalone => None,
            _ => {
                cluster_config::keys(config)?;
                Some(fingerprint(config)?)
            }
        };
        let mut reserved = Vec::new();
        let mut keep = |(address, socket)| {
            reserved.push(socket);
            address
        };
        let trading = keep(reserve(config.trading.listen)?);
        let data = keep(reserve(config.gateway.data_listen)?);
        let catalog = keep(reserve(config.catalog.listen)?);
        let operator = keep(reserve(config.operator.listen)?);
        if up.demo && !up.no_bots && config.cluster.role == ClusterRole::Standalone {
            demo::past::write(config, wall_clock::now())?;
        }
        Ok(Self {
            config: config.clone(),
            file: match up.sandbox {
                true => Some(sandbox::write_settings(config)?),
                false => file.map(Path::to_owned),
            },
            trading,
            data,
            catalog,
            operator,
            fingerprint,
            announced: Cell::new(false),
            _reserved: reserved,
        })
    }

    /// Begins again without data: the same addresses, settings and token of the operator.
    fn reset(&mut self, sandbox: &mut Sandbox) -> Result<(), Failure> {
        let token = client::token(&self.config.operator_token_file())?;
        self.config.data.directory = sandbox.renew()?;
        data_directory::create_token(&self.config.operator_token_file(), &token)?;
        prepare_files(&self.config)?;
        self.file = Some(sandbox::write_settings(&self.config)?);
        self.announced.set(false);
        Ok(())
    }

    /// Standard input ended. Before the sandbox was ready nobody can have used it.
    fn ended_early(&self) -> Result<(), Failure> {
        match self.announced.get() {
            true => Ok(()),
            false => Err(
                Failure::new("standard input ended before the sandbox was ready")
                    .hint("keep it open, such as by: sleep infinity | foretell up --sandbox"),
            ),
        }
    }

    /// Starts all processes in the order of the data flow, then handles reports.
    async fn open(
        &self,
        supervisor: &mut Supervisor,
        mut reports: Reports,
        up: &Up,
        output: Output,
    ) -> Result<(), Failure> {
        // A sandbox prints one line.
        let progress = Output {
            json: output.json && !up.sandbox,
        };
        supervisor.start(self.engine(up));
        wait_ready(&mut reports, &["engine".to_owned()], progress).await?;
        if self.config.webhooks.url.is_empty() {
            // The report of a run with webhooks would stay in metrics and status.
            let _ = std::fs::remove_file(self.config.data.directory.join(WebhooksReport::NAME));
        } else {
            // Before the gateways: a first start then misses no command of theirs.
            let webhooks = ProcessSpec {
                name: "webhooks".to_owned(),
                arguments: self.common(&["webhooks"]),
            };
            supervisor.start(webhooks);
            wait_ready(&mut reports, &["webhooks".to_owned()], progress).await?;
        }
        let gateways: Vec<ProcessSpec> = (1..=self.config.gateway.processes)
            .map(|number| self.gateway(number, up))
            .collect();
        let names: Vec<String> = gateways.iter().map(|spec| spec.name.clone()).collect();
        for spec in gateways {
            supervisor.start(spec);
        }
        wait_ready(&mut reports, &names, progress).await?;
        let page = self
            .config
            .site
            .page
            .then(|| format!("http://{}/ui/", self.trading));
        let ready = json!({
            "ready": "exchange",
            "trading": format!("http://{}", self.trading),
            "data": format!("http://{}", self.data),
            "catalog": format!("http://{}", self.catalog),
            "operator": format!("http://{}", self.operator),
            "page": page,
            "admin": format!("http://{}/admin/", self.operator),
        });
        let client = client::connect_to(self.operator, &self.config)?;
        // A host that does not lead accepts no writes, and may be far behind the log.
        let purpose = match self.fingerprint {
            Some(_) => "/livez",
            None => "/readyz",
        };
        client::wait_ready(&client, purpose).await?;
        if client.is_outward_closed().await.unwrap_or(false) {
            warn!(
                "restored from a copy: no withdrawal, webhook, sync or oracle until an admin opens withdrawals"
            );
        }
        if up.sandbox {
            let surfaces = [self.trading, self.data, self.catalog, self.operator];
            let announced =
                Announcement::prepare(&self.config, &client, surfaces, up.wallets).await?;
            supervisor.start(self.catalog_sync());
            output.answer(announced.json(), Announcement::text);
            self.announced.set(true);
        } else if up.demo {
            let site = demo::SurfaceAddresses {
                trading: self.trading,
                data: self.data,
                catalog: self.catalog,
                operator: self.operator,
            };
            let banner = demo::prepare(&self.config, &site, &client, self.command()).await?;
            supervisor.start(self.catalog_sync());
            if !up.no_bots {
                supervisor.start(self.bots());
            }
            output.answer(&merge(ready, banner.json()), |_| {
                let page = page.map(|page| format!("\n\nOpen in a browser: {page}"));
                banner.text() + &page.unwrap_or_default()
            });
        } else {
            // It sends commands and asks an upstream: a drill does neither, also once it is opened.
            if !up.drill {
                supervisor.start(self.catalog_sync());
            }
            output.answer(&ready, |ready| {
                let field = |name| output::field(ready, name);
                let page = page.map(|page| format!("page      {page}\n"));
                let drill = up.drill.then(|| format!("status    {} status\n", self.command()));
                format!(
                    "trading   {}\ndata      {}\ncatalog   {}\noperator  {}\n{}{}Ctrl-C stops everything.",
                    field("trading"),
                    field("data"),
                    field("catalog"),
                    field("operator"),
                    page.unwrap_or_default(),
                    drill.unwrap_or_default()
                )
            });
        }
        watchdog::ready();
        listen(
            &mut reports,
            Watchdog::new(client, self.fingerprint.is_some()),
            progress,
        )
        .await;
        Ok(())
    }

    /// Command line for a person to start this program against this exchange from the same
    /// directory.
    fn command(&self) -> String {
        let standard = Config::default();
        let mut words = vec![std::env::args().next().unwrap_or("foretell".to_owned())];
        if self.config.data.directory != standard.data.directory {
            words.push(format!("--data {}", self.config.data.directory.display()));
        }
        words.join(" ")
    }

    fn engine(&self, up: &Up) -> ProcessSpec {
        let mut arguments = self.common(&["engine"]);
        if let Some(fingerprint) = &self.fingerprint {
            arguments.extend(["--cluster-fingerprint".to_owned(), fingerprint.clone()]);
        }
        if up.engine.after_io_error {
            arguments.push("--after-io-error".to_owned());
        }
        if let Some(sequence) = up.engine.accept_divergence {
            arguments.extend(["--accept-divergence".to_owned(), sequence.to_string()]);
        }
        if up.engine.accept_clock_jump {
            arguments.push("--accept-clock-jump".to_owned());
        }
        if up.engine.full_replay {
            arguments.push("--full-replay".to_owned());
        }
        if up.drill {
            arguments.push("--drill".to_owned());
        }
        let is_standalone = self.fingerprint.is_none();
        if up.sandbox || (up.demo && is_standalone) {
            arguments.push("--sandbox".to_owned());
        }
        if up.sandbox {
            arguments.push("--pays-on-redeem".to_owned());
        }
        ProcessSpec {
            name: "engine".to_owned(),
            arguments,
        }
    }

    fn gateway(&self, number: u32, up: &Up) -> ProcessSpec {
        let mut arguments = self.common(&["gateway"]);
        // One gateway serves the operator: operator commands are few.
        let surfaces = if number == 1 {
            match self.config.cluster.health_listen.is_empty() {
                true => "trading,data,catalog,operator",
                false => "trading,data,catalog,operator,health",
            }
        } else {
            "trading,data,catalog"
        };
        arguments.extend(["--surfaces", surfaces].map(str::to_owned));
        for (flag, address) in [
            ("--trading-listen", self.trading),
            ("--data-listen", self.data),
            ("--catalog-listen", self.catalog),
            ("--operator-listen", self.operator),
        ] {
            arguments.extend([flag.to_owned(), address.to_string()]);
        }
        let gateways = self.config.gateway.processes;
        arguments.extend(["--one-of".to_owned(), gateways.to_string()]);
        arguments.extend(["--number".to_owned(), number.to_string()]);
        if self.config.compatibility.is_family() {
            arguments.push("--polymarket".to_owned());
        }
        if up.drill {
            arguments.push("--drill".to_owned());
        }
        if up.demo {
            arguments.extend(["--dev-auth-hints", "--development-wallets"].map(str::to_owned));
        }
        ProcessSpec {
            name: format!("gateway-{number}"),
            arguments,
        }
    }

    fn bots(&self) -> ProcessSpec {
        let mut arguments = self.common(&["demo-bots"]);
        arguments.extend(["--trading".to_owned(), format!("http://{}", self.trading)]);
        arguments.extend(["--operator-listen".to_owned(), self.operator.to_string()]);
        ProcessSpec {
            name: "demo-bots".to_owned(),
            arguments,
        }
    }

    /// Always started: without an upstream it reconciles the exchange with files imported while the
    /// exchange was down.
    fn catalog_sync(&self) -> ProcessSpec {
        let mut arguments = self.common(&["catalog", "sync"]);
        arguments.extend(["--operator-listen".to_owned(), self.operator.to_string()]);
        if !self.config.catalog.upstream.is_empty() {
            arguments.push(self.config.catalog.upstream.clone());
        }
        ProcessSpec {
            name: "catalog-sync".to_owned(),
            arguments,
        }
    }

    fn common(&self, command: &[&str]) -> Vec<String> {
        let mut arguments: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        arguments.extend(["--supervised".to_owned(), std::process::id().to_string()]);
        arguments.extend([
            "--data".to_owned(),
            self.config.data.directory.to_string_lossy().into_owned(),
        ]);
        if let Some(file) = &self.file {
            arguments.extend(["--config".to_owned(), file.to_string_lossy().into_owned()]);
        }
        arguments
    }
}

/// Waits until each of `names` is ready.
async fn wait_ready(
    reports: &mut Reports,
    names: &[String],
    output: Output,
) -> Result<(), Failure> {
    let mut missing: Vec<&str> = names.iter().map(String::as_str).collect();
    while !missing.is_empty() {
        match reports.recv().await {
            Some(Report::Ready { name, pid, line }) => {
                announce(&name, pid, line, output);
                missing.retain(|waiting| *waiting != name);
            }
            Some(Report::Restarting { .. }) => {}
            Some(Report::Ended { name, status }) => return Err(process::ended(&name, status)),
            None => return Err(Failure::new("the supervisor lost its child processes")),
        }
    }
    Ok(())
}

/// Handles reports until `up` is stopped.
async fn listen(reports: &mut Reports, mut watchdog: Watchdog, output: Output) {
    loop {
        let report = tokio::select! {
            report = reports.recv() => report,
            () = watchdog.due() => {
                watchdog.sign().await;
                continue;
            }
        };
        match report {
            Some(Report::Ready { name, pid, line }) => {
                watchdog.begins(&name);
                announce(&name, pid, line, output);
            }
            Some(Report::Restarting { name, .. }) => watchdog.ends(&name),
            Some(Report::Ended { name, status }) => {
                watchdog.ends(&name);
                error!("{}", process::ended(&name, status));
                announce_end(&name, status, output);
            }
            None => std::future::pending().await,
        }
    }
}

/// With `--json`: prints one line per child that became ready, with its process id.
fn announce(name: &str, pid: u32, line: Value, output: Output) {
    if output.json {
        output::line(&merge(json!({"process": name, "pid": pid}), line).to_string());
    }
}

/// With `--json`: prints one line per child that ended for good, with its exit code.
fn announce_end(name: &str, status: ExitStatus, output: Output) {
    if output.json {
        output::line(&json!({"process": name, "exit_code": status.code()}).to_string());
    }
}

fn merge(mut first: Value, second: Value) -> Value {
    if let (Value::Object(into), Value::Object(from)) = (&mut first, second) {
        into.extend(from);
    }
    first
}
