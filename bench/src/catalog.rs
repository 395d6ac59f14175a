//! What the catalog costs at the size it is meant for: the import of a file by a process of its
//! own, and how long clients of a gateway, which is one too, wait for pages, records and searches,
//! while nobody writes and while a sync does.

mod figures;
mod made;
mod questions;
mod records;

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use foretell_catalog::record::{Kind as RecordKind, read};
use foretell_catalog::{CatalogError, Writer};
use foretell_engine::EngineConfig;
use foretell_model::Sequence;

use self::made::Made;
use self::questions::{Kind, Question};
use crate::error::MeasureError;
use crate::gateway_process::GatewayProcess;
use crate::http::Connection;
use crate::latency::{Quantiles, Stopwatch};
use crate::report::Report;
use crate::running_engine::RunningEngine;

/// Events of a page that a sync writes, all changed.
const PAGE: u64 = 100;
/// Between two pages of the sync: an upstream that answers at once.
const BETWEEN_PAGES: Duration = Duration::from_millis(100);
/// Questions that are asked before any is measured: pages come into memory.
const WARM: u32 = 3;
const NANOS_PER_MS: f64 = 1e6;

/// How much is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scope {
    /// Events of the catalog, each with four markets; at least 1.
    pub events: u32,
    /// Times every question is asked, quiet and while a sync writes; at least 1.
    pub rounds: u32,
}

/// Makes a catalog under `directory`, or takes the one that an earlier measurement left there, and
/// asks a gateway about it. `import` is the command line that puts a file into the catalog of a data
/// directory, `gateway` that of a gateway on one, which serves the catalog surface on a free port and
/// tells it.
///
/// # Errors
/// The import, the engine, the gateway or an answer fails.
pub fn measure(
    directory: &Path,
    scope: &Scope,
    import: &dyn Fn(&Path, &Path) -> Command,
    gateway: &dyn Fn(&Path) -> Command,
) -> Result<Report, MeasureError> {
    let (events, rounds) = (u64::from(scope.events.max(1)), scope.rounds.max(1));
    // A commit of the catalog may be lost in a power cut, never torn: an import is repeated.
    let mut report = Report::begin("catalog", "process");
    let made = Made::of(directory, events, import)?;
    figures::add_imports(&mut report, &made.imports);
    if made.was_kept {
        let note = "the catalog was kept, and the import's figures with it";
        report.notes.push(note.to_owned());
    }
    let mut config = EngineConfig::new(made.data.clone());
    config.accept_clock_jump = true;
    let engine = RunningEngine::start(config)?;
    // It answers 503 until it has read what lists are made with.
    let gateway = GatewayProcess::start(gateway(&made.data), "/markets?limit=1", Sequence(0))?;
    let questions = questions::all();
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

/// A question and what its answers took, in milliseconds.
struct Asked {
    kind: Kind,
    path: String,
    times: Quantiles,
}

/// Asks every question once in each round, one after the other.
fn ask(
    address: SocketAddr,
    questions: &[Question],
    events: u64,
    rounds: u32,
) -> Result<Vec<Asked>, MeasureError> {
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
        .map(|(question, watch)| Asked {
            kind: question.kind,
            path: question.path.clone(),
            times: watch.quantiles(NANOS_PER_MS),
        });
    Ok(asked.collect())
}

/// Runs `measure` while pages of changed events are written; how many were.
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

/// Writes pages until it is told to stop: in each, a hundred events that were changed just now, from
/// all over the catalog.
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
