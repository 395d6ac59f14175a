//! The reader of an audit: verifies the bytes, decodes the frames, folds them, and hands them to the
//! executor.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender};

use foretell_journal::ScanReport;
use foretell_journal::frame::Frame;

use crate::finding::{Finding, Kind, Stop, Violation};
use crate::prove::fold::Fold;
use crate::prove::frame_batch::FrameBatch;
use crate::prove::signatures::SignedCommand;
use crate::read::source::Frames;

/// What the journal holds, or why it cannot be read; `None` when reading stopped before its end.
pub(crate) type Scanned = Result<Option<ScanReport>, Stop>;

/// A thread's work. Its findings travel with the frames, so that it counts only once the
/// executor has come that far: a report never depends on how far ahead the reader was.
#[derive(Debug)]
pub(crate) struct Reader {
    fold: Fold,
    /// The genesis for which commands were signed; `None` = signatures are not checked.
    signed_for: Option<[u8; 32]>,
    frames: FrameBatch,
    filled: SyncSender<FrameBatch>,
    /// Batches that were executed, to be filled again.
    empty: Receiver<FrameBatch>,
}

impl Reader {
    pub(crate) fn new(
        filled: SyncSender<FrameBatch>,
        empty: Receiver<FrameBatch>,
        signed_for: Option<[u8; 32]>,
    ) -> Self {
        Self {
            fold: Fold::default(),
            signed_for,
            frames: FrameBatch::default(),
            filled,
            empty,
        }
    }

    /// Reads to the end, or up to the first frame that is wrong.
    pub(crate) fn run(mut self, mut journal: Frames) -> (Fold, Scanned) {
        let scanned = self.read(&mut journal);
        let _ = self.hand_over();
        (self.fold, scanned)
    }

    fn read(&mut self, journal: &mut Frames) -> Scanned {
        while let Some(frame) = journal.next()? {
            if self.take(&frame).is_break() {
                return Ok(None);
            }
        }
        Ok(journal.report().cloned())
    }

    /// Decodes and folds a frame; breaks at the first that is wrong.
    fn take(&mut self, frame: &Frame<'_>) -> ControlFlow<()> {
        if let Err(finding) = self.fold(frame) {
            self.frames.finding = Some(finding);
            return ControlFlow::Break(());
        }
        if self.frames.is_full() {
            return self.hand_over();
        }
        ControlFlow::Continue(())
    }

    fn fold(&mut self, frame: &Frame<'_>) -> Result<(), Finding> {
        let sequence = frame.sequence();
        let violated = |violation: Violation| violation.at(sequence);
        let frame = self.frames.push(frame);
        let frame = frame.map_err(|error| Finding::new(Kind::Damage, sequence, error))?;
        let claim = self.fold.apply(&frame).map_err(violated)?;
        if let Some((claim, genesis)) = claim.zip(self.signed_for) {
            let signed = SignedCommand::new(&frame, claim, &self.fold.registry, genesis);
            self.frames.signed.push(signed.map_err(violated)?);
        }
        Ok(())
    }

    /// Breaks when the executor has stopped.
    fn hand_over(&mut self) -> ControlFlow<()> {
        let empty = self.empty.try_recv().unwrap_or_default();
        let frames = std::mem::replace(&mut self.frames, empty);
        match self.filled.send(frames) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }
}
