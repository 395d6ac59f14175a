//! The queried catalog: imported from a file by a child process, and cached for the next
//! measurement.

use std::fs;
use std::io::{BufWriter, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::records;
use crate::error::MeasureError;

/// Poll interval for the importing process.
const PAUSE: Duration = Duration::from_millis(10);
/// Linux reports the CPU time of processes in units of 1/100 s.
const TICKS: f64 = 100.0;
/// File name of a catalog in its data directory.
const CATALOG: &str = "catalog.db";
/// Update time of the records before a sync.
const RECORDS_UPDATED: &str = "2026-01-01T00:00:00Z";

/// An import of a file into an empty catalog.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Import {
    /// Events, four markets each.
    pub(super) events: u64,
    /// Wall time of the process.
    pub(super) seconds: f64,
    pub(super) cpu_seconds: f64,
    /// Peak memory of the process in bytes.
    pub(super) peak_bytes: u64,
    /// Size of the uncompressed file.
    pub(super) file_bytes: u64,
    /// Size of the catalog.
    pub(super) catalog_bytes: u64,
}

/// Origin of a cached catalog.
#[derive(PartialEq, Debug, Serialize, Deserialize)]
struct CacheNote {
    generation: u32,
    schema: i64,
    /// The small import, to check memory growth, and the one that is queried.
    imports: [Import; 2],
}

/// A catalog on disk.
pub(super) struct CachedCatalog {
    pub(super) data: PathBuf,
    pub(super) imports: [Import; 2],
    /// Whether it was cached.
    pub(super) was_kept: bool,
}

impl CachedCatalog {
    /// The catalog of `events` events under `directory`; made if none of this size, record
    /// generation and schema is cached. `import` is the command line that imports a file into the
    /// catalog of a data directory.
    pub(super) fn of(
        directory: &Path,
        events: u64,
        import: &dyn Fn(&Path, &Path) -> Command,
    ) -> Result<Self, MeasureError> {
        let home = directory.join(format!("events-{events}"));
        let (data, note) = (home.join("data"), home.join("made.json"));
        let kept = fs::read(&note).ok();
        let kept: Option<CacheNote> = kept.and_then(|text| serde_json::from_slice(&text).ok());
        if let Some(kept) = kept
            && kept.generation == records::GENERATION
            && kept.schema == foretell_catalog::SCHEMA_VERSION
            && data.join(CATALOG).exists()
        {
            return Ok(Self {
                data,
                imports: kept.imports,
                was_kept: true,
            });
        }
        if home.exists() {
            fs::remove_dir_all(&home).map_err(MeasureError::io("removing an older catalog"))?;
        }
        let small = home.join("small");
        let imports = [
            imported(&small, (events / 5).max(1), import)?,
            imported(&data, events, import)?,
        ];
        fs::remove_dir_all(&small).map_err(MeasureError::io("removing the smaller catalog"))?;
        let kept = CacheNote {
            generation: records::GENERATION,
            schema: foretell_catalog::SCHEMA_VERSION,
            imports,
        };
        let text = serde_json::to_vec(&kept).expect("numbers have a JSON form");
        fs::write(&note, text).map_err(MeasureError::io("writing the cache note"))?;
        Ok(Self {
            data,
            imports,
            was_kept: false,
        })
    }

    pub(super) fn file(&self) -> PathBuf {
        self.data.join(CATALOG)
    }
}

/// Writes a file of records and imports it.
fn imported(
    data: &Path,
    events: u64,
    import: &dyn Fn(&Path, &Path) -> Command,
) -> Result<Import, MeasureError> {
    // A data directory must not be accessible to others.
    let mut made = fs::DirBuilder::new();
    made.recursive(true).mode(0o700);
    made.create(data)
        .map_err(MeasureError::io("making a directory"))?;
    let file = data.join("records.jsonl");
    let file_bytes = write(&file, events).map_err(MeasureError::io("writing records"))?;
    let (seconds, process) = watched(import(data, &file))?;
    fs::remove_file(&file).map_err(MeasureError::io("removing the records"))?;
    let catalog = fs::metadata(data.join(CATALOG));
    let catalog = catalog.map_err(MeasureError::io("looking at the catalog"))?;
    Ok(Import {
        events,
        seconds,
        cpu_seconds: process.cpu_seconds,
        peak_bytes: process.peak_bytes,
        file_bytes,
        catalog_bytes: catalog.len(),
    })
}

fn write(path: &Path, events: u64) -> std::io::Result<u64> {
    let mut file = BufWriter::new(fs::File::create(path)?);
    for id in 1..=events {
        writeln!(file, "{}", records::event(id, RECORDS_UPDATED))?;
    }
    file.flush()?;
    Ok(file.get_ref().metadata()?.len())
}

/// Resources used by a process.
#[derive(Clone, Copy, Default)]
struct ProcessUsage {
    cpu_seconds: f64,
    peak_bytes: u64,
}

/// Runs a process to its end and polls it: seconds, and its resources at the last poll, at most 10
/// ms before its end.
fn watched(mut command: Command) -> Result<(f64, ProcessUsage), MeasureError> {
    let began = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()
        .map_err(MeasureError::io("starting an import"))?;
    let mut used = ProcessUsage::default();
    let status = loop {
        let ended = child.try_wait();
        if let Some(status) = ended.map_err(MeasureError::io("waiting for an import"))? {
            break status;
        }
        used = used_by(child.id()).unwrap_or(used);
        std::thread::park_timeout(PAUSE);
    };
    match status.success() {
        true => Ok((began.elapsed().as_secs_f64(), used)),
        false => Err(MeasureError::Wrong(format!(
            "the import ended with {status}"
        ))),
    }
}

/// The kernel's counters; `None` once the process has ended.
fn used_by(process: u32) -> Option<ProcessUsage> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Skip the process name, which may contain anything; fields 12 and 13 after it are CPU ticks.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut ticks = fields.split(' ').skip(11).map(str::parse::<u32>);
    let ticks = f64::from(ticks.next()?.ok()?) + f64::from(ticks.next()?.ok()?);
    Some(ProcessUsage {
        cpu_seconds: ticks / TICKS,
        peak_bytes: kibibytes << 10,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_watched_to_its_end() {
        let mut busy = Command::new("sh");
        busy.args(["-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"]);
        let (seconds, used) = watched(busy).unwrap();
        assert!(seconds > 0.0 && used.peak_bytes > 0);
        assert!(watched(Command::new("false")).is_err());
    }
}
