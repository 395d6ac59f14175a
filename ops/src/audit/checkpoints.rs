//! Checkpoints that were kept elsewhere, held against a journal: one that was cut, or written anew,
//! cannot agree with what was signed before.

use std::path::Path;

use foretell_checkpoint::{Checkpoint, Signed};
use foretell_model::{FramePlace, Sequence, TimeMs};
use serde::Deserialize;
use serde_json::Value;

use super::attested::AttestedStates;
use super::finding::{Finding, Kind};
use super::inclusion::Inclusion;
use super::source::Source;
use crate::failure::Failure;

/// A checkpoint as it was kept.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    /// What was signed, and by whom.
    pub signed: Signed,
    /// The journal it says it is of, where it says so.
    pub genesis: Option<[u8; 32]>,
}

/// A checkpoint as `/audit/checkpoint` gives it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    genesis: Option<String>,
    sequence: u64,
    chain: String,
    digest: String,
    time: u64,
    public_key: String,
    signature: String,
}

/// Reads checkpoints from a file: answers of `/audit/checkpoint` and `/audit/checkpoints`, one or
/// several after each other. All must be signed with `key`.
///
/// # Errors
/// The file or the key cannot be read, or one is of another key.
pub(crate) fn load(file: &Path, key: &str) -> Result<Vec<Kept>, Failure> {
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
            let kept = kept(&row).ok_or_else(|| {
                cannot(format!("the checkpoint at {sequence} has bad hex digits"))
            })?;
            if kept.signed.public_key != key {
                return Err(cannot(format!(
                    "the checkpoint at {sequence} is signed with another key, {}",
                    row.public_key
                )));
            }
            checkpoints.push(kept);
        }
    }
    if checkpoints.is_empty() {
        return Err(cannot("it holds no checkpoint".to_owned()));
    }
    checkpoints.sort_by_key(|kept| kept.signed.checkpoint.sequence);
    Ok(checkpoints)
}

/// One object, a list, or a page of them.
fn rows(mut given: Value) -> serde_json::Result<Vec<Row>> {
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

fn kept(row: &Row) -> Option<Kept> {
    let genesis = match &row.genesis {
        Some(genesis) => Some(bytes(genesis)?),
        None => None,
    };
    let signed = Signed {
        checkpoint: Checkpoint {
            sequence: Sequence(row.sequence),
            chain: bytes(&row.chain)?,
            digest: bytes(&row.digest)?,
            time: TimeMs(row.time),
        },
        public_key: bytes(&row.public_key)?,
        signature: bytes(&row.signature)?,
    };
    Some(Kept { signed, genesis })
}

fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let digits = text.strip_prefix("0x").unwrap_or(text);
    hex::decode_to_slice(digits, &mut bytes).ok()?;
    Some(bytes)
}

/// Checkpoints, and what the journal has where they stand.
#[derive(Debug, Default)]
pub(crate) struct Vouched {
    /// Those that were signed for this journal.
    checkpoints: Vec<Signed>,
    /// Digest and place, as far as the journal was followed.
    found: Vec<([u8; 32], FramePlace)>,
    /// States that need a digest too.
    pub(crate) attested: AttestedStates,
    /// What the others are.
    others: Vec<Finding>,
    given: usize,
}

/// How many checkpoints there are, and how many of them could be compared with the journal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Compared {
    /// Those that were signed for this journal, and whose places were reached, or are beyond its end.
    pub compared: usize,
    /// All.
    pub given: usize,
}

impl Vouched {
    /// Checkpoints in the order of their sequences.
    pub(crate) fn new(source: &Source, kept: &[Kept]) -> Self {
        let mut vouched = Self {
            given: kept.len(),
            ..Self::default()
        };
        if kept.is_empty() {
            return vouched;
        }
        // A journal that has no name is found to be damaged, whatever was signed.
        let Ok(genesis) = source.genesis() else {
            return vouched;
        };
        for kept in kept {
            match vouches(kept, &genesis) {
                Ok(()) => vouched.checkpoints.push(kept.signed),
                Err(finding) => vouched.others.push(finding),
            }
        }
        vouched
    }

    /// Where the first of them, or of the attested states, stands whose place was not reached yet.
    pub(crate) fn awaited(&self) -> Option<Sequence> {
        let places = [self.next(), self.attested.awaited()];
        places.into_iter().flatten().min()
    }

    /// The same of checkpoints alone.
    fn next(&self) -> Option<Sequence> {
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

    /// What does not agree, and how many were compared. `end` is the last sequence when the journal was
    /// followed to its end: what was signed behind it is gone.
    pub(crate) fn findings(
        &self,
        source: &Source,
        end: Option<Sequence>,
    ) -> Result<(Vec<Finding>, Compared), Failure> {
        let mut findings = self.others.clone();
        findings.extend_from_slice(self.attested.findings());
        for (signed, found) in self.checkpoints.iter().zip(&self.found) {
            let sequence = signed.checkpoint.sequence;
            if let Some(text) = disagrees(signed, found, source)? {
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
        Ok((findings, Compared { compared, given }))
    }
}

/// Whether the key signed a checkpoint for this journal; else what it is.
fn vouches(kept: &Kept, genesis: &[u8; 32]) -> Result<(), Finding> {
    let sequence = kept.signed.checkpoint.sequence;
    let nothing = |why: &dyn std::fmt::Display| {
        let text = format!("a checkpoint proves nothing: {why}");
        Err(Finding::new(Kind::Signature, sequence, text))
    };
    if sequence == Sequence(0) {
        return nothing(&"it names no frame");
    }
    let Err(why) = kept.signed.verify(genesis) else {
        return Ok(());
    };
    match kept.genesis {
        Some(other) if kept.signed.verify(&other).is_ok() => {
            let [signed, this] = [&other, genesis].map(hex::encode);
            let text =
                format!("another journal was signed: {signed} is its genesis, {this} this one's");
            Err(Finding::new(Kind::Damage, sequence, text))
        }
        _ => nothing(&why),
    }
}

/// How the journal is not what was signed, where a checkpoint stands.
fn disagrees(
    signed: &Signed,
    (digest, place): &([u8; 32], FramePlace),
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
