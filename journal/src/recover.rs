//! Opening a journal for writing: scan it, keep what is sound, refuse what is damaged, set aside
//! what a crash tore, and begin a new epoch.
//!
//! | behind the last sound batch | watermark or a later batch proves more | then |
//! |---|---|---|
//! | nothing | no | go on |
//! | bytes that are no sound batch | no | set aside in a file of their own, dropped |
//! | anything | yes | refuse, naming the range: acknowledged frames are damaged |
//! | a batch that is sound and wrong (chain, place, sequence) | either | refuse: no crash leaves that |
//! | a newer format | either | refuse: use the newer program |
//!
//! Sound batches above the proven point are kept: written anew into a fresh segment under the new
//! epoch, frame bytes unchanged, and synced before anything is served.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use foretell_model::{FrameRef, Sequence, TimeNs};

use crate::append::{Appender, Handoff, Opening};
use crate::batch::{self, BatchHeader};
use crate::bytes::{to_u32, to_usize, whole_pages};
use crate::chain;
use crate::control::{self, ControlPage, Position, Start};
use crate::directory::{self, DirectoryLock, marker_path};
use crate::disk::{Disk, DiskFile, give_back, write_all};
use crate::error::{Context, JournalError};
use crate::frame::Scratch;
use crate::host::Host;
use crate::map::SegmentMap;
use crate::options::Options;
use crate::prepare::{Helper, Prepared, Preparer, Work};
use crate::scan::Scan;
use crate::segment::{self, FIRST_BATCH, SegmentHeader};
use crate::segment_scan::Found;
use crate::state::JournalState;
use crate::sync::{Syncer, Tip, begin_segment};
use crate::watermark::{self, Watermark, WatermarkFile};

/// What recovery found and did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// The random bytes that name the journal.
    pub genesis: [u8; 32],
    /// The epoch of this start.
    pub epoch: u64,
    /// The last frame; 0 when there is none.
    pub last_sequence: Sequence,
    /// Its time; 0 when there is none. Whatever is appended must not be of an earlier time.
    pub last_time: TimeNs,
    /// Frames that were written anew because nothing proved yet that they were on the disk.
    pub rewritten: u64,
    /// Where a torn tail was put.
    pub set_aside: Option<PathBuf>,
}

/// A journal that is whole again and ready to be written.
#[derive(Debug)]
pub struct Recovered {
    /// What was found and done.
    pub report: Report,
    dir: PathBuf,
    options: Options,
    header: SegmentHeader,
    file: Box<dyn DiskFile>,
    tip: Tip,
    mark: Watermark,
    watermark: WatermarkFile,
    lock: DirectoryLock,
}

/// Who is shown what a journal holds. An error stops recovery before anything was changed.
pub trait Reader {
    /// The next frame.
    ///
    /// # Errors
    /// Why to stop.
    fn frame(&mut self, frame: &FrameRef<'_>) -> Result<(), String>;

    /// There are no more: the last chance to stop.
    ///
    /// # Errors
    /// Why to stop.
    fn end(&mut self) -> Result<(), String>;
}

/// A reader that has nothing to do at the end.
struct Visitor<'v>(&'v mut dyn FnMut(&FrameRef<'_>) -> Result<(), String>);

impl Reader for Visitor<'_> {
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
    recover_into(dir, options, after, &mut Visitor(visit))
}

/// Opens the journal in `dir`, creating it when there is none, and shows `reader` every frame above
/// `after` (the sequence of the snapshot the caller starts from; 0 for none) in order. Nothing that
/// holds a frame is changed before it has seen the end.
///
/// # Errors
/// Another engine has it, damage, a missing or foreign segment, a newer format, an I/O error now or
/// (without `after_io_error`) at the end of the last engine, or what `reader` said.
pub fn recover_into(
    dir: &Path,
    options: Options,
    after: Sequence,
    reader: &mut dyn Reader,
) -> Result<Recovered, JournalError> {
    options.check()?;
    let disk = &*options.disk;
    directory::prepare(disk, dir)?;
    let lock = directory::lock(dir)?;
    refuse_after_io_error(dir, options.after_io_error)?;
    control::supersede(dir)?;
    directory::remove_unfinished(disk, dir)?;
    let mark = watermark::read(dir)?;
    let is_new = directory::segments(dir)?.is_empty()
        && mark.is_none_or(|mark| mark.sequence == Sequence(0));
    let fresh = if is_new {
        if after > Sequence(0) {
            let last = Sequence(0);
            return Err(JournalError::Ahead { after, last });
        }
        create(dir, &options)?
    } else {
        let mark = mark.ok_or_else(|| JournalError::Watermark {
            path: watermark::path(dir),
            why: "it is missing".to_owned(),
        })?;
        let found = scan(dir, &options, after, &mark, reader)?;
        go_on(dir, &options, &mark, &found)?
    };
    remove_marker(disk, dir)?;
    Ok(Recovered {
        report: fresh.report,
        dir: dir.to_owned(),
        header: fresh.header,
        file: fresh.file,
        tip: fresh.tip,
        mark: fresh.mark,
        watermark: fresh.watermark,
        lock,
        options,
    })
}

fn refuse_after_io_error(dir: &Path, allowed: bool) -> Result<(), JournalError> {
    match fs::read_to_string(marker_path(dir)) {
        Ok(_) if allowed => Ok(()),
        Ok(text) => Err(JournalError::AfterIoError(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(JournalError::io("read", &marker_path(dir), error)),
    }
}

fn remove_marker(disk: &dyn Disk, dir: &Path) -> Result<(), JournalError> {
    let path = marker_path(dir);
    if !path.exists() {
        return Ok(());
    }
    disk.remove(&path).context("remove", &path)?;
    disk.sync_dir(dir).context("sync", dir)
}

fn scan(
    dir: &Path,
    options: &Options,
    after: Sequence,
    mark: &Watermark,
    reader: &mut dyn Reader,
) -> Result<Found, JournalError> {
    let scan = Scan {
        dir: dir.to_owned(),
        after,
        mark: Some(*mark),
        past_cache: options.after_io_error,
        limit: None,
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

/// The segment a new epoch begins with, and what goes with it.
struct Fresh {
    report: Report,
    header: SegmentHeader,
    file: Box<dyn DiskFile>,
    tip: Tip,
    mark: Watermark,
    watermark: WatermarkFile,
}

fn create(dir: &Path, options: &Options) -> Result<Fresh, JournalError> {
    let disk = &*options.disk;
    let mut genesis = [0; 32];
    fill_random(&*options.host, &mut genesis)?;
    let header = SegmentHeader {
        number: 1,
        epoch: 1,
        first: Sequence(1),
        bytes: options.segment_bytes,
        previous_end: 0,
        previous_hash: chain::chain_start(&genesis),
        genesis,
    };
    let mark = Watermark {
        count: 0,
        epoch: header.epoch,
        sequence: Sequence(0),
        segment: header.number,
        end: FIRST_BATCH,
        hash: header.previous_hash,
        genesis,
    };
    // The watermark first: without it a segment is refused.
    let watermark = WatermarkFile::create(disk, dir, &mark)?;
    let prepared = Prepared::create(disk, unfinished(dir), header.bytes)?;
    let file = begin_segment(disk, dir, prepared, &header)?;
    let tip = Tip {
        position: Position {
            segment: header.number,
            offset: FIRST_BATCH,
        },
        last: Sequence(0),
        hash: header.previous_hash,
    };
    Ok(Fresh {
        report: Report {
            genesis,
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

fn unfinished(dir: &Path) -> PathBuf {
    dir.join("recovering.tmp")
}

fn fill_random(host: &dyn Host, bytes: &mut [u8]) -> Result<(), JournalError> {
    host.random(bytes)
        .context("read random bytes for", Path::new("the journal"))
}

/// Begins the next epoch behind what was found.
fn go_on(
    dir: &Path,
    options: &Options,
    mark: &Watermark,
    found: &Found,
) -> Result<Fresh, JournalError> {
    let disk = &*options.disk;
    let epoch = found.header.epoch.max(mark.epoch) + 1;
    let source = segment::path(dir, found.header.number);
    // The same bytes that were verified: from the disk itself when the page cache is not trusted.
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
        give_back_unused(disk, &source, found)?;
    }
    let (file, tip) = write_anew(disk, dir, found, &old, &header)?;
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
    Ok(Fresh {
        report: Report {
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

/// The header of the fresh segment: it takes the place of a last segment that holds no batch, so
/// that starting often does not fill the disk; else it follows it.
fn next_header(options: &Options, found: &Found, epoch: u64) -> SegmentHeader {
    let kept: usize = found.unproven.iter().map(BatchHeader::total).sum();
    let bytes = options.segment_bytes.max(FIRST_BATCH + to_u32(kept));
    if found.end.at == FIRST_BATCH {
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
        previous_end: found.proven.at,
        previous_hash: found.proven.hash,
        genesis: found.header.genesis,
    }
}

/// Copies a torn tail to a file of its own, for whoever wants to know what was lost.
fn set_aside(
    disk: &dyn Disk,
    dir: &Path,
    epoch: u64,
    found: &Found,
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

/// Builds the fresh segment with the kept batches in it; it gets its name when all is synced.
fn write_anew(
    disk: &dyn Disk,
    dir: &Path,
    found: &Found,
    old: &SegmentMap,
    header: &SegmentHeader,
) -> Result<(Box<dyn DiskFile>, Tip), JournalError> {
    let mut prepared = Prepared::create(disk, unfinished(dir), header.bytes)?;
    let mut tip = Tip {
        position: Position {
            segment: header.number,
            offset: FIRST_BATCH,
        },
        last: found.proven.last,
        hash: found.proven.hash,
    };
    for kept in &found.unproven {
        let mut copy = read_again(old.bytes(), kept)?;
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

/// Header and payload of a batch that the scan verified. They must still read the same: the copy
/// gets checksums of its own, which would make bytes that rotted in between look sound.
fn read_again(segment: &[u8], kept: &BatchHeader) -> Result<Vec<u8>, JournalError> {
    let start = to_usize(kept.offset);
    let end = start + batch::HEADER_BYTES + to_usize(kept.payload);
    segment
        .get(start..end)
        .filter(|batch| crc32c::crc32c(&batch[batch::HEADER_BYTES..]) == kept.payload_crc)
        .map(<[u8]>::to_vec)
        .ok_or_else(|| JournalError::Damaged {
            segment: kept.segment,
            from: kept.offset,
            to: to_u32(end),
            first: kept.first,
            last: kept.last,
            why: "it was sound a moment ago and reads otherwise now".to_owned(),
        })
}

/// Gives back what the last segment does not use: zeros behind its batches and behind what a crash
/// tore. Before a new segment takes space, as this may be all there is; nothing is ever written to
/// the old one again, whatever happens next.
fn give_back_unused(disk: &dyn Disk, path: &Path, found: &Found) -> Result<(), JournalError> {
    if is_sealed(path)? {
        return Ok(());
    }
    let unused = found.torn.map_or(found.end.at, |(_, end)| end);
    let mut file = disk.open(path).context("open", path)?;
    give_back(&mut *file, unused, path);
    Ok(())
}

fn is_sealed(path: &Path) -> Result<bool, JournalError> {
    let meta = fs::metadata(path).context("stat", path)?;
    Ok(meta.permissions().mode() & 0o222 == 0)
}

/// Takes the write permission of a segment that is followed by another.
fn seal(disk: &dyn Disk, dir: &Path, number: u32) -> Result<(), JournalError> {
    let path = segment::path(dir, number);
    if is_sealed(&path)? {
        return Ok(());
    }
    let mut file = disk.open(&path).context("open", &path)?;
    file.make_read_only().context("seal", &path)
}

impl Recovered {
    /// Starts serving: as [`Recovered::open`], with a thread for the helper.
    ///
    /// # Errors
    /// An I/O error.
    pub fn start(self) -> Result<(Appender, Syncer, JournalState), JournalError> {
        let (appender, mut syncer, state, helper) = self.open()?;
        syncer.employ(helper)?;
        Ok((appender, syncer, state))
    }

    /// Publishes the control page and hands out the matcher's end, the sync thread's end, the state
    /// for everybody else, and the helper that prepares segments: for whoever gives it its turns,
    /// or to [`Syncer::employ`] it.
    ///
    /// # Errors
    /// An I/O error.
    pub fn open(self) -> Result<(Appender, Syncer, JournalState, Helper), JournalError> {
        let mut generation = [0; 8];
        fill_random(&*self.options.host, &mut generation)?;
        let start = Start {
            epoch: self.report.epoch,
            generation: u64::from_le_bytes(generation),
            genesis: self.report.genesis,
            segment: self.header.number,
            first: self.header.first,
            found: self.report.last_sequence,
        };
        let tip = self.tip;
        let control = ControlPage::create(&self.dir, &start, tip.last, tip.position)?;
        let options = self.options;
        let state = JournalState::new(tip.last, options.durability, start, control);
        let (handoff, parker) = Handoff::new(options.staging_bytes);
        let (preparer, helper) = Preparer::new(Work {
            disk: options.disk.clone(),
            dir: self.dir.clone(),
            segment_bytes: options.segment_bytes,
            reserve: options.disk_reserve_bytes,
            state: state.clone(),
            sync_thread: parker.unparker().clone(),
        });
        let opening = Opening {
            segment: tip.position.segment,
            offset: tip.position.offset,
            bytes: self.header.bytes,
            next_bytes: options.segment_bytes,
        };
        let appender = Appender::new(
            handoff.clone(),
            state.clone(),
            opening,
            (tip.last, self.report.last_time),
        );
        let syncer = Syncer {
            dir: self.dir,
            disk: options.disk,
            host: options.host,
            durability: options.durability,
            watermark_after: options.watermark_after,
            segment_bytes: options.segment_bytes,
            state: state.clone(),
            handoff,
            parker,
            preparer,
            file: self.file,
            tip,
            proven: tip.last,
            watermark: self.watermark,
            mark: self.mark,
            unmarked_since: None,
            waiting: None,
            _lock: self.lock,
        };
        Ok((appender, syncer, state, helper))
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
        assert_eq!(read_again(&segment, &kept).unwrap(), sound);

        let cut = &segment[..AT + 400];
        assert!(matches!(
            read_again(cut, &kept),
            Err(JournalError::Damaged { .. })
        ));
        segment[AT + 200] ^= 1;
        let rotten = read_again(&segment, &kept);
        assert!(matches!(rotten, Err(JournalError::Damaged { .. })));
    }
}
