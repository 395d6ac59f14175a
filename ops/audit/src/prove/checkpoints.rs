//! Compares a journal with signed checkpoints saved elsewhere. A journal that was cut or rewritten
//! cannot agree with a checkpoint signed earlier.

use std::path::Path;

use foretell_checkpoint::{Checkpoint, SignedCheckpoint};
use foretell_model::{FramePosition, Sequence, TimeMs};
use serde::Deserialize;
use serde_json::Value;

use crate::error::AuditError as Failure;
use crate::finding::{Finding, Kind};
use crate::prove::attested::AttestedStates;
use crate::read::inclusion::Inclusion;
use crate::read::source::Source;

/// A saved checkpoint.
#[derive(Clone, Copy, Debug)]
pub struct SavedCheckpoint {
    /// SignedCheckpoint checkpoint with its public key.
    pub signed: SignedCheckpoint,
    /// Genesis of the checkpoint's journal, if the file names it.
    pub genesis: Option<[u8; 32]>,
}

/// A checkpoint in the JSON of `/audit/checkpoint`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CheckpointRow {
    genesis: Option<String>,
    sequence: u64,
    chain: String,
    digest: String,
    time: u64,
    public_key: String,
    signature: String,
}

/// Reads checkpoints from a file that holds one or more answers of `/audit/checkpoint` or
/// `/audit/checkpoints`, concatenated. All must be signed with `key`.
///
/// # Errors
/// The file or the key cannot be read, or a checkpoint is signed with another key.
pub(crate) fn load(file: &Path, key: &str) -> Result<Vec<SavedCheckpoint>, Failure> {
    let key = public_key(key)?;
    let cannot = |what: String| Failure::new(format!("{}: {what}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| cannot(error.to_string()))?;
    let mut checkpoints = Vec::new();
    for given in serde_json::Deserializer::from_str(&text).into_iter::<Value>() {
        let rows = given.and_then(rows).map_err(|error| {
            let hint = "save the answer of /audit/checkpoint or /audit/checkpoints";
            cannot(format!("no checkpoints: {error}")).hint(hint)
        })?;
        for row in rows {
            let sequence = row.sequence;
            let saved = parse_checkpoint(&row).ok_or_else(|| {
                cannot(format!("the checkpoint at {sequence} has bad hex digits"))
            })?;
            if saved.signed.public_key != key {
                return Err(cannot(format!(
                    "the checkpoint at {sequence} is signed with another key, {}",
                    row.public_key
                )));
            }
            checkpoints.push(saved);
        }
    }
    if checkpoints.is_empty() {
        return Err(cannot("it holds no checkpoint".to_owned()));
    }
    checkpoints.sort_by_key(|saved| saved.signed.checkpoint.sequence);
    Ok(checkpoints)
}

/// Accepts one object, a list, or a page of objects.
fn rows(mut given: Value) -> serde_json::Result<Vec<CheckpointRow>> {
    let page = given.get_mut("data").map(Value::take);
    let rows = match page.unwrap_or(given) {
        Value::Array(rows) => rows,
        row => vec![row],
    };
    rows.into_iter().map(serde_json::from_value).collect()
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

fn parse_checkpoint(row: &CheckpointRow) -> Option<SavedCheckpoint> {
    let genesis = match &row.genesis {
        Some(genesis) => Some(bytes(genesis)?),
        None => None,
    };
    let signed = SignedCheckpoint {
        checkpoint: Checkpoint {
            sequence: Sequence(row.sequence),
            chain: bytes(&row.chain)?,
            digest: bytes(&row.digest)?,
            time: TimeMs(row.time),
        },
        public_key: bytes(&row.public_key)?,
        signature: bytes(&row.signature)?,
    };
    Some(SavedCheckpoint { signed, genesis })
}

fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let digits = text.strip_prefix("0x").unwrap_or(text);
    hex::decode_to_slice(digits, &mut bytes).ok()?;
    Some(bytes)
}

/// SignedCheckpoint checkpoints, and the journal's digests and chain at the same sequences.
#[derive(Debug, Default)]
pub(crate) struct CheckpointCheck {
    /// Checkpoints signed for this journal, by sequence.
    checkpoints: Vec<SignedCheckpoint>,
    /// Digest and place of each checkpoint's frame, as far as the journal was read.
    found: Vec<([u8; 32], FramePosition)>,
    /// Attested states, which need a digest too.
    pub(crate) attested: AttestedStates,
    /// Findings about checkpoints that are not of this journal.
    others: Vec<Finding>,
    given: usize,
}

/// Numbers of checkpoints given and compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CheckpointStats {
    /// Checkpoints signed for this journal whose frame was reached or lies beyond the journal's
    /// end.
    pub compared: usize,
    /// All checkpoints given.
    pub given: usize,
}

impl CheckpointCheck {
    /// `saved` is ordered by sequence.
    pub(crate) fn new(source: &Source, saved: &[SavedCheckpoint]) -> Self {
        let mut check = Self {
            given: saved.len(),
            ..Self::default()
        };
        if saved.is_empty() {
            return check;
        }
        // A journal without a genesis is reported as damaged in any case.
        let Ok(genesis) = source.genesis() else {
            return check;
        };
        for saved in saved {
            match check_signature(saved, &genesis) {
                Ok(()) => check.checkpoints.push(saved.signed),
                Err(finding) => check.others.push(finding),
            }
        }
        check
    }

    /// Sequence of the first checkpoint or attested state not yet reached.
    pub(crate) fn awaited(&self) -> Option<Sequence> {
        let places = [self.next(), self.attested.awaited()];
        places.into_iter().flatten().min()
    }

    /// Sequence of the first checkpoint not yet reached.
    fn next(&self) -> Option<Sequence> {
        let next = self.checkpoints.get(self.found.len());
        next.map(|signed| signed.checkpoint.sequence)
    }

    /// Records that a frame was executed; `digest` computes the digest of the state after it.
    pub(crate) fn passed(
        &mut self,
        sequence: Sequence,
        place: FramePosition,
        digest: impl FnOnce() -> [u8; 32],
    ) {
        if self.awaited() != Some(sequence) {
            return;
        }
        let digest = digest();
        while self.next() == Some(sequence) {
            self.found.push((digest, place));
        }
        self.attested.passed(sequence, &digest);
    }

    /// The findings, and how many checkpoints were compared. `end` is the last sequence if the
    /// journal was read to its end: frames of later checkpoints are missing then.
    pub(crate) fn findings(
        &self,
        source: &Source,
        end: Option<Sequence>,
    ) -> Result<(Vec<Finding>, CheckpointStats), Failure> {
        let mut findings = self.others.clone();
        findings.extend_from_slice(self.attested.findings());
        for (signed, found) in self.checkpoints.iter().zip(&self.found) {
            let sequence = signed.checkpoint.sequence;
            if let Some(text) = difference(signed, found, source)? {
                findings.push(Finding::new(Kind::Damage, sequence, text));
            }
        }
        let mut compared = self.found.len();
        if let Some(end) = end {
            for signed in &self.checkpoints[compared..] {
                let text = format!(
                    "a signed checkpoint is beyond the journal, which ends at {end}: it was cut"
                );
                findings.push(Finding::new(Kind::Damage, signed.checkpoint.sequence, text));
            }
            compared = self.checkpoints.len();
        }
        let given = self.given;
        Ok((findings, CheckpointStats { compared, given }))
    }
}

/// Checks that the key signed the checkpoint for this journal; otherwise returns the finding.
fn check_signature(saved: &SavedCheckpoint, genesis: &[u8; 32]) -> Result<(), Finding> {
    let sequence = saved.signed.checkpoint.sequence;
    let nothing = |why: &dyn std::fmt::Display| {
        let text = format!("a checkpoint proves nothing: {why}");
        Err(Finding::new(Kind::Signature, sequence, text))
    };
    if sequence == Sequence(0) {
        return nothing(&"it names no frame");
    }
    let Err(why) = saved.signed.verify(genesis) else {
        return Ok(());
    };
    match saved.genesis {
        Some(other) if saved.signed.verify(&other).is_ok() => {
            let [signed, this] = [&other, genesis].map(hex::encode);
            let text =
                format!("another journal was signed: {signed} is its genesis, {this} this one's");
            Err(Finding::new(Kind::Damage, sequence, text))
        }
        _ => nothing(&why),
    }
}

/// How journal and signed checkpoint differ, if they do.
fn difference(
    signed: &SignedCheckpoint,
    (digest, place): &([u8; 32], FramePosition),
    source: &Source,
) -> Result<Option<&'static str>, Failure> {
    let checkpoint = &signed.checkpoint;
    if *digest != checkpoint.digest {
        return Ok(Some("the state is not the one of a signed checkpoint"));
    }
    let inclusion = Inclusion::find(source.directory(), *place)?;
    let is_chain = inclusion.chain_at(checkpoint.sequence) == Some(checkpoint.chain);
    Ok((!is_chain).then_some("the chain is not the one of a signed checkpoint"))
}
