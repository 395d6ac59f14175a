//! Compares a journal with signed checkpoints saved elsewhere. A journal that was cut or rewritten
//! cannot agree with a checkpoint signed earlier.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use foretell_checkpoint::{Checkpoint, SignedCheckpoint};
use foretell_matching::{Capacity, Exchange};
use foretell_model::{FramePosition, Sequence, TimeMs};
use serde::Deserialize;
use serde_json::Value;

use crate::digits::parse_hex;
use crate::error::AuditError;
use crate::finding::{Finding, Kind};
use crate::prove::attested::AttestedState;
use crate::read::inclusion::Inclusion;
use crate::read::source::Source;

/// A saved checkpoint.
#[derive(Clone, Copy, Debug)]
pub struct SavedCheckpoint {
    /// Signed checkpoint with its public key.
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
pub(crate) fn load(file: &Path, key: &str) -> Result<Vec<SavedCheckpoint>, AuditError> {
    let key = public_key(key)?;
    let cannot = |what: String| AuditError::new(format!("{}: {what}", file.display()));
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

/// The public key of checkpoints: hex digits, or a file with them.
///
/// # Errors
/// It is neither.
pub fn public_key(given: &str) -> Result<[u8; 32], AuditError> {
    if let Some(key) = parse_hex(given) {
        return Ok(key);
    }
    let text = std::fs::read_to_string(given)
        .map_err(|error| AuditError::new(format!("checkpoint key {given}: {error}")))?;
    parse_hex(text.trim())
        .ok_or_else(|| AuditError::new(format!("checkpoint key {given}: 64 hex digits expected")))
}

fn parse_checkpoint(row: &CheckpointRow) -> Option<SavedCheckpoint> {
    let genesis = match &row.genesis {
        Some(genesis) => Some(parse_hex(genesis)?),
        None => None,
    };
    let signed = SignedCheckpoint {
        checkpoint: Checkpoint {
            sequence: Sequence(row.sequence),
            chain: parse_hex(&row.chain)?,
            digest: parse_hex(&row.digest)?,
            time: TimeMs(row.time),
        },
        public_key: parse_hex(&row.public_key)?,
        signature: parse_hex(&row.signature)?,
    };
    Some(SavedCheckpoint { signed, genesis })
}

/// Signed checkpoints and attested states, and the journal's states at the same sequences.
#[derive(Debug)]
pub(crate) struct StateCheck {
    /// Checkpoints signed for this journal, by sequence.
    checkpoints: Vec<SignedCheckpoint>,
    /// Findings about checkpoints that are not of this journal.
    others: Vec<Finding>,
    attested: Vec<AttestedState>,
    /// Sequences of both that were not reached yet, the first one last.
    awaited: Vec<Sequence>,
    /// Digest of each state that was reached, and the place of its frame.
    reached: BTreeMap<Sequence, ([u8; 32], FramePosition)>,
}

impl StateCheck {
    /// `saved` is ordered by sequence.
    pub(crate) fn new(
        source: &Source,
        saved: &[SavedCheckpoint],
        attested: Vec<AttestedState>,
    ) -> Self {
        let (mut checkpoints, mut others) = (Vec::new(), Vec::new());
        // A journal without a genesis is reported as damaged in any case.
        if let Some(genesis) = source.genesis().ok().filter(|_| !saved.is_empty()) {
            for saved in saved {
                match check_signature(saved, &genesis) {
                    Ok(()) => checkpoints.push(saved.signed),
                    Err(finding) => others.push(finding),
                }
            }
        }
        let signed = checkpoints.iter().map(|signed| signed.checkpoint.sequence);
        let sequences = attested.iter().map(|attested| attested.sequence);
        let awaited: BTreeSet<Sequence> = signed.chain(sequences).collect();
        let mut check = Self {
            checkpoints,
            others,
            attested,
            awaited: awaited.into_iter().rev().collect(),
            reached: BTreeMap::new(),
        };
        let empty = || Exchange::new(Capacity::NONE, 0).digest();
        check.passed(Sequence(0), FramePosition::default(), empty);
        check
    }

    /// Sequence of the first state not yet reached.
    pub(crate) fn awaited(&self) -> Option<Sequence> {
        self.awaited.last().copied()
    }

    /// Records that a frame was executed; `digest` computes the digest of the state after it.
    pub(crate) fn passed(
        &mut self,
        sequence: Sequence,
        place: FramePosition,
        digest: impl FnOnce() -> [u8; 32],
    ) {
        if self.awaited() == Some(sequence) {
            self.awaited.pop();
            self.reached.insert(sequence, (digest(), place));
        }
    }

    /// Number of attested states that were reached.
    pub(crate) fn attested_states(&self) -> usize {
        let reached = |attested: &&AttestedState| self.reached.contains_key(&attested.sequence);
        self.attested.iter().filter(reached).count()
    }

    /// The findings, and the number of checkpoints that were compared. `end` is the last sequence if the
    /// journal was read to its end: frames of later checkpoints are missing then.
    pub(crate) fn findings(
        &self,
        source: &Source,
        end: Option<Sequence>,
    ) -> Result<(Vec<Finding>, usize), AuditError> {
        let mut findings = self.others.clone();
        findings.extend(self.attested.iter().filter_map(|attested| {
            let (digest, _) = self.reached.get(&attested.sequence)?;
            attested.difference(digest)
        }));
        let mut compared = 0;
        for signed in &self.checkpoints {
            let sequence = signed.checkpoint.sequence;
            let difference = match (self.reached.get(&sequence), end) {
                (Some(state), _) => difference(signed, state, source)?.map(str::to_owned),
                (None, Some(end)) => Some(format!(
                    "a signed checkpoint is beyond the journal, which ends at {end}: it was cut"
                )),
                (None, None) => continue,
            };
            compared += 1;
            findings.extend(difference.map(|text| Finding::new(Kind::Damage, sequence, text)));
        }
        Ok((findings, compared))
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
) -> Result<Option<&'static str>, AuditError> {
    let checkpoint = &signed.checkpoint;
    if *digest != checkpoint.digest {
        return Ok(Some("the state is not the one of a signed checkpoint"));
    }
    let inclusion = Inclusion::find(source, *place)?;
    let is_chain = inclusion.chain_at(checkpoint.sequence) == Some(checkpoint.chain);
    Ok((!is_chain).then_some("the chain is not the one of a signed checkpoint"))
}
