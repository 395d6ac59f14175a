//! The directory of snapshots: list, write, remove.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foretell_model::Sequence;

use super::chunk::{ChunkEntry, LogName};
use super::header::{SnapshotKind, SnapshotLabel};
use super::image::{self, CHUNKS, Image};
use super::write::SnapshotWriter;
use crate::directory;
use crate::disk::Disk;
use crate::error::{Context, JournalError};

/// The sequences of all images in a directory, valid or not, newest first. A missing directory has
/// none.
pub fn images(dir: &Path) -> io::Result<Vec<Sequence>> {
    let mut sequences: Vec<Sequence> = names(dir)?
        .iter()
        .filter_map(|name| image::sequence_of(name))
        .collect();
    sequences.sort_unstable_by(|a, b| b.cmp(a));
    Ok(sequences)
}

/// The newest valid image at or below `limit` of the journal with this genesis. Each skipped image
/// is logged with the reason.
#[must_use]
pub fn newest_image(dir: &Path, genesis: &[u8; 32], limit: Sequence) -> Option<Image> {
    let sequences = images(dir).unwrap_or_else(|error| {
        tracing::warn!(dir = %dir.display(), %error, "cannot list the snapshots");
        Vec::new()
    });
    let below = sequences.into_iter().filter(|sequence| *sequence <= limit);
    below
        .map(|sequence| (sequence, Image::open(dir, sequence, genesis)))
        .find_map(|(sequence, opened)| match opened {
            Ok(image) => Some(image),
            Err(reason) => {
                tracing::warn!(image = sequence.0, %reason, "unusable snapshot skipped");
                None
            }
        })
}

fn names(dir: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    entries
        .map(|entry| Ok(entry?.file_name().into_string().ok()))
        .filter_map(Result::transpose)
        .collect()
}

/// The directory, for its only writer: the engine that holds the journal.
#[derive(Clone, Debug)]
pub struct SnapshotStore {
    dir: PathBuf,
    disk: Arc<dyn Disk>,
    genesis: [u8; 32],
}

impl SnapshotStore {
    /// Checks that the directory, if it exists, is one of this user. Changes nothing.
    ///
    /// # Errors
    /// It may belong to another user, or cannot be read.
    pub fn check(dir: &Path) -> Result<(), JournalError> {
        directory::check(dir)
    }

    /// Creates the directory with mode 0700 if needed, and removes unfinished files of a crash.
    ///
    /// # Errors
    /// An I/O error, or a directory that may belong to another user.
    pub fn open(dir: &Path, disk: Arc<dyn Disk>, genesis: [u8; 32]) -> Result<Self, JournalError> {
        directory::prepare(&*disk, dir)?;
        directory::remove_unfinished(&*disk, dir)?;
        Ok(Self {
            dir: dir.to_owned(),
            disk,
            genesis,
        })
    }

    /// The directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The genesis of the journal of these snapshots.
    #[must_use]
    pub const fn genesis(&self) -> &[u8; 32] {
        &self.genesis
    }

    /// Begins the image of the state after frame `sequence`, with its list of chunks. The writer
    /// adds the section [`super::PROOF`] and sections of its own.
    pub fn begin_image(
        &self,
        sequence: Sequence,
        layout: u32,
        chunks: &[ChunkEntry],
    ) -> Result<SnapshotWriter, JournalError> {
        let label = SnapshotLabel {
            kind: SnapshotKind::Image,
            sequence,
            genesis: self.genesis,
            layout,
            number: 0,
            rows: 0,
        };
        let mut writer = self.begin(label, LogName::default())?;
        writer.begin(CHUNKS)?;
        for chunk in chunks {
            writer.write(&chunk.encode())?;
        }
        Ok(writer)
    }

    /// Writes a chunk: `rows` rows of a log. The same rows always give the same file.
    pub fn write_chunk(
        &self,
        (log, number): (LogName, u32),
        layout: u32,
        rows: u32,
        bytes: &[u8],
    ) -> Result<ChunkEntry, JournalError> {
        let label = SnapshotLabel {
            kind: SnapshotKind::Chunk,
            sequence: Sequence(0),
            genesis: self.genesis,
            layout,
            number,
            rows,
        };
        let mut writer = self.begin(label, log)?;
        writer.begin(log.as_str())?;
        writer.write(bytes)?;
        let hash = writer.finish()?;
        Ok(ChunkEntry {
            log,
            number,
            rows,
            hash,
        })
    }

    /// Whether the file of a chunk exists.
    #[must_use]
    pub fn has_chunk(&self, chunk: &ChunkEntry) -> bool {
        chunk.path(&self.dir).exists()
    }

    fn begin(&self, label: SnapshotLabel, log: LogName) -> Result<SnapshotWriter, JournalError> {
        if !self.dir.exists() {
            // The directory was removed, which is harmless.
            directory::prepare(&*self.disk, &self.dir)?;
        }
        SnapshotWriter::create(Arc::clone(&self.disk), &self.dir, label, log)
    }

    /// Removes every image above `end`, the journal's last frame: its frames are not in the journal
    /// any more.
    ///
    /// # Errors
    /// An I/O error. The engine must not serve then: a gateway would show events that never
    /// happened.
    pub fn remove_images_beyond(&self, end: Sequence) -> Result<(), JournalError> {
        let beyond = self.images()?.into_iter().filter(|image| *image > end);
        let mut removed = false;
        for sequence in beyond {
            tracing::warn!(
                image = sequence.0,
                end = end.0,
                "removing an image beyond the journal"
            );
            self.remove_image(sequence)?;
            removed = true;
        }
        if removed {
            self.disk.sync_dir(&self.dir).context("sync", &self.dir)?;
        }
        Ok(())
    }

    /// Removes one image.
    ///
    /// # Errors
    /// An I/O error.
    pub fn remove_image(&self, sequence: Sequence) -> Result<(), JournalError> {
        self.remove(&image::path(&self.dir, sequence))
    }

    /// Keeps the newest `keep` images and the chunks they list; removes older images and unlisted
    /// chunks. An image that cannot be opened is not counted, and stays among the kept ones for
    /// analysis. The images are not read whole: a log only grows, so the newest lists the chunks of
    /// the others.
    ///
    /// # Errors
    /// An I/O error; the next call removes the rest.
    pub fn tidy(&self, keep: usize) -> Result<(), JournalError> {
        let mut kept = 0;
        let mut listed = BTreeSet::new();
        for sequence in self.images()? {
            if kept == keep {
                self.remove_image(sequence)?;
            } else if let Ok(image) = Image::open_unverified(&self.dir, sequence, &self.genesis) {
                kept += 1;
                listed.extend(image.chunks().iter().map(|chunk| chunk.path(&self.dir)));
            }
        }
        for name in names(&self.dir).context("list", &self.dir)? {
            let path = self.dir.join(name);
            let is_chunk = path
                .extension()
                .is_some_and(|extension| extension == "chunk");
            if is_chunk && !listed.contains(&path) {
                self.remove(&path)?;
            }
        }
        Ok(())
    }

    fn images(&self) -> Result<Vec<Sequence>, JournalError> {
        images(&self.dir).context("list", &self.dir)
    }

    fn remove(&self, path: &Path) -> Result<(), JournalError> {
        match self.disk.remove(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(JournalError::io("remove", path, error))
            }
            _ => Ok(()),
        }
    }
}
