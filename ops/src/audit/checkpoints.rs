//! Checkpoints that were kept elsewhere, held against a journal: one that was cut, or written anew,
//! cannot agree with what was signed before.

use std::path::Path;

use foretell_checkpoint::{Checkpoint, Signed};
use foretell_model::{FramePlace, Sequence, TimeMs};
use serde::Deserialize;

use super::finding::{Finding, Kind};
use super::inclusion::Inclusion;
use super::source::Source;
use crate::failure::Failure;

/// A checkpoint as `/audit/checkpoint` gives it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    sequence: u64,
    chain: String,
    digest: String,
    time: u64,
    public_key: String,
    signature: String,
}

/// One object, a list, or a page of them.
#[derive(Deserialize)]
#[serde(untagged)]
enum Given {
    One(Row),
    Many(Vec<Row>),
    Page { data: Vec<Row> },
}

/// Reads checkpoints from a file: answers of `/audit/checkpoint` and `/audit/checkpoints`, one or
/// several after each other. All must be signed with `key`.
///
/// # Errors
/// The file or the key cannot be read, or one is of another key.
pub(crate) fn load(file: &Path, key: &str) -> Result<Vec<Signed>, Failure> {
    let key = public_key(key)?;
    let cannot = |what: String| Failure::new(format!("{}: {what}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| cannot(error.to_string()))?;
    let mut checkpoints = Vec::new();
    for given in serde_json::Deserializer::from_str(&text).into_iter::<Given>() {
        let rows = match given {
            Ok(Given::One(row)) => vec![row],
            Ok(Given::Many(rows) | Given::Page { data: rows }) => rows,
            Err(error) => {
                let hint = "save the answer of /audit/checkpoint or /audit/checkpoints";
                return Err(cannot(format!("no checkpoints: {error}")).hint(hint));
            }
        };
        for row in rows {
            let sequence = row.sequence;
            let signed = signed(&row).ok_or_else(|| {
                cannot(format!("the checkpoint at {sequence} has bad hex digits"))
            })?;
            if signed.public_key != key {
                return Err(cannot(format!(
                    "the checkpoint at {sequence} is signed with another key, {}",
                    row.public_key
                )));
            }
            checkpoints.push(signed);
        }
    }
    if checkpoints.is_empty() {
        return Err(cannot("it holds no checkpoint".to_owned()));
    }
    checkpoints.sort_by_key(|signed| signed.checkpoint.sequence);
    Ok(checkpoints)
}

fn public_key(given: &str) -> Result<[u8; 32], Failure> {
    if let Some(key) = bytes(given) {
        return Ok(key);
    }
    let text = std::fs::read_to_string(given)
        .map_err(|error| Failure::new(format!("checkpoint key {given}: {error}")))?;
    bytes(text.trim())
        .ok_or_else(|| Failure::new(format!("checkpoint key {given}: 64 hex digits expected")))
}

fn signed(row: &Row) -> Option<Signed> {
    Some(Signed {
        checkpoint: Checkpoint {
            sequence: Sequence(row.sequence),
            chain: bytes(&row.chain)?,
            digest: bytes(&row.digest)?,
            time: TimeMs(row.time),
        },
        public_key: bytes(&row.public_key)?,
        signature: bytes(&row.signature)?,
    })
}

fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let digits = text.strip_prefix("0x").unwrap_or(text);
    hex::decode_to_slice(digits, &mut bytes).ok()?;
    Some(bytes)
}

/// Checkpoints, and what the journal has where they stand.
#[derive(Debug)]
pub(crate) struct Vouched {
    checkpoints: Vec<Signed>,
    /// Digest and place, as far as the journal was followed.
    found: Vec<([u8; 32], FramePlace)>,
    genesis: [u8; 32],
}

impl Vouched {
    /// Checkpoints in the order of their sequences.
    pub(crate) fn new(source: &Source, checkpoints: &[Signed]) -> Result<Self, Failure> {
        let genesis = match checkpoints {
            [] => [0; 32],
            _ => source.genesis()?,
        };
        Ok(Self {
            checkpoints: checkpoints.to_vec(),
            found: Vec::with_capacity(checkpoints.len()),
            genesis,
        })
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.checkpoints.len()
    }

    /// Where the first of them stands whose place was not reached yet.
    pub(crate) fn awaited(&self) -> Option<Sequence> {
        let next = self.checkpoints.get(self.found.len());
        next.map(|signed| signed.checkpoint.sequence)
    }

    /// Of the states behind those whose places were reached.
    #[cfg(test)]
    pub(crate) fn digests(&self) -> impl Iterator<Item = [u8; 32]> + '_ {
        self.found.iter().map(|(digest, _)| *digest)
    }

    /// A frame was followed; `digest` is that of the state behind it.
    pub(crate) fn passed(
        &mut self,
        sequence: Sequence,
        place: FramePlace,
        digest: impl Fn() -> [u8; 32],
    ) {
        while let Some(signed) = self.checkpoints.get(self.found.len())
            && signed.checkpoint.sequence == sequence
        {
            self.found.push((digest(), place));
        }
    }

    /// What does not agree; the journal was followed to `last`.
    pub(crate) fn findings(
        &self,
        source: &Source,
        last: Sequence,
    ) -> Result<Vec<Finding>, Failure> {
        let mut findings = Vec::new();
        for (index, signed) in self.checkpoints.iter().enumerate() {
            let sequence = signed.checkpoint.sequence;
            if let Err(why) = signed.verify(&self.genesis) {
                let text = format!("a checkpoint proves nothing: {why}");
                findings.push(Finding::new(Kind::Signature, sequence, text));
                continue;
            }
            let disagrees = match self.found.get(index) {
                None => Some(format!(
                    "a signed checkpoint is beyond the journal, which ends at {}: it was cut",
                    last.0
                )),
                Some((digest, _)) if *digest != signed.checkpoint.digest => {
                    Some("the state is not the one of a signed checkpoint".to_owned())
                }
                Some((_, place)) => {
                    let chain = Inclusion::find(source.directory(), *place)?.chain_at(sequence);
                    (chain != Some(signed.checkpoint.chain))
                        .then(|| "the chain is not the one of a signed checkpoint".to_owned())
                }
            };
            if let Some(text) = disagrees {
                findings.push(Finding::new(Kind::Damage, sequence, text));
            }
        }
        Ok(findings)
    }
}
