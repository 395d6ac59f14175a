//! The manifest of a backup: its files with their sums, where its journal ends, and a signature.

use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path};

use foretell_audit::exit_codes::{DAMAGE, SIGNATURE};
use foretell_checkpoint::{Checkpoint, SignedCheckpoint, Signer, verify_backup};
use foretell_journal::control::JournalPosition;
use foretell_model::limits::FORMAT_ID;
use foretell_model::{Sequence, TimeMs};
use serde::{Deserialize, Serialize};

use super::files::{Sum, Unfinished, failed};
use crate::failure::Failure;

/// The file's name in the directory of a backup.
pub(crate) const MANIFEST_NAME: &str = "manifest.json";

/// What a backup is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    /// The build that made it.
    pub(crate) version: String,
    /// Format of journal and state.
    pub(crate) format_id: u32,
    /// Time of the backup, unix milliseconds.
    pub(crate) time_ms: u64,
    #[serde(with = "digits")]
    pub(crate) genesis: [u8; 32],
    /// Whether the journal is a copy of a replicated log.
    pub(crate) cluster: bool,
    /// The last frame.
    pub(crate) last_sequence: u64,
    /// Chain hash at that frame.
    #[serde(with = "digits")]
    pub(crate) chain: [u8; 32],
    pub(crate) checkpoint: Option<CheckpointEntry>,
    /// From segment 1 on; the last one still grew.
    pub(crate) segments: Vec<SegmentEntry>,
    pub(crate) checkpoints: Option<FileEntry>,
    pub(crate) catalog: Option<FileEntry>,
    /// What webhooks have delivered.
    pub(crate) webhooks: Option<FileEntry>,
    pub(crate) secrets: Option<FileEntry>,
}

/// A file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileEntry {
    /// Path in the directory of the backup.
    pub(crate) file: String,
    pub(crate) bytes: u64,
    #[serde(with = "digits")]
    pub(crate) blake3: [u8; 32],
}

/// A segment of the journal, up to its end.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SegmentEntry {
    pub(crate) number: u32,
    pub(crate) last_sequence: u64,
    /// Chain hash at its end.
    #[serde(with = "digits")]
    pub(crate) chain: [u8; 32],
    pub(crate) content: FileEntry,
}

/// The newest signed checkpoint.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckpointEntry {
    pub(crate) sequence: u64,
    #[serde(with = "digits")]
    pub(crate) chain: [u8; 32],
    #[serde(with = "digits")]
    pub(crate) digest: [u8; 32],
    pub(crate) time_ms: u64,
    #[serde(with = "digits")]
    pub(crate) public_key: [u8; 32],
    #[serde(with = "digits")]
    pub(crate) signature: [u8; 64],
}

/// The file: the signature covers the manifest's JSON without spaces.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignedManifest {
    manifest: Manifest,
    #[serde(with = "digits")]
    public_key: [u8; 32],
    #[serde(with = "digits")]
    signature: [u8; 64],
}

impl FileEntry {
    pub(crate) fn new(file: String, sum: Sum) -> Self {
        Self {
            file,
            bytes: sum.bytes,
            blake3: sum.blake3,
        }
    }

    pub(crate) const fn sum(&self) -> Sum {
        Sum {
            bytes: self.bytes,
            blake3: self.blake3,
        }
    }
}

impl From<SignedCheckpoint> for CheckpointEntry {
    fn from(signed: SignedCheckpoint) -> Self {
        let Checkpoint {
            sequence,
            chain,
            digest,
            time,
        } = signed.checkpoint;
        Self {
            sequence: sequence.0,
            chain,
            digest,
            time_ms: time.0,
            public_key: signed.public_key,
            signature: signed.signature,
        }
    }
}

impl CheckpointEntry {
    pub(crate) const fn signed(&self) -> SignedCheckpoint {
        SignedCheckpoint {
            checkpoint: Checkpoint {
                sequence: Sequence(self.sequence),
                chain: self.chain,
                digest: self.digest,
                time: TimeMs(self.time_ms),
            },
            public_key: self.public_key,
            signature: self.signature,
        }
    }
}

impl Manifest {
    /// Reads and verifies the manifest in a directory, and returns the key that signed it; `None` when there
    /// is none.
    ///
    /// # Errors
    /// It is not as it was written, is of another format, or cannot be read.
    pub(crate) fn read(directory: &Path) -> Result<Option<(Self, [u8; 32])>, Failure> {
        let path = directory.join(MANIFEST_NAME);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == ErrorKind::InvalidData => String::new(),
            text => text.map_err(failed("read", &path))?,
        };
        let refused =
            |why: String, code| Failure::new(format!("{}: {why}", path.display())).code(code);
        let damaged = |why: &str| refused(format!("{why}; use another copy of the backup"), DAMAGE);
        let signed: SignedManifest =
            serde_json::from_str(&text).map_err(|error| damaged(&error.to_string()))?;
        if signed.text() != text {
            return Err(damaged("it is not as it was written"));
        }
        let SignedManifest {
            manifest,
            public_key,
            signature,
        } = signed;
        verify_backup(
            &public_key,
            &manifest.genesis,
            &manifest.digest(),
            &signature,
        )
        .map_err(|error| refused(error.to_string(), SIGNATURE))?;
        if manifest.format_id != FORMAT_ID {
            let Self {
                version, format_id, ..
            } = manifest;
            return Err(Failure::new(format!(
                "{}: it is of format {format_id}, this build reads format {FORMAT_ID}",
                path.display()
            ))
            .hint(format!("use foretell {version}, which made it"))
            .code(foretell_engine::EXIT_REFUSED));
        }
        manifest.check().map_err(damaged)?;
        Ok(Some((manifest, public_key)))
    }

    /// Signs the manifest and puts it in the place of the one before.
    pub(crate) fn write(&self, directory: &Path, signer: &Signer) -> Result<(), Failure> {
        let signed = SignedManifest {
            manifest: self.clone(),
            public_key: signer.public_key(),
            signature: signer.sign_backup(&self.genesis, &self.digest()),
        };
        let unfinished = Unfinished::new(directory)?;
        unfinished.fill(&mut signed.text().as_bytes())?;
        unfinished.finish(MANIFEST_NAME)
    }

    /// The digest that is signed.
    fn digest(&self) -> [u8; 32] {
        let text = serde_json::to_vec(self).expect("a manifest has a JSON text");
        *blake3::hash(&text).as_bytes()
    }

    /// Whoever has the key could sign what no run writes.
    fn check(&self) -> Result<(), &'static str> {
        let mut numbered = (1..).zip(&self.segments);
        if self.segments.is_empty() || !numbered.all(|(number, it)| it.number == number) {
            return Err("its segments are not 1, 2, and so on");
        }
        let is_inside = |entry: &FileEntry| {
            let mut parts = Path::new(&entry.file).components();
            parts.all(|part| matches!(part, Component::Normal(_)))
        };
        match self.files().all(is_inside) {
            true => Ok(()),
            false => Err("it names a file outside of the backup"),
        }
    }

    /// Every file of the backup besides the manifest.
    pub(crate) fn files(&self) -> impl Iterator<Item = &FileEntry> {
        let segments = self.segments.iter().map(|segment| &segment.content);
        let Self {
            checkpoints,
            catalog,
            webhooks,
            secrets,
            ..
        } = self;
        let others = [checkpoints, catalog, webhooks, secrets];
        segments.chain(others.into_iter().flatten())
    }

    /// Where the journal ends.
    ///
    /// # Panics
    /// Never: a manifest that was read has a segment, and a segment has less than 4 GiB.
    pub(crate) fn end(&self) -> JournalPosition {
        let last = self.segments.last().expect("a journal has a segment");
        JournalPosition {
            segment: last.number,
            offset: u32::try_from(last.content.bytes).unwrap_or(u32::MAX),
        }
    }
}

impl SignedManifest {
    fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("a manifest has a JSON text") + "\n"
    }
}

/// Bytes as hex digits.
pub(super) mod digits {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer, const N: usize>(
        bytes: &[u8; N],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex::encode(bytes))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, const N: usize>(
        deserializer: D,
    ) -> Result<[u8; N], D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut bytes = [0; N];
        hex::decode_to_slice(text, &mut bytes).map_err(D::Error::custom)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(file: &str) -> FileEntry {
        FileEntry {
            file: file.to_owned(),
            bytes: 4_096,
            blake3: [1; 32],
        }
    }

    fn manifest() -> Manifest {
        Manifest {
            version: "0.1.0".to_owned(),
            format_id: FORMAT_ID,
            time_ms: 1,
            genesis: [7; 32],
            cluster: false,
            last_sequence: u64::MAX,
            chain: [2; 32],
            checkpoint: None,
            segments: vec![SegmentEntry {
                number: 1,
                last_sequence: u64::MAX,
                chain: [2; 32],
                content: entry("journal/00000001.ab.growing"),
            }],
            checkpoints: None,
            catalog: Some(entry("ab.catalog")),
            webhooks: None,
            secrets: None,
        }
    }

    /// What reading says of a manifest that this key signed.
    fn read(
        manifest: &Manifest,
        change: impl FnOnce(String) -> String,
    ) -> Result<Manifest, String> {
        let directory = tempfile::tempdir().unwrap();
        let signer = Signer::from_secret(&[9; 32]);
        manifest.write(directory.path(), &signer).unwrap();
        let path = directory.path().join(MANIFEST_NAME);
        fs::write(&path, change(fs::read_to_string(&path).unwrap())).unwrap();
        let read = Manifest::read(directory.path()).map_err(|error| error.to_string())?;
        let (manifest, key) = read.unwrap();
        assert_eq!(key, signer.public_key());
        Ok(manifest)
    }

    #[test]
    fn a_manifest_reads_as_it_was_written_and_in_no_other_spelling() {
        let sound = manifest();
        assert_eq!(read(&sound, |text| text), Ok(sound.clone()));
        let spoil: [fn(String) -> String; 5] = [
            |text| text.replace("ab.catalog", "ac.catalog"),
            |text| text.replace("  ", " "),
            |text| text.to_uppercase(),
            |text| text.replace("\"time_ms\": 1", "\"time_ms\": 1, \"more\": 2"),
            |text| text[..text.len() / 2].to_owned(),
        ];
        for (index, spoil) in spoil.into_iter().enumerate() {
            assert!(read(&sound, spoil).is_err(), "{index}");
        }
        let other = Manifest {
            format_id: FORMAT_ID + 1,
            ..sound
        };
        let refused = read(&other, |text| text).unwrap_err();
        assert!(refused.contains("use foretell 0.1.0"), "{refused}");
    }

    #[test]
    fn whoever_has_the_key_names_no_file_outside_of_the_backup() {
        for file in ["/etc/passwd", "../x", "journal/../../x", "./x"] {
            let catalog = Some(entry(file));
            let refused = read(
                &Manifest {
                    catalog,
                    ..manifest()
                },
                |text| text,
            )
            .unwrap_err();
            assert!(
                refused.contains("outside of the backup"),
                "{file}: {refused}"
            );
        }
        let mut gap = manifest();
        gap.segments[0].number = 2;
        assert!(read(&gap, |text| text).unwrap_err().contains("not 1, 2"));
        let segments = Vec::new();
        assert!(
            read(
                &Manifest {
                    segments,
                    ..manifest()
                },
                |text| text
            )
            .is_err()
        );
    }
}
