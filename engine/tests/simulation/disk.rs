//! The simulated disk: real files for mapping and reading, and with them the contents that a power
//! cut would leave. At every operation other parts may run, a fault may strike, or the machine may
//! die.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foretell_journal::disk::{Disk, DiskFile};
use parking_lot::Mutex;

use super::context::SimContext;
use super::coverage::Situation;
use super::faults::{Fault, FaultPlan, Operation};
use super::pages::{Mood, Pages};
use super::world;

/// An unsynced change of a name in a directory.
#[derive(Debug)]
enum NameChange {
    Created(PathBuf),
    /// From, to, and the file that had the name before: the disk keeps it until the rename is
    /// synced.
    Renamed(PathBuf, PathBuf, Option<UnlinkedFile>),
    Removed(PathBuf, UnlinkedFile),
}

/// A file without a name; a power cut may restore it.
#[derive(Debug)]
struct UnlinkedFile {
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
    context: SimContext,
    /// Directory of removed files.
    attic: PathBuf,
    names: BTreeMap<PathBuf, u64>,
    files: BTreeMap<u64, Pages>,
    changes: Vec<NameChange>,
    next_file: u64,
    faults: FaultPlan,
    /// The machine or its process died: no operation has an effect.
    is_dead: bool,
    /// The first error returned to the journal while it served.
    first_error: Option<String>,
}

/// A disk; clones share it.
#[derive(Clone, Debug)]
pub(super) struct SimDisk(Arc<Mutex<State>>);

#[derive(Debug)]
struct SimFile {
    disk: SimDisk,
    id: u64,
    file: File,
    /// Its name when it was opened; segments are renamed later.
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
    pub(super) fn new(attic: PathBuf, context: SimContext) -> Self {
        Self(Arc::new(Mutex::new(State {
            context,
            attic,
            names: BTreeMap::new(),
            files: BTreeMap::new(),
            changes: Vec::new(),
            next_file: 0,
            faults: FaultPlan::default(),
            is_dead: false,
            first_error: None,
        })))
    }

    /// Starts a life with these faults.
    pub(super) fn begin_life(&self, faults: FaultPlan) {
        let mut state = self.0.lock();
        state.is_dead = false;
        state.first_error = None;
        state.faults = faults;
    }

    /// From now on no operation has an effect.
    pub(super) fn die(&self) {
        self.0.lock().is_dead = true;
    }

    pub(super) fn is_dead(&self) -> bool {
        self.0.lock().is_dead
    }

    /// The error that must have ended all acknowledgements, if any.
    pub(super) fn first_error(&self) -> Option<String> {
        self.0.lock().first_error.clone()
    }

    /// Whether any error was returned in this life.
    pub(super) fn has_failed(&self) -> bool {
        self.0.lock().faults.has_failed()
    }

    /// Whether the name, and every byte of the file below `end`, is on the disk.
    pub(super) fn is_safe(&self, path: &Path, end: u64) -> bool {
        let state = self.0.lock();
        let has_name = !state.changes.iter().any(|change| match change {
            NameChange::Created(name) | NameChange::Renamed(_, name, _) => name == path,
            NameChange::Removed(..) => false,
        });
        let pages = state.names.get(path).and_then(|id| state.files.get(id));
        has_name && pages.is_some_and(|pages| pages.is_on_disk(end))
    }

    /// Drops the page cache: after a failed sync, reads return the contents of the disk.
    pub(super) fn drop_cache(&self) {
        let mut state = self.0.lock();
        let State { names, files, .. } = &mut *state;
        for (path, id) in names {
            let file = open(path, false).expect("a named file is there");
            let pages = files.get_mut(id).expect("a named file is known");
            pages.drop_cache(&file).expect("memory holds files");
        }
    }

    /// Cuts the power: each unsynced name or page is kept or lost.
    pub(super) fn power_cut(&self) {
        let mut state = self.0.lock();
        let context = state.context.clone();
        let kept = match context.below(3) {
            0 => 0,
            1 => state.changes.len(),
            _ => context.index(state.changes.len() + 1),
        };
        while state.changes.len() > kept {
            context.count(Situation::NameLost);
            let change = state.changes.pop().expect("it is longer");
            state.undo(change);
        }
        state.make_durable(|_| true);
        let mood = context.pick(&[Mood::AllOld, Mood::AllNew, Mood::Mixed, Mood::Mixed]);
        let State { names, files, .. } = &mut *state;
        for (path, id) in names {
            let file = open(path, false).expect("a named file is there");
            let pages = files.get_mut(id).expect("a named file is known");
            pages
                .power_cut(&file, mood, &context)
                .expect("memory holds files");
        }
    }

    /// Lets other parts run, then returns the fault of this operation, if any.
    fn enter(&self, operation: Operation, path: &Path) -> io::Result<Option<Fault>> {
        world::run_others(operation, path);
        let mut state = self.0.lock();
        if state.is_dead {
            return Err(dead());
        }
        let fault = state.faults.next_fault(operation, path);
        if let Some(fault) = fault {
            state
                .context
                .note(|| format!("    {fault:?} at {operation:?} {}", name(path)));
        }
        if fault == Some(Fault::Die) {
            state.is_dead = true;
            if operation == Operation::Sync && state.has_unsynced_frames(path) {
                state.context.count(Situation::CrashBetweenWriteAndSync);
            }
            // Half of the time the operation itself still happens.
            if state.context.percent(50) {
                return Err(dead());
            }
        }
        Ok(fault)
    }

    /// An operation that either happens completely or fails.
    fn plain(&self, operation: Operation, path: &Path) -> io::Result<bool> {
        match self.enter(operation, path)? {
            None => Ok(false),
            Some(Fault::Die) => Ok(true),
            Some(Fault::Full) => Err(self.record_error(path, io::ErrorKind::StorageFull.into())),
            Some(_) => Err(self.record_error(path, damaged_device())),
        }
    }

    /// Records an error that ends the journal.
    fn record_error(&self, path: &Path, error: io::Error) -> io::Error {
        let mut state = self.0.lock();
        let is_spare = path.ends_with("prepared.tmp");
        let in_journal = path.components().any(|part| part.as_os_str() == "journal");
        if !in_journal {
            state.context.count(Situation::SnapshotFailed);
        } else if !is_spare {
            let what = format!("{}: {error}", name(path));
            state.first_error.get_or_insert(what);
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

/// The result of an operation that happened even if the machine died in it.
fn or_dead<T>(died: bool, answer: T) -> io::Result<T> {
    if died { Err(dead()) } else { Ok(answer) }
}

impl State {
    /// Whether this segment has written but unsynced frames.
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

    fn bring_back(&mut self, path: PathBuf, kept: UnlinkedFile) -> io::Result<()> {
        fs::rename(kept.path, &path)?;
        self.names.insert(path, kept.id);
        Ok(())
    }

    /// Makes the matching changes of names durable.
    fn make_durable(&mut self, are: impl Fn(&NameChange) -> bool) {
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

    /// Removes the name of a file, if it exists.
    fn take(&mut self, path: &Path) -> io::Result<Option<UnlinkedFile>> {
        let Some(id) = self.names.remove(path) else {
            return Ok(None);
        };
        self.next_file += 1;
        let kept = self.attic.join(self.next_file.to_string());
        fs::rename(path, &kept)?;
        Ok(Some(UnlinkedFile { path: kept, id }))
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
        self.0.lock().make_durable(|change| change.is_in(path));
        or_dead(died, ())
    }

    fn free_bytes(&self, _: &Path) -> io::Result<u64> {
        let state = self.0.lock();
        Ok(if state.faults.is_full() { 0 } else { 1 << 40 })
    }
}

impl SimFile {
    /// Its current name.
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

    /// A random part of the bytes, not empty unless they are.
    fn part<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        let context = self.disk.0.lock().context.clone();
        let most = bytes.len().max(1);
        &bytes[..(1 + context.index(most)).min(bytes.len())]
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
        let context = self.disk.0.lock().context.clone();
        let path = self.path();
        match self.disk.enter(operation, &path)? {
            None => self.put(bytes, offset),
            Some(Fault::Short) => {
                context.count(Situation::WriteShort);
                self.put(self.part(bytes), offset)
            }
            Some(Fault::Interrupted) => {
                context.count(Situation::WriteInterrupted);
                Err(io::ErrorKind::Interrupted.into())
            }
            Some(Fault::Full) => {
                context.count(Situation::DiskFull);
                let full = io::ErrorKind::StorageFull.into();
                Err(self.disk.record_error(&path, full))
            }
            Some(Fault::Die) => {
                self.put(self.part(bytes), offset)?;
                Err(dead())
            }
            Some(Fault::Fail) => {
                context.count(Situation::WriteFailed);
                self.put(self.part(bytes), offset)?;
                Err(self.disk.record_error(&path, damaged_device()))
            }
        }
    }

    fn sync_data(&mut self) -> io::Result<()> {
        let path = self.path();
        let fault = self.disk.enter(Operation::Sync, &path)?;
        let mut state = self.disk.0.lock();
        let context = state.context.clone();
        let pages = state.files.get_mut(&self.id).expect("an open file");
        if fault == Some(Fault::Fail) {
            context.count(Situation::SyncFailed);
            pages.sync_failed(&context);
            drop(state);
            return Err(self.disk.record_error(&path, damaged_device()));
        }
        pages.synced();
        or_dead(fault == Some(Fault::Die), ())
    }

    fn make_read_only(&mut self) -> io::Result<()> {
        // Permissions concern other users; the simulated disk has none.
        Ok(())
    }
}
