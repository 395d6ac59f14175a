//! A large catalog: the import of a file by a process of its own, and the response times of a
//! gateway process for pages, records and searches.

use std::fs;
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use foretell_engine::EngineConfig;
use foretell_model::Sequence;
use serde::{Deserialize, Serialize};

use crate::error::MeasureError;
use crate::harness::cached;
use crate::harness::gateway_process::{GatewayProcess, foretell};
use crate::harness::http::{self, Connection};
use crate::harness::latency::{NANOS_PER_MS, Quantiles, Stopwatch, ratio};
use crate::harness::running_engine::RunningEngine;
use crate::report::{Goal, Measure, Report};
use crate::workloads::catalog_records::{self as records, MARKETS, condition, mixed};

/// Events (four markets each) for which the goals are stated.
const GOAL_EVENTS: u64 = 50_000;
/// Maximum seconds of an import.
const IMPORT_GOAL: f64 = 60.0;
/// Maximum ratio of an import's memory to that of an import of a fifth of the events.
const MEMORY_GOAL: f64 = 1.25;
/// Requests per query before the measurement, to fill the page cache.
const WARM_UP: u64 = 3;
/// Poll interval for the importing process.
const PAUSE: Duration = Duration::from_millis(10);
const MEGABYTE: f64 = 1e6;
/// File name of a catalog in its data directory.
const CATALOG: &str = "catalog.db";
const RECORDS_UPDATED: &str = "2026-01-01T00:00:00Z";
/// Markets named in one list query: about as many as fit into a request target.
const NAMED: u64 = 100;

/// Queries of one kind, with their goal: maximum p99 in milliseconds. `#` stands for ids that change
/// with every request.
const QUERIES: [(&str, f64, &[&str]); 3] = [
    (
        "list page",
        20.0,
        &[
            "/markets?limit=500",
            "/markets?limit=500&closed=false&order=volume",
            "/markets?archived=true&order=endDate",
            "/markets?offset=190000&order=volume",
            "/markets?tag=tag-11&order=volume&closed=true",
            "/markets?tag_id=11&closed=true&order=slug&offset=13000",
            "/markets?order=liquidity,volume&offset=100000&limit=500",
            "/markets?creator=0x0000000000000000000000000000000000000007&order=volume",
            "/markets?id=#ids",
            "/markets?condition_ids=#conditions",
            "/markets?clob_token_ids=#tokens",
            "/events?limit=500&closed=false&order=volume",
            "/events?order=endDate,volume&offset=20000&limit=500",
            "/events?tag=tag-1&limit=500",
            "/events?series_slug=series-5",
            "/markets?volume_num_min=1000&end_date_min=2026-01-01&order=volume24hr",
            "/markets?sports_market_types=moneyline&uma_resolution_status=resolved",
            "/markets?tag_id=11&related_tags=true&exclude_tag_id=1&include_tag=true",
            "/markets/keyset?closed=false&order=volumeNum&limit=500",
            "/events?id=#ids",
            "/events?featured=false&liquidity_min=10&start_date_max=2030-01-01",
            "/series?closed=false&order=title&limit=500",
            "/tags/11/related-tags",
            "/sports/market-types",
            "/series?limit=500",
            "/tags?limit=500",
            "/tags?creator=0xffffffffffffffffffffffffffffffffffffffff",
        ],
    ),
    (
        "record",
        2.0,
        &[
            "/markets/#market",
            "/markets/#condition",
            "/markets/slug/will-#market-happen",
            "/events/#event",
            "/events/slug/event-#event",
            "/tags/1",
            "/tags/slug/tag-1",
            "/events/#event/tags",
            "/markets/#market/tags",
            "/series/5",
        ],
    ),
    (
        "search",
        30.0,
        &[
            "/public-search?q=will",
            "/public-search?q=bitcoin",
            "/public-search?q=election%20president",
            "/public-search?q=will%20the%20election%20president%20the%20bitcoin",
            "/public-search?q=in%201234",
            "/public-search?q=zzz",
            "/public-search?q=a",
            "/public-search?q=bitcoin&page=40",
            "/public-search?q=bitcoin&limit_per_type=500",
            "/public-search?q=will&events_status=active&sort=volume&exclude_tag_id=1",
        ],
    ),
];
/// Baseline: machine and HTTP without the catalog.
const NOWHERE: &str = "/nowhere";

/// Makes the catalog under `cache`, or reuses the one of an earlier measurement, and queries it through
/// a gateway: each query `times` times.
pub(super) fn measure(
    report: &mut Report,
    cache: &Path,
    events: u64,
    times: u64,
) -> Result<(), MeasureError> {
    let home = cache.join(format!("foretell-bench-catalog-{events}"));
    // A power cut may lose a commit of the catalog but never tears it: an import can be repeated.
    let (imports, was_cached) = find_or_import(&home, events)?;
    add_imports(report, &imports);
    if was_cached {
        let note = "catalog and import figures are from the cache";
        report.notes.push(note.to_owned());
    }
    let data = home.join("data");
    let mut config = EngineConfig::new(data.clone());
    config.accept_clock_jump = true;
    let engine = RunningEngine::start(config)?;
    // The gateway answers 503 until it has loaded its list tables.
    let gateway = GatewayProcess::start("catalog", &data, "/markets?limit=1", Sequence(0))?;
    let connection = Connection::open(gateway.address);
    let mut connection = connection.map_err(MeasureError::io("connecting to the gateway"))?;
    ask(&mut connection, events, WARM_UP)?;
    let times = ask(&mut connection, events, times)?;
    drop(gateway);
    engine.stop()?;
    add_answers(report, times, events);
    Ok(())
}

/// An import of a file into an empty catalog.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
struct Import {
    /// Events, four markets each.
    events: u64,
    /// Wall time of the process.
    seconds: f64,
    /// Peak memory of the process in bytes.
    peak_bytes: u64,
    catalog_bytes: u64,
}

/// The imports of the catalog under `home`, the small one first, to check memory growth, then the one
/// that is queried; and whether they are from the cache.
fn find_or_import(home: &Path, events: u64) -> Result<([Import; 2], bool), MeasureError> {
    let schema = foretell_catalog::SCHEMA_VERSION;
    let maker = format!("generation {}, schema {schema}", records::GENERATION);
    cached::find_or_make(home, &maker, || {
        let (small, whole) = (home.join("small"), home.join("data"));
        let imports = [
            import(&small, (events / 5).max(1))?,
            import(&whole, events)?,
        ];
        fs::remove_dir_all(&small).map_err(MeasureError::io("removing the smaller catalog"))?;
        Ok(imports)
    })
}

/// Writes a file of records and imports it by a process.
fn import(data: &Path, events: u64) -> Result<Import, MeasureError> {
    // A data directory must not be accessible to others.
    let mut made = fs::DirBuilder::new();
    made.recursive(true).mode(0o700);
    made.create(data)
        .map_err(MeasureError::io("making a directory"))?;
    let file = data.join("records.jsonl");
    write_records(&file, events).map_err(MeasureError::io("writing records"))?;
    let mut command = foretell(data)?;
    command.args(["catalog", "import", "--catalog-only", "--json", "--data"]);
    let (seconds, peak_bytes) = watched(command.arg(data).arg(&file))?;
    fs::remove_file(&file).map_err(MeasureError::io("removing the records"))?;
    let catalog = fs::metadata(data.join(CATALOG));
    let catalog = catalog.map_err(MeasureError::io("looking at the catalog"))?;
    Ok(Import {
        events,
        seconds,
        peak_bytes,
        catalog_bytes: catalog.len(),
    })
}

fn write_records(path: &Path, events: u64) -> std::io::Result<()> {
    let mut file = BufWriter::new(fs::File::create(path)?);
    for id in 1..=events {
        writeln!(file, "{}", records::event(id, RECORDS_UPDATED))?;
    }
    file.flush()
}

/// Runs a process to its end and polls it: seconds, and its peak memory at the last poll, at most 10
/// ms before its end.
fn watched(command: &mut Command) -> Result<(f64, u64), MeasureError> {
    let began = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()
        .map_err(MeasureError::io("starting an import"))?;
    let mut peak = 0;
    let status = loop {
        let ended = child.try_wait();
        if let Some(status) = ended.map_err(MeasureError::io("waiting for an import"))? {
            break status;
        }
        peak = peak_bytes(child.id()).unwrap_or(peak);
        std::thread::park_timeout(PAUSE);
    };
    match status.success() {
        true => Ok((began.elapsed().as_secs_f64(), peak)),
        false => Err(MeasureError::Wrong(format!(
            "the import ended with {status}"
        ))),
    }
}

/// The kernel's figure; `None` once the process has ended.
fn peak_bytes(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes << 10)
}

/// Sends every query once per round, one at a time; returns paths and times in milliseconds, in the
/// order of [`QUERIES`], and of the baseline last.
fn ask(
    connection: &mut Connection,
    events: u64,
    rounds: u64,
) -> Result<Vec<(&'static str, Quantiles)>, MeasureError> {
    let paths = QUERIES.iter().flat_map(|(.., paths)| paths.iter().copied());
    let paths: Vec<_> = paths.chain([NOWHERE]).collect();
    let mut watches: Vec<_> = paths.iter().map(|_| Stopwatch::new()).collect();
    for round in 0..rounds {
        for (path, watch) in paths.iter().zip(&mut watches) {
            let request = http::get(&named(path, events, round), "");
            let answer = watch.time(|| connection.ask(&request));
            let status = answer
                .map_err(MeasureError::io("asking the gateway"))?
                .status;
            if status != if *path == NOWHERE { 404 } else { 200 } {
                return Err(MeasureError::Wrong(format!("{path}: status {status}")));
            }
        }
    }
    let times = watches.iter().map(|watch| watch.quantiles(NANOS_PER_MS));
    Ok(paths.into_iter().zip(times).collect())
}

/// The path of a round, on a catalog of `events` events.
fn named(path: &str, events: u64, round: u64) -> String {
    let event = mixed(round) % events + 1;
    let market = event * MARKETS;
    let some = |name: fn(u64) -> String| -> String {
        let markets = (0..NAMED).map(|place| mixed(round + place) % events * MARKETS);
        markets.map(name).collect::<Vec<_>>().join(",")
    };
    path.replace("#ids", &some(|market| market.to_string()))
        .replace("#conditions", &some(condition))
        .replace("#tokens", &some(|market| (market * 2).to_string()))
        .replace("#market", &market.to_string())
        .replace("#event", &event.to_string())
        .replace("#condition", &condition(market))
}

/// Adds the imports to a report: the small one and the full one.
fn add_imports(report: &mut Report, [small, whole]: &[Import; 2]) {
    let megabytes = |bytes: u64| ratio(bytes, 1) / MEGABYTE;
    let memory = |import: &Import| {
        let name = format!("import of {} events: peak memory", import.events);
        Measure::single(name, "MB", megabytes(import.peak_bytes))
    };
    let (small, peak) = (memory(small), memory(whole));
    let peak = peak.over(&small);
    // SQLite's cache does not fill during a small import.
    let growth = peak.ratio().filter(|_| whole.events >= GOAL_EVENTS);
    let seconds = Some(whole.seconds);
    report.goals.extend([
        noted(
            Goal::at_most("s of an import", IMPORT_GOAL, seconds),
            whole.events,
        ),
        noted(
            Goal::at_most("memory of an import / of a fifth", MEMORY_GOAL, growth),
            whole.events,
        ),
    ]);
    report.measures.extend([
        small,
        peak,
        Measure::single("import", "s", whole.seconds),
        Measure::single("import: catalog", "MB", megabytes(whole.catalog_bytes)),
    ]);
}

/// Adds the response times, in the order of [`QUERIES`], to a report.
fn add_answers(report: &mut Report, times: Vec<(&str, Quantiles)>, events: u64) {
    let mut rest = &times[..];
    for (kind, most, paths) in QUERIES {
        let (of_kind, others) = rest.split_at(paths.len());
        rest = others;
        let slowest = of_kind
            .iter()
            .max_by(|one, other| one.1.p99.total_cmp(&other.1.p99));
        let name = format!("ms of the catalog's slowest {kind}, p99");
        let goal = Goal::at_most(name, most, slowest.map(|(_, times)| times.p99));
        report.goals.push(match slowest {
            Some((path, _)) if events >= GOAL_EVENTS => goal.note(*path),
            _ => noted(goal, events),
        });
    }
    report
        .measures
        .extend(times.into_iter().map(|(path, times)| {
            let name = match path {
                NOWHERE => "a path that is nowhere",
                path => path,
            };
            Measure::single(name, "ms", times.p50).quantiles(times)
        }));
}

/// Notes on a goal that it was measured at another size.
fn noted(goal: Goal, events: u64) -> Goal {
    match events < GOAL_EVENTS {
        true => goal.note(format!("on {events} events")),
        false => goal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_watched_to_its_end() {
        let mut busy = Command::new("sh");
        busy.args(["-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"]);
        let (seconds, peak) = watched(&mut busy).unwrap();
        assert!(seconds > 0.0 && peak > 0);
        assert!(watched(&mut Command::new("false")).is_err());
    }

    #[test]
    fn goals_use_the_slowest_query_of_a_kind() {
        let import = Import {
            events: GOAL_EVENTS,
            seconds: 61.0,
            peak_bytes: 125,
            catalog_bytes: 1,
        };
        let small = Import {
            peak_bytes: 100,
            ..import
        };
        let mut report = Report::begin("data", "none");
        add_imports(&mut report, &[small, import]);
        let times = |path, p99| {
            let quantiles = Quantiles {
                p50: 1.0,
                p99,
                p999: p99,
            };
            (path, quantiles)
        };
        let mut all = Vec::new();
        for (path, p99) in [(0, 21.0), (1, 2.0), (2, 30.5)] {
            let paths = QUERIES[path].2;
            all.push(times(paths[0], p99));
            all.extend(paths[1..].iter().map(|path| times(*path, p99 / 2.0)));
        }
        all.push(times(NOWHERE, 90.0));
        add_answers(&mut report, all, GOAL_EVENTS);
        let found: Vec<_> = report.goals.iter().map(|goal| goal.found).collect();
        assert_eq!(found, [61.0, 1.25, 21.0, 2.0, 30.5].map(Some));
        let met: Vec<_> = report.goals.iter().map(Goal::is_met).collect();
        assert_eq!(met, [false, true, false, true, false]);
        assert_eq!(report.goals[2].note.as_deref(), Some(QUERIES[0].2[0]));
        let nowhere = report.measure("a path that is nowhere").unwrap();
        assert_eq!(nowhere.quantiles.unwrap().p99, 90.0);
    }
}
