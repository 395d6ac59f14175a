//! Commands that change the catalog and reconcile the exchange with it.

use std::fs::File;
use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use foretell_catalog::{Report, SyncStatus};
use foretell_catalog_sync::clock::SystemClock;
use foretell_catalog_sync::difference::FindingKind;
use foretell_catalog_sync::exchange::Exchange;
use foretell_catalog_sync::reconcile::{ReconcileError, ReconcileReport};
use foretell_catalog_sync::upstream::{Backoff, Bounds};
use foretell_catalog_sync::{Importer, Progress, RoundReport, Service, Settings};
use serde_json::json;

use super::arguments::Sync;
use crate::config::Config;
use crate::data_directory;
use crate::exit_codes::{REFUSED, UNREACHABLE};
use crate::failure::Failure;
use crate::logging;
use crate::operator::client;
use crate::output::Output;
use crate::processes::process;
use crate::runtime;

/// Interactive commands report an unreachable exchange soon.
const INTERACTIVE_BACKOFF: Backoff = Backoff {
    first: Duration::from_millis(100),
    longest: Duration::from_secs(1),
    attempts: 4,
};

/// Message when no exchange was contacted.
const NOT_CHANGED: &str = "the exchange was not changed";
/// Message when no exchange has run yet.
const NO_EXCHANGE_YET: &str = "no exchange has run on this data directory yet: `foretell up` starts one, \
                      with these markets";

/// `foretell catalog sync`: one round, or rounds until SIGTERM.
pub(super) fn sync(config: &Config, sync: &Sync, output: Output) -> Result<ExitCode, Failure> {
    process::stop_with_parent(sync.supervised)?;
    let follow = sync.follow || sync.supervised.is_some();
    if follow {
        logging::install(&config.log, "catalog-sync")?;
    }
    let upstream = sync.upstream.as_ref().unwrap_or(&config.catalog.upstream);
    if upstream.is_empty() && sync.catalog_only {
        return Err(Failure::new("there is no upstream to read")
            .hint("give its URL, or set catalog.upstream"));
    }
    let backoff = if follow {
        Backoff::default()
    } else {
        INTERACTIVE_BACKOFF
    };
    let exchange = match sync.catalog_only {
        true => None,
        false => Some(exchange(config, sync.operator_listen, backoff)?),
    };
    let progress = progress(follow || output.json);
    let settings = Settings {
        upstream: Some(upstream.clone()).filter(|upstream| !upstream.is_empty()),
        exchange,
        ..settings(config, &progress)?
    };
    runtime::small()?.block_on(async {
        let mut stop = process::StopSignal::install()?;
        let mut service = service(settings)?;
        if follow {
            if sync.supervised.is_some() {
                process::report_ready("catalog-sync", &json!({}));
            }
            tokio::select! {
                () = service.run_forever() => {}
                () = stop.wait() => {}
            }
            return Ok(ExitCode::SUCCESS);
        }
        tokio::select! {
            round = service.round() => finished(&round, None, NOT_CHANGED, output),
            () = stop.wait() => Err(Failure::new("interrupted; the next sync continues from here")),
        }
    })
}

/// `foretell catalog import`
pub(super) fn import(
    config: &Config,
    files: &[PathBuf],
    catalog_only: bool,
    output: Output,
) -> Result<ExitCode, Failure> {
    data_directory::prepare_data_directory(&config.data.directory)?;
    let progress = progress(output.json);
    let mut report = Report::default();
    for file in files {
        let text =
            |error: &dyn std::fmt::Display| Failure::new(format!("{}: {error}", file.display()));
        let read: Box<dyn Read> = if file == Path::new("-") {
            Box::new(std::io::stdin())
        } else {
            Box::new(File::open(file).map_err(|error| text(&error))?)
        };
        let name = file.to_string_lossy();
        let imported = put(config, &name, read, &progress);
        report.merge(imported.map_err(|error| text(&error))?);
    }
    if report.is_empty() {
        let why = "the files have no record, allowed: JSON records, plain, gzip or zstd";
        return Err(Failure::new(why));
    }
    if catalog_only {
        return finished(&RoundReport::default(), Some(&report), NOT_CHANGED, output);
    }
    let exchange = exchange(config, None, INTERACTIVE_BACKOFF).ok();
    let left = if exchange.is_some() {
        NOT_CHANGED
    } else {
        NO_EXCHANGE_YET
    };
    let settings = Settings {
        exchange,
        ..settings(config, &progress)?
    };
    let round =
        runtime::small()?.block_on(async { Ok::<_, Failure>(service(settings)?.round().await) })?;
    finished(&round, Some(&report), left, output)
}

/// Imports records from memory and reconciles the exchange at `operator` with them. The demo loads
/// its sample this way.
///
/// # Errors
/// The catalog cannot be written, or the exchange cannot be reached.
pub(crate) async fn import_records(
    config: &Config,
    operator: SocketAddr,
    name: &str,
    records: &[u8],
) -> Result<(), Failure> {
    let progress = Progress::hidden();
    put(config, name, records, &progress).map_err(|error| Failure::new(error.to_string()))?;
    let settings = Settings {
        exchange: Some(exchange(config, Some(operator), Backoff::default())?),
        ..settings(config, &progress)?
    };
    let round = service(settings)?.round().await;
    match round.exchange {
        Some(Ok(reconciled)) => {
            // The operator's later changes to these markets stay.
            for note in &reconciled.notes {
                tracing::warn!(slug = note.slug, "{}", note.finding);
            }
            Ok(())
        }
        // The copy has the markets that the original had.
        Some(Err(closed @ ReconcileError::OutwardClosed)) => {
            tracing::warn!("{closed}");
            Ok(())
        }
        Some(Err(failure)) => Err(Failure::new(failure.to_string())),
        None => Ok(()),
    }
}

/// Puts records from memory into the catalog without contacting the exchange.
///
/// # Errors
/// The catalog cannot be written.
pub(crate) fn put_records(config: &Config, name: &str, records: &[u8]) -> Result<(), Failure> {
    let imported = put(config, name, records, &Progress::hidden());
    imported
        .map(|_| ())
        .map_err(|error| Failure::new(error.to_string()))
}

fn put(
    config: &Config,
    name: &str,
    records: impl Read,
    progress: &Progress,
) -> Result<Report, foretell_catalog::CatalogError> {
    Importer::open(&config.catalog_file(), &SystemClock, progress)?.import(name, records)
}

/// `foretell catalog check`: compares catalog and exchange.
pub(super) fn check(config: &Config, output: Output) -> Result<ExitCode, Failure> {
    let progress = progress(output.json);
    let settings = Settings {
        exchange: Some(exchange(config, None, INTERACTIVE_BACKOFF)?),
        ..settings(config, &progress)?
    };
    let (found, status) = runtime::small()?.block_on(async {
        let service = service(settings)?;
        let found = service.dry_run().await;
        let found = found.ok_or_else(|| Failure::new("there is no exchange to compare with"))?;
        Ok::<_, Failure>((found, service.status()))
    })?;
    let found = found.map_err(|failure| not_reconciled(&failure))?;
    let agrees =
        found.done() == 0 && found.count_of(FindingKind::Error) == 0 && status.vanished.is_empty();
    let mut answer = found.json();
    answer["agrees"] = agrees.into();
    answer["upstream"] = json!(status);
    let of_upstream = upstream_text(&status);
    output.answer(&answer, |_| match agrees {
        true => format!("catalog and exchange agree\n{found}{of_upstream}"),
        false => {
            format!("catalog and exchange differ; commands to run and notes:\n{found}{of_upstream}")
        }
    });
    Ok(if agrees {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// What the catalog lacks of its upstream, and what the upstream lacks, one a line.
fn upstream_text(status: &SyncStatus) -> String {
    let vanished = status.vanished.iter().map(|it| format!("vanished: {it}\n"));
    let findings = status.findings.iter().map(|it| format!("upstream: {it}\n"));
    vanished.chain(findings).collect()
}

fn progress(hidden: bool) -> Progress {
    if hidden {
        Progress::hidden()
    } else {
        Progress::on_terminal()
    }
}

fn settings(config: &Config, progress: &Progress) -> Result<Settings, Failure> {
    let catalog = &config.catalog;
    Ok(Settings {
        catalog: config.catalog_file(),
        upstream: None,
        bounds: Bounds::default(),
        exchange: None,
        limits: catalog.limits(),
        policy: catalog.policy()?,
        every: Duration::from_secs(u64::from(catalog.every_seconds)),
        full_every: Duration::from_secs(u64::from(catalog.full_every_hours) * 3_600),
        clock: Arc::new(SystemClock),
        progress: progress.clone(),
    })
}

fn service(settings: Settings) -> Result<Service, Failure> {
    Service::new(settings).map_err(|failure| Failure::new(failure.to_string()))
}

fn exchange(
    config: &Config,
    listen: Option<SocketAddr>,
    backoff: Backoff,
) -> Result<Arc<Exchange>, Failure> {
    let client = client::connect_sync(
        listen.unwrap_or_else(|| client::operator_address(config)),
        config,
    )?;
    Ok(Arc::new(Exchange::new(
        client,
        backoff,
        Arc::new(SystemClock),
    )))
}

/// Prints the result; an incomplete run is a failure that names the next step.
fn finished(
    round: &RoundReport,
    imported: Option<&Report>,
    left: &str,
    output: Output,
) -> Result<ExitCode, Failure> {
    let mut answer = round.json();
    if let Some(report) = imported {
        answer["catalog"] = json!({ "records": report });
    }
    output.answer(&answer, |_| text(round, imported, left));
    if let Some(Err(failure)) = &round.pulled {
        return Err(Failure::new(failure.to_string())
            .hint("run it again: it continues where it stopped")
            .code(UNREACHABLE));
    }
    match &round.exchange {
        Some(Err(failure)) => Err(not_reconciled(failure)),
        Some(Ok(reconciled)) if reconciled.count_of(FindingKind::Error) > 0 => {
            Err(Failure::new("catalog and exchange differ: see above").code(REFUSED))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

fn text(round: &RoundReport, imported: Option<&Report>, left: &str) -> String {
    let mut parts = Vec::new();
    if let Some(report) = imported {
        parts.push(report.to_string());
    }
    if let Some(Ok(pulled)) = &round.pulled {
        let what = match (pulled.ended, pulled.limits.is_empty()) {
            (true, _) => "all lists",
            (false, true) => "what changed",
            (false, false) => "a part of the lists",
        };
        let (pages, retries) = (pulled.pages, pulled.retries);
        parts.push(format!(
            "read {what}: {pages} pages, {retries} retried\n{}",
            pulled.records
        ));
        parts.extend(pulled.limits.iter().map(|limit| format!("limit: {limit}")));
        parts.extend(
            round
                .findings()
                .map(|finding| format!("finding: {finding}")),
        );
    }
    match &round.exchange {
        Some(Ok(reconciled)) => parts.push(reconciled_text(reconciled)),
        None => parts.push(left.to_owned()),
        Some(Err(_)) => {}
    }
    parts.join("\n")
}

fn reconciled_text(reconciled: &ReconcileReport) -> String {
    match reconciled.done() {
        0 => format!("the exchange was up to date\n{reconciled}"),
        done => format!("the exchange is up to date after {done} commands\n{reconciled}"),
    }
}

fn not_reconciled(failure: &ReconcileError) -> Failure {
    let told = Failure::new(failure.to_string());
    if matches!(failure, ReconcileError::OutwardClosed) {
        return told.hint(client::OPEN_HINT).code(REFUSED);
    }
    told.hint("run `foretell up`, then `foretell catalog sync`")
        .code(UNREACHABLE)
}
