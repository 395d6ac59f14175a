//! The catalog that is asked: imported from a file by a process of its own, and kept for the next
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

/// Between two looks at the importing process.
const PAUSE: Duration = Duration::from_millis(10);
/// Of a second, in which Linux tells every program the processor time of others.
const TICKS: f64 = 100.0;
/// The name of a catalog in its data directory.
const CATALOG: &str = "catalog.db";
/// When the records were changed last, before a sync.
const MADE: &str = "2026-01-01T00:00:00Z";

/// An import of a file into an empty catalog.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Import {
    /// Events, each with four markets.
    pub(super) events: u64,
    /// From the start of the process to its end.
    pub(super) seconds: f64,
    /// Of processor.
    pub(super) cpu_seconds: f64,
    /// The most memory the process had, in bytes.
    pub(super) peak_bytes: u64,
    /// Of the unpacked file.
    pub(super) file_bytes: u64,
    /// Of the catalog.
    pub(super) catalog_bytes: u64,
}

/// What a kept catalog was made of and how.
#[derive(PartialEq, Debug, Serialize, Deserialize)]
struct Kept {
    generation: u32,
    schema: i64,
    /// A short one, to see whether memory grows, and the one that is asked.
    imports: [Import; 2],
}

/// A catalog on the disk.
pub(super) struct Made {
    /// Its data directory.
    pub(super) data: PathBuf,
    pub(super) imports: [Import; 2],
    /// Whether it was there before.
    pub(super) was_kept: bool,
}

impl Made {
    /// The catalog of so many events under `directory`, made when there is none of this size, of
    /// these records and of these tables. `import` is the command line that puts a file into the
    /// catalog of a data directory.
    pub(super) fn of(
        directory: &Path,
        events: u64,
        import: &dyn Fn(&Path, &Path) -> Command,
    ) -> Result<Self, MeasureError> {
        let home = directory.join(format!("events-{events}"));
        let (data, note) = (home.join("data"), home.join("made.json"));
        let kept = fs::read(&note).ok();
        let kept: Option<Kept> = kept.and_then(|text| serde_json::from_slice(&text).ok());
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
        let kept = Kept {
            generation: records::GENERATION,
            schema: foretell_catalog::SCHEMA_VERSION,
            imports,
        };
        let text = serde_json::to_vec(&kept).expect("numbers have a JSON form");
        fs::write(&note, text).map_err(MeasureError::io("noting what was made"))?;
        Ok(Self {
            data,
            imports,
            was_kept: false,
        })
    }

    /// Its file.
    pub(super) fn file(&self) -> PathBuf {
        self.data.join(CATALOG)
    }
}

/// Makes a file of records and has it imported.
fn imported(
    data: &Path,
    events: u64,
    import: &dyn Fn(&Path, &Path) -> Command,
) -> Result<Import, MeasureError> {
    // A data directory is closed to others.
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
        writeln!(file, "{}", records::event(id, MADE))?;
    }
    file.flush()?;
    Ok(file.get_ref().metadata()?.len())
}

/// What a process used.
#[derive(Clone, Copy, Default)]
struct Used {
    cpu_seconds: f64,
    peak_bytes: u64,
}

/// Runs a process to its end and watches it: seconds, and what it used at the last look, which is
/// a hundredth of a second before its end.
fn watched(mut command: Command) -> Result<(f64, Used), MeasureError> {
    let began = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()
        .map_err(MeasureError::io("starting an import"))?;
    let mut used = Used::default();
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

/// As the kernel counts it; `None` once the process has ended.
fn used_by(process: u32) -> Option<Used> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Behind the name, which may hold anything: the twelfth and thirteenth are ticks of processor.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut ticks = fields.split(' ').skip(11).map(str::parse::<u32>);
    let ticks = f64::from(ticks.next()?.ok()?) + f64::from(ticks.next()?.ok()?);
    Some(Used {
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
