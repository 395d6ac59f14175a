//! Power cuts. A record of every write and sync gives all files that a cut could leave: any subset
//! of the unsynced pages, names synced or not. Each is opened. It must contain every acknowledged
//! frame, in order, and no frame that was never appended.
use crate::common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use common::disk::{Change, RecordingDisk};
use common::{Writer, content, recovered, small, time};
use foretell_journal::{Options, PAGE};
use foretell_model::{Durability, Sequence};

/// Random numbers from a fixed seed: the same images in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// A file as a power cut may leave it: the bytes on the disk, and the unsynced writes.
#[derive(Clone, Default)]
struct File {
    synced: Vec<u8>,
    pending: Vec<(u64, Vec<u8>)>,
}

fn put(bytes: &mut Vec<u8>, offset: u64, data: &[u8]) {
    let start = usize::try_from(offset).unwrap();
    if bytes.len() < start + data.len() {
        bytes.resize(start + data.len(), 0);
    }
    bytes[start..start + data.len()].copy_from_slice(data);
}

impl File {
    fn sync(&mut self) {
        for (offset, data) in std::mem::take(&mut self.pending) {
            put(&mut self.synced, offset, &data);
        }
    }

    /// The pages of all unsynced writes, oldest first.
    fn pages(&self) -> Vec<(u64, &[u8])> {
        let mut pages = Vec::new();
        for (offset, data) in &self.pending {
            pages.extend(
                data.chunks(PAGE)
                    .enumerate()
                    .map(|(index, page)| (offset + (index * PAGE) as u64, page)),
            );
        }
        pages
    }

    fn with(&self, mut keeps: impl FnMut(usize) -> bool) -> Vec<u8> {
        let mut bytes = self.synced.clone();
        for (index, (offset, page)) in self.pages().into_iter().enumerate() {
            if keeps(index) {
                put(&mut bytes, offset, page);
            }
        }
        bytes
    }
}

/// The simulated file system during the replay of changes.
#[derive(Clone, Default)]
struct Played {
    files: Vec<File>,
    /// Names visible to a running program.
    names: BTreeMap<PathBuf, usize>,
    /// Names that are on the disk.
    synced_names: BTreeMap<PathBuf, usize>,
}

impl Played {
    fn play(&mut self, change: &Change) {
        match change {
            Change::Create(path) => {
                self.files.push(File::default());
                self.names.insert(path.clone(), self.files.len() - 1);
            }
            Change::Write(path, offset, data) => {
                let file = self.names[path];
                self.files[file].pending.push((*offset, data.clone()));
            }
            Change::Sync(path) => {
                let file = self.names[path];
                self.files[file].sync();
            }
            Change::Rename(from, to) => {
                let file = self.names.remove(from).unwrap();
                self.names.insert(to.clone(), file);
            }
            Change::Remove(path) => {
                self.names.remove(path);
            }
            Change::SyncDir => self.synced_names = self.names.clone(),
        }
    }

    /// Loads a directory; all of it counts as synced, as after a clean start of the machine.
    fn load(dir: &Path) -> Self {
        let mut played = Self::default();
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            played.names.insert(path.clone(), played.files.len());
            played.files.push(File {
                synced: fs::read(&path).unwrap(),
                pending: Vec::new(),
            });
        }
        played.synced_names = played.names.clone();
        played
    }

    /// The images that a cut at this point could leave: no unsynced page, all, each alone, all but
    /// each, and some at random; each with the synced names and with the newest names.
    fn images(&self, random: &mut Random) -> Vec<BTreeMap<String, Vec<u8>>> {
        let mut pages: Vec<usize> = self
            .names
            .values()
            .map(|file| self.files[*file].pages().len())
            .collect();
        pages.sort_unstable();
        let most = pages.last().copied().unwrap_or(0).min(6);
        let mut images = Vec::new();
        for names in [&self.synced_names, &self.names] {
            images.push(self.image(names, |_| false));
            images.push(self.image(names, |_| true));
            for chosen in 0..most {
                images.push(self.image(names, |index| index == chosen));
                images.push(self.image(names, |index| index != chosen));
            }
            for _ in 0..most {
                let bits = random.next();
                images.push(self.image(names, |index| bits >> (index % 64) & 1 == 1));
            }
            if self.synced_names == self.names {
                break;
            }
        }
        images.dedup();
        images
    }

    fn image(
        &self,
        names: &BTreeMap<PathBuf, usize>,
        keeps: impl Fn(usize) -> bool,
    ) -> BTreeMap<String, Vec<u8>> {
        names
            .iter()
            .map(|(path, file)| {
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                (name, self.files[*file].with(&keeps))
            })
            // A start removes a file in preparation, whatever its content.
            .filter(|(name, _)| {
                Path::new(name)
                    .extension()
                    .is_none_or(|extension| extension != "tmp")
            })
            .collect()
    }
}

fn write_image(image: &BTreeMap<String, Vec<u8>>) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in image {
        fs::write(dir.path().join(name), bytes).unwrap();
    }
    dir
}

/// A journal on a recording file system; each acknowledgement is kept with the number of changes at
/// that time.
struct Run {
    dir: tempfile::TempDir,
    disk: RecordingDisk,
    options: Options,
    writer: Option<Writer>,
    acknowledged: Vec<(usize, u64)>,
}

impl Run {
    fn start(durability: Durability, watermark_after: Duration) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let disk = RecordingDisk::default();
        let options = Options {
            durability,
            watermark_after,
            disk: Arc::new(disk.clone()),
            ..small()
        };
        let writer = Writer::open_with(dir.path(), options.clone()).unwrap();
        Self {
            acknowledged: vec![(disk.changes().len(), 0)],
            dir,
            disk,
            options,
            writer: Some(writer),
        }
    }

    /// Writes a batch of frames with this much evidence each.
    fn batch(&mut self, frames: usize) {
        let writer = self.writer.as_mut().unwrap();
        writer.batch(frames);
        let durable = writer.state.durable().0;
        self.acknowledged.push((self.disk.changes().len(), durable));
    }

    fn appended(&self) -> u64 {
        self.acknowledged.last().unwrap().1
    }

    fn acknowledged_at(&self, changes: usize) -> u64 {
        self.acknowledged
            .iter()
            .take_while(|(count, _)| *count <= changes)
            .last()
            .map_or(0, |(_, sequence)| *sequence)
    }
}

/// Opens every image of every cut from change `from` on.
fn open_all(run: &Run, from: usize, keeps_acknowledged: bool) -> usize {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut played = Played::default();
    let changes = run.disk.changes();
    let mut opened = 0;
    for (index, change) in changes.iter().enumerate() {
        played.play(change);
        // The preparation of the next segment changes no file that is read.
        let is_preparing = matches!(
            change,
            Change::Create(path) | Change::Write(path, ..) | Change::Sync(path)
                if path.ends_with("prepared.tmp")
        );
        if index < from || is_preparing {
            continue;
        }
        let acknowledged = run.acknowledged_at(index + 1);
        for image in played.images(&mut random) {
            let dir = write_image(&image);
            let (seen, report) = recovered(dir.path())
                .unwrap_or_else(|error| panic!("after change {index} ({change:?}): {error}"));
            let found = report.last_sequence.0;
            assert_eq!(
                seen,
                (1..=found).collect::<Vec<_>>(),
                "no gaps, no inventions"
            );
            assert!(found <= run.appended());
            assert!(
                found >= acknowledged || !keeps_acknowledged,
                "after change {index}: {acknowledged} were acknowledged, {found} are left"
            );
            // The recovered journal opens again with the same frames.
            assert_eq!(recovered(dir.path()).unwrap().0.len() as u64, found);
            opened += 1;
        }
    }
    opened
}

#[test]
fn a_power_cut_at_any_moment_loses_nothing_acknowledged() {
    let mut run = Run::start(Durability::Disk, Duration::ZERO);
    let from = run.disk.changes().len();
    for frames in [1, 3, 40, 2, 90, 1] {
        run.batch(frames);
    }
    assert!(open_all(&run, from, true) > 60);
}

#[test]
fn without_any_watermark_the_batches_prove_each_other() {
    let mut run = Run::start(Durability::Disk, Duration::from_secs(3_600));
    let from = run.disk.changes().len();
    for frames in [2, 60, 1, 33] {
        run.batch(frames);
    }
    assert!(open_all(&run, from, true) > 30);
}

#[test]
fn a_power_cut_while_segments_change_loses_nothing_acknowledged() {
    let mut run = Run::start(Durability::Disk, Duration::from_secs(3_600));
    // Fill most of the first segment, and test cuts only from there.
    while run.writer.as_mut().unwrap().batch(300)[0].offset < 400_000 {}
    let durable = run.writer.as_ref().unwrap().state.durable().0;
    let from = run.disk.changes().len();
    run.acknowledged.push((from, durable));
    while !common::segment(run.dir.path(), 2).exists() {
        run.batch(300);
    }
    run.batch(3);
    run.batch(1);
    let opened = open_all(&run, from, true);
    assert!(opened > 3, "only {opened} images");
}

#[test]
fn at_process_durability_a_power_cut_leaves_a_journal_that_opens() {
    let mut run = Run::start(Durability::Process, Duration::from_secs(3_600));
    let from = run.disk.changes().len();
    for frames in [1, 30, 2, 50, 1] {
        run.batch(frames);
    }
    assert!(open_all(&run, from, false) > 30);
}

#[test]
fn at_process_durability_the_watermark_never_names_what_is_not_synced() {
    let mut run = Run::start(Durability::Process, Duration::ZERO);
    let from = run.disk.changes().len();
    for frames in [1, 30, 2, 50] {
        run.batch(frames);
    }
    assert!(open_all(&run, from, false) > 30);
}

#[test]
fn a_power_cut_while_recovering_loses_nothing_acknowledged() {
    let mut run = Run::start(Durability::Disk, Duration::from_secs(3_600));
    for frames in [2, 40, 7] {
        run.batch(frames);
    }
    let acknowledged = run.appended();
    // Write one more batch of which only the second page reaches the disk, and test again from
    // there.
    let torn = run.writer.as_mut().unwrap();
    let places: Vec<_> = (0..40).map(|_| torn.append()).collect();
    run.writer = None;
    let dir = run.dir.path();
    let path = common::segment(dir, 1);
    let mut bytes = fs::read(&path).unwrap();
    let start = usize::try_from(places[0].offset).unwrap() - 128;
    bytes[start + PAGE..start + PAGE + 100].fill(0x77);
    fs::write(&path, bytes).unwrap();

    let before = Played::load(dir);
    let made_before = run.disk.changes().len();
    let again = Writer::open_with(dir, run.options.clone()).unwrap();
    assert_eq!(again.report.last_sequence, Sequence(acknowledged));
    assert!(again.report.set_aside.is_some());
    drop(again);
    let mut played = before;
    let mut random = Random(77);
    let mut opened = 0;
    for change in &run.disk.changes()[made_before..] {
        played.play(change);
        for image in played.images(&mut random) {
            let dir = write_image(&image);
            let (seen, _) = recovered(dir.path()).unwrap();
            assert_eq!(seen.len() as u64, acknowledged, "after {change:?}");
            opened += 1;
        }
    }
    assert!(opened > 10);
}

#[test]
fn the_made_up_content_differs_from_frame_to_frame() {
    assert_ne!(content(1), content(4));
    assert_ne!(time(1), time(2));
}
