//! A disk that loses pages that were not synced. Names are durable at once: the simulation of one
//! engine covers them.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foretell_journal::disk::{Disk, DiskFile, RealDisk};
use parking_lot::Mutex;

use crate::simulation::rng::Rng;

const PAGE: u64 = 4_096;

/// Earlier contents of pages that were written and not synced, by file.
#[derive(Debug, Default)]
struct State {
    files: BTreeMap<u64, (PathBuf, BTreeMap<u64, Vec<u8>>)>,
    next: u64,
}

/// The disk of a host.
#[derive(Clone, Debug, Default)]
pub(super) struct CutDisk(Arc<Mutex<State>>);

#[derive(Debug)]
struct CutFile {
    inner: Box<dyn DiskFile>,
    disk: CutDisk,
    id: u64,
}

impl CutDisk {
    /// Restores a random subset of the unsynced pages.
    pub(super) fn power_cut(&self, rng: &mut Rng) {
        let mut state = self.0.lock();
        for (path, pages) in std::mem::take(&mut state.files).into_values() {
            let Ok(mut bytes) = std::fs::read(&path) else {
                continue;
            };
            for (page, before) in pages {
                let at = usize::try_from(page * PAGE).unwrap();
                if rng.percent(50) && at < bytes.len() {
                    let end = (at + before.len()).min(bytes.len());
                    bytes[at..end].copy_from_slice(&before[..end - at]);
                }
            }
            std::fs::write(&path, bytes).unwrap();
        }
    }

    /// Forgets the open files: the process died, the kernel keeps its writes.
    fn add(&self, path: &Path, inner: Box<dyn DiskFile>) -> Box<dyn DiskFile> {
        let mut state = self.0.lock();
        state.next += 1;
        let id = state.next;
        state.files.insert(id, (path.to_owned(), BTreeMap::new()));
        Box::new(CutFile {
            inner,
            disk: self.clone(),
            id,
        })
    }
}

impl Disk for CutDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(self.add(path, RealDisk.create(path)?))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(self.add(path, RealDisk.open(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        for (path, _) in self.0.lock().files.values_mut() {
            if path == from {
                to.clone_into(path);
            }
        }
        RealDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove(path)
    }

    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn free_bytes(&self, _: &Path) -> io::Result<u64> {
        Ok(1 << 40)
    }
}

impl DiskFile for CutFile {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let mut state = self.disk.0.lock();
        let (path, pages) = state.files.get_mut(&self.id).expect("an open file");
        let last = (offset + bytes.len() as u64).div_ceil(PAGE);
        // A file that is being filled is not worth a copy of every page.
        let length = std::fs::metadata(&*path)?.len();
        if offset < length {
            let file = std::fs::File::open(&*path)?;
            for page in offset / PAGE..last {
                pages.entry(page).or_insert_with(|| {
                    use std::os::unix::fs::FileExt;
                    let mut before = vec![0; usize::try_from(PAGE).unwrap()];
                    let _ = file.read_at(&mut before, page * PAGE);
                    before
                });
            }
        }
        drop(state);
        self.inner.write_at(bytes, offset)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        let mut state = self.disk.0.lock();
        let path = {
            let (path, pages) = state.files.get_mut(&self.id).expect("an open file");
            pages.clear();
            path.clone()
        };
        // A sync covers what earlier descriptors of the file wrote, too.
        for (other, pages) in state.files.values_mut() {
            if *other == path {
                pages.clear();
            }
        }
        Ok(())
    }

    fn make_read_only(&mut self) -> io::Result<()> {
        Ok(())
    }
}
