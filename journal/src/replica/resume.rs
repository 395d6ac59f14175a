//! Opening a copy of the log for writing: it goes on after its last batch.

use std::path::Path;

use foretell_model::Sequence;

use crate::control::{self, JournalPosition};
use crate::directory::{self, marker_path};
use crate::error::{Context, JournalError};
use crate::options::Options;
use crate::recover::{FrameVisitor, Recovered, RecoveryReport, refuse_after_io_error, scan};
use crate::segment;
use crate::segment_scan::JournalEnd;
use crate::sync::Tip;
use crate::watermark::{self, Watermark, WatermarkFile};

/// Opens the journal in `dir` and passes every frame above `after` to `reader`, as
/// [`crate::recover_into`], but changes no segment. The caller has compared its end with the log
/// ([`super::LocalEnd`]).
///
/// # Errors
/// As [`crate::recover_into`]; a torn tail.
pub fn recover_replica(
    dir: &Path,
    options: Options,
    after: Sequence,
    reader: &mut dyn FrameVisitor,
) -> Result<Recovered, JournalError> {
    options.check()?;
    let disk = &*options.disk;
    let lock = directory::lock(dir)?;
    refuse_after_io_error(dir, options.after_io_error)?;
    control::supersede(dir)?;
    directory::remove_unfinished(disk, dir)?;
    let mark = watermark::read(dir)?.ok_or_else(|| JournalError::Watermark {
        path: watermark::path(dir),
        why: "it is missing".to_owned(),
    })?;
    let found = scan(dir, &options, after, &mark, reader)?;
    if let Some((from, to)) = found.torn {
        let why = "its end was not compared with the replicated log".to_owned();
        return Err(JournalError::Damaged {
            segment: found.header.number,
            from,
            to,
            first: found.end.last.next(),
            last: Sequence(0),
            why,
        });
    }
    let path = segment::path(dir, found.header.number);
    let mut file = disk.open(&path).context("open", &path)?;
    // What was read may be in the page cache alone.
    file.sync_data().context("sync", &path)?;
    let mark = mark_at(&mark, &found);
    let mut watermark = WatermarkFile::open(disk, dir)?;
    watermark.record(&mark)?;
    directory::remove_marker(disk, &marker_path(dir))?;
    Ok(Recovered {
        report: RecoveryReport {
            genesis: found.header.genesis,
            epoch: found.header.epoch,
            last_sequence: found.end.last,
            last_time: found.end.time,
            rewritten: 0,
            set_aside: None,
        },
        dir: dir.to_owned(),
        header: found.header,
        file,
        tip: Tip {
            position: JournalPosition {
                segment: found.header.number,
                offset: found.end.offset,
            },
            last: found.end.last,
            hash: found.end.hash,
        },
        mark,
        watermark,
        lock,
        options,
    })
}

fn mark_at(before: &Watermark, found: &JournalEnd) -> Watermark {
    Watermark {
        count: before.count + 1,
        epoch: found.header.epoch,
        sequence: found.end.last,
        segment: found.header.number,
        end: found.end.offset,
        hash: found.end.hash,
        genesis: found.header.genesis,
    }
}
