//! `foretell audit diff`: compares two journals and finds their first difference.
//!
//! Frames are compared by their receipts, which cover every byte. Batch boundaries and segments may
//! differ: a start rewrites batches and keeps the frames.

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use crate::error::AuditError;
use foretell_model::Sequence;
use foretell_terminal::Output;
use serde::Serialize;

use crate::exit_codes::DIFFERENT;
use crate::finding::Stop;
use crate::read::source::{Frames, Source};

/// Result of comparing two journals.
#[derive(Clone, Copy, Debug, Serialize)]
struct Comparison {
    relation: &'static str,
    same_genesis: bool,
    /// Number of identical frames from the first on.
    common_frames: u64,
    /// Set when both journals have further frames.
    first_difference: Option<Sequence>,
    /// Whether each journal has further frames.
    #[serde(skip)]
    goes_on: [bool; 2],
}

/// Compares two journals frame by frame; `archive` has what was archived of either. Damage after the first difference is not read.
///
/// # Errors
/// A journal cannot be read, or the part that has to be read is damaged.
pub(crate) fn run(
    [first, second]: [&Path; 2],
    archive: Option<&Path>,
    output: Output,
) -> Result<ExitCode, AuditError> {
    let [mut first, mut second] = [Side::open(first, archive)?, Side::open(second, archive)?];
    let same_genesis = first.genesis == second.genesis;
    let mut common_frames = 0;
    let goes_on = loop {
        let receipts = [first.receipt()?, second.receipt()?];
        if receipts[0].is_none() || receipts[0] != receipts[1] {
            break receipts.map(|receipt| receipt.is_some());
        }
        common_frames += 1;
    };
    let comparison = Comparison::new(same_genesis, common_frames, goes_on);
    output.print(&comparison);
    let code = if comparison.relation == DIFFERS {
        DIFFERENT
    } else {
        0
    };
    Ok(ExitCode::from(code))
}

/// One of the two journals.
struct Side {
    source: Source,
    genesis: [u8; 32],
    frames: Frames,
}

impl Side {
    fn open(directory: &Path, archive: Option<&Path>) -> Result<Self, AuditError> {
        // Two progress bars would overwrite each other.
        let source = Source::open(directory, archive, false)?;
        let begin = || Ok((source.genesis()?, source.frames()?));
        let (genesis, frames) = begin().map_err(|stop: Stop| stop.failure(directory))?;
        Ok(Self {
            source,
            genesis,
            frames,
        })
    }

    fn receipt(&mut self) -> Result<Option<[u8; 32]>, AuditError> {
        let frame = self.frames.next();
        let receipt = frame.map(|frame| frame.map(|frame| frame.receipt()));
        receipt.map_err(|stop| stop.failure(self.source.directory()))
    }
}

/// The relation of journals that both continue after the common prefix, or have different genesis
/// bytes.
const DIFFERS: &str = "different";

impl Comparison {
    fn new(same_genesis: bool, common_frames: u64, goes_on: [bool; 2]) -> Self {
        let parts = goes_on == [true, true];
        let relation = match goes_on {
            _ if parts || !same_genesis => DIFFERS,
            [false, false] => "same",
            [false, true] => "second goes on",
            [true, _] => "first goes on",
        };
        Self {
            relation,
            same_genesis,
            common_frames,
            first_difference: parts.then(|| Sequence(common_frames).next()),
            goes_on,
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.same_genesis {
            f.write_str("two journals with different genesis; ")?;
        }
        write!(f, "{} frames are the same, ", self.common_frames)?;
        match (self.first_difference, self.goes_on) {
            (Some(sequence), _) => write!(f, "the first difference is at sequence {sequence}"),
            (None, [true, _]) => f.write_str("the first journal continues after them"),
            (None, [_, true]) => f.write_str("the second journal continues after them"),
            (None, _) => f.write_str("they end there"),
        }
    }
}
