//! The processes of the exchange on this host, as the kernel counts them.

use std::fs;
use std::path::Path;
use std::time::Duration;

use foretell_journal::segment;
use foretell_journal::wall_clock::since_epoch;
use foretell_wire::schema::JsonSchema;
use serde::Serialize;

/// A process of the exchange.
#[derive(Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Process {
    /// What it is: `engine`, `gateway-1`, `catalog-sync`, …
    pub(crate) name: String,
    pub(crate) pid: u32,
    /// Seconds since its start.
    age_seconds: u64,
    /// Unix seconds of its start.
    pub(crate) started: u64,
    /// CPU time since its start, seconds.
    #[schemars(range(min = 0))]
    pub(crate) cpu_seconds: f64,
    /// Memory that it has in use, bytes.
    pub(crate) memory_bytes: u64,
    pub(crate) threads: u64,
    /// Open file descriptors, and the most that it may open.
    pub(crate) open_files: u64,
    pub(crate) max_open_files: u64,
}

/// The supervisor and its children; of a gateway without a supervisor itself and the engine.
pub(crate) fn all(engine: Option<i32>) -> Vec<Process> {
    let own = std::process::id();
    let Some(own_stat) = Stat::of(own) else {
        return Vec::new();
    };
    let engine = engine.and_then(|pid| u32::try_from(pid).ok());
    let is_supervised = std::env::args().any(|argument| argument == "--supervised");
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_ours = |pid: u32, stat: &Stat| match is_supervised {
        true => pid == own_stat.parent || stat.parent == own_stat.parent,
        false => pid == own || Some(pid) == engine,
    };
    let found = pids.filter_map(|pid| {
        let stat = Stat::of(pid).filter(|stat| is_ours(pid, stat))?;
        let name = match is_supervised && pid == own_stat.parent {
            true => "supervisor".to_owned(),
            false => name_of(pid)?,
        };
        stat.shown(pid, name)
    });
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(|process| process.pid);
    found
}

/// Fields of `/proc/PID/stat`.
struct Stat {
    parent: u32,
    /// User and system time.
    ticks: u64,
    threads: u64,
    /// Ticks from the start of the machine.
    started: u64,
}

impl Stat {
    fn of(pid: u32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may have spaces.
        let (_, rest) = text.rsplit_once(") ")?;
        let fields: Vec<_> = rest.split(' ').collect();
        let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
        Some(Self {
            parent: u32::try_from(number(1)?).ok()?,
            ticks: number(11)? + number(12)?,
            threads: number(17)?,
            started: number(19)?,
        })
    }

    fn shown(&self, pid: u32, name: String) -> Option<Process> {
        let uptime = fs::read_to_string("/proc/uptime").ok()?;
        let uptime: f64 = uptime.split(' ').next()?.parse().ok()?;
        let pages = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
        let pages: u64 = pages.split(' ').nth(1)?.parse().ok()?;
        let per_second = rustix::param::clock_ticks_per_second();
        #[allow(clippy::cast_precision_loss)] // ticks of centuries are exact
        let seconds = |ticks: u64| ticks as f64 / per_second as f64;
        let age = Duration::try_from_secs_f64(uptime - seconds(self.started)).unwrap_or_default();
        Some(Process {
            name,
            pid,
            age_seconds: age.as_secs(),
            cpu_seconds: seconds(self.ticks),
            started: since_epoch().as_secs().saturating_sub(age.as_secs()),
            memory_bytes: pages * rustix::param::page_size() as u64,
            threads: self.threads,
            open_files: files_of(Path::new(&format!("/proc/{pid}/fd"))).0,
            max_open_files: max_open_files(pid).unwrap_or_default(),
        })
    }
}

fn max_open_files(pid: u32) -> Option<u64> {
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
    let mut lines = limits.lines();
    let limit = lines.find_map(|line| line.strip_prefix("Max open files"))?;
    limit.split_whitespace().next()?.parse().ok()
}

/// Number and bytes of the entries of a directory; none when it cannot be read.
pub(crate) fn files_of(directory: &Path) -> (u64, u64) {
    sum_files(directory, |_| true)
}

/// Number and bytes of a journal's segments, beside which are a lock, a control file and segments in the making.
pub(crate) fn segments_of(journal: &Path) -> (u64, u64) {
    sum_files(journal, |name| segment::number_of(name).is_some())
}

fn sum_files(directory: &Path, is_counted: impl Fn(&str) -> bool) -> (u64, u64) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let counted = entries.filter(|entry| entry.file_name().to_str().is_some_and(&is_counted));
    counted.fold((0, 0), |(count, bytes), entry| {
        let length = entry.metadata().map_or(0, |file| file.len());
        (count + 1, bytes + length)
    })
}

/// The name that the supervisor gives a child, from its arguments, which begin with its command.
fn name_of(pid: u32) -> Option<String> {
    let arguments = fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?;
    let arguments: Vec<_> = arguments.split('\0').skip(1).collect();
    let after = |flag: &str| {
        let place = arguments.iter().position(|argument| *argument == flag)?;
        arguments.get(place + 1).copied()
    };
    let command = arguments
        .iter()
        .find(|argument| !argument.starts_with('-'))?;
    Some(match *command {
        "catalog" => "catalog-sync".to_owned(),
        "gateway" => format!("gateway-{}", after("--number").unwrap_or("1")),
        other => other.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_without_a_supervisor_lists_itself() {
        let found = all(None);
        let [process] = &found[..] else {
            panic!("{} processes", found.len());
        };
        assert_eq!(process.pid, std::process::id());
        assert!(process.memory_bytes > 0 && process.threads > 0);
        assert!(process.open_files > 2 && process.max_open_files >= process.open_files);
    }

    #[test]
    fn only_segments_count_as_a_journals() {
        let journal = tempfile::tempdir().expect("a folder");
        for (name, bytes) in [
            ("00000001.segment", 7),
            ("00000002.segment", 5),
            ("LOCK", 0),
            ("control", 4_096),
            ("prepared.tmp", 9),
            ("watermark", 8_192),
        ] {
            fs::write(journal.path().join(name), vec![0; bytes]).expect("it is written");
        }
        assert_eq!(segments_of(journal.path()), (2, 12));
        assert_eq!(files_of(journal.path()), (6, 12_309));
        assert_eq!(files_of(Path::new("missing")), (0, 0));
    }
}
