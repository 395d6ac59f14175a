//! Opening a journal for writing: scan it, keep valid batches, refuse damage, set aside a torn
//! tail, and begin a new epoch.
//!
//! | after the last valid batch | watermark or a later batch proves more | action |
//! |---|---|---|
//! | nothing | no | continue |
//! | bytes that are no valid batch | no | copy them to a separate file and drop them |
//! | anything | yes | refuse and name the range: acknowledged frames are damaged |
//! | valid checksums, wrong content (chain, position, sequence) | either | refuse: no crash causes that |
//! | a newer format | either | refuse: use the newer program |
//!
//! Valid batches above the proven position are kept. They are rewritten to a new segment under the
//! new epoch, with unchanged frame bytes, and synced before the engine serves.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use foretell_model::{FrameRef, Sequence, TimeNs};

use crate::append::{Appender, Handoff, NextBatch};
use crate::batch::{self, BatchHeader};
use crate::batch_cursor::sound_payload;
use crate::bytes::{to_u32, to_usize, whole_pages};
use crate::chain;
use crate::clock_and_random::ClockAndRandom;
use crate::control::{self, ControlPage, EngineStart, JournalPosition};
use crate::directory::{self, DirectoryLock, marker_path};
use crate::disk::{Disk, DiskFile, release_unused, write_all};
use crate::error::{Context, JournalError};
use crate::frame::Scratch;
use crate::map::SegmentMap;
use crate::options::Options;
use crate::preallocate::{Preallocator, PreallocatorHandle, PreallocatorParts, PreparedSegment};
use crate::scan::Scan;
use crate::segment::{self, FIRST_BATCH, SegmentHeader};
use crate::segment_scan::JournalEnd;
use crate::segments::Segments;
use crate::state::JournalState;
use crate::sync::{Syncer, Tip, begin_segment};
use crate::watermark::{self, Watermark, WatermarkFile};

/// Result of a recovery.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecoveryReport {
    /// The random bytes that name the journal.
    pub genesis: [u8; 32],
    /// The epoch of this start.
    pub epoch: u64,
    /// The last frame; 0 when there is none.
    pub last_sequence: Sequence,
    /// Its time; 0 when there is none. The time of the next frame must not be earlier.
    pub last_time: TimeNs,
    /// Number of frames that were rewritten because nothing proved that they were on the disk.
    pub rewritten: u64,
    /// The file with the torn tail, if there was one.
    pub set_aside: Option<PathBuf>,
}

/// A recovered journal that is ready to be written.
#[derive(Debug)]
pub struct Recovered {
    /// The result of the recovery.
    pub report: RecoveryReport,
    pub(crate) dir: PathBuf,
    pub(crate) options: Options,
    pub(crate) header: SegmentHeader,
    pub(crate) file: Box<dyn DiskFile>,
    pub(crate) tip: Tip,
    pub(crate) mark: Watermark,
    pub(crate) watermark: WatermarkFile,
    pub(crate) lock: DirectoryLock,
}

/// Receives the frames during recovery. An error stops recovery before any change.
pub trait FrameVisitor {
    /// Receives the next frame.
    ///
    /// # Errors
    /// The reason to stop.
    fn frame(&mut self, frame: &FrameRef<'_>) -> Result<(), String>;

    /// Called after the last frame; the last chance to stop.
    ///
    /// # Errors
    /// The reason to stop.
    fn end(&mut self) -> Result<(), String>;
}

/// A reader that has nothing to do at the end.
struct ClosureVisitor<'v>(&'v mut dyn FnMut(&FrameRef<'_>) -> Result<(), String>);

impl FrameVisitor for ClosureVisitor<'_> {
    fn frame(&mut self, frame: &FrameRef<'_>) -> Result<(), String> {
        (self.0)(frame)
    }

    fn end(&mut self) -> Result<(), String> {
        Ok(())
    }
}

/// [`recover_into`] for a reader that has nothing to do at the end.
///
/// # Errors
/// As there.
pub fn recover(
    dir: &Path,
    options: Options,
    after: Sequence,
    visit: &mut dyn FnMut(&FrameRef<'_>) -> Result<(), String>,
) -> Result<Recovered, JournalError> {
    recover_into(dir, options, after, &mut ClosureVisitor(visit))
}

/// Opens the journal in `dir`, creating it if there is none. Passes every frame above `after` to
/// `reader` in order; `after` is the sequence of the caller's snapshot, or 0. No file with a frame
/// is changed before `reader.end` has returned.
///
/// # Errors
/// Another engine holds the lock, damage, a missing or foreign segment, a newer format, an I/O
/// error now or (without `after_io_error`) at the end of the last engine, or an error of `reader`.
pub fn recover_into(
    dir: &Path,
    options: Options,
    after: Sequence,
    reader: &mut dyn FrameVisitor,
) -> Result<Recovered, JournalError> {
    options.check()?;
    let disk = &*options.disk;
    directory::prepare(disk, dir)?;
    let lock = directory::lock(dir)?;
    refuse_after_io_error(dir, options.after_io_error)?;
    refuse_replica(dir)?;
    control::supersede(dir)?;
    directory::remove_unfinished(disk, dir)?;
    let new = match read_frames(dir, &options, after, reader)? {
        None => create(dir, &options)?,
        Some((mark, found)) => begin_epoch(dir, &options, &mark, &found)?,
    };
    directory::remove_marker(disk, &marker_path(dir))?;
    Ok(Recovered {
        report: new.report,
        dir: dir.to_owned(),
        header: new.header,
        file: new.file,
        tip: new.tip,
        mark: new.mark,
        watermark: new.watermark,
        lock,
        options,
    })
}

/// The watermark of the journal in `dir`; `None` of a new one.
///
/// # Errors
/// It is damaged, of a newer version, or missing beside segments.
pub(crate) fn watermark_of_frames(dir: &Path) -> Result<Option<Watermark>, JournalError> {
    let mark = watermark::read(dir)?;
    let is_unwritten = mark.is_none_or(|mark| mark.sequence == Sequence(0));
    if is_unwritten && directory::segments(dir)?.is_empty() {
        return Ok(None);
    }
    mark.map(Some).ok_or_else(|| JournalError::Watermark {
        path: watermark::path(dir),
        why: "it is missing".to_owned(),
    })
}

/// Reads the watermark and every frame above `after`, and changes nothing; `None` of a new journal.
///
/// # Errors
/// Those with which a start refuses the frames.
pub(crate) fn read_frames(
    dir: &Path,
    options: &Options,
    after: Sequence,
    reader: &mut dyn FrameVisitor,
) -> Result<Option<(Watermark, JournalEnd)>, JournalError> {
    match watermark_of_frames(dir)? {
        None if after > Sequence(0) => {
            let last = Sequence(0);
            Err(JournalError::Ahead { after, last })
        }
        None => Ok(None),
        Some(mark) => {
            let found = scan(dir, options, after, &mark, reader)?;
            Ok(Some((mark, found)))
        }
    }
}

pub(crate) fn refuse_replica(dir: &Path) -> Result<(), JournalError> {
    if directory::is_replica(dir) {
        return Err(JournalError::Replica(directory::replica_marker_path(dir)));
    }
    Ok(())
}

pub(crate) fn refuse_after_io_error(dir: &Path, allowed: bool) -> Result<(), JournalError> {
    match fs::read_to_string(marker_path(dir)) {
        Ok(_) if allowed => Ok(()),
        Ok(text) => Err(JournalError::AfterIoError(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(JournalError::io("read", &marker_path(dir), error)),
    }
}

pub(crate) fn scan(
    dir: &Path,
    options: &Options,
    after: Sequence,
    mark: &Watermark,
    reader: &mut dyn FrameVisitor,
) -> Result<JournalEnd, JournalError> {
    let scan = Scan {
        segments: Segments::of(dir),
        after,
        mark: Some(*mark),
        past_cache: options.after_io_error,
        limit: None,
        may_change: false,
    };
    let mut scratch = Scratch::default();
    let stopped = |sequence, reason| JournalError::Stopped { sequence, reason };
    let found = scan.run(&mut |batch| {
        batch.frames_after(after).try_for_each(|frame| {
            let place = frame.place();
            let shown = frame
                .decode(&mut scratch)
                .map_err(|error| JournalError::Damaged {
                    segment: place.segment,
                    from: place.offset,
                    to: place.offset + place.length,
                    first: frame.sequence(),
                    last: frame.sequence(),
                    why: error.to_string(),
                })?;
            let read = reader.frame(&shown);
            read.map_err(|reason| stopped(frame.sequence(), reason))
        })
    })?;
    let read = reader.end();
    read.map_err(|reason| stopped(found.end.last, reason))?;
    Ok(found)
}

/// The first segment of a new epoch, and its watermark and report.
struct NewSegment {
    report: RecoveryReport,
    header: SegmentHeader,
    file: Box<dyn DiskFile>,
    tip: Tip,
    mark: Watermark,
    watermark: WatermarkFile,
}

/// The header of the first segment of a new journal, with a random genesis.
pub(crate) fn first_header(options: &Options) -> Result<SegmentHeader, JournalError> {
    let mut genesis = [0; 32];
    fill_random(&*options.host, &mut genesis)?;
    Ok(SegmentHeader {
        number: 1,
        epoch: 1,
        first: Sequence(1),
        bytes: options.segment_bytes,
        previous_end: 0,
        previous_hash: chain::chain_start(&genesis),
        genesis,
    })
}

/// The files of a journal without frames.
pub(crate) struct EmptyJournal {
    pub(crate) file: Box<dyn DiskFile>,
    pub(crate) mark: Watermark,
    pub(crate) watermark: WatermarkFile,
}

/// Creates the watermark and the first segment of a journal.
pub(crate) fn begin_journal(
    disk: &dyn Disk,
    dir: &Path,
    header: &SegmentHeader,
) -> Result<EmptyJournal, JournalError> {
    let mark = Watermark {
        count: 0,
        epoch: header.epoch,
        sequence: Sequence(0),
        segment: header.number,
        end: FIRST_BATCH,
        hash: header.previous_hash,
        genesis: header.genesis,
    };
    // The watermark first: a segment without a watermark is refused.
    let watermark = WatermarkFile::create(disk, dir, &mark)?;
    let prepared = PreparedSegment::create(disk, directory::unfinished(dir), header.bytes)?;
    let file = begin_segment(disk, dir, prepared, header)?;
    Ok(EmptyJournal {
        file,
        mark,
        watermark,
    })
}

fn create(dir: &Path, options: &Options) -> Result<NewSegment, JournalError> {
    let header = first_header(options)?;
    let EmptyJournal {
        file,
        mark,
        watermark,
    } = begin_journal(&*options.disk, dir, &header)?;
    let tip = Tip {
        position: JournalPosition {
            segment: header.number,
            offset: FIRST_BATCH,
        },
        last: Sequence(0),
        hash: header.previous_hash,
    };
    Ok(NewSegment {
        report: RecoveryReport {
            genesis: header.genesis,
            epoch: header.epoch,
            last_sequence: Sequence(0),
            last_time: TimeNs(0),
            rewritten: 0,
            set_aside: None,
        },
        header,
        file,
        tip,
        mark,
        watermark,
    })
}

pub(crate) fn fill_random(host: &dyn ClockAndRandom, bytes: &mut [u8]) -> Result<(), JournalError> {
    host.random(bytes)
        .context("read random bytes for", Path::new("the journal"))
}

/// Begins the next epoch after the recovered frames.
fn begin_epoch(
    dir: &Path,
    options: &Options,
    mark: &Watermark,
    found: &JournalEnd,
) -> Result<NewSegment, JournalError> {
    let disk = &*options.disk;
    let epoch = found.header.epoch.max(mark.epoch) + 1;
    let source = segment::path(dir, found.header.number);
    // Read the bytes that were verified: from the disk if the page cache is not trusted.
    let old = if options.after_io_error {
        SegmentMap::read_past_cache(&source).context("read", &source)?
    } else {
        SegmentMap::open(&source, found.header.bytes).context("map", &source)?
    };
    let set_aside = match found.torn {
        Some(range) => Some(set_aside(disk, dir, epoch, found, &old, range)?),
        None => None,
    };
    let header = next_header(options, found, epoch);
    if header.number != found.header.number {
        release_unused_end(disk, &source, found)?;
    }
    let (file, tip) = rewrite_unproven(disk, dir, found, &old, &header)?;
    if header.number != found.header.number {
        seal(disk, dir, found.header.number)?;
    }
    let mark = Watermark {
        count: mark.count + 1,
        epoch,
        sequence: tip.last,
        segment: tip.position.segment,
        end: tip.position.offset,
        hash: tip.hash,
        genesis: header.genesis,
    };
    let mut watermark = WatermarkFile::open(disk, dir)?;
    watermark.record(&mark)?;
    Ok(NewSegment {
        report: RecoveryReport {
            genesis: header.genesis,
            epoch,
            last_sequence: tip.last,
            last_time: found.end.time,
            rewritten: found.end.last.0 - found.proven.last.0,
            set_aside,
        },
        header,
        file,
        tip,
        mark,
        watermark,
    })
}

/// The header of the new segment. It replaces a last segment without a batch, so frequent starts do
/// not fill the disk; else it follows the last segment.
fn next_header(options: &Options, found: &JournalEnd, epoch: u64) -> SegmentHeader {
    let kept: usize = found.unproven.iter().map(BatchHeader::total).sum();
    let bytes = options.segment_bytes.max(FIRST_BATCH + to_u32(kept));
    if found.end.offset == FIRST_BATCH {
        return SegmentHeader {
            epoch,
            bytes,
            ..found.header
        };
    }
    SegmentHeader {
        number: found.header.number + 1,
        epoch,
        first: found.proven.last.next(),
        bytes,
        previous_end: found.proven.offset,
        previous_hash: found.proven.hash,
        genesis: found.header.genesis,
    }
}

/// Copies a torn tail to a separate file, for later analysis.
fn set_aside(
    disk: &dyn Disk,
    dir: &Path,
    epoch: u64,
    found: &JournalEnd,
    old: &SegmentMap,
    (from, to): (u32, u32),
) -> Result<PathBuf, JournalError> {
    let number = found.header.number;
    let path = dir.join(format!("tail-{number:08}-{from}-before-epoch-{epoch}.bin"));
    let mut file = disk.create(&path).context("create", &path)?;
    let tail = &old.bytes()[to_usize(from)..to_usize(to)];
    write_all(&mut *file, tail, 0).context("write", &path)?;
    file.sync_data().context("sync", &path)?;
    disk.sync_dir(dir).context("sync", dir)?;
    tracing::warn!(segment = number, from, to, kept = %path.display(), "a torn tail was set aside");
    Ok(path)
}

/// Builds the new segment with the kept batches; it is renamed when all of it is synced.
fn rewrite_unproven(
    disk: &dyn Disk,
    dir: &Path,
    found: &JournalEnd,
    old: &SegmentMap,
    header: &SegmentHeader,
) -> Result<(Box<dyn DiskFile>, Tip), JournalError> {
    let mut prepared = PreparedSegment::create(disk, directory::unfinished(dir), header.bytes)?;
    let mut tip = Tip {
        position: JournalPosition {
            segment: header.number,
            offset: FIRST_BATCH,
        },
        last: found.proven.last,
        hash: found.proven.hash,
    };
    for kept in &found.unproven {
        let mut copy = reread_verified(old.bytes(), kept)?;
        let renewed = BatchHeader {
            segment: header.number,
            offset: tip.position.offset,
            epoch: header.epoch,
            proven: found.proven.last,
            ..*kept
        };
        let renewed = BatchHeader::close(renewed, &tip.hash, &mut copy);
        copy.resize(whole_pages(copy.len()), 0);
        write_all(&mut *prepared.file, &copy, u64::from(renewed.offset))
            .context("write", &prepared.path)?;
        tip.position.offset += to_u32(copy.len());
        tip.last = renewed.last;
        tip.hash = renewed.hash;
    }
    let file = begin_segment(disk, dir, prepared, header)?;
    Ok((file, tip))
}

/// Header and payload of a batch that the scan verified. They are checked again: the copy gets new
/// checksums, which would hide a corruption since the scan.
fn reread_verified(segment: &[u8], kept: &BatchHeader) -> Result<Vec<u8>, JournalError> {
    let start = to_usize(kept.offset);
    let end = start + batch::HEADER_BYTES + to_usize(kept.payload);
    let here = segment.get(start..).unwrap_or_default();
    sound_payload(kept, here)
        .map(|_| segment[start..end].to_vec())
        .map_err(|_| JournalError::Damaged {
            segment: kept.segment,
            from: kept.offset,
            to: to_u32(end),
            first: kept.first,
            last: kept.last,
            why: "its bytes changed after they were verified".to_owned(),
        })
}

/// Releases the zeros after the batches and the torn tail of the last segment. This comes before a
/// new segment takes space, because the disk may have no other. The old segment is never written
/// again.
fn release_unused_end(
    disk: &dyn Disk,
    path: &Path,
    found: &JournalEnd,
) -> Result<(), JournalError> {
    if is_sealed(path)? {
        return Ok(());
    }
    let unused = found.torn.map_or(found.end.offset, |(_, end)| end);
    let mut file = disk.open(path).context("open", path)?;
    release_unused(&mut *file, unused, path);
    Ok(())
}

fn is_sealed(path: &Path) -> Result<bool, JournalError> {
    let meta = fs::metadata(path).context("stat", path)?;
    Ok(meta.permissions().mode() & 0o222 == 0)
}

/// Removes the write permission of a segment that has a successor.
fn seal(disk: &dyn Disk, dir: &Path, number: u32) -> Result<(), JournalError> {
    let path = segment::path(dir, number);
    if is_sealed(&path)? {
        return Ok(());
    }
    let mut file = disk.open(&path).context("open", &path)?;
    file.make_read_only().context("seal", &path)
}

impl Recovered {
    /// As [`Recovered::open`], with a thread for the preallocator.
    pub fn start(self) -> Result<(Appender, Syncer, JournalState), JournalError> {
        let (appender, mut syncer, state, preallocator) = self.open()?;
        syncer.start_preallocator(preallocator)?;
        Ok((appender, syncer, state))
    }

    /// Publishes the control page. Returns the matcher's end, the sync thread's end, the state for
    /// other threads, and the preallocator. The caller runs its turns or passes it
    /// to [`Syncer::start_preallocator`].
    pub fn open(self) -> Result<(Appender, Syncer, JournalState, Preallocator), JournalError> {
        let last_time = self.report.last_time;
        let opening = NextBatch {
            segment: self.tip.position.segment,
            offset: self.tip.position.offset,
            bytes: self.header.bytes,
            next_bytes: self.options.segment_bytes,
        };
        let (syncer, preallocator) = self.syncer(false)?;
        let state = syncer.state.clone();
        let appender = Appender::new(
            syncer.handoff.clone(),
            state.clone(),
            opening,
            (syncer.tip.last, last_time),
        );
        Ok((appender, syncer, state, preallocator))
    }

    /// Publishes the control page and makes the sync thread's end.
    pub(crate) fn syncer(self, is_replica: bool) -> Result<(Syncer, Preallocator), JournalError> {
        let mut generation = [0; 8];
        fill_random(&*self.options.host, &mut generation)?;
        let start = EngineStart {
            epoch: self.report.epoch,
            generation: u64::from_le_bytes(generation),
            genesis: self.report.genesis,
            segment: self.header.number,
            first: self.header.first,
            found: self.report.last_sequence,
            is_replica,
        };
        let tip = self.tip;
        let control = ControlPage::create(&self.dir, &start, tip.last, tip.position)?;
        let options = self.options;
        let state = JournalState::new(tip.last, options.durability, start, control);
        let (handoff, parker) = Handoff::new(options.staging_bytes);
        let (handle, preallocator) = PreallocatorHandle::new(PreallocatorParts {
            disk: options.disk.clone(),
            dir: self.dir.clone(),
            segment_bytes: options.segment_bytes,
            reserve: options.disk_reserve_bytes,
            state: state.clone(),
            sync_thread: parker.unparker().clone(),
        });
        let syncer = Syncer {
            dir: self.dir,
            disk: options.disk,
            host: options.host,
            durability: options.durability,
            watermark_after: options.watermark_after,
            segment_bytes: options.segment_bytes,
            state,
            handoff,
            parker,
            preallocator: handle,
            file: self.file,
            tip,
            proven: tip.last,
            watermark: self.watermark,
            mark: self.mark,
            unmarked_since: None,
            waiting: None,
            log: None,
            _lock: self.lock,
        };
        Ok((syncer, preallocator))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_that_reads_otherwise_than_it_was_verified_is_not_written_anew() {
        const AT: usize = 4_096;
        let mut segment = vec![7; 3 * AT];
        let open = BatchHeader {
            frames: 1,
            payload: 0,
            segment: 1,
            offset: FIRST_BATCH,
            epoch: 1,
            first: Sequence(1),
            last: Sequence(1),
            proven: Sequence(0),
            payload_crc: 0,
            hash: [0; 32],
        };
        let batch = &mut segment[AT..AT + batch::HEADER_BYTES + 300];
        let kept = BatchHeader::close(open, &[0; 32], batch);
        let sound = batch.to_vec();
        assert_eq!(reread_verified(&segment, &kept).unwrap(), sound);

        let cut = &segment[..AT + 400];
        assert!(matches!(
            reread_verified(cut, &kept),
            Err(JournalError::Damaged { .. })
        ));
        segment[AT + 200] ^= 1;
        let rotten = reread_verified(&segment, &kept);
        assert!(matches!(rotten, Err(JournalError::Damaged { .. })));
    }
}
