//! The engine's checkpoint file, oldest checkpoint first.
//!
//! ```text
//! header  0 magic "FRTLCKPT" | 8 genesis, 32 bytes
//! record  0 sequence u64 | 8 time u64, ms | 16 chain | 48 digest | 80 public key | 112 signature, 64
//! ```
//! Integers are little-endian. Readers ignore a truncated record at the end.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use foretell_model::{Sequence, TimeMs};

use crate::{Checkpoint, SignedCheckpoint};

const MAGIC: [u8; 8] = *b"FRTLCKPT";
const HEADER_BYTES: usize = 40;
const RECORD_BYTES: usize = 176;

/// Why checkpoints cannot be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointLogError {
    /// An I/O error.
    #[error("checkpoint file {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file is of another kind or of another journal.
    #[error("checkpoint file {0} belongs to another journal; move it away to start a new one")]
    Foreign(PathBuf),
}

/// The file, open for its only writer.
#[derive(Debug)]
pub struct CheckpointLog {
    path: PathBuf,
    file: File,
    /// Valid bytes: the header and a whole number of records.
    length: u64,
}

impl CheckpointLog {
    /// Checks that the file at `path`, if there is one, is of the journal identified by `genesis`. Changes nothing.
    ///
    /// # Errors
    /// See [`CheckpointLogError`].
    pub fn check(path: &Path, genesis: &[u8; 32]) -> Result<(), CheckpointLogError> {
        let io = |source| CheckpointLogError::Io {
            path: path.to_owned(),
            source,
        };
        let mut file = match open_file(path, OpenOptions::new().read(true)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            file => file.map_err(io)?,
        };
        if file.metadata().map_err(io)?.len() < HEADER_BYTES as u64 {
            return Ok(());
        }
        match read_header(&mut file).map_err(io)? {
            Some(found) if found == *genesis => Ok(()),
            _ => Err(CheckpointLogError::Foreign(path.to_owned())),
        }
    }

    /// Opens or creates the file at `path` for the journal identified by `genesis`.
    ///
    /// # Errors
    /// See [`CheckpointLogError`].
    pub fn open(path: &Path, genesis: &[u8; 32]) -> Result<Self, CheckpointLogError> {
        let io = |source| CheckpointLogError::Io {
            path: path.to_owned(),
            source,
        };
        Self::check(path, genesis)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = open_file(path, options.mode(0o600)).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        if length < HEADER_BYTES as u64 {
            // The file is new, or a power failure interrupted its creation.
            let mut header = [0; HEADER_BYTES];
            header[..8].copy_from_slice(&MAGIC);
            header[8..].copy_from_slice(genesis);
            file.write_all_at(&header, 0).map_err(io)?;
            file.set_len(HEADER_BYTES as u64).map_err(io)?;
            file.sync_all().map_err(io)?;
        }
        let length = whole(length.max(HEADER_BYTES as u64));
        Ok(Self {
            path: path.to_owned(),
            file,
            length,
        })
    }

    /// Appends a checkpoint durably. A failed append may be retried.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append(&mut self, signed: &SignedCheckpoint) -> Result<(), CheckpointLogError> {
        let written = self
            .file
            .write_all_at(&encode(signed), self.length)
            .and_then(|()| self.file.sync_data());
        written.map_err(|source| CheckpointLogError::Io {
            path: self.path.clone(),
            source,
        })?;
        self.length += RECORD_BYTES as u64;
        Ok(())
    }
}

/// A read-only view of the file at one moment.
#[derive(Debug)]
pub struct CheckpointReader {
    file: File,
    genesis: [u8; 32],
    count: u64,
}

impl CheckpointReader {
    /// Opens the file at `path`; `None` when it does not exist yet.
    ///
    /// # Errors
    /// See [`CheckpointLogError`].
    pub fn open(path: &Path) -> Result<Option<Self>, CheckpointLogError> {
        let io = |source| CheckpointLogError::Io {
            path: path.to_owned(),
            source,
        };
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io(error)),
        };
        let length = file.metadata().map_err(io)?.len();
        if length < HEADER_BYTES as u64 {
            return Ok(None);
        }
        let genesis = read_header(&mut file).map_err(io)?;
        let genesis = genesis.ok_or_else(|| CheckpointLogError::Foreign(path.to_owned()))?;
        let count = (length - HEADER_BYTES as u64) / RECORD_BYTES as u64;
        Ok(Some(Self {
            file,
            genesis,
            count,
        }))
    }

    /// Genesis of the checkpoints' journal.
    #[must_use]
    pub const fn genesis(&self) -> [u8; 32] {
        self.genesis
    }

    /// Number of checkpoints.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// At most `most` checkpoints from index `first` (0 = the oldest).
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(&self, first: u64, most: usize) -> io::Result<Vec<SignedCheckpoint>> {
        let left = self.count.saturating_sub(first);
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(most);
        let mut bytes = vec![0; wanted * RECORD_BYTES];
        let at = HEADER_BYTES as u64 + first.min(self.count) * RECORD_BYTES as u64;
        self.file.read_exact_at(&mut bytes, at)?;
        let records = bytes.as_chunks::<RECORD_BYTES>().0;
        Ok(records.iter().map(decode).collect())
    }

    /// The newest checkpoint.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn newest(&self) -> io::Result<Option<SignedCheckpoint>> {
        let Some(last) = self.count.checked_sub(1) else {
            return Ok(None);
        };
        Ok(self.read(last, 1)?.pop())
    }
}

/// Opens the file; a symbolic link in its place is not followed.
fn open_file(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let no_follow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    options.custom_flags(no_follow).open(path)
}

/// The genesis in the header; `None` when the file is of another kind.
fn read_header(file: &mut File) -> io::Result<Option<[u8; 32]>> {
    let mut header = [0; HEADER_BYTES];
    file.read_exact(&mut header)?;
    let mut genesis = [0; 32];
    genesis.copy_from_slice(&header[8..]);
    Ok((header[..8] == MAGIC).then_some(genesis))
}

/// `length` without a truncated record at the end.
fn whole(length: u64) -> u64 {
    length - (length - HEADER_BYTES as u64) % RECORD_BYTES as u64
}

fn encode(signed: &SignedCheckpoint) -> [u8; RECORD_BYTES] {
    let SignedCheckpoint {
        checkpoint,
        public_key,
        signature,
    } = signed;
    let mut record = [0; RECORD_BYTES];
    record[..8].copy_from_slice(&checkpoint.sequence.0.to_le_bytes());
    record[8..16].copy_from_slice(&checkpoint.time.0.to_le_bytes());
    record[16..48].copy_from_slice(&checkpoint.chain);
    record[48..80].copy_from_slice(&checkpoint.digest);
    record[80..112].copy_from_slice(public_key);
    record[112..].copy_from_slice(signature);
    record
}

fn decode(record: &[u8; RECORD_BYTES]) -> SignedCheckpoint {
    fn part<const N: usize>(record: &[u8; RECORD_BYTES], at: usize) -> [u8; N] {
        let mut part = [0; N];
        part.copy_from_slice(&record[at..at + N]);
        part
    }
    SignedCheckpoint {
        checkpoint: Checkpoint {
            sequence: Sequence(u64::from_le_bytes(part(record, 0))),
            time: TimeMs(u64::from_le_bytes(part(record, 8))),
            chain: part(record, 16),
            digest: part(record, 48),
        },
        public_key: part(record, 80),
        signature: part(record, 112),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Signer;

    const GENESIS: [u8; 32] = [7; 32];

    fn signed(sequence: u64) -> SignedCheckpoint {
        let checkpoint = Checkpoint {
            sequence: Sequence(sequence),
            chain: [1; 32],
            digest: [2; 32],
            time: TimeMs(sequence + 5),
        };
        Signer::from_secret(&[9; 32]).sign(&GENESIS, checkpoint)
    }

    #[test]
    fn what_is_kept_is_read_and_a_cut_record_is_written_over() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("checkpoints");
        assert!(
            CheckpointReader::open(&path)
                .expect("nothing is wrong")
                .is_none()
        );
        let mut log = CheckpointLog::open(&path, &GENESIS).expect("a new file");
        for sequence in 1..=3 {
            log.append(&signed(sequence)).expect("room");
        }
        drop(log);
        let cut = OpenOptions::new()
            .write(true)
            .open(&path)
            .expect("the file");
        cut.set_len(cut.metadata().expect("its length").len() - 1)
            .expect("a cut");
        let reader = CheckpointReader::open(&path)
            .expect("sound")
            .expect("there");
        assert_eq!((reader.count(), reader.genesis()), (2, GENESIS));
        assert_eq!(reader.newest().expect("readable"), Some(signed(2)));

        let mut log = CheckpointLog::open(&path, &GENESIS).expect("the same file");
        log.append(&signed(4)).expect("room");
        let reader = CheckpointReader::open(&path)
            .expect("sound")
            .expect("there");
        assert_eq!(reader.read(0, 9).expect("readable"), [1, 2, 4].map(signed));
        assert_eq!(reader.read(1, 1).expect("readable"), [signed(2)]);
        assert_eq!(reader.read(9, 1).expect("nothing"), []);
        let other = CheckpointLog::open(&path, &[8; 32]);
        assert!(
            matches!(other, Err(CheckpointLogError::Foreign(_))),
            "{other:?}"
        );
    }
}
