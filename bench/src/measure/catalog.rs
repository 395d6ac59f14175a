//! Costs of a full-size catalog: the import of a file by a child process, and the response times of
//! a gateway process for pages, records and searches, both idle and during a sync.

mod cached_catalog;
mod figures;
mod queries;
mod records;

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use foretell_catalog::record::{RecordKind, read};
use foretell_catalog::{CatalogError, Writer};
use foretell_engine::EngineConfig;
use foretell_model::Sequence;

use self::cached_catalog::CachedCatalog;
use self::queries::{AnswerKind, CatalogQuery};
use crate::error::MeasureError;
use crate::harness::gateway_process::GatewayProcess;
use crate::harness::http::Connection;
use crate::harness::latency::{Quantiles, Stopwatch};
use crate::harness::running_engine::RunningEngine;
use crate::report::Report;

/// Events per page written by the sync, all changed.
const PAGE: u64 = 100;
/// Interval between pages of the sync, as from a fast upstream.
const BETWEEN_PAGES: Duration = Duration::from_millis(100);
/// Requests per query before the measurement, to fill the page cache.
const WARM: u32 = 3;
const NANOS_PER_MS: f64 = 1e6;

/// Size of the measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CatalogScope {
    /// Events of the catalog, each with four markets; at least 1.
    pub events: u32,
    /// Requests per query, idle and during a sync; at least 1.
    pub rounds: u32,
}

/// Makes a catalog under `directory`, or reuses the one of an earlier measurement, and queries it
/// through a gateway. `import` is the command line that imports a file into the catalog of a data
/// directory. `gateway` is the command line of a gateway that serves the catalog surface on a free
/// port and reports it.
///
/// # Errors
/// The import, the engine, the gateway or an answer fails.
pub fn measure(
    directory: &Path,
    scope: &CatalogScope,
    import: &dyn Fn(&Path, &Path) -> Command,
    gateway: &dyn Fn(&Path) -> Command,
) -> Result<Report, MeasureError> {
    let (events, rounds) = (u64::from(scope.events.max(1)), scope.rounds.max(1));
    // A power cut may lose a commit of the catalog but never tears it: an import can be repeated.
    let mut report = Report::begin("catalog", "process");
    let made = CachedCatalog::of(directory, events, import)?;
    figures::add_imports(&mut report, &made.imports);
    if made.was_kept {
        let note = "catalog and import figures are from the cache";
        report.notes.push(note.to_owned());
    }
    let mut config = EngineConfig::new(made.data.clone());
    config.accept_clock_jump = true;
    let engine = RunningEngine::start(config)?;
    // The gateway answers 503 until it has loaded its list tables.
    let gateway = GatewayProcess::start(gateway(&made.data), "/markets?limit=1", Sequence(0))?;
    let questions = queries::all();
    let ask = |rounds| ask(gateway.address, &questions, events, rounds);
    ask(WARM)?;
    let quiet = ask(rounds)?;
    let (syncing, pages) = while_syncing(&made.file(), events, || ask(rounds))?;
    drop(gateway);
    engine.stop()?;
    figures::add_answers(&mut report, &[quiet, syncing], events);
    report.rounds = 1;
    report.scope = format!(
        "{events} events with {} markets; {} questions, each asked {rounds} times over HTTP, and \
         again while {pages} pages of {PAGE} changed events were written",
        events * records::MARKETS,
        questions.len(),
    );
    Ok(report.end())
}

/// A query and its response times in milliseconds.
struct QueryTimes {
    kind: AnswerKind,
    path: String,
    times: Quantiles,
}

/// Sends every query once per round, one at a time.
fn ask(
    address: SocketAddr,
    questions: &[CatalogQuery],
    events: u64,
    rounds: u32,
) -> Result<Vec<QueryTimes>, MeasureError> {
    let connection = Connection::open(address);
    let mut connection = connection.map_err(MeasureError::io("connecting to the gateway"))?;
    let mut watches: Vec<_> = questions.iter().map(|_| Stopwatch::new()).collect();
    for round in 0..u64::from(rounds) {
        for (question, watch) in questions.iter().zip(&mut watches) {
            let request = question.request(events, round);
            let answer = watch.time(|| connection.ask(&request));
            let answer = answer.map_err(MeasureError::io("asking the gateway"))?;
            if answer.status != question.kind.status() {
                let (path, status) = (&question.path, answer.status);
                return Err(MeasureError::Wrong(format!("{path}: status {status}")));
            }
        }
    }
    let asked = questions
        .iter()
        .zip(watches)
        .map(|(question, watch)| QueryTimes {
            kind: question.kind,
            path: question.path.clone(),
            times: watch.quantiles(NANOS_PER_MS),
        });
    Ok(asked.collect())
}

/// Runs `measure` while pages of changed events are written; returns their number.
fn while_syncing<T: Send>(
    catalog: &Path,
    events: u64,
    measure: impl FnOnce() -> Result<T, MeasureError>,
) -> Result<(T, u64), MeasureError> {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let sync = scope.spawn(|| write_pages(catalog, events, &stop));
        let measured = measure();
        stop.store(true, Ordering::Relaxed);
        let pages = sync.join().expect("the sync does not panic")?;
        Ok((measured?, pages))
    })
}

/// Writes pages until `stop` is set; each has a hundred just-changed events from all over the
/// catalog.
fn write_pages(catalog: &Path, events: u64, stop: &AtomicBool) -> Result<u64, CatalogError> {
    let mut writer = Writer::open(catalog)?;
    let mut pages = 0;
    while !stop.load(Ordering::Relaxed) {
        let now = jiff::Timestamp::now().to_string();
        let mut batch = writer.begin()?;
        for place in 0..PAGE {
            let event = records::mixed(pages * PAGE + place) % events + 1;
            let record = records::event(event, &now).to_string();
            if let Ok(read) = read(Some(RecordKind::Event), record.as_bytes()) {
                batch.put(&read)?;
            }
        }
        batch.commit()?;
        pages += 1;
        std::thread::park_timeout(BETWEEN_PAGES);
    }
    Ok(pages)
}
