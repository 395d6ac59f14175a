//! Signs checkpoints of state that was executed twice and cannot be rewritten.
//!
//! A checkpoint stands at the end of a batch, because only there the chain has a hash. It is
//! prepared from the publisher's own exchange. It is signed when the watermark has passed it:
//! recovery rewrites batches above the watermark, which changes their chain hash.

use std::time::Duration;

use foretell_checkpoint::{Checkpoint, CheckpointLog, CheckpointReader};
use foretell_journal::{JournalError, watermark};
use foretell_model::{Sequence, TimeMs};

use super::PublisherArgs;
use crate::clock::Clocks;
use crate::config::Checkpoints as CheckpointConfig;
use crate::error::EngineError;

/// Interval between two reads of the watermark.
const CHECK_INTERVAL_NS: u64 = 100_000_000;

/// The end of a batch: its last sequence, and the chain hash including it.
pub(super) type BatchEnd = (Sequence, [u8; 32]);

/// The checkpoints of this engine.
#[derive(Debug)]
pub(super) struct CheckpointSigner {
    config: CheckpointConfig,
    genesis: [u8; 32],
    log: CheckpointLog,
    /// Sequence and monotonic time of the newest prepared checkpoint. Time `None` before the first
    /// of this start, which is due at once.
    prepared: (Sequence, Option<u64>),
    /// The checkpoint that waits for the watermark.
    waiting: Option<Checkpoint>,
    last_check: u64,
}

impl CheckpointSigner {
    /// Opens the configured checkpoints.
    pub(super) fn begin<C: Clocks>(args: &PublisherArgs<C>) -> Result<Option<Self>, EngineError> {
        let Some(config) = args.config.checkpoints.clone() else {
            return Ok(None);
        };
        let genesis = args.journal.genesis();
        let log = CheckpointLog::open(&config.file, &genesis).map_err(EngineError::Checkpoints)?;
        // Sequences that an earlier start signed are not signed again.
        let newest = CheckpointReader::open(&config.file).map_err(EngineError::Checkpoints)?;
        let newest = newest.map_or(Ok(None), |reader| reader.newest());
        let newest = newest.map_err(EngineError::process("reading the newest checkpoint"))?;
        let last = newest.map_or(Sequence(0), |signed| signed.checkpoint.sequence);
        let now = args.clocks.monotonic();
        Ok(Some(Self {
            config,
            genesis,
            log,
            prepared: (last, None),
            waiting: None,
            last_check: now,
        }))
    }

    /// Whether a checkpoint should be prepared at the next end of a batch.
    pub(super) fn is_due(&self, at: Sequence, now: u64) -> bool {
        let (last, when) = self.prepared;
        let since = |when| Duration::from_nanos(now.saturating_sub(when));
        at > last && when.is_none_or(|when| since(when) >= self.config.interval)
    }

    /// Prepares a checkpoint at `end`, unless one was prepared there. It replaces one that still
    /// waits.
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

    /// Signs the waiting checkpoint once the watermark has passed it. A failed write is tried again
    /// later.
    pub(super) fn sign<C: Clocks>(&mut self, args: &PublisherArgs<C>, now: u64) {
        let Some(checkpoint) = self.waiting else {
            return;
        };
        if now.saturating_sub(self.last_check) < CHECK_INTERVAL_NS {
            return;
        }
        self.last_check = now;
        if !is_below_watermark(args, checkpoint.sequence).unwrap_or(false) {
            return;
        }
        let checkpoint = Checkpoint {
            time: TimeMs(args.clocks.wall() / 1_000_000),
            ..checkpoint
        };
        let signed = self.config.signer.sign(&self.genesis, checkpoint);
        match self.log.append(&signed) {
            Ok(()) => self.waiting = None,
            Err(error) => {
                tracing::warn!(%error, "checkpoint not written; retrying");
            }
        }
    }
}

fn is_below_watermark<C: Clocks>(
    args: &PublisherArgs<C>,
    sequence: Sequence,
) -> Result<bool, JournalError> {
    let mark = watermark::read(&args.journal_directory)?;
    Ok(mark.is_some_and(|mark| mark.sequence >= sequence))
}
