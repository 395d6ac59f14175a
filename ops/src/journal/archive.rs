//! `foretell journal archive`: moves segments that nobody needs here to an archive, while the exchange runs
//! and when it does not.
//!
//! A segment is verified, stored, read back and compared. Only then it leaves the journal, in ascending order.
//! A run that is killed leaves the segment in the journal, in the archive, or in both; the next run goes on.

use std::fmt;
use std::fs::File;
use std::process::ExitCode;

use foretell_engine::{JOURNAL_DIRECTORY, oldest_usable_snapshot};
use foretell_journal::archive::remove_archived;
use foretell_journal::disk::RealDisk;
use foretell_journal::{Extent, Piece, Segments};
use foretell_model::Sequence;
use serde::Serialize;

use super::Archive;
use super::store::Store;
use crate::backup::record::LastBackup;
use crate::backup::{journal_failure, lock};
use crate::config::Config;
use crate::data_directory::check_writable;
use crate::failure::Failure;
use crate::output::Output;
use crate::webhooks;

/// `foretell journal archive`.
///
/// # Errors
/// The journal or a copy is damaged, the archive's command fails, or files cannot be read or written. Segments
/// that were archived before stay archived.
pub(super) fn run(
    config: &Config,
    arguments: &Archive,
    output: Output,
) -> Result<ExitCode, Failure> {
    output.print(&archive(config, arguments)?);
    Ok(ExitCode::SUCCESS)
}

/// What was moved, and why no more.
#[derive(Default, Serialize)]
struct Archived {
    segments: Vec<u32>,
    bytes: u64,
    /// The last frame that is archived, by this run or an earlier one; 0 for none.
    archived_through: u64,
    /// The first segment that stays.
    first_segment: u32,
    /// Why it stays.
    kept_for: String,
}

impl fmt::Display for Archived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, bytes, through) = (self.segments.len(), self.bytes, self.archived_through);
        writeln!(f, "{count} segments archived ({bytes} bytes)")?;
        if through > 0 {
            writeln!(f, "frames up to {through} are in the archive")?;
        }
        write!(f, "segment {} stays: {}", self.first_segment, self.kept_for)
    }
}

fn archive(config: &Config, arguments: &Archive) -> Result<Archived, Failure> {
    let data = &config.data.directory;
    check_writable(data)?;
    let _turn = lock(data)?;
    let journal = data.join(JOURNAL_DIRECTORY);
    let extent = Extent::of(&Segments::of(&journal)).map_err(|error| journal_failure(&error))?;
    let store = Store::open(arguments, data)?;
    let bound = Bound::lowest(config, &extent)?;
    let mut archived = Archived {
        archived_through: extent.pieces[0].first.0 - 1,
        first_segment: extent.pieces[0].number,
        kept_for: bound.to_string(),
        ..Archived::default()
    };
    for piece in extent.sealed() {
        if piece.last.0 > bound.through {
            break;
        }
        move_piece(&extent, piece, &store)?;
        let removed = remove_archived(&RealDisk, &journal, piece.number);
        if !removed.map_err(|error| journal_failure(&error))? {
            "a gateway or the publisher still reads it; run this again"
                .clone_into(&mut archived.kept_for);
            break;
        }
        archived.segments.push(piece.number);
        archived.bytes += u64::from(piece.bytes);
        archived.archived_through = piece.last.0;
        archived.first_segment = piece.number + 1;
    }
    if archived.first_segment == extent.end().number {
        "it still grows".clone_into(&mut archived.kept_for);
    }
    Ok(archived)
}

/// Stores a segment and compares what the archive gives back with it.
fn move_piece(extent: &Extent, piece: &Piece, store: &Store) -> Result<(), Failure> {
    extent
        .verify(piece)
        .map_err(|error| journal_failure(&error))?;
    let path = &piece.path;
    let open = || File::open(path).map_err(crate::backup::files::failed("open", path));
    store.put(piece.number, open()?, piece.bytes)?;
    store.compare(piece.number, open()?, piece.bytes)
}

/// Who needs the frames after one.
struct Bound {
    /// The last frame that may leave.
    through: u64,
    needed_by: &'static str,
}

impl Bound {
    /// The lowest of all bounds. Followers on this machine hold the segment that they read
    /// (`journal/src/archive.rs`); those of other machines read the replicated log.
    fn lowest(config: &Config, extent: &Extent) -> Result<Self, Failure> {
        let data = &config.data.directory;
        let snapshot = oldest_usable_snapshot(data, &extent.genesis);
        let backup = LastBackup::of(data).filter(|backup| backup.genesis == extent.genesis);
        let webhooks = match config.webhooks.url.is_empty() {
            true => None,
            false => webhooks::cursor::read(data)?,
        };
        let before = |sequence: Sequence| sequence.0.saturating_sub(1);
        let bounds = [
            Self {
                through: snapshot.map_or(0, before),
                needed_by: "a start from the oldest snapshot (foretell system snapshot makes one)",
            },
            Self {
                through: backup.map_or(0, |backup| backup.last_sequence),
                needed_by: "the next backup (foretell backup DIR)",
            },
            // They start at a snapshot before what they have delivered, or else at the first frame.
            Self {
                through: match webhooks {
                    Some(delivered) if snapshot.is_none_or(|first| first > delivered.sequence) => 0,
                    _ => u64::MAX,
                },
                needed_by: "the webhooks, whose last delivery is before every snapshot",
            },
        ];
        let lowest = bounds.into_iter().min_by_key(|bound| bound.through);
        Ok(lowest.expect("there are bounds"))
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.through {
            0 => write!(f, "everything is needed by {}", self.needed_by),
            through => write!(f, "frames after {through} are needed by {}", self.needed_by),
        }
    }
}
