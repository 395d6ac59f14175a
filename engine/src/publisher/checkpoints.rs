//! Signs what was executed twice and cannot be written anew.
//!
//! A checkpoint is of the end of a batch: only there the chain has a hash. It is prepared from the
//! publisher's own exchange and signed when the watermark has passed it, because recovery writes
//! batches above the watermark anew, and then their chain is another.

use std::time::Duration;

use foretell_checkpoint::{Checkpoint, Log, Reader};
use foretell_journal::{JournalError, watermark};
use foretell_model::{Sequence, TimeMs};

use super::Setting;
use crate::clock::Clocks;
use crate::config::Checkpoints as Wanted;
use crate::error::EngineError;

/// Between two looks at the watermark.
const LOOK_NS: u64 = 100_000_000;

/// The end of a batch: its last sequence, and the chain up to and with it.
pub(super) type BatchEnd = (Sequence, [u8; 32]);

/// The checkpoints of this engine.
#[derive(Debug)]
pub(super) struct Checkpoints {
    wanted: Wanted,
    genesis: [u8; 32],
    log: Log,
    /// The newest that was prepared, and when by the monotonic clock; `None` before this start's
    /// first, which is due at once.
    prepared: (Sequence, Option<u64>),
    /// Waits for the watermark.
    waiting: Option<Checkpoint>,
    looked: u64,
}

impl Checkpoints {
    /// The checkpoints that are configured.
    pub(super) fn begin<C: Clocks>(setting: &Setting<C>) -> Result<Option<Self>, EngineError> {
        let Some(wanted) = setting.config.checkpoints.clone() else {
            return Ok(None);
        };
        let genesis = setting.journal.genesis();
        let log = Log::open(&wanted.file, &genesis).map_err(EngineError::Checkpoints)?;
        // What an earlier start signed is not signed again.
        let newest = Reader::open(&wanted.file).map_err(EngineError::Checkpoints)?;
        let newest = newest.map_or(Ok(None), |reader| reader.newest());
        let newest = newest.map_err(EngineError::process("reading the newest checkpoint"))?;
        let last = newest.map_or(Sequence(0), |signed| signed.checkpoint.sequence);
        let now = setting.clocks.monotonic();
        Ok(Some(Self {
            wanted,
            genesis,
            log,
            prepared: (last, None),
            waiting: None,
            looked: now,
        }))
    }

    /// Whether one should be prepared at the next end of a batch.
    pub(super) fn is_due(&self, at: Sequence, now: u64) -> bool {
        let (last, when) = self.prepared;
        let since = |when| Duration::from_nanos(now.saturating_sub(when));
        at > last && when.is_none_or(|when| since(when) >= self.wanted.interval)
    }

    /// Prepares one, if `end` is the end of a batch and nothing was prepared there. It takes the
    /// place of one that still waits.
    pub(super) fn prepare(
        &mut self,
        end: Option<BatchEnd>,
        now: u64,
        digest: impl FnOnce() -> [u8; 32],
    ) {
        let Some((sequence, chain)) = end.filter(|(sequence, _)| *sequence > self.prepared.0)
        else {
            return;
        };
        self.prepared = (sequence, Some(now));
        self.waiting = Some(Checkpoint {
            sequence,
            chain,
            digest: digest(),
            time: TimeMs(0),
        });
    }

    /// Signs what the watermark has passed. A disk that does not take it is asked again later.
    pub(super) fn sign<C: Clocks>(&mut self, setting: &Setting<C>, now: u64) {
        let Some(checkpoint) = self.waiting else {
            return;
        };
        if now.saturating_sub(self.looked) < LOOK_NS {
            return;
        }
        self.looked = now;
        if !passed(setting, checkpoint.sequence).unwrap_or(false) {
            return;
        }
        let checkpoint = Checkpoint {
            time: TimeMs(setting.clocks.wall() / 1_000_000),
            ..checkpoint
        };
        let signed = self.wanted.signer.sign(&self.genesis, checkpoint);
        match self.log.append(&signed) {
            Ok(()) => self.waiting = None,
            Err(error) => {
                tracing::warn!(%error, "a checkpoint is not kept: tried again");
            }
        }
    }
}

fn passed<C: Clocks>(setting: &Setting<C>, sequence: Sequence) -> Result<bool, JournalError> {
    let mark = watermark::read(&setting.journal_directory)?;
    Ok(mark.is_some_and(|mark| mark.sequence >= sequence))
}
