//! `foretell doctor`: the checks of an exchange and its machine. None changes anything.
//!
//! A start runs the same list up to [`When::Start`] before it makes a file or a process.

mod clock;
mod copies;
mod cores;
mod disk;
mod finding;
mod journal;
mod ports;
mod processes;
mod replicated_log;
mod settings;
mod upstream;

pub(crate) use journal::is_sandbox;
use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;

use foretell_engine::{EXIT_REFUSED, JOURNAL_DIRECTORY, SNAPSHOT_DIRECTORY, running_engine};
use serde::Serialize;

use crate::config::refusal::Refusal;
use crate::config::{Config, Loaded, SETTINGS_HINT};
use crate::failure::Failure;
use crate::output::Output;
use finding::{Finding, Weight};

/// When a check is made; each includes those before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum When {
    /// The settings and the files that they name: `config check`.
    Settings,
    /// What a start needs of the machine.
    Start,
    /// What a process finds itself at its start, and what others have to be asked for.
    Asked,
}

/// What the checks are about.
struct Subject<'a> {
    loaded: &'a Loaded,
    config: &'a Config,
    /// Process id of the engine that uses the data directory.
    engine: Option<i32>,
}

impl<'a> Subject<'a> {
    fn new(loaded: &'a Loaded) -> Self {
        let config = &loaded.config;
        Self {
            loaded,
            config,
            engine: running_engine(&config.data.directory),
        }
    }

    fn journal(&self) -> PathBuf {
        self.config.data.directory.join(JOURNAL_DIRECTORY)
    }

    fn snapshots(&self) -> PathBuf {
        self.config.data.directory.join(SNAPSHOT_DIRECTORY)
    }
}

/// A check: its name, when it is made, and what it finds.
struct Check {
    name: &'static str,
    when: When,
    find: Find,
}

enum Find {
    /// Settings that are refused.
    Refused(fn(&Config) -> Vec<Refusal>),
    One(fn(&Subject<'_>) -> Finding),
    Many(fn(&Subject<'_>) -> Vec<Finding>),
}

const fn check(name: &'static str, when: When, find: Find) -> Check {
    Check { name, when, find }
}

/// Every check, in the order of the output.
const CHECKS: &[Check] = &[
    check("settings", When::Settings, Find::Many(values)),
    check(
        "addresses",
        When::Settings,
        Find::Refused(settings::shared_addresses),
    ),
    check(
        "files",
        When::Settings,
        Find::Refused(settings::unreadable_files),
    ),
    check(
        "secrets",
        When::Settings,
        Find::Refused(settings::named_secrets),
    ),
    check(
        "data directory",
        When::Settings,
        Find::Refused(settings::data_directory),
    ),
    check(
        "descriptors",
        When::Settings,
        Find::Refused(settings::connections),
    ),
    check(
        "upstream's URL",
        When::Settings,
        Find::Refused(settings::upstream),
    ),
    check("ports", When::Start, Find::Many(ports::find)),
    check("file system", When::Start, Find::One(disk::file_system)),
    check("free space", When::Start, Find::One(disk::free_space)),
    check("free inodes", When::Start, Find::One(disk::free_inodes)),
    check("fdatasync", When::Start, Find::One(disk::sync_time)),
    check("cores", When::Start, Find::One(cores::find)),
    check("engine", When::Asked, Find::One(engine)),
    check("clock", When::Asked, Find::One(clock::find)),
    check(
        "replicated log",
        When::Asked,
        Find::One(replicated_log::find),
    ),
    check("format", When::Asked, Find::Many(journal::formats)),
    check("journal", When::Asked, Find::Many(journal::find)),
    check("gateway", When::Asked, Find::Refused(settings::gateway)),
    check("webhooks", When::Asked, Find::One(processes::webhooks)),
    check("processes", When::Asked, Find::Many(processes::supervised)),
    check("snapshot", When::Asked, Find::One(copies::snapshot)),
    check("backup", When::Asked, Find::One(copies::backup)),
    check("outward", When::Asked, Find::One(copies::outward)),
    check("upstream", When::Asked, Find::One(upstream::find)),
];

/// The findings of all checks up to `when`.
fn examine(loaded: &Loaded, when: impl Fn(When) -> bool) -> Vec<Finding> {
    let subject = Subject::new(loaded);
    let checks = CHECKS.iter().filter(|check| when(check.when));
    checks.flat_map(|check| check.findings(&subject)).collect()
}

impl Check {
    fn findings(&self, subject: &Subject<'_>) -> Vec<Finding> {
        let found = match self.find {
            Find::Refused(find) => subject.refused(&find(subject.config)),
            Find::One(find) => vec![find(subject)],
            Find::Many(find) => find(subject),
        };
        let named = found.into_iter().map(|finding| Finding {
            check: self.name,
            ..finding
        });
        named.collect()
    }
}

impl Subject<'_> {
    /// Refusals with their origins; one that all hold without any.
    fn refused(&self, refusals: &[Refusal]) -> Vec<Finding> {
        let line = |refusal| Finding::refused(self.loaded.origins.line(refusal), "");
        match refusals {
            [] => vec![Finding::ok("no mistake")],
            refusals => refusals.iter().map(line).collect(),
        }
    }
}

fn values(subject: &Subject<'_>) -> Vec<Finding> {
    subject.refused(&subject.loaded.refusals)
}

fn engine(subject: &Subject<'_>) -> Finding {
    Finding::ok(match subject.engine {
        Some(pid) => format!("runs as process {pid}"),
        None => "does not run on this data directory".to_owned(),
    })
}

/// Checks the settings and what they name.
///
/// # Errors
/// Every mistake, each in a line.
pub(crate) fn check_settings(loaded: &Loaded) -> Result<(), Failure> {
    let found = examine(loaded, |when| when == When::Settings);
    refuse(&found).map_or(Ok(()), |failure| Err(failure.hint(SETTINGS_HINT)))
}

/// Checks what a start needs of the machine, and logs warnings.
///
/// # Errors
/// Every reason to refuse the start.
pub(crate) fn check_machine(loaded: &Loaded) -> Result<(), Failure> {
    let found = examine(loaded, |when| when == When::Start);
    for warning in found.iter().filter(|it| it.weight == Weight::Warning) {
        let Finding { check, action, .. } = warning;
        tracing::warn!(check, action, "{}", warning.statement());
    }
    refuse(&found).map_or(Ok(()), Err)
}

/// One failure of all refusals; the hints stand in the lines.
fn refuse(found: &[Finding]) -> Option<Failure> {
    let refused = found.iter().filter(|it| it.weight == Weight::Refused);
    let line = |finding: &Finding| match finding.action.as_str() {
        "" => finding.statement(),
        action => format!("{}\n  try: {action}", finding.statement()),
    };
    let lines: Vec<_> = refused.map(line).collect();
    (!lines.is_empty()).then(|| Failure::new(lines.join("\n")).code(EXIT_REFUSED))
}

/// All findings and the worst weight.
#[derive(Serialize)]
struct Report {
    worst: Weight,
    checks: Vec<Finding>,
}

impl Report {
    fn of(loaded: &Loaded) -> Self {
        let checks = examine(loaded, |_| true);
        let worst = checks.iter().map(|finding| finding.weight).max();
        Self {
            worst: worst.unwrap_or(Weight::Ok),
            checks,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut checks = self.checks.iter();
        checks.try_for_each(|finding| writeln!(f, "{finding}"))
    }
}

/// `foretell doctor`: prints every finding; the exit code is that of the worst.
pub(crate) fn run(loaded: &Loaded, output: Output) -> ExitCode {
    let report = Report::of(loaded);
    output.print(&report);
    ExitCode::from(report.worst.exit_code())
}

/// The findings as JSON, for a bundle.
///
/// # Errors
/// They have no JSON text.
pub(crate) fn json(loaded: &Loaded) -> Result<String, Failure> {
    serde_json::to_string_pretty(&Report::of(loaded))
        .map_err(|error| Failure::new(format!("findings as JSON: {error}")))
}
