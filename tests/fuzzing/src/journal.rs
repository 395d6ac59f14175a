//! Recovery of a journal's files: it returns the valid frames from the first one on, and refuses
//! all other files without changing them.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use foretell_journal::batch::{BatchHeader, HEADER_BYTES};
use foretell_journal::frame::{self, Scratch};
use foretell_journal::segment::{self, FIRST_BATCH, SegmentHeader};
use foretell_journal::watermark::{self, Watermark};
use foretell_journal::{JournalError, Options, PAGE, RecoveryReport, recover, scan};
use foretell_model::{FrameRef, Sequence};
use tempfile::TempDir;

use crate::edits::{self, EDITED, InputMode, RAW, SEALED};
use crate::seal::{GENESIS, seal};
use crate::{Seed, world};

/// Larger files cost more time than they are worth.
const MAX_FILE_BYTES: usize = 256 << 10;

/// The valid journal: one segment, and its watermark two batches before the end.
struct ValidJournal {
    /// The watermark's page, then the segment.
    file: Vec<u8>,
    frames: Vec<Vec<u8>>,
    proven: usize,
}

static SOUND: LazyLock<ValidJournal> = LazyLock::new(|| {
    let frames = &world::site().frames;
    let dir = tempfile::tempdir().expect("a directory");
    seal(dir.path(), frames);
    let segment = fs::read(segment::path(dir.path(), 1)).expect("a segment");
    let batches = batches(&segment);
    let (offset, header) = batches[batches.len() - 3];
    let mark = Watermark {
        count: 0,
        epoch: 1,
        sequence: header.last,
        segment: 1,
        end: u32::try_from(offset + header.total()).expect("a small segment"),
        hash: header.hash,
        genesis: GENESIS,
    };
    ValidJournal {
        file: [mark.page().as_slice(), &segment].concat(),
        frames: frames.iter().map(crate::seal::Loose::bytes).collect(),
        proven: usize::try_from(header.last.0).expect("a short journal"),
    }
});

/// The batches of a segment with their offsets, up to the first invalid header.
fn batches(segment: &[u8]) -> Vec<(usize, BatchHeader)> {
    let mut at = FIRST_BATCH as usize;
    let mut found = Vec::new();
    while let Some(Ok(header)) = segment.get(at..).map(BatchHeader::read) {
        found.push((at, header));
        at += header.total();
    }
    found
}

pub(crate) fn run(bytes: &[u8]) {
    let sound = &*SOUND;
    if bytes.len() > MAX_FILE_BYTES {
        return;
    }
    let (mode, mut file) = edits::decode_input(bytes, &sound.file);
    let mark_end = file.len().min(PAGE);
    let (mark, segment) = file.split_at_mut(mark_end);
    if mode == InputMode::Sealed {
        reseal(mark, segment);
    }
    let dir = Files::put(mark, segment);
    let outcome = check_recovery(&dir);
    let Ok((frames, report)) = outcome else {
        return;
    };
    if mode == InputMode::Edited {
        check_prefix_of_written(sound, &frames, mark == &sound.file[..PAGE]);
    }
    let (again, second) = check_recovery(&dir).expect("what recovery wrote can be recovered");
    assert_eq!(again, frames, "another recovery shows other frames");
    assert_eq!(second.last_sequence, report.last_sequence);
    assert_eq!((second.epoch, second.set_aside), (report.epoch + 1, None));
}

/// Without new checksums only a prefix of the written frames can verify, and at least the frames up
/// to the watermark.
fn check_prefix_of_written(sound: &ValidJournal, frames: &[Vec<u8>], is_marked: bool) {
    assert_eq!(*frames, sound.frames[..frames.len()], "frames nobody wrote");
    assert!(
        !is_marked || frames.len() >= sound.proven,
        "{} of {} acknowledged frames came back and nobody was told",
        frames.len(),
        sound.proven
    );
}

/// The frames and the report of a recovery. A scan before it must agree, also on failure.
fn check_recovery(dir: &Files) -> Result<(Vec<Vec<u8>>, RecoveryReport), ()> {
    let before = dir.read();
    let scanned = scan_frames(&dir.path);
    let mut frames = Vec::new();
    let mut last = (0, 0);
    let recovered = recover(&dir.path, dir.options(), Sequence(0), &mut |frame| {
        assert_eq!(frame.sequence.0, last.0 + 1, "a gap");
        assert!(frame.time.0 >= last.1, "time goes back");
        last = (frame.sequence.0, frame.time.0);
        frames.push(written(frame));
        Ok(())
    });
    match (recovered, scanned) {
        (Ok(recovered), Ok((scanned, torn))) => {
            let report = recovered.report;
            assert_eq!(frames, scanned, "recovery and scan show other frames");
            assert_eq!(report.last_sequence.0, frames.len() as u64);
            assert_eq!(report.last_time.0, last.1);
            assert_eq!(report.set_aside.is_some(), torn);
            assert!(report.rewritten <= frames.len() as u64);
            Ok((frames, report))
        }
        (Err(error), scanned) => {
            assert!(scanned.is_err(), "a scan saw nothing: {error}");
            assert!(!error.to_string().is_empty());
            assert!(!matches!(error, JournalError::Io { .. }), "{error}");
            assert_eq!(dir.read(), before, "a refused journal was changed: {error}");
            Err(())
        }
        (Ok(_), Err(error)) => panic!("recovered what a scan refuses: {error}"),
    }
}

/// All frames of a scan, and whether a torn tail follows.
fn scan_frames(dir: &Path) -> Result<(Vec<Vec<u8>>, bool), JournalError> {
    // Recovery requires a watermark; an audit does not.
    if watermark::read(dir)?.is_none() {
        panic!("the file was put there");
    }
    let (mut frames, mut scratch) = (Vec::new(), Scratch::default());
    let report = scan(dir, Sequence(0), &mut |frame| {
        let shown = frame.decode(&mut scratch);
        let newest = written(&shown.map_err(|error| error.to_string())?);
        assert_eq!(
            newest,
            frame.bytes(),
            "a frame that is not as it is written"
        );
        frames.push(newest);
        Ok(())
    })?;
    assert_eq!(report.last_sequence.0, frames.len() as u64);
    assert!(report.proven_sequence <= report.last_sequence);
    Ok((frames, report.torn.is_some()))
}

/// The bytes of a frame.
fn written(frame: &FrameRef<'_>) -> Vec<u8> {
    let mut bytes = vec![0; frame::length(frame.events.len(), frame.evidence.len())];
    let (command, events, evidence) = (frame.command, frame.events, frame.evidence);
    frame::encode(
        &mut bytes,
        frame.sequence,
        frame.time,
        command,
        events,
        evidence,
    );
    bytes
}

/// Recomputes checksums and chain of edited files, so that the edits reach the code after those
/// checks. An unedited watermark is replaced by one that covers nothing, because it names the old
/// chain.
fn reseal(mark: &mut [u8], segment: &mut [u8]) {
    let crc_at = PAGE - 4;
    for page in [&mut *mark, &mut *segment] {
        if let Some(page) = page.get_mut(..PAGE) {
            let crc = crc32c::crc32c(&page[..crc_at]);
            page[crc_at..].copy_from_slice(&crc.to_le_bytes());
        }
    }
    let Ok(header) = SegmentHeader::read(segment) else {
        return;
    };
    if *mark == SOUND.file[..PAGE] {
        let nothing = Watermark {
            count: 0,
            epoch: header.epoch,
            sequence: Sequence(0),
            segment: 1,
            end: FIRST_BATCH,
            hash: header.previous_hash,
            genesis: header.genesis,
        };
        mark.copy_from_slice(nothing.page().as_slice());
    }
    let mut hash = header.previous_hash;
    let mut at = FIRST_BATCH as usize;
    while let Some(head) = segment.get(at..at + HEADER_BYTES) {
        let number = |place: usize| {
            let bytes = head[place..place + 4].try_into().expect("four bytes");
            u32::from_le_bytes(bytes)
        };
        let long = |place: usize| u64::from(number(place)) | u64::from(number(place + 4)) << 32;
        let payload = number(16) as usize;
        let said = BatchHeader {
            frames: number(12),
            payload: 0,
            segment: number(20),
            offset: number(24),
            epoch: long(32),
            first: Sequence(long(40)),
            last: Sequence(long(48)),
            proven: Sequence(long(56)),
            payload_crc: 0,
            hash: [0; 32],
        };
        let Some(batch) = segment.get_mut(at..at.saturating_add(HEADER_BYTES + payload)) else {
            return;
        };
        let closed = BatchHeader::close(said, &hash, batch);
        hash = closed.hash;
        at += closed.total();
    }
}

/// A directory that lives as long as its thread, with the files of one input.
struct Files {
    path: PathBuf,
}

impl Files {
    /// Replaces the files by those of an input.
    fn put(mark: &[u8], segment: &[u8]) -> Self {
        thread_local! {
            static DIRECTORY: RefCell<Option<TempDir>> = const { RefCell::new(None) };
        }
        let path = DIRECTORY.with_borrow_mut(|directory| {
            let directory = directory.get_or_insert_with(|| in_memory("journal"));
            directory.path().join("journal")
        });
        if path.exists() {
            fs::remove_dir_all(&path).expect("the last input's files are ours");
        }
        fs::create_dir(&path).expect("a directory");
        fs::write(watermark::path(&path), mark).expect("a watermark");
        fs::write(segment::path(&path, 1), segment).expect("a segment");
        Self { path }
    }

    fn options(&self) -> Options {
        Options {
            segment_bytes: Options::MIN_SEGMENT_BYTES,
            staging_bytes: 512 << 10,
            disk_reserve_bytes: 0,
            ..Options::default()
        }
    }

    /// The files that a refused recovery must not change: every segment and the watermark.
    fn read(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let entries = fs::read_dir(&self.path).expect("our directory");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        let is_lock = |path: &PathBuf| path.ends_with("LOCK");
        let mut files: Vec<_> = paths
            .filter(|path| !is_lock(path))
            .map(|path| (path.clone(), fs::read(path).expect("a file")))
            .collect();
        files.sort();
        files
    }
}

/// A directory in memory if the machine has one: an input writes a megabyte.
pub(crate) fn in_memory(what: &str) -> TempDir {
    let prefix = format!("foretell-fuzz-{what}-");
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix(&prefix);
    builder
        .tempdir_in("/dev/shm")
        .or_else(|_| builder.tempdir())
        .expect("a directory for a few megabytes")
}

pub(crate) fn seeds() -> Vec<Seed> {
    let sound = &*SOUND;
    let end = u32::try_from(sound.file.len()).expect("a small file");
    let page = u32::try_from(PAGE).expect("a small number");
    // The second batch's header, and its first frame.
    let (batch, frame) = (3 * page, 3 * page + 128);
    vec![
        ("whole", [vec![RAW], sound.file.clone()].concat()),
        ("sound", vec![EDITED]),
        ("torn", edits::input(EDITED, &[(0, end - 5_000, 7)])),
        ("cut", edits::input(EDITED, &[(4, end - page, 0)])),
        ("flipped", edits::input(EDITED, &[(1, frame + 30, 1)])),
        ("no-mark", edits::input(EDITED, &[(3, 0, 0)])),
        ("sealed", vec![SEALED]),
        ("sealed-frame", edits::input(SEALED, &[(1, frame + 30, 1)])),
        ("sealed-length", edits::input(SEALED, &[(0, frame, 8)])),
        ("sealed-batch", edits::input(SEALED, &[(2, batch + 48, 1)])),
        ("sealed-mark", edits::input(SEALED, &[(2, 32, 1)])),
        (
            "sealed-segment",
            edits::input(SEALED, &[(3, page + 24, 255)]),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of frames that recovery returns for an input; `None` when it refuses.
    fn recovered(input: &[u8]) -> Option<usize> {
        let (mode, mut file) = edits::decode_input(input, &SOUND.file);
        let (mark, segment) = file.split_at_mut(PAGE);
        if mode == InputMode::Sealed {
            reseal(mark, segment);
        }
        let dir = Files::put(mark, segment);
        check_recovery(&dir).ok().map(|(frames, _)| frames.len())
    }

    #[test]
    fn the_sound_journal_is_recovered_whole_and_its_checksums_can_be_made_again() {
        assert_eq!(recovered(&[vec![RAW], SOUND.file.clone()].concat()), all());
        assert_eq!(recovered(&[EDITED]), all());
        assert_eq!(recovered(&[SEALED]), all());
    }

    fn all() -> Option<usize> {
        Some(SOUND.frames.len())
    }

    #[test]
    fn damage_is_met_behind_right_checksums_too() {
        let first = u32::try_from(2 * PAGE + HEADER_BYTES).expect("a small number");
        // The time of the first frame: a torn tail with the old checksum, accepted with a new one.
        let later = (2, first + 16, 0);
        assert_eq!(recovered(&edits::input(EDITED, &[later])), None);
        assert_eq!(recovered(&edits::input(SEALED, &[later])), all());
        // Only the check of all frames detects a time earlier than that of the previous frame.
        let second = edits::input(SEALED, &[(3, first + 16, 255)]);
        assert_eq!(recovered(&second), None);
        let end = u32::try_from(SOUND.file.len()).expect("a small file");
        let last = edits::input(EDITED, &[(0, end - 4_096 + 200, 7)]);
        let left = recovered(&last).expect("a torn end is set aside");
        assert!((SOUND.proven..SOUND.frames.len()).contains(&left), "{left}");
    }
}
