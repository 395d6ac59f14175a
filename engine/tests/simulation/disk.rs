//! The simulated disk: real files for those who map and read, beside them what a power cut would
//! leave. Every operation is a place where the others run on, where a fault strikes, or where the
//! machine dies.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foretell_journal::disk::{Disk, DiskFile};
use parking_lot::Mutex;

use super::coverage::Situation;
use super::fate::Fate;
use super::faults::{Operation, Strike, Trouble};
use super::pages::{Mood, Pages};
use super::world;

/// A name in a directory changed and is not synced.
#[derive(Debug)]
enum NameChange {
    Created(PathBuf),
    /// From, to, and what had the name: it is there until the new one is.
    Renamed(PathBuf, PathBuf, Option<Kept>),
    Removed(PathBuf, Kept),
}

/// A file without a name; a power cut may bring it back.
#[derive(Debug)]
struct Kept {
    path: PathBuf,
    id: u64,
}

impl NameChange {
    fn is_in(&self, dir: &Path) -> bool {
        let (Self::Created(path) | Self::Renamed(path, ..) | Self::Removed(path, _)) = self;
        path.parent() == Some(dir)
    }
}

#[derive(Debug)]
struct State {
    fate: Fate,
    /// Where removed files are kept.
    attic: PathBuf,
    names: BTreeMap<PathBuf, u64>,
    files: BTreeMap<u64, Pages>,
    changes: Vec<NameChange>,
    next_file: u64,
    trouble: Trouble,
    /// The machine or its process died: nothing has an effect any more.
    is_dead: bool,
    /// The first error the journal was told while it served.
    refused: Option<String>,
}

/// A disk; clones are the same.
#[derive(Clone, Debug)]
pub(super) struct SimDisk(Arc<Mutex<State>>);

#[derive(Debug)]
struct SimFile {
    disk: SimDisk,
    id: u64,
    file: File,
    /// Its name when it was opened; a segment gets its own later.
    opened_as: PathBuf,
}

fn dead() -> io::Error {
    io::Error::other("the machine is off")
}

fn damaged_device() -> io::Error {
    io::Error::from_raw_os_error(5)
}

fn open(path: &Path, is_new: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(is_new).mode(0o600);
    options.open(path)
}

impl SimDisk {
    pub(super) fn new(attic: PathBuf, fate: Fate) -> Self {
        Self(Arc::new(Mutex::new(State {
            fate,
            attic,
            names: BTreeMap::new(),
            files: BTreeMap::new(),
            changes: Vec::new(),
            next_file: 0,
            trouble: Trouble::default(),
            is_dead: false,
            refused: None,
        })))
    }

    /// Alive again, with the troubles of the next life.
    pub(super) fn begin_life(&self, trouble: Trouble) {
        let mut state = self.0.lock();
        state.is_dead = false;
        state.refused = None;
        state.trouble = trouble;
    }

    /// From now on nothing has an effect.
    pub(super) fn die(&self) {
        self.0.lock().is_dead = true;
    }

    pub(super) fn is_dead(&self) -> bool {
        self.0.lock().is_dead
    }

    /// The error that must have ended all acknowledgements, if there was one.
    pub(super) fn refused(&self) -> Option<String> {
        self.0.lock().refused.clone()
    }

    /// Whether any error was told in this life.
    pub(super) fn has_struck(&self) -> bool {
        self.0.lock().trouble.has_struck()
    }

    /// Whether the disk has the name, and every byte of the file below `end`.
    pub(super) fn is_safe(&self, path: &Path, end: u64) -> bool {
        let state = self.0.lock();
        let has_name = !state.changes.iter().any(|change| match change {
            NameChange::Created(name) | NameChange::Renamed(_, name, _) => name == path,
            NameChange::Removed(..) => false,
        });
        let pages = state.names.get(path).and_then(|id| state.files.get(id));
        has_name && pages.is_some_and(|pages| pages.is_on_disk(end))
    }

    /// What reading past the cache shows: what the disk has, where a sync failed.
    pub(super) fn forget_cache(&self) {
        let mut state = self.0.lock();
        let State { names, files, .. } = &mut *state;
        for (path, id) in names {
            let file = open(path, false).expect("a named file is there");
            let pages = files.get_mut(id).expect("a named file is known");
            pages.forget_cache(&file).expect("memory holds files");
        }
    }

    /// The power is cut: names and pages that were not synced are there or not.
    pub(super) fn power_cut(&self) {
        let mut state = self.0.lock();
        let fate = state.fate.clone();
        let kept = match fate.below(3) {
            0 => 0,
            1 => state.changes.len(),
            _ => fate.index(state.changes.len() + 1),
        };
        while state.changes.len() > kept {
            fate.count(Situation::NameLost);
            let change = state.changes.pop().expect("it is longer");
            state.undo(change);
        }
        state.settle(|_| true);
        let mood = fate.pick(&[Mood::AllOld, Mood::AllNew, Mood::Mixed, Mood::Mixed]);
        let State { names, files, .. } = &mut *state;
        for (path, id) in names {
            let file = open(path, false).expect("a named file is there");
            let pages = files.get_mut(id).expect("a named file is known");
            pages
                .power_cut(&file, mood, &fate)
                .expect("memory holds files");
        }
    }

    /// Lets the others run, then says what strikes this operation, if anything.
    fn enter(&self, operation: Operation, path: &Path) -> io::Result<Option<Strike>> {
        world::interlude(operation, path);
        let mut state = self.0.lock();
        if state.is_dead {
            return Err(dead());
        }
        let strike = state.trouble.strike(operation, path);
        if let Some(strike) = strike {
            state
                .fate
                .note(|| format!("    {strike:?} at {operation:?} {}", name(path)));
        }
        if strike == Some(Strike::Die) {
            state.is_dead = true;
            if operation == Operation::Sync && state.has_unsynced_frames(path) {
                state.fate.count(Situation::CrashBetweenWriteAndSync);
            }
            // Half of the time the operation itself still happens.
            if state.fate.percent(50) {
                return Err(dead());
            }
        }
        Ok(strike)
    }

    /// An operation that either happens or fails.
    fn plain(&self, operation: Operation, path: &Path) -> io::Result<bool> {
        match self.enter(operation, path)? {
            None => Ok(false),
            Some(Strike::Die) => Ok(true),
            Some(Strike::Full) => Err(self.tell(path, io::ErrorKind::StorageFull.into())),
            Some(_) => Err(self.tell(path, damaged_device())),
        }
    }

    /// Remembers an error that ends the journal.
    fn tell(&self, path: &Path, error: io::Error) -> io::Error {
        let mut state = self.0.lock();
        let is_spare = path.ends_with("prepared.tmp");
        let in_journal = path.components().any(|part| part.as_os_str() == "journal");
        if !in_journal {
            state.fate.count(Situation::SnapshotFailed);
        } else if !is_spare {
            let what = format!("{}: {error}", name(path));
            state.refused.get_or_insert(what);
        }
        error
    }

    fn file(&self, state: &State, id: u64, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        debug_assert!(state.files.contains_key(&id));
        Ok(Box::new(SimFile {
            disk: self.clone(),
            id,
            file: open(path, false)?,
            opened_as: path.to_owned(),
        }))
    }
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// The answer of an operation that happened although the machine died in it.
fn or_dead<T>(died: bool, answer: T) -> io::Result<T> {
    if died { Err(dead()) } else { Ok(answer) }
}

impl State {
    /// Whether frames in this segment are written and not synced.
    fn has_unsynced_frames(&self, path: &Path) -> bool {
        let is_segment = path.extension().is_some_and(|it| it == "segment");
        let pages = self.names.get(path).and_then(|id| self.files.get(id));
        is_segment && pages.is_some_and(|pages| !pages.is_synced())
    }

    fn undo(&mut self, change: NameChange) {
        let done = match change {
            NameChange::Created(path) => {
                self.names.remove(&path);
                fs::remove_file(path)
            }
            NameChange::Renamed(from, to, replaced) => {
                let id = self.names.remove(&to).expect("it was renamed to this");
                self.names.insert(from.clone(), id);
                let back = fs::rename(&to, from);
                back.and_then(|()| replaced.map_or(Ok(()), |kept| self.bring_back(to, kept)))
            }
            NameChange::Removed(path, kept) => self.bring_back(path, kept),
        };
        done.expect("memory holds files");
    }

    fn bring_back(&mut self, path: PathBuf, kept: Kept) -> io::Result<()> {
        fs::rename(kept.path, &path)?;
        self.names.insert(path, kept.id);
        Ok(())
    }

    /// The disk has these changes of names.
    fn settle(&mut self, are: impl Fn(&NameChange) -> bool) {
        for change in self.changes.extract_if(.., |change| are(change)) {
            let gone = match change {
                NameChange::Created(_) => None,
                NameChange::Renamed(.., replaced) => replaced,
                NameChange::Removed(_, kept) => Some(kept),
            };
            if let Some(kept) = gone {
                fs::remove_file(kept.path).expect("it was kept");
                self.files.remove(&kept.id);
            }
        }
    }

    /// Takes the name of a file, if there is one.
    fn take(&mut self, path: &Path) -> io::Result<Option<Kept>> {
        let Some(id) = self.names.remove(path) else {
            return Ok(None);
        };
        self.next_file += 1;
        let kept = self.attic.join(self.next_file.to_string());
        fs::rename(path, &kept)?;
        Ok(Some(Kept { path: kept, id }))
    }

    fn remove(&mut self, path: &Path) -> io::Result<()> {
        let kept = self.take(path)?.ok_or(io::ErrorKind::NotFound)?;
        self.changes
            .push(NameChange::Removed(path.to_owned(), kept));
        Ok(())
    }
}

impl Disk for SimDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let died = self.plain(Operation::Create, path)?;
        let mut state = self.0.lock();
        if state.names.contains_key(path) {
            state.remove(path)?;
        }
        open(path, true)?;
        state.next_file += 1;
        let id = state.next_file;
        state.names.insert(path.to_owned(), id);
        state.files.insert(id, Pages::default());
        state.changes.push(NameChange::Created(path.to_owned()));
        or_dead(died, self.file(&state, id, path)?)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let state = self.0.lock();
        if state.is_dead {
            return Err(dead());
        }
        let id = state.names.get(path).ok_or(io::ErrorKind::NotFound)?;
        self.file(&state, *id, path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let died = self.plain(Operation::Rename, to)?;
        let mut state = self.0.lock();
        let replaced = state.take(to)?;
        fs::rename(from, to)?;
        let id = state.names.remove(from).expect("a file that is there");
        state.names.insert(to.to_owned(), id);
        let change = NameChange::Renamed(from.to_owned(), to.to_owned(), replaced);
        state.changes.push(change);
        or_dead(died, ())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let died = self.plain(Operation::Remove, path)?;
        self.0.lock().remove(path)?;
        or_dead(died, ())
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let died = self.plain(Operation::SyncDir, path)?;
        self.0.lock().settle(|change| change.is_in(path));
        or_dead(died, ())
    }

    fn free_bytes(&self, _: &Path) -> io::Result<u64> {
        let state = self.0.lock();
        Ok(if state.trouble.is_full() { 0 } else { 1 << 40 })
    }
}

impl SimFile {
    /// The name it has now.
    fn path(&self) -> PathBuf {
        let state = self.disk.0.lock();
        let named = state.names.iter().find(|(_, id)| **id == self.id);
        named.map_or_else(|| self.opened_as.clone(), |(path, _)| path.clone())
    }

    fn put(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let mut state = self.disk.0.lock();
        let pages = state.files.get_mut(&self.id).expect("an open file");
        pages.write(&self.file, offset, bytes.len())?;
        self.file.write_all_at(bytes, offset)?;
        Ok(bytes.len())
    }

    /// Some of the bytes, at least one if there is one.
    fn part<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        let fate = self.disk.0.lock().fate.clone();
        let most = bytes.len().max(1);
        &bytes[..(1 + fate.index(most)).min(bytes.len())]
    }

    fn grows(&self, bytes: &[u8], offset: u64) -> bool {
        let state = self.disk.0.lock();
        offset + bytes.len() as u64 > state.files[&self.id].length()
    }
}

impl DiskFile for SimFile {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let operation = if self.grows(bytes, offset) {
            Operation::Grow
        } else {
            Operation::Write
        };
        let fate = self.disk.0.lock().fate.clone();
        let path = self.path();
        match self.disk.enter(operation, &path)? {
            None => self.put(bytes, offset),
            Some(Strike::Short) => {
                fate.count(Situation::WriteShort);
                self.put(self.part(bytes), offset)
            }
            Some(Strike::Interrupted) => {
                fate.count(Situation::WriteInterrupted);
                Err(io::ErrorKind::Interrupted.into())
            }
            Some(Strike::Full) => {
                fate.count(Situation::DiskFull);
                let full = io::ErrorKind::StorageFull.into();
                Err(self.disk.tell(&path, full))
            }
            Some(Strike::Die) => {
                self.put(self.part(bytes), offset)?;
                Err(dead())
            }
            Some(Strike::Fail) => {
                fate.count(Situation::WriteFailed);
                self.put(self.part(bytes), offset)?;
                Err(self.disk.tell(&path, damaged_device()))
            }
        }
    }

    fn sync_data(&mut self) -> io::Result<()> {
        let path = self.path();
        let strike = self.disk.enter(Operation::Sync, &path)?;
        let mut state = self.disk.0.lock();
        let fate = state.fate.clone();
        let pages = state.files.get_mut(&self.id).expect("an open file");
        if strike == Some(Strike::Fail) {
            fate.count(Situation::SyncFailed);
            pages.sync_failed(&fate);
            drop(state);
            return Err(self.disk.tell(&path, damaged_device()));
        }
        pages.synced();
        or_dead(strike == Some(Strike::Die), ())
    }

    fn make_read_only(&mut self) -> io::Result<()> {
        // Permissions are for other users; a simulated disk has none.
        Ok(())
    }
}
