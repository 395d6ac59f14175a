//! Files that get their names when they are whole and on the disk.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Bytes that are copied at a time.
const CHUNK: usize = 1 << 20;
/// Name of a file that is not whole yet; SQLite may add an ending. Whoever finds one may remove it.
pub(crate) const UNFINISHED: &str = "new.tmp";

/// Length and BLAKE3 of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sum {
    pub(crate) bytes: u64,
    pub(crate) blake3: [u8; 32],
}

impl Sum {
    /// The start of a name that no other content has.
    pub(crate) fn short(&self) -> String {
        hex::encode(&self.blake3[..8])
    }
}

/// The failure of an action on a file.
pub(crate) fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Failure {
    let path = path.to_owned();
    move |error| Failure::new(format!("{action} {}: {error}", path.display()))
}

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct Unfinished {
    path: PathBuf,
    folder: PathBuf,
}

impl Unfinished {
    /// The only one of a folder; what an earlier run left is removed.
    pub(crate) fn new(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join(UNFINISHED);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(failed("remove", &path)(error))
            }
            _ => Ok(Self {
                path,
                folder: folder.to_owned(),
            }),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes all of `from`.
    pub(crate) fn fill(&self, from: &mut dyn Read) -> Result<Sum, Failure> {
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&self.path)
            .map_err(failed("create", &self.path))?;
        pass(from, &mut |bytes| file.write_all(bytes)).map_err(failed("copy to", &self.path))
    }

    /// Syncs the file and gives it its name, in place of a file of that name.
    pub(crate) fn finish(self, name: &str) -> Result<(), Failure> {
        let file = File::open(&self.path).map_err(failed("open", &self.path))?;
        file.sync_all().map_err(failed("sync", &self.path))?;
        let named = self.folder.join(name);
        fs::rename(&self.path, &named).map_err(failed("rename to", &named))?;
        sync_directory(&self.folder)
    }
}

/// Makes the names in a directory durable.
pub(crate) fn sync_directory(path: &Path) -> Result<(), Failure> {
    let file = File::open(path).map_err(failed("open", path))?;
    file.sync_all().map_err(failed("sync", path))
}

/// Length and BLAKE3 of all that can be read.
pub(crate) fn sum(from: &mut dyn Read) -> io::Result<Sum> {
    pass(from, &mut |_| Ok(()))
}

fn pass(from: &mut dyn Read, to: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<Sum> {
    let (mut hasher, mut bytes, mut buffer) = (blake3::Hasher::new(), 0, vec![0; CHUNK]);
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        to(&buffer[..read])?;
        hasher.update(&buffer[..read]);
        bytes += read as u64;
    }
    Ok(Sum {
        bytes,
        blake3: *hasher.finalize().as_bytes(),
    })
}
