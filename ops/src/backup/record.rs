//! The record of the last backup in a data directory: for the archive, which takes nothing that no backup
//! has, and for whoever asks how old the backup is.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::files::Unfinished;
use super::manifest::{Manifest, digits};
use crate::failure::Failure;

/// The record's name in the data directory.
const RECORD_NAME: &str = "backup.json";

/// The last backup.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct LastBackup {
    /// Its directory.
    pub(crate) directory: PathBuf,
    /// Its time, unix milliseconds.
    pub(crate) time_ms: u64,
    #[serde(with = "digits")]
    pub(crate) genesis: [u8; 32],
    /// The last frame in it.
    pub(crate) last_sequence: u64,
}

impl LastBackup {
    /// Notes a backup whose manifest is in place.
    pub(super) fn write(data: &Path, directory: &Path, manifest: &Manifest) -> Result<(), Failure> {
        let record = Self {
            directory: directory.to_owned(),
            time_ms: manifest.time_ms,
            genesis: manifest.genesis,
            last_sequence: manifest.last_sequence,
        };
        let text = serde_json::to_vec(&record).expect("a record has a JSON text");
        let unfinished = Unfinished::new(data)?;
        unfinished.fill(&mut text.as_slice())?;
        unfinished.finish(RECORD_NAME)
    }

    /// Where a data directory has it.
    pub(crate) fn path(data: &Path) -> PathBuf {
        data.join(RECORD_NAME)
    }

    /// The last backup of a data directory; `None` when none is known.
    pub(crate) fn of(data: &Path) -> Option<Self> {
        let text = fs::read(Self::path(data)).ok()?;
        serde_json::from_slice(&text).ok()
    }
}
