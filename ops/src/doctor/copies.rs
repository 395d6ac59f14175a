//! Ages of the newest snapshot and of the last backup, and whether the data is a copy itself.

use std::time::{Duration, SystemTime};

use foretell_journal::restored::restored_from;
use foretell_journal::segment;
use foretell_journal::snapshot::images;

use super::Subject;
use super::finding::Finding;
use crate::backup::record::LastBackup;
use crate::config::Config;
use crate::operator::client;
use crate::runtime;

/// Longest time between the last frame and the newest snapshot: one is due a minute after a change.
const SNAPSHOT_DUE: Duration = Duration::from_hours(1);
/// Longest time without a backup.
const BACKUP_DUE: Duration = Duration::from_hours(24);

/// Whether a start has a fresh snapshot to begin with.
pub(super) fn snapshot(subject: &Subject<'_>) -> Finding {
    let listed = images(&subject.snapshots()).unwrap_or_default();
    let Some(newest) = listed.first() else {
        return Finding::ok("none yet: a start executes the whole journal");
    };
    let written = |path| std::fs::metadata(path).and_then(|it| it.modified()).ok();
    let journal = written(foretell_journal::watermark::path(&subject.journal()));
    let written = written(subject.snapshots());
    let late = journal
        .zip(written)
        .and_then(|(journal, snapshot)| journal.duration_since(snapshot).ok());
    let is_good = late.is_none_or(|late| late <= SNAPSHOT_DUE);
    let value = format!("at sequence {newest}, {}", age(written));
    Finding::when(
        is_good,
        value,
        "look for `no snapshot written` in the log; free space",
    )
    .allowed(format!(
        "{} min behind the journal",
        SNAPSHOT_DUE.as_secs() / 60
    ))
}

/// Whether a backup is there in time; a journal may go without for its first day.
pub(super) fn backup(subject: &Subject<'_>) -> Finding {
    let last = last_backup(subject.config);
    let first = segment::path(&subject.journal(), 1);
    let begun = std::fs::metadata(first).and_then(|it| it.created()).ok();
    let value = match last {
        Some(_) => age(last),
        None => "no backup known".to_owned(),
    };
    let since = last.or(begun).and_then(|at| at.elapsed().ok());
    let is_good = since.is_none_or(|since| since <= BACKUP_DUE);
    Finding::when(is_good, value, "foretell backup DIR")
        .allowed(format!("{} h old", BACKUP_DUE.as_secs() / 3_600))
}

/// Whether it is a restored copy that nobody has opened. An exchange that runs says it; one that does not has a
/// marker until its first start.
pub(super) fn outward(subject: &Subject<'_>) -> Finding {
    let is_closed = match restored_from(&subject.journal()) {
        Ok(Some(_)) => Ok(true),
        Ok(None) if subject.engine.is_none() => {
            return Finding::ok("no restore waits for its first start");
        }
        Ok(None) => ask(subject.config),
        Err(error) => Err(error.to_string()),
    };
    match is_closed {
        Ok(false) => Finding::ok("open"),
        Ok(true) => Finding::warning(
            "closed since a restore: no withdrawal, webhook, sync or oracle",
            client::OPEN_HINT,
        ),
        Err(why) => Finding::ok(format!("not known: {why}")),
    }
}

fn ask(config: &Config) -> Result<bool, String> {
    let client = client::connect(config).map_err(|failure| failure.to_string())?;
    let runtime = runtime::small().map_err(|error| error.to_string())?;
    let asked = runtime.block_on(client.is_outward_closed());
    asked.map_err(|error| error.to_string())
}

/// When the last backup was made, as it left a record.
fn last_backup(config: &Config) -> Option<SystemTime> {
    let last = LastBackup::of(&config.data.directory)?;
    Some(SystemTime::UNIX_EPOCH + Duration::from_millis(last.time_ms))
}

fn age(at: Option<SystemTime>) -> String {
    let age = at.and_then(|at| at.elapsed().ok()).unwrap_or_default();
    format!("{} min old", age.as_secs() / 60)
}
