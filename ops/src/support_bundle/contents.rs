//! The parts of a bundle. Every text is masked, except checkpoints, which are public.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use foretell_engine::CHECKPOINTS_NAME;
use foretell_model::limits::FORMAT_ID;
use foretell_operator_client::http_client_of;
use rustix::fs::{Mode, OFlags};

use super::mask::Masker;
use crate::config::{Config, Loaded};
use crate::doctor;
use crate::operator::client;
use crate::runtime;

/// The unit whose log is taken, and its lines.
const UNIT: &str = "foretell";
const LOG_LINES: &str = "20000";
/// Most bytes of a log and of the checkpoints.
const MOST_BYTES: u64 = 16 << 20;
/// Longest time for the metrics.
const PATIENCE: Duration = Duration::from_secs(10);

/// A part: its file, what it is, and its bytes or why it is not taken.
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) what: &'static str,
    pub(super) content: Result<Vec<u8>, String>,
}

/// Every part, in the order of the list.
pub(super) fn parts(loaded: &Loaded, logs: Option<&Path>) -> Vec<Part> {
    let config = &loaded.config;
    let masker = Masker::of(&toml::Table::try_from(config).unwrap_or_default());
    let masked = |name, what, text: Result<String, String>| Part {
        name,
        what,
        content: text.map(|text| masker.mask(&text).into_bytes()),
    };
    vec![
        masked("version.txt", "program, kernel, machine", Ok(version())),
        masked("settings.toml", "settings in effect", settings(config)),
        masked(
            "doctor.json",
            "findings of `foretell doctor`",
            doctor::json(loaded).map_err(|error| error.to_string()),
        ),
        masked(
            "metrics.txt",
            "metrics of the first gateway",
            metrics(config),
        ),
        masked("log.txt", "last lines of the log", log(logs)),
        masked(
            "data-directory.txt",
            "names, sizes and modes of the files",
            layout(&config.data.directory),
        ),
        Part {
            name: "checkpoints",
            what: "signed checkpoints",
            content: checkpoints(&config.data.directory.join(CHECKPOINTS_NAME)),
        },
    ]
}

fn version() -> String {
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let version = env!("CARGO_PKG_VERSION");
    let memory = read("/proc/meminfo");
    let memory = memory.lines().next().unwrap_or_default();
    format!(
        "foretell {version}, format {FORMAT_ID}\n{}cores: {cores}\n{memory}\n\n{}",
        read("/proc/version"),
        read("/etc/os-release"),
    )
}

fn settings(config: &Config) -> Result<String, String> {
    toml::to_string_pretty(config).map_err(|error| error.to_string())
}

fn metrics(config: &Config) -> Result<String, String> {
    let url = format!("http://{}/metrics", client::operator_address(config));
    let runtime = runtime::small().map_err(|error| error.to_string())?;
    let asked = runtime.block_on(async {
        let client = http_client_of(&url).no_proxy().timeout(PATIENCE).build()?;
        client
            .get(url)
            .send()
            .await?
            .error_for_status()?
            .text()
            .await
    });
    asked.map_err(|error| format!("{error}: is the exchange running?"))
}

/// The log of a file, of standard input, or of systemd's journal.
fn log(file: Option<&Path>) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = match file {
        Some(file) if file == Path::new("-") => {
            io::stdin().take(MOST_BYTES).read_to_end(&mut bytes)
        }
        Some(file) => {
            fs::File::open(file).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes))
        }
        None => return journal(),
    };
    read.map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn journal() -> Result<String, String> {
    let mut command = Command::new("journalctl");
    command.args([
        "--unit",
        UNIT,
        "--lines",
        LOG_LINES,
        "--output",
        "short-iso",
        "--no-pager",
        "--quiet",
    ]);
    let other = "as root: journalctl -u foretell -n 20000 > LOG, then --logs LOG";
    let ran = command
        .output()
        .map_err(|error| format!("journalctl: {error}; {other}"))?;
    match ran.status.success() && !ran.stdout.is_empty() {
        true => Ok(String::from_utf8_lossy(&ran.stdout).into_owned()),
        false => Err(format!(
            "journalctl shows this user no line of {UNIT}; {other}"
        )),
    }
}

/// Mode, size and name of each file, sorted by name.
fn layout(directory: &Path) -> Result<String, String> {
    let mut text = String::new();
    list(directory, Path::new(""), &mut text)
        .map_err(|error| format!("{}: {error}", directory.display()))?;
    Ok(text)
}

fn list(directory: &Path, below: &Path, text: &mut String) -> io::Result<()> {
    let mut names: Vec<_> = fs::read_dir(directory.join(below))?
        .map(|entry| Ok(entry?.file_name()))
        .collect::<io::Result<_>>()?;
    names.sort();
    for name in names {
        let path = below.join(name);
        // A file may be removed meanwhile.
        let Ok(metadata) = fs::symlink_metadata(directory.join(&path)) else {
            continue;
        };
        let kind = match metadata.file_type() {
            kind if kind.is_dir() => 'd',
            kind if kind.is_symlink() => 'l',
            kind if kind.is_socket() => 's',
            _ => '-',
        };
        let (mode, uid, size) = (metadata.mode() & 0o7777, metadata.uid(), metadata.len());
        let blocks = metadata.blocks() * 512;
        let _ = writeln!(
            text,
            "{kind} {mode:04o} user {uid} {size:>12} bytes {blocks:>12} on disk  {}",
            path.display()
        );
        if metadata.is_dir() {
            list(directory, &path, text)?;
        }
    }
    Ok(())
}

fn checkpoints(file: &Path) -> Result<Vec<u8>, String> {
    let failed = |error: io::Error| format!("{}: {error}", file.display());
    // Root may make a bundle of another user's directory: a link there leads to what that user may not read.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = rustix::fs::open(file, flags, Mode::empty());
    let mut opened = fs::File::from(opened.map_err(|errno| failed(errno.into()))?);
    match opened.metadata().map_err(failed)?.len() {
        0..=MOST_BYTES => {
            let mut bytes = Vec::new();
            let read = opened.by_ref().take(MOST_BYTES).read_to_end(&mut bytes);
            read.map(|_| bytes).map_err(failed)
        }
        bytes => Err(format!(
            "{} has {bytes} bytes: send it when it is asked for",
            file.display()
        )),
    }
}
