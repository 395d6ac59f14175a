//! Journal, clock and formats of the data directory, as the start's own functions find them.

use std::path::Path;
use std::time::Duration;

use foretell_catalog::{Catalog, CatalogError, SCHEMA_VERSION, Sites};
use foretell_engine::{EngineError, StartReport, check_format, check_start};
use foretell_journal::{
    Follower, JournalError, Next, ScanReport, Scratch, check_running, wall_clock,
};
use foretell_model::command::Begin;
use foretell_model::limits::FORMAT_ID;
use foretell_model::{Command, Sequence, TimeNs};

use super::Subject;
use super::finding::Finding;
use crate::config::{ClusterRole, Config};
use crate::data_directory::check_owner;
use crate::processes::cluster_config;
use crate::processes::process::{engine_config, engine_failure};

/// How far the clock may be behind the last frame.
const MAX_BEHIND: Duration = Duration::from_secs(2);

/// Whether this build is one of the data's.
pub(super) fn formats(subject: &Subject<'_>) -> Vec<Finding> {
    let data = match check_format(&subject.config.data.directory) {
        Ok(None) => Finding::ok(format!("no data yet, this build has {FORMAT_ID}")),
        Ok(Some(found)) => Finding::ok(format!("data {found}, this build {FORMAT_ID}")),
        Err(error) => engine_failure(&error).into(),
    };
    vec![data, catalog(subject.config)]
}

/// Whoever opens a database makes files beside it, and as root gives them to its owner, whatever they are.
fn catalog(config: &Config) -> Finding {
    if let Err(why) = check_owner(&config.data.directory) {
        return why.into();
    }
    match Catalog::open(&config.catalog_file(), Sites::default()) {
        Ok(_) => Finding::ok(format!("catalog.db {SCHEMA_VERSION}")),
        Err(CatalogError::Missing(_)) => Finding::ok("no catalog.db yet"),
        Err(error) => {
            Finding::refused(format!("catalog.db: {error}"), "restore it from the backup")
        }
    }
}

/// The journal, and the clock against its last frame: of a stopped engine all that a start refuses.
pub(super) fn find(subject: &Subject<'_>) -> Vec<Finding> {
    match subject.engine {
        Some(_) => running(subject),
        None => stopped(subject),
    }
}

/// An engine that runs has executed its journal and has its time.
fn running(subject: &Subject<'_>) -> Vec<Finding> {
    let is_cluster = subject.config.cluster.role != ClusterRole::Standalone;
    match check_running(&subject.journal(), is_cluster) {
        Ok(None) => vec![Finding::ok("none yet")],
        Ok(Some(report)) => vec![
            end(&report),
            clock(report.last_time, is_sandbox(&subject.journal())),
        ],
        Err(error) => vec![Finding::refused(error.to_string(), action(&error))],
    }
}

fn stopped(subject: &Subject<'_>) -> Vec<Finding> {
    let config = subject.config;
    let engine = match engine_config(config) {
        Ok(engine) => engine,
        Err(refused) => return vec![refused.into()],
    };
    match check_start(&engine, cluster_config::role(config.cluster.role)) {
        Ok(StartReport { journal: None, .. }) => vec![Finding::ok("none yet")],
        Ok(StartReport {
            journal: Some(report),
            is_sandbox,
        }) => vec![end(&report), clock(report.last_time, is_sandbox)],
        // Said by the check of formats.
        Err(EngineError::OtherFormat { .. }) => Vec::new(),
        Err(EngineError::Journal(error)) => {
            vec![Finding::refused(error.to_string(), action(&error))]
        }
        Err(error) => vec![engine_failure(&error).into()],
    }
}

fn action(error: &JournalError) -> &'static str {
    match error {
        // These texts say it.
        JournalError::AfterIoError(_) | JournalError::Replica(_) | JournalError::Newer { .. } => "",
        JournalError::NoEngine(_) | JournalError::Unsafe { .. } => {
            "run it as the user of the exchange"
        }
        JournalError::Archived { .. } => "copy the archived segments back, then start",
        _ => {
            "keep the directory as it is; `foretell audit verify` says where it is damaged; restore the last backup"
        }
    }
}

fn end(report: &ScanReport) -> Finding {
    let (last, proven, epoch) = (report.last_sequence, report.proven_sequence, report.epoch);
    let mut value = format!("ends at sequence {last}, proven up to {proven}, epoch {epoch}");
    if let Some((from, to)) = report.torn {
        value += &format!(
            "; the next start sets aside a torn tail of {} bytes",
            to - from
        );
    }
    Finding::ok(value)
}

/// Whether the first frame says that it is a sandbox.
pub(crate) fn is_sandbox(journal: &Path) -> bool {
    let Ok(mut follower) = Follower::open(journal, Sequence(0)) else {
        return false;
    };
    let mut scratch = Scratch::default();
    match follower.next_frame() {
        Ok(Next::Frame(frame)) => frame.decode(&mut scratch).is_ok_and(|first| {
            matches!(first.command, Command::Begin(Begin { sandbox: true, .. }))
        }),
        _ => false,
    }
}

fn clock(last: TimeNs, is_sandbox: bool) -> Finding {
    if is_sandbox {
        return Finding::ok("a sandbox moves its clock");
    }
    if last == TimeNs(0) {
        return Finding::ok("no frame yet");
    }
    let wall = wall_clock::now().0;
    let behind = Duration::from_nanos(last.0.saturating_sub(wall));
    if behind > MAX_BEHIND {
        let value = format!(
            "the clock is {} s behind the journal's last frame",
            behind.as_secs()
        );
        return Finding::warning(
            value,
            "set the clock: engine time waits for it (chrony, NTP)",
        )
        .allowed(format!("{} s", MAX_BEHIND.as_secs()));
    }
    let ahead = Duration::from_nanos(wall.saturating_sub(last.0));
    Finding::ok(format!(
        "the clock is {} s after the journal's last frame",
        ahead.as_secs()
    ))
}
